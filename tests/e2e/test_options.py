"""Effects of asub's options: the nodes that a job ran on, when it ran, and the state in which it ended."""

import datetime
import json
import os
import re
import resource
import time

import pytest

from cluster import Cluster, until

# Two racks of two nodes; the second of each has a disk.
RACKS = """
cluster: test
controller:
  operators: [root]
policy: {kill_wait: 2, heartbeat: 1, launch_backoff: 1}
licenses: {matlab: 2, octave: 1}
nodes:
  - {name: n1, cpus: 4, memory: 4000M, features: [r1]}
  - {name: n2, cpus: 4, memory: 4000M, features: [r1, disk]}
  - {name: n3, cpus: 4, memory: 4000M, features: [r2]}
  - {name: n4, cpus: 4, memory: 4000M, features: [r2, disk]}
partitions:
  - {name: main, nodes: "n[1-4]", default: true, default_memory_per_cpu: 500M}
"""


@pytest.fixture(scope="module")
def racks():
    made = Cluster(config=RACKS)
    yield made
    made.close()


def nodes_of(cluster, job):
    """Names of the nodes that a job ran on, once it has ended."""
    cluster.completed(job)
    return cluster.run("actl", "show", "hostnames", cluster.account(job, "NodeList")).stdout.split()


def refused(cluster, *words):
    done = cluster.run("asub", *words, "--wrap", "true", check=False)
    assert done.returncode != 0, f"{words} was accepted"
    return done.stderr


def seconds_of(limit):
    match = re.fullmatch(r"(?:(\d+)-)?(?:(\d+):)?(\d+):(\d+)", limit)
    days, hours, minutes, seconds = (int(part or 0) for part in match.groups())
    return ((days * 24 + hours) * 60 + minutes) * 60 + seconds


# --- features ------------------------------------------------------------------------------------------------------

def test_constraints_choose_the_nodes(racks):
    assert nodes_of(racks, racks.wrap("true", "-C", "r2&disk")) == ["n4"]
    assert nodes_of(racks, racks.wrap("true", "-C", "(r1|r2)&disk", "-x", "n2")) == ["n4"]
    assert nodes_of(racks, racks.wrap("true", "-N2", "-C", "[r2|r3]")) == ["n3", "n4"]


def test_ac050_constraint_counts(racks):
    assert nodes_of(racks, racks.wrap("true", "-n3", "--ntasks-per-node=1", "-C", "[r1*1&r2*2]"))[-2:] == ["n3", "n4"]
    assert nodes_of(racks, racks.wrap("true", "-C", "disk*2")) == ["n2", "n4"]


def test_ac051_bad_constraints_are_refused(racks):
    assert "Invalid feature specification" in refused(racks, "-C", "[r1*0&r2*1]")
    assert "Invalid feature specification" in refused(racks, "-C", "[r1*!2]")
    assert "Requested node configuration is not available" in refused(racks, "-C", "wheels")
    assert "Requested node configuration is not available" in refused(racks, "-C", "disk*3", "-N3")


def test_ac052_nodes_with_either_feature_are_used(racks):
    blocker = racks.wrap("sleep 1000", "-N2", "-n8", "-C", "[r1]")
    racks.wait_state(blocker, "RUNNING")
    assert nodes_of(racks, racks.wrap("true", "-C", "r1|r2"))[0] in ("n3", "n4")
    waiting = racks.wrap("true", "-C", "r1")
    racks.wait_reason(waiting, "Resources")
    racks.cancel(blocker)
    racks.completed(waiting)


# --- nodes ---------------------------------------------------------------------------------------------------------

def test_a_list_of_nodes_may_be_a_file(racks):
    (racks.work / "some.nodes").write_text("n[2-3]\n")
    assert nodes_of(racks, racks.wrap("true", "-w", "./some.nodes")) == ["n2", "n3"]
    assert nodes_of(racks, racks.wrap("true", "-N2", "-x", "./some.nodes")) == ["n1", "n4"]
    assert "cannot read" in refused(racks, "-w", "./nothing.nodes")


def test_no_node_is_added_to_the_named_ones_if_they_suffice(racks):
    blocker = racks.wrap("sleep 1000", "-w", "n4", "-n3")
    racks.wait_state(blocker, "RUNNING")
    job = racks.wrap("true", "-w", "n4", "-n4")
    racks.wait_reason(job, "Resources")
    racks.cancel(blocker)
    assert nodes_of(racks, job) == ["n4"]
    assert len(nodes_of(racks, racks.wrap("true", "-w", "n4", "-n6"))) == 2


def test_largest_possible_node_count_is_used(racks):
    assert len(nodes_of(racks, racks.wrap("true", "-N", "1,3,8"))) == 3
    assert len(nodes_of(racks, racks.wrap("true", "-N", "2-16:2"))) == 4
    assert "node" in refused(racks, "-N", "5,7").lower()


# --- time ----------------------------------------------------------------------------------------------------------

def test_time_limits_are_rounded_up_to_minutes(racks):
    job = racks.wrap("true", "-H", "-t", "0:01")
    assert seconds_of(racks.queue(job, "%l")) == 60
    racks.cancel(job)


def test_ac027_ac028_a_deadline_that_cannot_be_met_is_refused(racks):
    for words in (["--deadline=2015-03-27T04:30:00"], ["--deadline=now+1hour", "-t120"],
                  ["--deadline=now+1hour", "-t120", "--time-min=120"], ["-t10", "--time-min=20"]):
        assert "Requested time limit is invalid" in refused(racks, *words)


def test_ac029_ac030_deadline_shortens_the_time_limit(racks):
    job = racks.wrap("sleep 1000", "--deadline=now+600")
    racks.wait_state(job, "RUNNING")
    assert 590 <= seconds_of(racks.queue(job, "%l")) <= 600
    racks.cancel(job)
    job = racks.wrap("sleep 1000", "--deadline=now+1hour", "--time-min=20", "-t120")
    racks.wait_state(job, "RUNNING")
    assert 3590 <= seconds_of(racks.queue(job, "%l")) <= 3600
    racks.cancel(job)


def test_deadline_ends_running_and_pending_jobs(racks):
    runs = racks.wrap("sleep 1000", "-w", "n1", "-n4", "--deadline=now+6")
    racks.wait_state(runs, "RUNNING")
    waits = racks.wrap("true", "-w", "n1", "--deadline=now+4")
    for job in (waits, runs):
        assert set(racks.wait_end(job).values()) == {"DEADLINE"}
    assert "DeadLine" in racks.account(runs, "Reason")


def test_time_limit_is_lowered_to_start_before_a_planned_job(racks):
    half = racks.wrap("sleep 1000", "-w", "n1", "-n2", "-t", "30")
    racks.wait_state(half, "RUNNING")
    whole = racks.wrap("true", "-w", "n1", "-n4", "-t", "30")
    racks.wait_reason(whole, "Resources")
    job = racks.wrap("sleep 1000", "-w", "n1", "-n1", "-t", "600", "--time-min=5")
    racks.wait_state(job, "RUNNING")
    assert 20 * 60 <= seconds_of(racks.queue(job, "%l")) <= 30 * 60
    racks.cancel(half, job)
    racks.completed(whole)


def test_begin_time_of_an_array_applies_to_every_task(racks):
    job = racks.wrap("date +%s", "-a", "0-2", "--begin=now+4")
    asked = time.time()
    racks.wait_reason(job, "BeginTime")
    racks.completed(job)
    for i in range(3):
        assert int(racks.output(job, f"ares-{job}_{i}.out")) >= asked + 3


@pytest.mark.parametrize("word,hour", [("midnight", 0), ("noon", 12), ("fika", 15), ("teatime", 16)])
def test_begin_at_a_named_time(racks, word, hour):
    job = racks.wrap("true", f"--begin={word}")
    racks.wait_reason(job, "BeginTime")
    begin = datetime.datetime.fromisoformat(racks.queue(job, "%S"))
    assert (begin.hour, begin.minute) == (hour, 0)
    assert begin > datetime.datetime.now()
    racks.cancel(job)


def test_nice_lowers_the_priority(racks):
    blocker = racks.wrap("sleep 1000", "-w", "n3", "-n4")
    racks.wait_state(blocker, "RUNNING")
    nice = racks.wrap("echo nice >> order.nice", "-w", "n3", "-n4", "--nice")
    racks.wait_reason(nice, "Resources")
    usual = racks.wrap("echo usual >> order.nice", "-w", "n3", "-n4")
    racks.wait_reason(nice, "Priority")
    racks.cancel(blocker)
    racks.completed(nice)
    racks.completed(usual)
    assert racks.output(nice, "order.nice").split() == ["usual", "nice"]


# --- sharing and GPUs ------------------------------------------------------------------------------------------------

def test_exclusive_takes_all_cpus_and_the_memory_asked_for(racks):
    job = racks.wrap("true", "--exclusive", "-w", "n2", "--mem=300M")
    racks.completed(job)
    tres = racks.account(job, "AllocTRES").split(",")
    assert "cpu=4" in tres and "mem=300M" in tres


def test_exclusive_user_shares_nodes_with_jobs_of_the_same_user_only(racks, others):
    mine = racks.wrap("sleep 1000", "-w", "n2", "--exclusive=user")
    racks.wait_state(mine, "RUNNING")
    own = racks.wrap("true", "-w", "n2")
    racks.completed(own)
    foreign = racks.wrap("true", "-w", "n2", user=others[0])
    racks.wait_reason(foreign, "Resources")
    racks.cancel(mine)
    racks.wait_end(foreign)
    assert "not supported yet" in refused(racks, "--exclusive=topo")


def test_ac064_ac065_contradictory_gpu_options_are_refused(gpu_cluster):
    assert "mutually exclusive" in refused(gpu_cluster, "--gpus-per-task=1", "--cpus-per-gpu=1", "--cpus-per-task=2")
    assert "do not match" in refused(gpu_cluster, "--gpus-per-task=1", "--gpus-per-node=2", "--ntasks-per-node=1")


def test_ac072_cpus_and_memory_per_gpu(gpu_cluster):
    job = gpu_cluster.wrap("true", "--gpus=2", "--cpus-per-gpu=2", "--mem-per-gpu=1000M")
    gpu_cluster.completed(job)
    tres = gpu_cluster.account(job, "AllocTRES").split(",")
    assert "cpu=4" in tres and "gres/gpu=2" in tres
    assert {"mem=2000M", "mem=2G"} & set(tres)


def test_gpus_per_task_sets_the_number_of_gpus_or_tasks(gpu_cluster):
    job = gpu_cluster.wrap('echo "$CUDA_VISIBLE_DEVICES"', "-n3", "--gpus-per-task=1")
    gpu_cluster.completed(job)
    assert len(gpu_cluster.output(job).strip().split(",")) == 3
    job = gpu_cluster.wrap('echo "$ARES_NTASKS"', "--gpus=4", "--gpus-per-task=2")
    gpu_cluster.completed(job)
    assert gpu_cluster.output(job).strip() == "2"


# --- steps, limits and memory --------------------------------------------------------------------------------------------

def test_options_of_the_job_hold_for_its_steps(racks):
    """contrib/slurm/corpus/effects.tsv names this test as well for options that no other shows."""
    script = racks.script("""#!/bin/bash
#SBATCH --nodes=2 --tasks-per-node=2 --mincpus=2
#SBATCH --mem-per-cpu=120
#SBATCH --wait-all-nodes=1
#SBATCH --distribution=cyclic:block,nopack
#SBATCH --cpu-bind=none
arun bash -c 'echo $SLURM_PROCID $SLURM_NODEID $(nproc)' | sort
arun -m block bash -c 'echo block $SLURM_PROCID $SLURM_NODEID' | sort
""")
    job = racks.submit(script)
    racks.completed(job)
    lines = [line.split() for line in racks.output(job).splitlines()]
    assert [line[:2] for line in lines[:4]] == [["0", "0"], ["1", "1"], ["2", "0"], ["3", "1"]], lines
    assert os.cpu_count() < 2 or all(int(line[2]) > 1 for line in lines[:4]), "no task is bound to one CPU"
    assert lines[4:] == [["block", "0", "0"], ["block", "1", "0"], ["block", "2", "1"], ["block", "3", "1"]]
    assert {"mem=480M", "cpu=4", "node=2"} <= set(racks.account(job, "AllocTRES").split(","))
    job = racks.wrap("arun -n2 bash -c 'echo $SLURM_PROCID'", "-n2", "-m", "plane=4")
    racks.completed(job)
    assert any("--distribution=plane=4 of the job: a step knows block and cyclic" in line for line in racks.output(job).splitlines())


def test_limits_of_the_shell_are_propagated_as_asked(racks):
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)

    def seen(*words):
        resource.setrlimit(resource.RLIMIT_NOFILE, (333, hard))
        try:
            job = racks.wrap("ulimit -Sn", *words)
        finally:
            resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
        racks.completed(job)
        return racks.output(job).strip()

    assert seen() == seen("--propagate=STACK,NOFILE") == "333"
    assert seen("--propagate=NONE") == seen("--propagate=CORE") != "333"
    assert '"FILES" is not a limit' in refused(racks, "--propagate=FILES")


def test_a_shell_runs_in_less_memory_than_it_needs(racks):
    job = racks.wrap("head -c 8000000 /dev/zero | tail -c 4000000 | wc -c", "--mem=1")
    racks.completed(job)
    assert racks.output(job).strip() == "4000000"
    assert "mem=1M" in racks.account(job, "AllocTRES").split(",")


# --- licences ------------------------------------------------------------------------------------------------------

def test_job_waits_for_a_free_licence(racks):
    jobs = [racks.wrap("sleep 1000", "-L", "matlab") for _ in range(2)]
    for job in jobs:
        racks.wait_state(job, "RUNNING")
    third = racks.wrap("true", "-L", "matlab:1")
    racks.wait_reason(third, "Licenses")
    assert "0 of 2 free" in racks.show("job", third)
    other = racks.wrap("true", "-L", "matlab|octave")
    racks.completed(other)
    racks.cancel(jobs[0])
    racks.completed(third)
    racks.cancel(jobs[1])
    racks.wait_end(jobs[1])


def test_queue_can_be_filtered_by_licence(racks):
    holds = racks.wrap("sleep 1000", "-L", "octave")
    racks.wait_state(holds, "RUNNING")
    shown = racks.run("actl", "show", "licenses").stdout
    assert "LicenseName=octave\n   Total=1 Used=1 Free=0\n" in shown and "LicenseName=matlab" in shown, shown
    assert racks.run("actl", "show", "licenses", "nosuch", check=False).returncode == 1
    wants = racks.wrap("true", "-H", "-L", "matlab|octave")
    other = racks.wrap("true", "-H")
    show = lambda names: racks.run("aqueue", "-h", "-o", "%A", "-S", "i", "-L", names).stdout.split()
    assert show("octave") == [holds, wants]
    assert show("matlab") == show("matlab,matlab") == [wants]
    done = racks.run("aqueue", "-L", "mathlab", check=False)
    assert done.returncode == 1 and "mathlab" in done.stderr
    for job in (holds, wants, other):
        racks.cancel(job)


def test_unknown_or_too_many_licences_are_refused(racks):
    for words in (["-L", "fluent"], ["-L", "matlab:3"], ["-L", "matlab,fluent"], ["-L", "matlab|fluent"]):
        assert "Invalid license specification" in refused(racks, *words)


def test_ac054_requeued_job_uses_its_licence_once(racks):
    job = racks.wrap("sleep 1000", "-L", "octave", "--requeue")
    racks.wait_state(job, "RUNNING")
    racks.run("actl", "requeue", job)
    until(lambda: "Restarts=1" in racks.show("job", job) and racks.queue(job, "%T") == "RUNNING")
    second = racks.wrap("true", "-L", "octave")
    racks.wait_reason(second, "Licenses")
    racks.cancel(job)
    racks.completed(second)


# --- dependencies --------------------------------------------------------------------------------------------------

def test_ac107_one_of_several_dependencies_is_sufficient(racks):
    slow = racks.wrap("sleep 1000")
    fast = racks.wrap("sleep 0.5")
    job = racks.wrap("true", "-d", f"afterok:{slow}?afterok:{fast}")
    racks.completed(job)
    assert racks.queue(slow, "%T") == "RUNNING"
    racks.cancel(slow)


def test_ac108_aftercorr_waits_for_the_corresponding_task(racks):
    first = racks.wrap("sleep 0.3; echo one.$ARES_ARRAY_TASK_ID >> corr.log; [ $ARES_ARRAY_TASK_ID != 3 ]", "-a", "1-6%2")
    second = racks.wrap("echo two.$ARES_ARRAY_TASK_ID >> corr.log", "-d", f"aftercorr:{first}", "-a", "1-6")
    racks.wait_end(first)
    until(lambda: sum(state == "COMPLETED" for _, state in racks.rows(second, "JobID,State")) == 5)
    lines = racks.output(second, "corr.log").split()
    for i in (1, 2, 4, 5, 6):
        assert lines.index(f"one.{i}") < lines.index(f"two.{i}")
    assert "two.3" not in lines
    racks.wait_reason(f"{second}_3", "DependencyNeverSatisfied")
    assert lines.index("two.1") < lines.index("one.6"), "tasks did not wait for the whole array"
    racks.cancel(second)


def test_ac111_after_with_minutes_delays_the_start(racks):
    first = racks.wrap("sleep 1000")
    job = racks.wrap("true", "-d", f"after:{first}+1")
    racks.wait_state(first, "RUNNING")
    racks.wait_reason(job, "BeginTime")
    started = datetime.datetime.fromisoformat(racks.queue(first, "%S"))
    begins = datetime.datetime.fromisoformat(racks.queue(job, "%S"))
    assert 59 <= (begins - started).total_seconds() <= 61
    racks.cancel(first, job)


def test_singleton_jobs_run_one_at_a_time_in_order(racks):
    jobs = [racks.wrap(f"echo b{i} >> single.log; sleep 0.3; echo e{i} >> single.log", "-J", "lonely", "-d", "singleton")
            for i in range(4)]
    for job in jobs:
        racks.completed(job)
    assert racks.output(jobs[0], "single.log").split() == [f"{what}{i}" for i in range(4) for what in "be"]


def test_kill_on_invalid_dep_cancels_the_dependent_job(racks):
    bad = racks.wrap("sleep 0.5; false")
    job = racks.wrap("true", "-d", f"afterok:{bad}", "--kill-on-invalid-dep=yes")
    assert set(racks.wait_end(job).values()) == {"CANCELLED"}


# --- trial submission, and many jobs in one call ----------------------------------------------------------------------------------

def test_test_only_prints_the_start_time_and_submits_nothing(racks):
    before = racks.run("aqueue", "-h").stdout
    done = racks.run("asub", "--test-only", "-N2", "-n4", "--wrap", "true")
    assert re.search(r"Job would start at 20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d on nodes n\S+ in partition main with 4 CPUs", done.stderr)
    assert done.stdout == ""
    blocker = racks.wrap("sleep 1000", "-N4", "--exclusive", "-t", "30")
    racks.wait_state(blocker, "RUNNING")
    done = racks.run("asub", "--test-only", "-n4", "--wrap", "true")
    at = datetime.datetime.fromisoformat(re.search(r"start at (\S+)", done.stderr).group(1))
    assert datetime.timedelta(minutes=25) < at - datetime.datetime.now() < datetime.timedelta(minutes=31)
    racks.cancel(blocker)
    until(lambda: racks.run("aqueue", "-h").stdout == before)
    assert "no start time can be estimated" in racks.run("asub", "--test-only", "-H", "--wrap", "true").stderr
    assert "Requested node configuration is not available" in refused(racks, "--test-only", "-C", "wheels")


def from_file(cluster, lines, *words, **more):
    file = cluster.work / "many.txt"
    file.write_text("\n".join(line if isinstance(line, str) else json.dumps(line) for line in lines) + "\n")
    return cluster.run("asub", "--parsable", "--from", file, *words, **more)


def test_from_reads_scripts_and_json_objects(racks):
    script = racks.script("#!/bin/sh\n#ARES -o from.%j -n 1\necho script $1 $ARES_NTASKS\n", "from.sh")
    ids = from_file(racks, [str(script), "", "# a comment", {"script": "./from.sh", "args": ["two"], "ntasks": 2},
                            {"wrap": "echo wrapped", "job-name": "third", "hold": True}]).stdout.split()
    assert len(ids) == 3 and ids == sorted(ids, key=int)
    racks.wait_reason(ids[2], "JobHeldUser")
    racks.run("actl", "release", ids[2])
    for job in ids:
        racks.completed(job)
    assert racks.output(ids[0], f"from.{ids[0]}").split() == ["script", "1"]
    assert racks.output(ids[1], f"from.{ids[1]}").split() == ["script", "two", "2"]
    assert racks.output(ids[2]) == "wrapped\n"
    assert racks.account(ids[2], "JobName") == "third"


def test_from_submits_nothing_if_a_line_is_invalid(racks):
    before = racks.run("aqueue", "-h").stdout
    for bad, word in (({"wrap": "true", "mem": "12X"}, "many.txt:2: --mem"), ({"wrap": "true", "wibble": 1}, "many.txt:2: "),
                      ("./nothing.sh", "many.txt:2: "), ({"wrap": "true", "wait": True}, "--wait"), ("{", "many.txt:2: "),
                      ({"wrap": "true", "constraint": "wheels"}, "job 2 of 2")):
        done = from_file(racks, [{"wrap": "true"}, bad], check=False)
        assert done.returncode != 0 and done.stdout == "" and word in done.stderr, done.stderr
    assert racks.run("aqueue", "-h").stdout == before


def test_from_submits_many_jobs_once_for_each_request_id(racks):
    lines = [{"wrap": f"true {i}"} for i in range(1100)]
    first = from_file(racks, lines, "-H", "-o", "/dev/null", "--request-id=many-1").stdout.split()
    assert len(set(first)) == 1100 and first == sorted(first, key=int)
    assert from_file(racks, lines, "-H", "-o", "/dev/null", "--request-id=many-1").stdout.split() == first
    assert len(racks.run("aqueue", "-h", "-o", "%i").stdout.split()) == 1100
    racks.cancel("--me")
    until(lambda: racks.run("aqueue", "-h").stdout == "")


def test_singletons_of_one_call_run_one_at_a_time(racks):
    ids = from_file(racks, [{"wrap": f"echo b{i} >> one.log; sleep 0.2; echo e{i} >> one.log"} for i in range(3)],
                    "-J", "only", "-d", "singleton").stdout.split()
    for job in ids:
        racks.completed(job)
    assert racks.output(ids[0], "one.log").split() == ["b0", "e0", "b1", "e1", "b2", "e2"]


def test_export_file_stands_for_the_submitters_variables(racks):
    file = racks.work / "variables"
    file.write_bytes(b"FROM_FILE=yes\0TEXT=two\nlines\0")
    job = racks.wrap('echo "$FROM_FILE|$TEXT|$FROM_SHELL|$SLURM_JOB_ID"', f"--export-file={file}",
                     env={**racks.environment(), "FROM_SHELL": "yes"})
    racks.completed(job)
    assert racks.output(job) == f"yes|two\nlines||{job}\n"
    refused = racks.run("asub", "--export-file=/nowhere", "--wrap", "true", check=False)
    assert refused.returncode == 1 and 'cannot read "/nowhere"' in refused.stderr
