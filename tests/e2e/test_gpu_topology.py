"""Jobs on a node with known GPU links: they get the GPUs that `actl topology` chooses, and start only when GPUs with the links that
they request are free."""

import pytest

from cluster import Cluster, until

# NVLinks connect 0 with 2 and 1 with 3, so that the lowest numbers are a wrong choice.
MATRIX = (
    "\tGPU0\tGPU1\tGPU2\tGPU3\tCPU Affinity\tNUMA Affinity\n"
    "GPU0\t X \tSYS\tNV4\tSYS\t0-1\t0\n"
    "GPU1\tSYS\t X \tSYS\tNV4\t2-3\t1\n"
    "GPU2\tNV4\tSYS\t X \tSYS\t0-1\t0\n"
    "GPU3\tSYS\tNV4\tSYS\t X \t2-3\t1\n")


@pytest.fixture(scope="module")
def matrix(tmp_path_factory):
    file = tmp_path_factory.mktemp("topology") / "matrix.txt"
    file.write_text(MATRIX)
    return file


@pytest.fixture(scope="module")
def cluster(matrix):
    made = Cluster("--nodes=1", "--cpus=8", f"--topology={matrix}")
    yield made
    made.close()


@pytest.fixture
def job(cluster):
    """Submits jobs that print their GPUs and run until the test ends."""
    made = []
    def submit(*words):
        made.append(cluster.wrap("echo $CUDA_VISIBLE_DEVICES; exec sleep 300", *words))
        return made[-1]
    yield submit
    for number in made:
        cluster.run("acancel", number, check=False)
    until(lambda: not cluster.run("aqueue", "-h").stdout.strip())


def gpus(cluster, job):
    cluster.wait_state(job, "RUNNING")
    return until(lambda: cluster.output(job).strip())


def named_by_actl(cluster, matrix, count, busy=None):
    words = ["--busy", busy] if busy else []
    return cluster.run("actl", "topology", str(matrix), "-Q", f"--allocate={count}", *words).stdout.strip()


def refused(cluster, *words):
    done = cluster.run("asub", *words, "--wrap", "true", check=False)
    assert done.returncode != 0, f"{words} was accepted"
    return done.stderr


def test_jobs_get_the_gpus_that_actl_topology_chooses(cluster, matrix, job):
    assert gpus(cluster, job("--gpus-per-node=2")) == named_by_actl(cluster, matrix, 2) == "0,2"
    assert gpus(cluster, job("--gpus-per-node=2")) == named_by_actl(cluster, matrix, 2, busy="0,2") == "1,3"


def test_job_waits_until_linked_gpus_are_free(cluster, job):
    holders = {}
    for _ in range(4):
        one = job("--gpus-per-node=1", "-c1")
        holders[gpus(cluster, one)] = one
    for gpu in "01":
        cluster.run("acancel", holders[gpu])
        cluster.wait_end(holders[gpu])
    waits = job("--gpus-per-node=2", "--gpu-topology=nvlink", "-c1")
    cluster.wait_reason(waits, "Resources")
    why = " ".join(cluster.run("aqueue", "--why", waits).stdout.split())
    assert "2 GPUs of one type a node with --gpu-topology=nvlink" in why, why
    assert "1 node with too few free GPUs so linked (at most 1 together)" in why, why
    cluster.run("acancel", holders["2"])
    assert gpus(cluster, waits) == "0,2"


def test_links_that_no_node_has_are_refused(cluster):
    assert ("needs 3 GPUs with --gpu-topology=nvlink on one node; the most a node of partition main has is 2"
            in refused(cluster, "--gpus-per-node=3", "--gpu-topology=nvlink"))
    assert "with --min-nvlink=5 on one node" in refused(cluster, "--gpus-per-node=2", "--min-nvlink=5")
    assert "ask for GPUs as well" in refused(cluster, "--gpu-topology=node")
    assert "is no topology of GPUs; there are any, nvlink" in refused(cluster, "--gpus-per-node=2", "--gpu-topology=ring")


def test_gpu_topology_is_shown_and_can_be_updated(cluster, job):
    assert "GpuTopology=4 GPUs; NVLink 0,2 (4 each) 1,3 (4 each); NUMA 0,2 1,3" in cluster.show("node", "n1")
    held = job("--gpus-per-node=2", "--min-nvlink=4", "-H")
    assert "GpuTopology=any MinNvlink=4" in cluster.show("job", held)
    cluster.run("actl", "update", "job", held, "GpuTopology=node", "MinNvlink=0")
    assert "GpuTopology=node MinNvlink=0" in cluster.show("job", held)
    refusal = cluster.run("actl", "update", "job", held, "MinNvlink=5", check=False)
    assert refusal.returncode != 0 and "--min-nvlink=5" in refusal.stderr, refusal


def test_cluster_does_not_start_with_an_invalid_topology_file(tmp_path):
    bad = tmp_path / "bad.txt"
    bad.write_text(MATRIX.replace("GPU3\tSYS\tNV4", "GPU3\tSYS\tNV5"))
    with pytest.raises(AssertionError) as refusal:
        Cluster("--nodes=1", f"--topology={bad}").close()
    assert f"{bad}: line 5, column 10: GPU3 says NV5 of GPU1, but line 3 says NV4" in str(refusal.value)
