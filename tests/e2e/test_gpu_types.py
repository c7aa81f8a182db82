# Tests: job_classes
"""GPUs without a type in a partition whose nodes have different types."""

import pytest

from cluster import Cluster

CONFIG = """
cluster: types
controller: {operators: [root]}
nodes:
  - {name: n1, cpus: 8, memory: 4000M, gpus: "a100:4"}
  - {name: n2, cpus: 8, memory: 4000M, gpus: "h100:4"}
  - {name: n3, cpus: 8, memory: 4000M, gpus: "a100:4"}
  - {name: n4, cpus: 8, memory: 4000M, gpus: "a100:2,h100:2"}
  - {name: n5, cpus: 8, memory: 4000M, gpus: "h100:4"}
partitions:
  - {name: main, nodes: "n[1-3]", default: true}
  - {name: mixed, nodes: "n[1-4]"}
  - {name: late, nodes: "n[1,3,5]"}
"""


@pytest.fixture(scope="module")
def cluster():
    made = Cluster(config=CONFIG)
    yield made
    made.close()


def tres(cluster, job):
    cluster.completed(job)
    return cluster.account(job, "AllocTRES%80")


@pytest.mark.parametrize("options, gpus", [
    (("-N3", "--gpus-per-node=2"), {"a100": 4, "h100": 2}),
    (("-N3", "--gpus=12"), {"a100": 8, "h100": 4}),
    (("-N3", "-n6", "--gpus-per-task=1"), {"a100": 4, "h100": 2}),
    (("--gpus=9",), {"a100": 6, "h100": 3}),
    (("-N2", "--gpus-per-node=4"), {"a100": 8}),  # one type is enough
    (("--gpus=a100:4,h100:4",), {"a100": 4, "h100": 4}),
    (("--gpus=h100:2,a100:6",), {"a100": 6, "h100": 2}),
    (("--partition=late", "--gpus=a100:4,h100:4"), {"a100": 4, "h100": 4}),
    (("--partition=mixed", "--gpus=a100:3,h100:3"), {"a100": 3, "h100": 3}),
    (("--partition=mixed", "-N2", "--gpus=a100:6,h100:2"), {"a100": 6, "h100": 2}),
    (("--partition=mixed", "-N3", "--gpus=a100:6,h100:6"), {"a100": 6, "h100": 6}),
    (("-N1", "--gpus=4", "--gpus-per-node=4"), {"a100": 4}),
    (("--gpus=8", "--gpus-per-node=4"), {"a100": 8}),
    (("-N1", "-n2", "--gres=gpu:h100:2", "--gpus-per-task=1"), {"h100": 2}),
])
def test_several_nodes_give_the_types_they_have(cluster, options, gpus):
    job = cluster.wrap("arun -n$SLURM_JOB_NUM_NODES --ntasks-per-node=1 sh -c 'echo $CUDA_VISIBLE_DEVICES'", *options, "-o", "gpus-%j")
    used = tres(cluster, job)
    for name, count in gpus.items():
        assert f"gres/gpu:{name}={count}" in used, used
    seen = [line for line in (cluster.work / f"gpus-{job}").read_text().split() if line]
    assert sum(len(line.split(",")) for line in seen) == sum(gpus.values()), seen


@pytest.mark.parametrize("options, fewest", [
    (("-N1", "--gpus=a100:1,h100:1"), 2),
    (("-N2", "--gpus=a100:5,h100:1"), 3),
])
def test_types_that_no_permitted_number_of_nodes_has_together_are_refused(cluster, options, fewest):
    done = cluster.run("asub", *options, "--wrap", "true", check=False)
    assert done.returncode == 1 and f"that have them together are {fewest}, and the job has at most {fewest - 1} (-N)" in done.stderr, done


def test_what_no_node_has_is_refused(cluster):
    for options in (("-N3", "--gpus-per-node=5"), ("-N3", "--gpus=13")):
        done = cluster.run("asub", *options, "--wrap", "true", check=False)
        assert done.returncode == 1 and "not available" in done.stderr, options
