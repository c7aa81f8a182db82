# Tests: arun/step_resources, arun/beside, arun/step_layout, arun/options, arun/manual, arun/broadcast, steps/task_group, steps/task_process, steps/host, step_groups, running_steps, show_step, actl/steps/step_keys, task_prolog, task_epilog
"""What a step asks for: its name, time, GPUs, memory, programs around its tasks, a copy of its program; and its listings."""

import os
import pathlib
import subprocess
import textwrap
import time

import pytest

import cgroups
from cluster import BIN, Cluster, until

CONFIG = """
cluster: wishes
controller: {operators: [root]}
policy: {kill_wait: 1, heartbeat: 1, launch_backoff: 1}
nodes:
  - {name: "n[1-2]", cpus: 4, memory: 4000M, gpus: "a100:4"}
partitions:
  - {name: main, nodes: "n[1-2]", default: true}
"""


@pytest.fixture(scope="module")
def cluster():
    made = Cluster(config=CONFIG)
    yield made
    made.close()


def said(cluster, text, *options):
    """Lines of a job that ends well."""
    job = cluster.submit(*options, str(cluster.script("#!/bin/bash\n" + textwrap.dedent(text))))
    cluster.completed(job)
    return job, cluster.output(job).splitlines()


def steps_of(cluster, job, fields="JobID,JobName,State"):
    return [line.split("|") for line in cluster.run("aacct", "-j", job, "-P", "-n", "-o", fields).stdout.splitlines()]


def test_step_has_a_name_and_ends_at_its_time_limit(cluster):
    job, lines = said(cluster, """
        arun -n2 -J crunch -t 0:02 bash -c 'trap "echo told; exit 3" TERM; echo begun; sleep 1000 & wait'; echo code $?
        arun -n1 -t 0:01 bash -c 'trap "" TERM; sleep 1000 & wait; wait'; echo code $?
        arun -n1 -J quick -t 10 true; echo code $?
        """, "-n2")
    assert lines.count("begun") == 2 and lines.count("told") == 2
    assert [line for line in lines if line.startswith("code")] == ["code 3", "code 137", "code 0"]
    assert sum("time limit" in line for line in lines) == 2
    rows = until(lambda: len(found := steps_of(cluster, job)) == 5 and found)
    assert rows[2:] == [[f"{job}.0", "crunch", "TIMEOUT"], [f"{job}.1", "bash", "TIMEOUT"], [f"{job}.2", "quick", "COMPLETED"]]


def test_limit_of_a_running_step_is_changed(cluster):
    job = cluster.wrap("arun -n1 --overlap -J long -t 0:08 sleep 1000 & arun -n1 --overlap -J short sleep 1000 & wait", "-n1", "-t", "60")
    running = lambda: {line.split()[1]: line.split()[0] for line in cluster.run("aqueue", "-s", "-h", "-j", job).stdout.splitlines()}
    until(lambda: {"long", "short"} <= set(running()))
    steps = running()
    update = lambda step, limit, **more: cluster.run("actl", "update", f"stepid={step}", f"TimeLimit={limit}", **more)
    update(steps["long"], "30:00")
    begun = time.time()
    refused = update(steps["short"], "2:00:00", check=False)
    assert refused.returncode == 1 and f"job {job}" in refused.stderr and "01:00:00" in refused.stderr
    update(steps["short"], "0:01")
    until(lambda: "short" not in running())
    time.sleep(max(0, begun + 9 - time.time()))
    assert "long" in running(), "its first limit has passed"
    update(steps["long"], "0:01")
    cluster.wait_state(job, "COMPLETED", "FAILED")
    until(lambda: {tuple(row[1:]) for row in steps_of(cluster, job)[2:]} == {("long", "TIMEOUT"), ("short", "TIMEOUT")})
    for step, why in ((steps["long"], "has no steps"), (f"{job}.batch", "no limit of its own"), (job, "JOB.STEP"), ("999999.0", "999999")):
        done = update(step, "1", check=False)
        assert done.returncode == 1 and why in done.stderr, done.stderr
    done = cluster.run("actl", "update", f"stepid={steps['long']}", "Name=x", check=False)
    assert done.returncode == 1 and "--job-name" in done.stderr


def test_gpus_are_divided_among_exact_steps(cluster):
    _, lines = said(cluster, """
        show='echo $STEP $CUDA_VISIBLE_DEVICES $SLURM_STEP_GPUS $SLURM_GPUS_ON_NODE'
        echo job $CUDA_VISIBLE_DEVICES
        STEP=all arun -n1 bash -c "$show"
        for step in a b; do
          STEP=$step arun -n1 --exact --gres=gpu:2 bash -c "$show; touch $step.runs; until [ -e a.runs -a -e b.runs ]; do sleep 0.05; done" &
        done
        wait
        STEP=task arun -n2 --gpus-per-task=1 bash -c "$show" | sort
        STEP=none arun -n1 --gres=none bash -c "$show"
        STEP=typed arun -n1 --gpus=a100:1 bash -c "$show"
        arun -n1 --gpus=h100:1 true; echo code $?
        arun -n1 --gpus-per-node=5 true; echo code $?
        """, "-N1", "-n4", "--gpus=4")
    assert lines[0] == "job 0,1,2,3"
    assert lines[1] == "all 0,1,2,3 0,1,2,3 4"
    a, b = sorted(lines[2:4])
    assert {a, b} in ({"a 0,1 0,1 2", "b 2,3 2,3 2"}, {"a 2,3 2,3 2", "b 0,1 0,1 2"})
    assert lines[4:6] == ["task 0 0,1 2", "task 1 0,1 2"] or [line.split()[1] for line in lines[4:6]] == ["0", "1"]
    assert lines[6].split() == ["none"] and lines[7] == "typed 0 0 1"
    assert lines.count("code 1") == 2
    assert any("h100" in line for line in lines) and any("5 GPUs" in line for line in lines)


def test_gpus_of_each_node_are_known_on_the_first(cluster):
    _, lines = said(cluster, """
        arun -N2 -n2 --gpus=4 bash -c 'echo $SLURM_NODEID $CUDA_VISIBLE_DEVICES' | sort
        arun -N2 -n4 --gpus-per-task=1 bash -c 'echo $SLURM_PROCID $CUDA_VISIBLE_DEVICES' | sort
        """, "-N2", "-n4", "--ntasks-per-node=2", "--gpus-per-node=2")
    assert lines[:2] == ["0 0,1", "1 0,1"] and lines[2:] == ["0 0", "1 1", "2 0", "3 1"]


def test_ac075_each_task_sees_the_gpus_that_gpu_bind_names(cluster):
    _, lines = said(cluster, """
        show='echo $STEP $SLURM_PROCID $CUDA_VISIBLE_DEVICES'
        STEP=job arun -n4 bash -c "$show" | sort
        STEP=none arun -n4 --gpu-bind=none bash -c "$show" | sort
        STEP=mask arun -n2 --gpu-bind=mask_gpu:0x3,0xc bash -c "$show" | sort
        STEP=single arun -n4 --gpu-bind=single:2 bash -c "$show" | sort
        STEP=part arun -n2 --exact --gpus-per-node=2 --gpu-bind=map:1,0 bash -c "$show" | sort
        STEP=task arun -n2 --gpu-bind=per_task:2 bash -c "$show" | sort
        arun -n1 --gpu-bind=verbose,map:3 true
        arun -n1 --gpu-bind=map:4 true; echo code $?
        arun -n1 --gpu-bind=nearest true; echo code $?
        arun -n1 --gpu-bind=per_task:2 --gpus-per-task=1 true; echo code $?
        """, "-N1", "-n4", "--gpus=4", "--gpu-bind=map_gpu:3,2,1,0")
    assert lines[:4] == [f"job {task} {3 - task}" for task in range(4)]
    assert lines[4:8] == [f"none {task} 0,1,2,3" for task in range(4)]
    assert lines[8:10] == ["mask 0 0,1", "mask 1 2,3"]
    assert lines[10:14] == ["single 0 0", "single 1 0", "single 2 1", "single 3 1"]
    assert lines[14:16] == ["part 0 1", "part 1 0"] or lines[14:16] == ["part 0 3", "part 1 2"]
    assert lines[16:18] == ["task 0 0,1", "task 1 2,3"]
    assert "gpu-bind: task 0 on n1: GPU 3" in lines or "gpu-bind: task 0 on n2: GPU 3" in lines
    assert lines.count("code 1") == 3
    assert any("names GPU 4, and the step has GPUs 0 to 3 here" in line for line in lines)
    assert any("contradicts --gpus-per-task=1" in line for line in lines)


def test_programs_run_around_each_task(cluster):
    prolog, epilog = cluster.work / "prolog", cluster.work / "epilog"
    prolog.write_text("#!/bin/bash\necho export ADDED=$SLURM_PROCID-added\necho unset GONE\necho print from the prolog\necho other\n")
    epilog.write_text(f"#!/bin/bash\necho $SLURM_PROCID $ADDED >> {cluster.work}/epilogs\n")
    (cluster.work / "failing").write_text("#!/bin/bash\nexit 4\n")
    for program in (prolog, epilog, cluster.work / "failing"):
        program.chmod(0o755)
    _, lines = said(cluster, f"""
        export GONE=here
        arun -n2 --task-prolog={prolog} --task-epilog={epilog} bash -c 'echo task $ADDED ${{GONE-gone}}; exit $SLURM_PROCID'; echo code $?
        arun -n1 --task-epilog={epilog} bash -c 'kill -USR1 $$'; echo code $?
        arun -n1 --task-prolog=./failing echo ran; echo code $?
        arun -n1 --task-prolog=/no/such/program echo ran; echo code $?
        """, "-n2")
    assert lines.count("from the prolog") == 2 and "other" not in lines and "ran" not in lines
    assert sorted(line for line in lines if line.startswith("task")) == ["task 0-added gone", "task 1-added gone"]
    assert [line for line in lines if line.startswith("code")] == ["code 1", "code 138", "code 1", "code 1"]
    assert sorted((cluster.work / "epilogs").read_text().splitlines()) == ["0", "0 0-added", "1 1-added"]
    assert any("prolog exited with 4" in line for line in lines)


def test_programs_run_around_the_step_where_arun_runs(cluster):
    around = cluster.work / "around"
    around.write_text("#!/bin/bash\necho around ${SLURM_PROCID} $*\nexit 3\n")
    around.chmod(0o755)
    _, lines = said(cluster, f"""
        arun -n2 --prolog={around} --epilog={around} bash -c 'echo task'; echo code $?
        arun -n1 --prolog=/no/such/program true; echo code $?
        """, "-n2")
    assert [line for line in lines if line.startswith(("around", "task"))] == [
        "around 0 bash -c echo task", "task", "task", "around 0 bash -c echo task"]
    assert [line for line in lines if line.startswith("code")] == ["code 0", "code 0"]
    assert sum("the program of --prolog" in line for line in lines) == 2


def test_parts_of_heterogeneous_steps_are_refused(cluster):
    for words in (("arun", "-n1", "echo", "one", ":", "-n1", "echo", "two"), ("aalloc", "-n1", ":", "-n1", "true"), ("asub", "-n1", ":", "x")):
        done = cluster.run(*words, check=False)
        assert done.returncode == 1 and "heterogeneous jobs and steps" in done.stderr and done.stdout == ""
    assert cluster.run("aqueue", "-h").stdout == ""
    script = cluster.work / "takes-words"
    script.write_text("#!/bin/bash\necho $*\n")
    job = cluster.run("asub", "--parsable", str(script), "a", ":", "b").stdout.strip()
    cluster.completed(job)
    assert cluster.output(job) == "a : b\n"


def test_program_after_the_step_of_an_own_job_is_ended_by_a_signal(cluster):
    job_of = cluster.work / "job-of"
    job_of.write_text(f"#!/bin/bash\necho $ARES_JOB_ID $SLURM_JOB_ID > {cluster.work}/job\n")
    slow = cluster.work / "slow"
    slow.write_text(f"#!/usr/bin/python3\nimport pathlib, time\npathlib.Path('{cluster.work}/slow-runs').touch()\ntime.sleep(1000)\n")
    for program in (job_of, slow):
        program.chmod(0o755)
    arun = subprocess.Popen([str(BIN / "arun"), f"--prolog={job_of}", f"--epilog={slow}", "true"], cwd=cluster.work,
                            env=cluster.environment(), stderr=subprocess.PIPE, text=True)
    until((cluster.work / "slow-runs").exists)
    arun.terminate()
    _, errors = arun.communicate(timeout=60)
    assert arun.returncode == 0, "the step succeeded"
    assert "the program of --epilog" in errors and "signal 15" in errors
    [own, slurms] = (cluster.work / "job").read_text().split()
    assert own == slurms
    cluster.completed(own)


def test_copy_of_the_program_is_compressed_on_its_way(cluster):
    program = cluster.work / "packed"
    program.write_text("#!/bin/bash\necho copied $0\n" + "#" * 100_000 + "\n")
    program.chmod(0o755)
    _, lines = said(cluster, f"arun -n2 --bcast=/tmp/packed-$SLURM_JOB_ID --compress {program}; arun --compress true; echo code $?", "-n2")
    assert sum(line.startswith("copied /tmp/packed-") for line in lines) == 2
    assert any("say --bcast, too" in line for line in lines) and lines[-1] == "code 1"


def test_copy_of_the_program_runs_and_is_removed(cluster):
    program = cluster.work / "own-program"
    program.write_text("#!/bin/bash\nread line; echo $0 $line $SLURMD_NODENAME\n")
    program.chmod(0o755)
    target = cluster.work / "copy"
    _, lines = said(cluster, f"""
        echo hello | arun -N2 -n2 --bcast ./own-program | sort; echo code ${{PIPESTATUS[1]}}
        echo hello | arun -n1 -N1 --bcast={target} ./own-program
        arun -n1 --bcast={cluster.work}/ bash -c 'echo $0' ; ls {cluster.work} | grep -c bcast
        echo mine > {target}
        arun -n1 -N1 --bcast={target} ./own-program < /dev/null; echo code $?; cat {target}
        """, "-N2", "-n2")
    copies = [line.split() for line in lines[:2]]
    assert [copy[1:] for copy in copies] == [["hello", "n1"], ["hello", "n2"]]
    assert all(copy[0].startswith("/tmp/ares_bcast_") and not os.path.exists(copy[0]) for copy in copies)
    assert lines[2] == "code 0"
    assert lines[-1] == "mine" and lines[-2] == "code 1", "a file that exists is not replaced"


def test_memory_of_a_step_is_limited_within_the_job(cluster):
    hungry = "python3 -c 'x = bytearray(150 << 20); print(len(x))'"
    _, lines = said(cluster, f"""
        arun -n1 --mem=50M {hungry}; echo code $?
        arun -n1 {hungry}; echo code $?
        arun -n2 --exact --mem-per-cpu=200M {hungry}; echo code $?
        arun -n1 --mem=3000M true; echo code $?
        """, "-n2", "--mem=1000M")
    codes = [line for line in lines if line.startswith("code")]
    assert codes[1] == "code 0" and codes[3] == "code 1"
    assert any("the job has 1000 here" in line for line in lines)
    if "memory" in cgroups.writable_controllers() and os.geteuid() == 0:
        assert codes[0] == "code 253" and codes[2] == "code 0", lines
        assert any("ran out of memory" in line for line in lines)
    else:
        assert codes[0] == "code 1" and any("cannot limit the memory of a step" in line for line in lines)


def test_running_steps_are_listed(cluster):
    job = cluster.submit("-N2", "-n2", str(cluster.script("#!/bin/bash\narun -N2 -J shown sleep 1000\n")))
    listed = until(lambda: "shown" in (text := cluster.run("aqueue", "-s", "-j", job).stdout) and text)
    assert listed.splitlines()[0].split() == ["STEPID", "NAME", "PARTITION", "USER", "TIME", "NODELIST"]
    assert [line.split()[:2] for line in listed.splitlines()[1:]] == [[f"{job}.batch", "batch"], [f"{job}.0", "shown"]]
    assert listed.splitlines()[2].split()[-1] == "n[1-2]"
    only = cluster.run("aqueue", "-h", f"--steps={job}.0").stdout.splitlines()
    assert len(only) == 1 and only[0].split()[0] == f"{job}.0"
    refused = cluster.run("aqueue", "-s", "-o", "%i", check=False)
    assert refused.returncode == 1 and "--steps" in refused.stderr
    shown = cluster.run("actl", "show", "step", f"{job}.0").stdout
    assert f"StepId={job}.0" in shown and "Name=shown" in shown and "NodeList=n[1-2]" in shown and "Tasks=2" in shown
    assert f"StepId={job}.batch" in cluster.run("actl", "show", "step").stdout
    assert cluster.run("actl", "show", "step", f"{job}.7", check=False).returncode == 1
    cluster.cancel(job)
    cluster.wait_end(job)


def test_options_of_allocations_have_no_effect_within_a_job(cluster):
    _, lines = said(cluster, """
        arun -n1 --partition=main -A chem --cpu-freq=high echo ran 2>&1
        arun -n1 -Q --partition=main echo ran again 2>&1
        arun -n1 --constraint=fast echo never 2>&1; echo code $?
        """)
    assert lines[-1] == "code 1" and "never" not in lines
    for option in ("--partition", "--account", "--cpu-freq"):
        assert f"arun: warning: {option} has no effect within a job" in lines
    assert lines.count("ran") == 1 and lines.count("ran again") == 1
    assert sum("warning" in line for line in lines) == 3
    assert "--constraint asks for an allocation" in lines[-2]


def test_tasks_for_each_gpu_see_their_gpu(cluster):
    _, lines = said(cluster, """
        echo $SLURM_NTASKS $CUDA_VISIBLE_DEVICES
        arun bash -c 'echo task $SLURM_PROCID $CUDA_VISIBLE_DEVICES'
        """, "--gpus=2", "--ntasks-per-gpu=2", "-N1")
    assert lines[0] == "4 0,1"
    assert sorted(lines[1:]) == ["task 0 0", "task 1 0", "task 2 1", "task 3 1"]


def test_spellings_of_srun_are_taken_and_containers_of_pyxis_refused_by_name(cluster):
    _, lines = said(cluster, """
        arun --cpu_bind=none --mem_bind=none -n1 echo bound; echo code $?
        arun --container-image=/images/a.sqsh --container-mounts=/data:/data true; echo code $?
        """)
    assert lines[:2] == ["bound", "code 0"] and lines[-1] == "code 1"
    assert any("--container-image is not supported: a step has no container of its own" in line for line in lines)
