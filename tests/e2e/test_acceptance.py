"""Cases of doc/acceptance.md that no other file covers; the id is in the name."""
import os
import re
import signal

import pytest

from cluster import ROOT, Cluster, until

CONFIG = """
cluster: cases
topology_file: {folder}/topology.yaml
controller: {{operators: [root]}}
policy: {{kill_wait: 2, heartbeat: 1, launch_backoff: 1}}
node: {{epilog: {folder}/epilog, epilog_timeout: 3}}
nodes:
  - {{name: n1, cpus: 4, memory: 4000M, gpus: "a100:4"}}
  - {{name: "n[2-4]", cpus: 4, memory: 4000M}}
partitions:
  - {{name: main, nodes: "n[1-4]", default: true, default_memory_per_cpu: 500M, topology: fabric}}
  - {{name: left, nodes: "n[1-2]", default_memory_per_cpu: 500M}}
  - {{name: right, nodes: "n[3-4]", default_memory_per_cpu: 500M}}
  - {{name: low, nodes: "n[1-4]", default_memory_per_cpu: 500M}}
  - {{name: high, nodes: "n[1-4]", default_memory_per_cpu: 500M, tier: 5}}
  - {{name: p1, nodes: "n[1-4]", default_memory_per_cpu: 500M, max_nodes: 1}}
  - {{name: p2, nodes: "n[1-4]", default_memory_per_cpu: 500M, max_nodes: 2}}
  - {{name: half, nodes: "n[1-4]", default_memory_per_cpu: 500M, max_cpus_per_node: 2}}
"""
TOPOLOGY = """
topologies:
  - name: fabric
    tree:
      - {switch: s1, nodes: "n[1-2]"}
      - {switch: s2, nodes: "n[3-4]"}
      - {switch: spine, switches: "s[1-2]"}
"""


@pytest.fixture(scope="module")
def cluster(tmp_path_factory):
    folder = tmp_path_factory.mktemp("site")
    folder.chmod(0o755)
    (folder / "topology.yaml").write_text(TOPOLOGY)
    epilog = folder / "epilog"
    epilog.write_text(f"#!/bin/sh\n[ ! -e {folder}/slow ] || {{ echo $$ > {folder}/pid; sleep 60; }}\n")
    epilog.chmod(0o755)
    made = Cluster(config=CONFIG.format(folder=folder))
    made.folder = folder
    yield made
    made.close()


@pytest.fixture(autouse=True)
def nothing_runs(cluster):
    yield
    cluster.cancel("--me", check=False)
    until(lambda: not cluster.run("aqueue", "-h", "-a", check=False).stdout.strip())


def nodes_of(cluster, job):
    return cluster.queue(job, "%N")


def test_ac059_switches_are_given_up_after_the_time(cluster):
    for node in ("n2", "n3", "n4"):
        cluster.wait_state(cluster.wrap("sleep 300", "-w", node, "-c4"), "RUNNING")
    waiting = cluster.wrap("sleep 300", "-N2", "--switches=1")
    gives_up = cluster.wrap("sleep 300", "-N2", "-n2", "--switches=1@0:02")
    assert cluster.state(gives_up) == "PENDING"
    cluster.cancel(cluster.run("aqueue", "-h", "-w", "n3", "-o", "%i").stdout.split()[0])
    cluster.wait_state(gives_up, "RUNNING", seconds=60)
    assert nodes_of(cluster, gives_up) == "n[1,3]", "under two switches"
    assert cluster.queue(waiting) == "PENDING"


@pytest.mark.parametrize("enforced, two, three", [("all", None, None), ("any", "p2", None), ("none", "p2", "PENDING")])
def test_ac019_limits_of_partitions_are_enforced_as_the_site_says(cluster, enforced, two, three):
    config = cluster.dir / "ares.yaml"
    config.write_text(re.sub(r"^policy:\n", f"policy:\n  enforce_partition_limits: {enforced}\n",
                             re.sub(r"  enforce_partition_limits: .*\n", "", config.read_text()), flags=re.MULTILINE))
    cluster.run("actl", "reconfigure")
    jobs = {}
    for nodes, expected in ((2, two), (3, three)):
        done = cluster.run("asub", "--parsable", "-p", "p1,p2", f"-N{nodes}", "--wrap", "sleep 300", check=False)
        assert (done.returncode == 0) == (expected is not None), done.stdout + done.stderr
        jobs[nodes] = done.stdout.strip()
        if expected is None:
            assert f"needs {nodes} nodes; partition p1 allows a job 1" in done.stderr
    if two:
        cluster.wait_state(jobs[2], "RUNNING")
        assert cluster.queue(jobs[2], "%P") == two
    if three:
        until(lambda: cluster.queue(jobs[3], "%t %r") == "PD PartitionNodeLimit")
        cluster.run("actl", "update", "partition=p2", "MaxNodes=3")
        cluster.cancel(jobs[2])
        cluster.wait_state(jobs[3], "RUNNING")
        cluster.run("actl", "update", "partition=p2", "MaxNodes=2")


def test_ac063_gres_and_gpus_per_node_say_the_same(cluster):
    refused = cluster.run("asub", "--gpus-per-node=2", "--gres=gpu:2", "--wrap", "true", check=False)
    assert refused.returncode == 1
    assert "--gpus-per-node and --gres are mutually exclusive" in refused.stderr


def test_ac104_tasks_of_an_array_run_in_both_partitions(cluster):
    for node in ("n1", "n3"):
        cluster.wait_state(cluster.wrap("sleep 300", "-w", node, "-c4"), "RUNNING")
    array = cluster.wrap("sleep 300", "-p", "left,right", "-c4", "--array=0-1")
    until(lambda: cluster.run("aqueue", "-h", "-j", array, "-o", "%t").stdout.split() == ["R", "R"])
    rows = sorted(line.split() for line in cluster.run("aqueue", "-h", "-j", array, "-o", "%P %N").stdout.splitlines())
    assert rows == [["left", "n2"], ["right", "n4"]]


def test_ac126_an_epilog_that_takes_too_long_ends_by_its_time_limit(cluster):
    (cluster.folder / "slow").touch()
    job = cluster.wrap("true", "-w", "n2")
    until(lambda: (cluster.folder / "pid").exists())
    assert cluster.queue(job) == "COMPLETING"
    cluster.wait_state(job, "COMPLETED", seconds=30)
    pid = int((cluster.folder / "pid").read_text())
    until(lambda: not os.path.exists(f"/proc/{pid}"))
    (cluster.folder / "slow").unlink()
    until(lambda: "DRAINED" in cluster.run("ainfo", "-h", "-N", "-n", "n2", "-p", "main", "-o", "%T").stdout.upper())
    cluster.run("actl", "resume", "n2")


def test_ac048_more_tasks_than_cpus_share_the_cpus_of_the_node(cluster):
    job = cluster.wrap("echo $SLURM_NTASKS $SLURM_CPUS_ON_NODE $SLURM_OVERCOMMIT; arun bash -c 'echo task'", "-n8", "-O", "-N1")
    cluster.completed(job)
    assert cluster.output(job).splitlines() == ["8 4 1"] + 8 * ["task"]
    assert cluster.account(job, "AllocCPUS,ReqMem").startswith("4|")
    assert cluster.run("arun", "-n8", "-N1", "-O", "echo", "task").stdout.splitlines() == 8 * ["task"]
    refused = cluster.run("asub", "-n8", "-N1", "--wrap", "true", check=False)
    assert "8 tasks of 1 CPUs" in refused.stderr


def test_ac133_a_job_of_two_partitions_starts_in_the_higher_tier_and_stays_there(cluster):
    job = cluster.wrap("sleep 300", "-p", "low,high")
    cluster.wait_state(job, "RUNNING")
    assert cluster.queue(job, "%P") == "high"
    os.kill(cluster.pid("aresctld"), signal.SIGKILL)
    cluster.up()
    assert cluster.queue(job, "%P") == "high"
    changed = cluster.run("actl", "update", f"job={job}", "partition=low", check=False)
    assert changed.returncode != 0 or cluster.queue(job, "%P") == "high"
    assert re.search(r"^ +Partition=high", cluster.run("actl", "show", "job", job).stdout, re.MULTILINE)


def test_ac117_steps_that_exceed_the_memory_only_together_end_the_job(cluster):
    program = cluster.work / "fill.py"
    program.write_text("import time\nx = bytearray(150 << 20)\ntime.sleep(8)\n")
    job = cluster.wrap(f"arun --overlap -n1 python3 {program} & arun --overlap -n1 python3 {program} & wait; exit 0", "-n2", "--mem=250")
    cluster.wait_state(job, "OUT_OF_MEMORY", seconds=60)


def test_ac056_a_partition_gets_only_its_cpus_of_a_node(cluster):
    of_half = [cluster.wrap("sleep 1000", "-p", "half", "-w", "n2") for _ in range(3)]
    of_main = cluster.wrap("sleep 1000", "-p", "main", "-w", "n2", "-c2")
    for job in (*of_half[:2], of_main):
        cluster.wait_state(job, "RUNNING")
    cluster.wait_reason(of_half[2], "Resources")
    assert "MaxCPUsPerNode=2" in cluster.show("partition", "half") and "MaxCPUsPerNode=UNLIMITED" in cluster.show("partition", "main")
    refused = cluster.run("asub", "-p", "half", "-c3", "--wrap", "true", check=False)
    assert refused.returncode == 1 and "has is 2 (MaxCPUsPerNode)" in refused.stderr
    cluster.cancel(of_half[0])
    cluster.wait_state(of_half[2], "RUNNING")

    # None at all, then all of them.
    cluster.cancel(*of_half[1:], of_main)
    cluster.run("actl", "update", "partition=half", "MaxCPUsPerNode=0")
    assert "MaxCPUsPerNode" in cluster.run("asub", "-p", "half", "--wrap", "true", check=False).stderr
    assert ", or UNLIMITED" in cluster.run("actl", "update", "partition=half", "MaxCPUsPerNode=lots", check=False).stderr
    cluster.run("actl", "update", "partition=half", "MaxCPUsPerNode=UNLIMITED")
    cluster.completed(cluster.wrap("true", "-p", "half", "-w", "n2", "-c4"))
    cluster.run("actl", "update", "partition=half", "MaxCPUsPerNode=2")


KEEPS_CORES = """
cluster: kept
controller: {{operators: [root]}}
policy: {{kill_wait: 2, heartbeat: 1, launch_backoff: 1}}
nodes:
  - {{name: n1, cpus: 12, memory: 4000M, gpus: {{topology: {matrix}}}, restricted_cores_per_gpu: 2}}
partitions:
  - {{name: main, nodes: n1, default: true}}
"""
TWO_SOCKETS = (
    "\tGPU0\tGPU1\tGPU2\tGPU3\tCPU Affinity\tNUMA Affinity\n"
    "GPU0\tX\tPIX\tSYS\tSYS\t0-5\t0\n"
    "GPU1\tPIX\tX\tSYS\tSYS\t0-5\t0\n"
    "GPU2\tSYS\tSYS\tX\tPIX\t6-11\t1\n"
    "GPU3\tSYS\tSYS\tPIX\tX\t6-11\t1\n")


@pytest.fixture
def keeps_cores(tmp_path):
    """A cluster of one node with two sockets of six cores, and two GPUs at each."""
    (tmp_path / "matrix").write_text(TWO_SOCKETS)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HWLOC_SYNTHETIC", "pack:2 core:6 pu:1")
        made = Cluster(config=KEEPS_CORES.format(matrix=tmp_path / "matrix"))
        yield made
        made.close()


def cpus_of(cluster, job):
    """The CPUs of a running job, as its node was told."""
    cluster.wait_state(job, "RUNNING")
    record = until(lambda: next((cluster.dir / "spool/n1/jobs").glob(f"{job}.*/spec"), None))
    return [int(line.split()[1]) for line in record.read_bytes().decode(errors="replace").splitlines() if line.startswith("cpu_id ")]


def test_ac077_a_node_keeps_cores_for_jobs_with_gpus(keeps_cores):
    cluster = keeps_cores
    assert "RestrictedCoresPerGPU=2(0-3,6-9)" in cluster.show("node", "n1")
    scontrol = ROOT / "contrib/slurm/bin/scontrol"
    assert "RestrictedCoresPerGPU=2(0-3,6-9)" in cluster.run(scontrol, "show", "node", "n1").stdout
    without = cluster.wrap("sleep 1000", "-N1", "-n4")
    assert cpus_of(cluster, without) == [4, 5, 10, 11]
    refused = cluster.run("asub", "-N1", "-n5", "--wrap", "true", check=False)
    assert refused.returncode == 1 and "RestrictedCoresPerGPU" in refused.stderr and "room for 4" in refused.stderr, refused.stderr

    waiting = cluster.wrap("true", "-n1")
    cluster.wait_reason(waiting, "Resources")
    assert "not kept for jobs with GPUs" in cluster.run("aqueue", "--why", waiting).stdout
    gpu = cluster.wrap("sleep 1000", "-n2", "--gpus=1")
    assert cpus_of(cluster, gpu) == [0, 1]
    rest = cluster.wrap("sleep 1000", "-n6", "--gpus=3")
    assert cpus_of(cluster, rest) == [2, 3, 6, 7, 8, 9]
    cluster.cancel(without)
    cluster.completed(waiting)

    # A job with a GPU may have all; another configuration applies at once.
    cluster.cancel(gpu, rest)
    every = cluster.wrap("sleep 1000", "-n12", "--gpus=1")
    assert cpus_of(cluster, every) == list(range(12))
    cluster.cancel(every)
    file = cluster.dir / "ares.yaml"
    file.write_text(re.sub(r"restricted_cores_per_gpu: \d+", "restricted_cores_per_gpu: 1", file.read_text()))
    assert "restricted_cores_per_gpu: 2 -> 1" in cluster.run("actl", "reconfigure").stdout
    assert "RestrictedCoresPerGPU=1(0-1,6-7)" in cluster.show("node", "n1")
    cluster.completed(cluster.wrap("true", "-N1", "-n8"))
    assert cluster.run("asub", "-N1", "-n9", "--wrap", "true", check=False).returncode == 1
