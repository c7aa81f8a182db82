# Tests: network_by_features
"""Nodes that join have their place in the network by their features, as labels of Kubernetes become: --switches, --segment, packing and
`actl show topology` follow the features, also when they change."""
import re

import pytest

from cluster import Cluster, until
from test_found_nodes import finding_daemon, shown, write_nodes

CONFIG = """
cluster: labels
topology_file: {topology}
controller: {{operators: [root]}}
policy:
  kill_wait: 2
  heartbeat: 1
  launch_backoff: 1
  dynamic_nodes: [{{prefix: k, partitions: [main, cliques]}}]
nodes:
  - {{name: n1, cpus: 4, memory: 4000M}}
partitions:
  - {{name: main, nodes: n1, default: true, default_memory_per_cpu: 100M, topology: cloud}}
  - {{name: cliques, nodes: n1, default_memory_per_cpu: 100M, topology: cliques}}
"""

TOPOLOGY = """
topologies:
  - name: cloud
    tree_by: [zone, rack]
  - {name: cliques, block_by: clique}
"""

RACKS = {"k1": "zone=a,rack=r1,clique=x", "k2": "zone=a,rack=r2,clique=x", "k3": "zone=b,rack=r1,clique=y", "k4": "zone=a,rack=r1,clique=y"}


def write(cluster, features):
    write_nodes(cluster, *(f"{name} uid-{name} 1 4 2000 {words} -" for name, words in features.items()))


@pytest.fixture
def cluster(tmp_path):
    file = tmp_path / "topology.yaml"
    file.write_text(TOPOLOGY)
    cluster = Cluster(config=CONFIG.format(topology=file))
    yield cluster
    cluster.close()


def started_on(cluster, job):
    cluster.wait_state(job, "RUNNING")
    return sorted(re.findall(r"^ *Node=(\S+)", cluster.run("actl", "show", "job", "-d", job).stdout, re.MULTILINE))


def members(cluster):
    """The nodes of each switch and block. Their order is that in which they joined."""
    shown = cluster.run("actl", "show", "topology").stdout
    return {name: sorted(cluster.run("actl", "show", "hostnames", nodes).stdout.split())
            for name, nodes in re.findall(r"(?:SwitchName|BlockName)=(\S+) .*?Nodes=(\S+)", shown)}


def wait_for_features(cluster, features):
    for name, words in features.items():
        until(lambda: sorted(shown(cluster, name)["features"]) == sorted(words.split(",")))


def test_nodes_that_join_have_the_place_that_their_features_say(cluster):
    write(cluster, RACKS)
    with finding_daemon(cluster):
        wait_for_features(cluster, RACKS)
        assert members(cluster) == {"a/r1": ["k1", "k4"], "a/r2": ["k2"], "b/r1": ["k3"], "a": ["k1", "k2", "k4"], "b": ["k3"],
                                    "x": ["k1", "k2"], "y": ["k3", "k4"]}

        near = cluster.wrap("sleep 300", "-N2", "-c4", "-x", "n1")
        assert started_on(cluster, near) == ["k1", "k4"]
        cluster.cancel(near)
        cluster.wait_state(near, "CANCELLED")
        block = cluster.wrap("sleep 300", "-p", "cliques", "-N2", "--segment=2", "-c4", "-x", "k1")
        assert started_on(cluster, block) == ["k3", "k4"]
        cluster.cancel(block)
        cluster.wait_state(block, "CANCELLED")
        refused = cluster.run("asub", "-N3", "--switches=1", "--wrap", "true", check=False)
        assert "the most that can be had so in topology cloud and partition main is 2" in refused.stderr


def test_a_changed_feature_changes_the_place_of_its_node(cluster):
    write(cluster, RACKS)
    with finding_daemon(cluster):
        wait_for_features(cluster, RACKS)
        blocker = cluster.wrap("sleep 300", "-w", "k1", "-c4")
        assert started_on(cluster, blocker) == ["k1"]
        waits = cluster.wrap("sleep 300", "-N2", "--switches=1", "-c4")
        until(lambda: "Resources" in cluster.queue(waits, "%r"))
        moved = dict(RACKS, k2="zone=a,rack=r1,clique=x")
        write(cluster, moved)
        assert started_on(cluster, waits) == ["k2", "k4"]
        assert members(cluster)["a/r1"] == ["k1", "k2", "k4"]
        for job in (blocker, waits):
            cluster.cancel(job)
            cluster.wait_state(job, "CANCELLED")
