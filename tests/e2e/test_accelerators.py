"""Jobs that accept several types of GPUs, on a cluster with two types; and the other options with alternatives: several partitions,
alternative features, preferred features."""

import pytest

from cluster import Cluster, until

MIXED = """
cluster: test
controller:
  operators: [root]
policy: {kill_wait: 2, heartbeat: 1, launch_backoff: 1}
nodes:
  - {name: n1, cpus: 8, memory: 8000M, gpus: "h100:4", features: [fast, r1]}
  - {name: n2, cpus: 8, memory: 8000M, gpus: "a100:8", features: [r1]}
  - {name: n3, cpus: 8, memory: 8000M, gpus: "a100:8", features: [r2]}
partitions:
  - {name: main, nodes: "n[1-3]", default: true, default_memory_per_cpu: 100M}
  - {name: small, nodes: "n1", default_memory_per_cpu: 100M}
"""

EITHER = "gpu:h100:4|gpu:a100:8"


@pytest.fixture(scope="module")
def mixed():
    made = Cluster(config=MIXED)
    yield made
    made.close()


@pytest.fixture
def job(mixed):
    """Submits jobs that run until the test ends."""
    made = []
    def submit(*words, **more):
        made.append(mixed.wrap("echo $ARES_JOB_GPU_TYPES; exec sleep 300", *words, **more))
        return made[-1]
    yield submit
    mixed.run("acancel", *made, check=False)
    until(lambda: not mixed.run("aqueue", "-h").stdout.strip())


def given(cluster, job):
    """Number of GPUs of each type allocated to a running job."""
    cluster.wait_state(job, "RUNNING")
    tres = dict(item.split("=") for item in
                cluster.run("aqueue", "-h", "-j", job, "-O", "tres-alloc:200").stdout.strip().split(","))
    return {name.removeprefix("gres/gpu:"): int(count) for name, count in tres.items() if name.startswith("gres/gpu:")}


def why(cluster, job):
    return " ".join(cluster.run("aqueue", "--why", job).stdout.split())


def refused(cluster, *words):
    done = cluster.run("asub", *words, "--wrap", "true", check=False)
    assert done.returncode != 0, f"{words} was accepted"
    return done.stderr


def test_first_free_alternative_is_allocated(mixed, job):
    first, second, third, fourth = (job(f"--gres={EITHER}") for _ in range(4))
    assert given(mixed, first) == {"h100": 4}
    assert given(mixed, second) == {"a100": 8}
    assert given(mixed, third) == {"a100": 8}
    assert until(lambda: mixed.output(first).strip()) == ",".join(["h100"] * 4)
    assert until(lambda: mixed.output(third).strip()) == ",".join(["a100"] * 8)
    mixed.wait_reason(fourth, "Resources")
    told = why(mixed, fourth)
    assert "with h100:4: needs" in told and "with a100:8: needs" in told, told
    assert mixed.queue(fourth, "%b") == "gres/gpu:h100:4|gres/gpu:a100:8"
    assert "GpuAlternatives=h100:4|a100:8 GpusPer=node" in mixed.show("job", fourth)
    mixed.cancel(second)
    assert given(mixed, fourth) == {"a100": 8}


def test_accounting_records_the_allocated_alternative(mixed, job):
    holder = job("--gres=gpu:h100:1")
    mixed.wait_state(holder, "RUNNING")
    ended = mixed.wrap("true", f"--gres={EITHER}")
    mixed.completed(ended)
    asked, got = mixed.account(ended, "ReqTRES,AllocTRES").split("|")
    assert "gres/gpu:h100=4" in asked.split(",")
    assert {"gres/gpu=8", "gres/gpu:a100=8"} <= set(got.split(",")) and "h100" not in got


def test_costly_alternative_is_not_used_when_waiting_is_cheaper(mixed, job):
    holder = job("--gres=gpu:h100:1", "-t", "10")
    mixed.wait_state(holder, "RUNNING")
    waits = job("--gres=gpu:h100:4|gpu:a100:8@1.5", "-t", "60")
    mixed.wait_reason(waits, "Resources")
    assert mixed.queue(waits, "%b") == "gres/gpu:h100:4|gres/gpu:a100:8@1.5"
    told = why(mixed, waits)
    assert "could start now with a100:8" in told and "--gpus-per-node=a100:8" in told, told
    assert given(mixed, job("--gres=gpu:h100:4|gpu:a100:8@1.1", "-t", "60")) == {"a100": 8}, "six minutes are less than ten"
    mixed.cancel(holder)
    assert given(mixed, waits) == {"h100": 4}


def test_alternatives_of_a_pending_job_can_be_updated(mixed, job):
    holder = job("--gres=gpu:h100:1", "-t", "10")
    mixed.wait_state(holder, "RUNNING")
    waits = job("--gres=gpu:h100:4|gpu:a100:8@2", "-t", "60")
    mixed.wait_reason(waits, "Resources")
    mixed.run("actl", "update", f"jobid={waits}", "Gres=gpu:h100:4|gpu:a100:8")
    assert given(mixed, waits) == {"a100": 8}


def test_all_nodes_of_a_job_get_the_same_alternative(mixed, job):
    two = job("-N2", "--gres=gpu:h100:2|gpu:a100:2")
    assert given(mixed, two) == {"a100": 4}
    assert mixed.queue(two, "%N") == "n[2-3]"
    assert "needs 3 nodes" in refused(mixed, "-N3", "--gres=gpu:h100:2|gpu:a100:2")


def test_every_gpu_option_accepts_alternatives(mixed, job):
    holder = job("--gres=gpu:h100:2")
    mixed.wait_state(holder, "RUNNING")
    test_only = mixed.run("asub", "--test-only", f"--gres={EITHER}", "--wrap", "true")
    assert "n2" in test_only.stdout + test_only.stderr, test_only.stdout + test_only.stderr
    assert given(mixed, job("--gpus=h100:4|a100:3")) == {"a100": 3}
    assert given(mixed, job("-n3", "--gpus-per-task=h100:1|a100:2")) == {"a100": 6}
    assert given(mixed, job("-c1", "--gpus-per-node=h100:1|a100:2")) == {"h100": 1}
    script = mixed.script(f"#!/bin/sh\n#ARES --gres={EITHER}\ntrue\n")
    directed = mixed.submit(str(script))
    mixed.run("acancel", directed)
    assert "gres/gpu:h100=4" in mixed.account(directed, "ReqTRES")


def test_array_tasks_choose_alternatives_separately(mixed, job):
    array = job("--array=0-2", f"--gres={EITHER}")
    kinds = [given(mixed, f"{array}_{task}") for task in range(3)]
    assert kinds == [{"h100": 4}, {"a100": 8}, {"a100": 8}]


@pytest.mark.parametrize("words, says", [
    (["--gres=gpu:h100:5|gpu:a100:9"], "h100:5: needs 5 h100 GPUs on one node; the most a node of partition main has is 4; or a100:9"),
    (["--gres=gpu:4@1.5"], "a cost (@) is for one of several alternatives"),
    (["--gres=gpu:h100:4|gpu:a100:8@0"], "is no cost"),
    (["--gres=gpu:h100:4|"], "empty"),
    (["--gres=gpu:h100:0|gpu:a100:1"], "asks for no GPU"),
    (["--gres=gpu:h100:1|gpu:h100:1"], "is there twice"),
    (["--gres=gpu:h100:1|gpu:a100:1", "--gpus=2"], "one of these, not several"),
])
def test_invalid_gpu_alternatives_are_refused(mixed, words, says):
    assert says in refused(mixed, *words)


def test_one_alternative_has_to_exist(mixed, job):
    assert given(mixed, job("--gres=gpu:b200:8|gpu:h100:1")) == {"h100": 1}


# --- other choices -------------------------------------------------------------------------------------------------

def test_job_starts_in_the_first_partition_with_room(mixed, job):
    holder = job("-p", "small", "-c8")
    mixed.wait_state(holder, "RUNNING")
    other = job("-p", "small,main", "-c2")
    mixed.wait_state(other, "RUNNING")
    assert mixed.queue(other, "%P") == "main"
    mixed.cancel(holder)
    mixed.wait_end(holder)
    third = job("-p", "small,main", "-c2")
    mixed.wait_state(third, "RUNNING")
    assert mixed.queue(third, "%P") == "small"
    assert given(mixed, job("-p", "small,main", "--gres=gpu:b200:1|gpu:a100:1")) == {"a100": 1}


def test_preferred_and_alternative_features_choose_the_node(mixed, job):
    preferred = job("--prefer=fast", "-c8")
    mixed.wait_state(preferred, "RUNNING")
    assert mixed.queue(preferred, "%N") == "n1"
    without = job("--prefer=fast", "-C", "fast|r2", f"--gres={EITHER}")
    mixed.wait_state(without, "RUNNING")
    assert mixed.queue(without, "%N") == "n3"
    assert "Requested node configuration is not available" in refused(mixed, "-C", "fast&r2"), "no node has both"
