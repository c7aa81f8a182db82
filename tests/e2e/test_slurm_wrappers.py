"""Slurm's commands of contrib/slurm, installed into a folder as a site would, used as programs written for Slurm use them."""
import json
import math
import re
import subprocess
import time

import pytest

from cluster import ROOT, Cluster, f1, until


@pytest.fixture(scope="module")
def cluster(tmp_path_factory):
    prefix = tmp_path_factory.mktemp("slurm")
    subprocess.run([ROOT / "contrib/slurm/install.sh", prefix], check=True)
    cluster = Cluster(config=f1(gpus=True) + "fairness: {policy: multifactor, calc_period: 1, weights: {age: 1000, job_size: 100}}\n")
    cluster.run("aacctmgr", "-i", "add", "account", "physics", "description=Lab", "organization=uni")
    cluster.slurm = prefix / "bin"
    yield cluster
    cluster.close()


def run(cluster, *words, check=True, folder=None, **environment):
    """One of Slurm's commands, by its name."""
    env = cluster.environment(**environment)
    env["PATH"] = f"{cluster.slurm}:{env['PATH']}"
    done = subprocess.run([str(cluster.slurm / words[0]), *map(str, words[1:])], env=env, cwd=folder or cluster.work, stdin=subprocess.DEVNULL,
                          text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=60)
    if check:
        assert done.returncode == 0, f"{words}: {done.stderr}"
    return done


def wait_gone(cluster, job):
    until(lambda: not run(cluster, "squeue", "-h", "-j", job, "-t", "PD,R,CG,CF", "-o", "%t").stdout.strip())


def test_a_script_written_for_slurm_runs_unchanged(cluster):
    folder = cluster.work / "script"
    folder.mkdir(mode=0o1777)
    script = folder / "job.sh"
    script.write_text("""#!/bin/bash
#SBATCH --job-name=analysis
#SBATCH --ntasks=2
#SBATCH --mem-per-cpu=100
#SBATCH --time=00:10:00
echo "id $SLURM_JOB_ID name $SLURM_JOB_NAME tasks $SLURM_NTASKS nodes $SLURM_JOB_NUM_NODES on $SLURM_JOB_NODELIST"
scontrol show hostnames "$SLURM_JOB_NODELIST"
srun bash -c 'echo rank $SLURM_PROCID of $SLURM_NTASKS' | sort
""")
    done = run(cluster, "sbatch", "job.sh", folder=folder)
    found = re.fullmatch(r"Submitted batch job (\d+)\n", done.stdout)
    assert found, done.stdout
    wait_gone(cluster, found[1])
    text = (folder / f"slurm-{found[1]}.out").read_text()
    assert re.fullmatch(rf"id {found[1]} name analysis tasks 2 nodes 1 on (n\d)\n\1\nrank 0 of 2\nrank 1 of 2\n", text), text


def test_arrays_have_slurms_default_files(cluster):
    folder = cluster.work / "array"
    folder.mkdir(mode=0o1777)
    job = run(cluster, "sbatch", "--parsable", "--array=3,5", "--wrap", "echo task $SLURM_ARRAY_TASK_ID", folder=folder).stdout.strip()
    wait_gone(cluster, job)
    assert {path.name: path.read_text() for path in folder.iterdir()} == {f"slurm-{job}_{i}.out": f"task {i}\n" for i in (3, 5)}


def test_output_of_the_script_or_the_environment_precedes_the_default(cluster):
    folder = cluster.work / "output"
    folder.mkdir(mode=0o1777)
    (folder / "job.sh").write_text("#!/bin/sh\n#SBATCH -o own.%j\necho x\n")
    job = run(cluster, "sbatch", "--parsable", "job.sh", folder=folder).stdout.strip()
    other = run(cluster, "sbatch", "--parsable", "--wrap", "echo y", folder=folder, SBATCH_OUTPUT="given").stdout.strip()
    wait_gone(cluster, job)
    wait_gone(cluster, other)
    assert sorted(path.name for path in folder.iterdir()) == ["given", "job.sh", f"own.{job}"]


def test_squeue_has_slurms_columns(cluster):
    job = run(cluster, "sbatch", "--parsable", "-H", "-J", "a_long_name_of_a_job", "--wrap", "true").stdout.strip()
    lines = run(cluster, "squeue", "-j", job).stdout.splitlines()
    assert lines[0] == "             JOBID PARTITION     NAME     USER ST       TIME  NODES NODELIST(REASON)"
    user = run(cluster, "squeue", "-h", "-j", job, "-o", "%u").stdout.strip()
    assert lines[1] == f"{job:>18} {'main':>9} {'a_long_n':>8} {user[:8]:>8} PD       0:00      1 (JobHeldUser)"
    assert run(cluster, "squeue", "-h", "-j", job, "-o", "%i|%t|%r|%O|%z").stdout == f"{job}|PD|JobHeldUser|0|*:*:*\n"
    assert run(cluster, "squeue", "-h", "--jobs", job, "--Form", "jobid:8,state:.10").stdout == f"{job:<8}{'PENDING':>10}\n"
    assert run(cluster, "squeue", "-h", "-j", job, SQUEUE_FORMAT="%j").stdout == "a_long_name_of_a_job\n"
    assert run(cluster, "squeue", "-l", "-j", job).stdout.splitlines()[1].split() == [
        "JOBID", "PARTITION", "NAME", "USER", "STATE", "TIME", "TIME_LIMI", "NODES", "NODELIST(REASON)"]
    run(cluster, "scancel", job)
    assert run(cluster, "squeue", "-j", "999999", check=False).stderr == "slurm_load_jobs error: Invalid job id specified\n"


def test_the_last_task_of_an_array_is_named_alone(cluster):
    job = run(cluster, "sbatch", "--parsable", "-H", "--array=7", "--wrap", "true").stdout.strip()
    assert run(cluster, "squeue", "-h", "-j", job, "-o", "%i").stdout == f"{job}_7\n"
    run(cluster, "scancel", job)


def test_sacct_is_what_programs_parse(cluster):
    good = run(cluster, "sbatch", "--parsable", "-J", "good", "--wrap", "true").stdout.strip()
    bad = run(cluster, "sbatch", "--parsable", "-J", "bad", "--wrap", "exit 3").stdout.strip()
    wait_gone(cluster, good)
    wait_gone(cluster, bad)
    fields = "JobIdRaw,JobName,State,ExitCode,MaxVMSize"
    rows = run(cluster, "sacct", "-X", "--parsable2", "--noheader", "-j", f"{good},{bad}", f"--format={fields}").stdout.splitlines()
    assert sorted(rows) == sorted([f"{good}|good|COMPLETED|0:0|", f"{bad}|bad|FAILED|3:0|"])
    table = run(cluster, "sacct", "-j", good).stdout.splitlines()
    assert table[0] == "JobID           JobName  Partition    Account  AllocCPUS      State ExitCode "
    assert table[1] == "------------ ---------- ---------- ---------- ---------- ---------- -------- "
    assert table[2].split()[:3] == [good, "good", "main"]
    assert run(cluster, "sacct", "-n", "-X", "-j", good, "-o", "jobname%-6,state%4").stdout == "good   COM+ \n"
    assert [row["state"] for row in json.loads(run(cluster, "sacct", "--json", "-X", "-j", good).stdout)["jobs"]] == ["COMPLETED"]
    waits = run(cluster, "sbatch", "--parsable", "-H", "--wrap", "true").stdout.strip()
    other = run(cluster, "sbatch", "--parsable", "-H", "--wrap", "true").stdout.strip()
    assert f'"{waits}"' not in run(cluster, "sprio", "--json", "-j", other).stdout, "the filter counts with --json, too"
    cluster.cancel(waits, other)
    refused = run(cluster, "sacct", "-o", "nosuch", check=False)
    assert refused.returncode == 1 and 'Invalid field requested: "nosuch"' in refused.stderr


def test_columns_of_reservations_and_groups_of_nodes(cluster):
    cluster.run("actl", "create", "reservation", "ReservationName=maint", "Nodes=n2", "StartTime=now", "Duration=10", "Users=root")
    job = run(cluster, "sbatch", "--parsable", "--reservation=maint", "--wrap", "true").stdout.strip()
    assert run(cluster, "squeue", "-h", "-t", "all", "-j", job, "-O", "reservation:6,prefer:4,reqswitch:2,segmentsize:2,preempttime:4,tres-bind:4"
               ).stdout == "maint N/A 0 0 N/A N/A \n"
    wait_gone(cluster, job)
    until(lambda: run(cluster, "sacct", "-n", "-X", "-P", "-j", job, "-o", "state").stdout == "COMPLETED\n")
    assert run(cluster, "sacct", "-n", "-X", "-P", "-j", job, "-o", "reservation,reqreservation,segmentsize,oversubscribe,maxrsstask"
               ).stdout == "maint|maint|0|OK|\n"
    assert run(cluster, "sinfo", "-h", "-n", "n2", "-o", "%n|%i|%B").stdout == "n2|maint|UNLIMITED\n"
    assert run(cluster, "sinfo", "-T", "-h").stdout.split()[:2] == ["maint", "ACTIVE"]
    sockets, cores, threads = (int(word) for word in run(cluster, "sinfo", "-h", "-n", "n2", "-o", "%X %Y %Z").stdout.split())
    assert sockets * cores * threads == 4  # CPUs
    assert run(cluster, "sinfo", "-h", "-n", "n2", "-O", "socketcorethread:8").stdout.strip() == f"{sockets}:{cores}:{threads}"
    document = run(cluster, "sacct", "--yaml", "-X", "-j", job).stdout
    assert document.startswith("jobs:\n") and "reservations: maint\n" in document
    cluster.run("actl", "delete", "reservation=maint")


def test_sinfo_and_scontrol_show(cluster):
    first = run(cluster, "sinfo", "-p", "main").stdout.splitlines()[0]
    assert first == "PARTITION AVAIL  TIMELIMIT  NODES  STATE NODELIST"
    shown = run(cluster, "sinfo", "-h", "-n", "n1", "-o", "%n %c %z %G").stdout.split()
    assert shown[:2] + shown[3:] == ["n1", "4", "gpu:a100:4"]
    assert math.prod(int(number) for number in shown[2].split(":")) == 4
    job = run(cluster, "sbatch", "--parsable", "-H", "-J", "two words", "-t", "5", "--wrap", "true").stdout.strip()
    text = run(cluster, "scontrol", "show", "job", job).stdout
    for part in (f"JobId={job} JobName=two words\n", "   JobState=PENDING Reason=JobHeldUser Dependency=(null)\n", "TimeLimit=00:05:00",
                 f"   StdOut={cluster.work}/slurm-{job}.out\n", "NumNodes=1 NumCPUs=1 NumTasks=1 CPUs/Task=1"):
        assert part in text, text
    line = run(cluster, "scontrol", "-o", "show", "job", job).stdout
    assert line.count("\n") == 1 and "JobState=PENDING" in line
    run(cluster, "scontrol", "update", f"jobid={job}", "timelimit=7")
    assert run(cluster, "squeue", "-h", "-j", job, "-o", "%l").stdout == "7:00\n"
    run(cluster, "scontrol", "release", job)
    wait_gone(cluster, job)
    load, free = until(lambda: [word for word in run(cluster, "sinfo", "-h", "-N", "-n", "n1", "-o", "%O %e").stdout.split() if word != "N/A"])
    assert float(load) >= 0 and int(free) > 0
    assert run(cluster, "sinfo", "-N", "-n", "n1", "-O", "cpusload:10,freemem:.10").stdout.splitlines()[0] == "CPU_LOAD    FREE_MEM"
    shown = run(cluster, "scontrol", "show", "node", "n1").stdout
    assert re.search(r" CPULoad=\d+\.\d\d\n", shown) and re.search(r" FreeMem=\d+ Sockets=", shown), shown
    assert run(cluster, "scontrol", "show", "node", "nosuch", check=False).stdout == "Node nosuch not found\n"
    assert run(cluster, "scontrol", "show", "hostnames", "n[1-2]").stdout == "n1\nn2\n"


def test_errors_are_said_as_slurm_says_them(cluster):
    refused = run(cluster, "sbatch", "-p", "nosuch", "--wrap", "true", check=False)
    assert refused.returncode == 1
    assert refused.stderr.splitlines()[-1] == "sbatch: error: Batch job submission failed: Invalid partition name specified"
    unknown = run(cluster, "sbatch", "--nosuch", "--wrap", "true", check=False)
    assert unknown.returncode == 255
    assert unknown.stderr == "sbatch: unrecognized option '--nosuch'\nTry \"sbatch --help\" for more information\n"
    assert run(cluster, "squeue", "--nosuch", check=False).stderr.startswith("squeue: unrecognized option '--nosuch'\n")
    assert run(cluster, "sbatch", "--version").stdout == "slurm-wlm 22.05.8\n"


def test_srun_and_salloc_speak_as_slurms_do(cluster):
    """In the words that programs wait for or look for."""
    blocker = run(cluster, "sbatch", "--parsable", "--exclusive", "-N4", "-o", "/dev/null", "--wrap", "sleep 1000").stdout.strip()
    until(lambda: run(cluster, "squeue", "-h", "-j", blocker, "-o", "%t").stdout.strip() == "R")
    env = {**cluster.environment(), "PATH": f"{cluster.slurm}:{cluster.environment()['PATH']}"}
    started = subprocess.Popen([cluster.slurm / "srun", "-n1", "bash", "-c", "exit 7"], env=env, cwd=cluster.work, stdin=subprocess.DEVNULL,
                               stderr=subprocess.PIPE, text=True)
    first = started.stderr.readline()
    found = re.fullmatch(r"srun: job (\d+) queued and waiting for resources\n", first)
    assert found, first
    run(cluster, "scancel", blocker)
    rest = started.communicate(timeout=60)[1].splitlines()
    assert rest[0] == f"srun: job {found[1]} has been allocated resources" and started.returncode == 7
    assert re.fullmatch(r"srun: error: n\d: task 0: Exited with exit code 7", rest[1]), rest
    done = run(cluster, "salloc", "-n1", "echo", "inside")
    job = re.match(r"salloc: Granted job allocation (\d+)\n", done.stderr)
    assert job and done.stdout == "inside\n" and f"salloc: Relinquishing job allocation {job[1]}\n" in done.stderr
    refused = run(cluster, "srun", "-p", "nosuch", "true", check=False)
    assert refused.returncode == 1 and refused.stderr.startswith("srun: error: Unable to allocate resources: Invalid partition name specified")
    refused = run(cluster, "salloc", "-p", "nosuch", "true", check=False)
    assert refused.stderr.startswith("salloc: error: Job submit/allocate failed: Invalid partition name specified")


def test_sprio_has_slurms_columns(cluster):
    job = run(cluster, "sbatch", "--parsable", "-w", "n1", "--exclusive", "-o", "/dev/null", "--wrap", "sleep 1000").stdout.strip()
    waits = run(cluster, "sbatch", "--parsable", "-w", "n1", "-o", "/dev/null", "--wrap", "true").stdout.strip()
    until(lambda: run(cluster, "sprio", "-h", "-j", waits).stdout)
    header, line = run(cluster, "sprio", "-j", waits).stdout.splitlines()
    assert header == "          JOBID PARTITION   PRIORITY       SITE        AGE    JOBSIZE"
    assert re.fullmatch(rf" *{waits} main +\d+ +0 +\d+ +\d+", line) and len(line) == len(header)
    assert run(cluster, "sprio", "-w").stdout.splitlines()[1] == "        Weights                               1       1000        100"
    assert re.fullmatch(rf"{waits}\|main\|\d+\|0\|0\.0{{4}}\d+\n", run(cluster, "sprio", "-h", "-j", waits, "-o", "%i|%r|%Y|%N|%a").stdout)
    assert len(run(cluster, "sprio", "-l").stdout.splitlines()[0].split()) == 12
    run(cluster, "scancel", job, waits)


def test_sstat_has_slurms_columns(cluster):
    job = run(cluster, "sbatch", "--parsable", "-o", "/dev/null", "--wrap", "srun sleep 1000").stdout.strip()
    until(lambda: f"{job}.0|" in run(cluster, "sstat", "-n", "-P", "-j", job, "-o", "jobid,ntasks", check=False).stdout)
    table = run(cluster, "sstat", "-j", job, "-o", "jobid,nodelist%8,ntasks,maxvmsize,avecpu").stdout.splitlines()
    assert table[0] == "JobID        Nodelist   NTasks  MaxVMSize     AveCPU "
    assert table[1] == "------------ -------- -------- ---------- ---------- "
    assert re.fullmatch(rf"{job}\.0 +n\d +1 +00:00:0\d ", table[2]), table
    every = run(cluster, "sstat", "-a", "-n", "-p", "-j", job, "-o", "jobid").stdout.split()
    assert sorted(every) == [f"{job}.0|", f"{job}.batch|"]
    assert len(run(cluster, "sstat", "-n", "-P", "-j", job).stdout.split("|")) == 47
    assert run(cluster, "sstat", "-j", job, "-o", "nosuch", check=False).returncode == 1
    run(cluster, "scancel", job)


def test_sshare_sreport_and_sacctmgr_have_slurms_columns(cluster):
    table = run(cluster, "sshare", "-a").stdout.splitlines()
    assert table[0] == "Account                    User  RawShares  NormShares    RawUsage  EffectvUsage  FairShare "
    assert table[1] == "-------------------- ---------- ---------- ----------- ----------- ------------- ---------- "
    assert table[2].startswith("root ") and any(line.startswith(" physics ") for line in table[2:])
    assert run(cluster, "sshare", "-n", "-P", "-a", "-o", "account,rawshares").stdout.splitlines() == ["root|", " physics|1"]
    text = run(cluster, "sreport", "cluster", "utilization", "start=now-1hour", "end=now").stdout.splitlines()
    assert text[2] == "Usage reported in CPU Minutes" and text[1].startswith("Cluster Utilization 20")
    assert text[4] == "  Cluster    Allocated       Down  PLND Down         Idle   Planned     Reported "
    assert text[5] == "--------- ------------ ---------- ---------- ------------ --------- ------------ "
    assert re.fullmatch(r"     test( +\d+){6} ", text[6])
    top = run(cluster, "sreport", "-P", "user", "top", "start=now-1hour", "end=now").stdout.splitlines()
    assert top[0] == "Cluster|Login|Proper Name|Account|Used|Energy"
    table = run(cluster, "sacctmgr", "show", "assoc").stdout.splitlines()
    assert table[0] == ("   Cluster    Account       User  Partition     Share   Priority GrpJobs       GrpTRES GrpSubmit     GrpWall   GrpTRESMins MaxJobs "
                        "      MaxTRES MaxTRESPerNode MaxSubmit     MaxWall   MaxTRESMins                  QOS   Def QOS GrpTRESRunMin ")
    assert run(cluster, "sacctmgr", "-n", "-P", "show", "account", "physics").stdout == "physics|Lab|uni\n"
    assert run(cluster, "sacctmgr", "-P", "list", "qos", "format=name,maxtrespu%30").stdout == "Name|MaxTRESPU\nnormal|\n"
    assert run(cluster, "sacctmgr", "show", "user", "format=nosuch", check=False).stderr == " Unknown field 'nosuch'\n"
    run(cluster, "sacctmgr", "-i", "modify", "account", "physics", "set", "maxjobs=5")
    assert run(cluster, "sacctmgr", "-n", "-P", "show", "assoc", "account=physics", "format=account,maxjobs").stdout == "physics|5\n"


def test_a_loop_that_submits_and_waits(cluster):
    """As drivers of workflows do: submit with dependencies, poll, look up the result."""
    folder = cluster.work / "loop"
    folder.mkdir(mode=0o1777)
    first = run(cluster, "sbatch", "--parsable", "--wrap", "echo 1 > one", folder=folder).stdout.strip()
    second = run(cluster, "sbatch", "--parsable", f"--dependency=afterok:{first}", "--wrap", "cat one > two", folder=folder).stdout.strip()
    deadline = time.monotonic() + 60
    while run(cluster, "squeue", "-h", "-o", "%i", "-j", f"{first},{second}", "-t", "PENDING,RUNNING,COMPLETING,CONFIGURING").stdout.split():
        assert time.monotonic() < deadline
        time.sleep(0.2)
    assert (folder / "two").read_text() == "1\n"
    states = run(cluster, "sacct", "-X", "-n", "-P", "-j", f"{first},{second}", "-o", "State").stdout.split()
    assert states == ["COMPLETED", "COMPLETED"]
