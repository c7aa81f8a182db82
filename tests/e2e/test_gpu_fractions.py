"""Fractions of GPUs (--gres=gpu:0.5): choice of the device, environment of the job, commands and accounting, refused requests, and
allocations after a controller restart."""

import os
import signal

import pytest

from cluster import Cluster, until

CONFIG = """
cluster: test
controller:
  operators: [root]
policy: {kill_wait: 2, heartbeat: 1, launch_backoff: 1}
nodes:
  - {name: n1, cpus: 8, memory: 8000M, gpus: "a100:1"}
  - {name: n2, cpus: 8, memory: 8000M, gpus: "h100:2"}
partitions:
  - {name: main, nodes: "n[1-2]", default: true, default_memory_per_cpu: 100M}
"""


@pytest.fixture(scope="module")
def cluster():
    made = Cluster(config=CONFIG)
    yield made
    made.close()


@pytest.fixture
def job(cluster):
    """Submits jobs that print their GPU environment and run until the test ends."""
    made = []
    def submit(*words, **more):
        made.append(cluster.wrap("echo $CUDA_VISIBLE_DEVICES $ARES_GPU_FRACTION $ARES_JOB_GPU_TYPES; exec sleep 300",
                                 *words, **more))
        return made[-1]
    yield submit
    cluster.run("acancel", *made, check=False)
    until(lambda: not cluster.run("aqueue", "-h").stdout.strip())


def sees(cluster, job):
    cluster.wait_state(job, "RUNNING")
    return until(lambda: cluster.output(job).strip())


def refused(cluster, *words):
    done = cluster.run("asub", *words, "--wrap", "true", check=False)
    assert done.returncode != 0, f"{words} was accepted"
    return done.stderr


def why(cluster, job):
    return " ".join(cluster.run("aqueue", "--why", job).stdout.split())


def test_two_halves_run_on_one_gpu_and_a_third_waits(cluster, job):
    first, second, third = (job("--gres=gpu:a100:0.5", "-t", "10") for _ in range(3))
    assert sees(cluster, first) == sees(cluster, second) == "0 0.5 a100"
    cluster.wait_reason(third, "Resources")
    told = why(cluster, third)
    assert "0.5 a100" in told and "with too little free of every GPU (at most 0)" in told, told
    cluster.cancel(first)
    assert sees(cluster, third) == "0 0.5 a100"


def test_a_whole_gpu_is_never_shared(cluster, job):
    part, whole = job("--gres=gpu:a100:0.1", "-t", "10"), job("--gres=gpu:h100:2", "-t", "10")
    assert sees(cluster, part) == "0 0.1 a100"
    assert sees(cluster, whole) == "0,1 h100,h100", "only a job with a part of a GPU gets a fraction"
    waits = job("--gres=gpu:a100:1", "-t", "10")
    cluster.wait_reason(waits, "Resources")
    other = job("--gres=gpu:h100:0.1", "-t", "10")
    cluster.wait_state(other, "PENDING")
    cluster.cancel(part)
    assert sees(cluster, waits) == "0 a100"
    cluster.cancel(whole)
    assert sees(cluster, other).endswith(" 0.1 h100")


def test_fraction_takes_the_most_used_gpu_with_room_of_any_type(cluster, job):
    assert sees(cluster, job("--gres=gpu:h100:0.6")) == "0 0.6 h100"
    assert sees(cluster, job("--gres=gpu:h100:0.7")) == "1 0.7 h100"
    assert sees(cluster, job("--gres=gpu:0.3")) == "1 0.3 h100"
    assert sees(cluster, job("--gpus=0.25")) == "0 0.25 h100"
    assert sees(cluster, job("--gpus-per-task=0.25", "-n1")) == "0 0.25 a100"


def test_fraction_can_be_one_of_several_alternatives(cluster, job):
    holder = job("--gres=gpu:h100:2")
    cluster.wait_state(holder, "RUNNING")
    either = job("--gres=gpu:h100:0.5|gpu:a100:1")
    assert sees(cluster, either) == "0 a100"
    assert "GpuAlternatives=h100:0.5|a100:1" in cluster.show("job", either)


def test_array_tasks_share_a_gpu(cluster, job):
    array = job("--array=0-4", "--gres=gpu:a100:0.25")
    told = [sees(cluster, f"{array}_{task}") for task in range(4)]
    assert told == ["0 0.25 a100"] * 4
    assert cluster.queue(f"{array}_4", "%T") == "PENDING"


def test_fractions_are_shown_and_accounted(cluster, job):
    part = job("--gres=gpu:a100:0.5")
    cluster.wait_state(part, "RUNNING")
    other = job("--gres=gpu:a100:0.25")
    cluster.wait_state(other, "RUNNING")
    shown = cluster.run("actl", "-d", "show", "job", part).stdout
    for words in ("gres/gpu=0.5,gres/gpu:a100=0.5", "TresPerNode=gres/gpu:a100:0.5", "GPUFraction=0.5"):
        assert words in shown, shown
    node = cluster.show("node", "n1")
    assert "GresUsed=gpu:a100:0.75(IDX:0)" in node and "gres/gpu=0.75,gres/gpu:a100=0.75" in node, node
    assert cluster.queue(part, "%b") == "gres/gpu:a100:0.5"
    assert "gpu:a100:0.75" in cluster.run("ainfo", "-h", "-N", "-n", "n1", "-O", "gresused:40").stdout
    cluster.cancel(part)
    cluster.wait_end(part)
    for fields in ("AllocTRES", "ReqTRES"):
        told = cluster.account(part, fields).split(",")
        assert {"gres/gpu=0.5", "gres/gpu:a100=0.5"} <= set(told), told
    assert cluster.account(part, "AllocGPUS") == "0.5"


def test_smaller_fraction_is_suggested_and_can_be_set(cluster, job):
    first = job("--gres=gpu:a100:0.5")
    cluster.wait_state(first, "RUNNING")
    second = job("--gres=gpu:a100:0.75")
    cluster.wait_reason(second, "Resources")
    assert "(at most 0.5)" in why(cluster, second)
    assert "--gpus-per-node=a100:0.5" in why(cluster, second), why(cluster, second)
    cluster.run("actl", "update", f"jobid={second}", "Gres=gpu:a100:0.5")
    assert sees(cluster, second) == "0 0.5 a100"


@pytest.mark.parametrize("words, says", [
    (["--gres=gpu:1.5"], "a job gets a part of one GPU, below 1, or whole ones"),
    (["--gres=gpu:a100:1.5"], "below 1"),
    (["--gres=gpu:0.0"], "above 0"),
    (["--gres=gpu:-0.5"], "above 0"),
    (["--gres=gpu:0.0005"], "three decimals at most"),
    (["--gres=gpu:.5"], "write it with a point, such as 0.5"),
    (["--gres=gpu:0.5,gpu:h100:1"], "cannot be asked for together with other GPUs"),
    (["--gres=gpu:0.5", "--gpu-topology=nvlink"], "--gpu-topology=nvlink, which says how several GPUs are linked"),
    (["--gres=gpu:0.5", "--min-nvlink=1"], "--min-nvlink=1"),
    (["--gres=gpu:0.5", "--exclusive"], "--exclusive, which takes whole nodes"),
    (["--gres=gpu:0.5", "--cpus-per-gpu=2"], "--cpus-per-gpu; say --cpus-per-task"),
    (["--gres=gpu:0.5", "--mem-per-gpu=1G"], "--mem-per-gpu; say --mem"),
    (["-n2", "--gpus-per-task=0.5"], "several tasks of --gpus-per-task"),
    (["-N2", "--gpus=0.5"], "several nodes of --gpus"),
    (["--gres=gpu:h100:0.5|gpu:a100:1.5"], "below 1"),
    (["--gres=gpu:b200:0.5"], "needs 0.5 b200 GPU on one node; the most a node of partition main has is 0"),
])
def test_invalid_fractions_are_refused(cluster, words, says):
    assert says in refused(cluster, *words)


def test_fractions_in_use_are_kept_after_a_controller_restart(cluster, job):
    first = job("--gres=gpu:a100:0.4")
    second = job("--gres=gpu:a100:0.4")
    assert sees(cluster, first) == sees(cluster, second) == "0 0.4 a100"
    before = cluster.pid("aresctld")
    os.kill(before, signal.SIGKILL)
    until(lambda: cluster.pid("aresctld") != before and cluster.run("aqueue", "-h", check=False).returncode == 0)
    assert "GresUsed=gpu:a100:0.8(IDX:0)" in cluster.show("node", "n1")
    third, fourth = job("--gres=gpu:a100:0.4"), job("--gres=gpu:a100:0.2", "-t1")
    assert sees(cluster, fourth) == "0 0.2 a100"
    cluster.wait_reason(third, "Resources")
    cluster.cancel(first)
    assert sees(cluster, third) == "0 0.4 a100"
