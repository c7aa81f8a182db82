# Tests: start_checks, cluster_index, query_nodes
"""Temporary storage: --tmp is counted on nodes for which ares.yaml has tmp_disk."""
import re

import pytest

from cluster import ROOT, Cluster, until

CONFIG = """
cluster: stored
controller: {operators: [root]}
policy: {kill_wait: 2, heartbeat: 1, launch_backoff: 1}
nodes:
  - {name: n1, cpus: 4, memory: 4000M, tmp_disk: 10G}
  - {name: n2, cpus: 4, memory: 4000M, tmp_disk: 8G}
  - {name: n3, cpus: 4, memory: 4000M}
partitions:
  - {name: main, nodes: "n[1-2]", default: true}
  - {name: uncounted, nodes: n3}
"""
SLURM = ROOT / "contrib/slurm/bin"


@pytest.fixture(scope="module")
def cluster():
    cluster = Cluster(config=CONFIG)
    yield cluster
    cluster.close()


def refusal(cluster, *words):
    done = cluster.run("asub", *words, "--wrap", "true", check=False)
    assert done.returncode == 1, done
    return done.stderr


def test_jobs_share_the_temporary_storage_of_a_node(cluster):
    first = cluster.wrap("sleep 1000", "--tmp=6G", "-w", "n1")
    cluster.wait_state(first, "RUNNING")
    second = cluster.submit("-w", "n1", cluster.script("#!/bin/sh\n#SBATCH --tmp=6144\nsleep 1000\n"))
    cluster.wait_reason(second, "Resources")
    why = cluster.run("aqueue", "--why", second).stdout
    assert "6G of temporary storage a node" in why and "too little free temporary storage (at most 4G)" in why, why
    other = cluster.wrap("sleep 1000", "-w", "n1")
    cluster.wait_state(other, "RUNNING")  # it asks for none

    assert "TmpDisk=10240 AllocTmpDisk=6144" in cluster.show("node", "n1")
    assert "TmpDisk" not in cluster.show("node", "n3")
    assert "MinTmpDiskNode=6G" in cluster.show("job", second)
    assert cluster.queue(second, "%d") == "6G" and cluster.queue(other, "%d") == "0"
    assert cluster.run("ainfo", "-h", "-N", "-n", "n[1-3]", "-o", "%n %d").stdout.split() == ["n1", "10240", "n2", "8192", "n3", "0"]
    assert cluster.run(SLURM / "squeue", "-h", "-j", second, "-o", "%d").stdout.strip() == "6G"
    assert cluster.run(SLURM / "sinfo", "-h", "-n", "n1", "-o", "%d").stdout.strip() == "10240"
    assert "MinTmpDiskNode=6G" in cluster.run(SLURM / "scontrol", "show", "job", second).stdout
    assert "TmpDisk=8192" in cluster.run(SLURM / "scontrol", "show", "node", "n2").stdout

    cluster.run("actl", "update", f"jobid={second}", "MinTmpDiskNode=4G")
    cluster.wait_state(second, "RUNNING")
    third = cluster.wrap("true", "--tmp=1", "-w", "n1")
    cluster.wait_reason(third, "Resources")
    cluster.cancel(first)
    cluster.completed(third)
    cluster.cancel(second, other)


def test_each_node_of_a_job_gives_the_amount(cluster):
    for node in ("n1", "n2"):
        until(lambda node=node: "AllocTmpDisk=0" in cluster.show("node", node))
    job = cluster.wrap("sleep 1000", "-N2", "--tmp=8G")
    cluster.wait_state(job, "RUNNING")
    assert all("AllocTmpDisk=8192" in cluster.show("node", node) for node in ("n1", "n2"))
    cluster.cancel(job)


def test_more_than_a_node_has_is_refused(cluster):
    assert "needs 11G of temporary storage on one node (--tmp); the most a node of partition main has is 10G" in refusal(cluster, "--tmp=11G")
    assert "needs 2 nodes; 1 of partition main" in refusal(cluster, "-N2", "--tmp=9G")
    assert "--tmp" in refusal(cluster, "--tmp=lots")


def test_where_no_node_counts_it_the_user_is_told(cluster):
    done = cluster.run("asub", "--parsable", "-p", "uncounted", "--tmp=900G", "--wrap", "true")
    assert "asub: --tmp has no effect: no node of partition uncounted says how much temporary storage it has" in done.stderr
    cluster.completed(done.stdout.strip())
    assert "--tmp" not in cluster.run("asub", "--parsable", "--tmp=1G", "--wrap", "true").stderr


def test_another_configuration_applies_at_once(cluster):
    file = cluster.dir / "ares.yaml"
    before = file.read_text()
    file.write_text(re.sub(r"tmp_disk: \"?10G\"?", "tmp_disk: 20G", before))
    assert "tmp_disk: 10G -> 20G" in cluster.run("actl", "reconfigure").stdout
    assert "TmpDisk=20480" in cluster.show("node", "n1")
    cluster.completed(cluster.wrap("true", "--tmp=15G"))
    file.write_text(re.sub(r", tmp_disk: \"?\d+G\"?", "", before))
    cluster.run("actl", "reconfigure")
    assert "TmpDisk" not in cluster.show("node", "n1")
    cluster.completed(cluster.wrap("true", "--tmp=15G"))
    file.write_text(before)
    cluster.run("actl", "reconfigure")
    assert "TmpDisk=10240" in cluster.show("node", "n1")
