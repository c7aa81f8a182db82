# Tests: reserved
"""CPUs and memory of a node that are set aside for the system. The machine is synthetic, so that its CPUs are known."""
import os

import pytest

from cgroups import needs
from cluster import Cluster

CONFIG = """
cluster: apart
controller: {operators: [root]}
policy: {kill_wait: 2, heartbeat: 1, launch_backoff: 1}
nodes:
  - {name: "n1", cpus: 2, memory: 1000M, reserved_cpus: 0, reserved_memory: 400M}
partitions:
  - {name: main, nodes: "n1", default: true}
"""


@pytest.fixture(scope="module")
def cluster():
    if os.cpu_count() < 2 or not {0, 1} <= os.sched_getaffinity(0):
        pytest.skip("needs the CPUs 0 and 1")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HWLOC_SYNTHETIC", "pack:1 core:2 pu:1")
        made = Cluster(config=CONFIG)
        yield made
        made.close()


def test_they_are_not_offered_and_the_node_says_which_are(cluster):
    shown = cluster.show("node", "n1")
    assert "CPUTot=1" in shown and "RealMemory=600" in shown, shown
    assert "CpuLayout=1 socket, 1 NUMA node, 1 core, 1 CPU (1)" in shown, shown
    assert cluster.run("ainfo", "-h", "-n", "n1", "-o", "%c %m").stdout.split() == ["1", "600"]
    assert "CPUs 0 are set aside for the system" in cluster.acluster("logs", "--lines=1000", "aresd@n1").stdout
    refused = cluster.run("asub", "-c2", "--wrap", "true", check=False)
    assert refused.returncode != 0
    refused = cluster.run("asub", "--mem=700M", "--wrap", "true", check=False)
    assert refused.returncode != 0


def test_jobs_run_beside_them(cluster):
    needs("cpuset")
    job = cluster.wrap("taskset -pc 0-1 $$ >/dev/null; grep Cpus_allowed_list /proc/self/status | cut -f2", "--mem=600M")
    cluster.completed(job)
    assert cluster.output(job).strip() == "1"
    with open(f"/proc/{cluster.pid('aresd@n1')}/status") as status:
        allowed = next(line.split()[1] for line in status if line.startswith("Cpus_allowed_list"))
    assert "0" in allowed.replace("-", ",").split(","), "the daemon is not kept from them"
