"""--switches, --segment, --prefer and placement strategies, checked by the nodes that jobs run on. The same six nodes are under three
leaf switches in one partition and form two blocks in another."""

import json
import re

import pytest

from cluster import Cluster, until

CONFIG = """
cluster: test
topology_file: {topology}
controller:
  operators: [root]
policy: {{kill_wait: 2, heartbeat: 1, launch_backoff: 1}}
nodes:
  - {{name: "n[1-6]", cpus: 4, memory: 4000M}}
  - {{name: "n[7-8]", cpus: 4, memory: 4000M, features: [fast]}}
partitions:
  - {{name: main, nodes: "n[1-6]", default: true, default_memory_per_cpu: 500M, topology: fabric}}
  - {{name: racks, nodes: "n[1-6]", default_memory_per_cpu: 500M, topology: racks}}
  - {{name: flat, nodes: "n[1-8]", default_memory_per_cpu: 500M, placement: {{cpu: spread}}}}
"""

# n1 n4 | n2 n5 | n3 n6 under one spine; two blocks of three.
TOPOLOGY = """
topologies:
  - name: fabric
    tree:
      - {switch: leaf1, nodes: "n[1,4]"}
      - {switch: leaf2, nodes: "n[2,5]"}
      - {switch: leaf3, nodes: "n[3,6]"}
      - {switch: spine, switches: "leaf[1-3]"}
  - name: racks
    block:
      - {block: r1, nodes: "n[1-3]"}
      - {block: r2, nodes: "n[4-6]"}
"""


@pytest.fixture(scope="module")
def fabric(tmp_path_factory):
    file = tmp_path_factory.mktemp("topology") / "topology.yaml"
    file.write_text(TOPOLOGY)
    made = Cluster(config=CONFIG.format(topology=file))
    made.topology = file
    yield made
    made.close()


def started_on(cluster, job):
    """Names of the nodes of a running job, in the order of its ranks."""
    until(lambda: cluster.run("aqueue", "-h", "-j", job, "-o", "%T").stdout.strip() == "RUNNING")
    return re.findall(r"^ *Node=(\S+)", cluster.run("actl", "show", "job", "-d", job).stdout, re.MULTILINE)


def refused(cluster, *words):
    done = cluster.run("asub", *words, "--wrap", "true", check=False)
    assert done.returncode != 0, f"{words} was accepted"
    return done.stderr


@pytest.fixture
def job(fabric):
    """Submits jobs that run until the test ends, and then waits until they have ended."""
    made = []
    def submit(*words):
        made.append(fabric.wrap("sleep 300", *words))
        return made[-1]
    yield submit
    for number in made:
        fabric.run("acancel", number, check=False)
    until(lambda: not fabric.run("aqueue", "-h").stdout.strip())


def test_multi_node_jobs_share_leaves_and_get_adjacent_ranks(fabric, job):
    assert started_on(fabric, job("-N2", "-c4")) == ["n1", "n4"]
    assert started_on(fabric, job("-N4", "-c4")) == ["n2", "n5", "n3", "n6"]


def test_switches_option_waits_for_free_nodes_under_one_leaf(fabric, job):
    first = job("-N1", "-c4", "-w", "n1")
    second = job("-N1", "-c4", "-w", "n2")
    third = job("-N1", "-c4", "-w", "n3")
    for number in (first, second, third):
        started_on(fabric, number)
    waits = job("-N2", "--switches=1")
    spread = job("-N2", "-c1", "-t", "10")
    assert len(started_on(fabric, spread)) == 2
    until(lambda: "Resources" in fabric.run("aqueue", "-h", "-j", waits, "-o", "%r").stdout)
    shown = fabric.run("actl", "show", "job", waits).stdout
    assert "Switches=1 SegmentSize=0" in shown
    fabric.run("acancel", first)
    assert started_on(fabric, waits) == ["n1", "n4"]


def test_segments_stay_in_their_blocks(fabric, job):
    assert started_on(fabric, job("-p", "racks", "-N1", "-c4", "-w", "n3")) == ["n3"]
    assert started_on(fabric, job("-p", "racks", "-N4", "--segment=2", "-c2")) == ["n1", "n2", "n4", "n5"]
    assert "n6" not in started_on(fabric, job("-p", "racks", "-N2", "--segment=2", "-c2"))


def test_impossible_network_requests_are_refused(fabric):
    assert "needs 3 nodes under at most one leaf switch" in refused(fabric, "-N3", "--switches=1")
    assert "the most that a leaf switch of topology fabric has in partition main is 2" in refused(
        fabric, "-N3", "--segment=3")
    assert "partition flat has no topology" in refused(fabric, "-p", "flat", "-N2", "--switches=1")
    assert "no multiple of the segment of 2 nodes" in refused(fabric, "-N3", "--segment=2")
    assert "is not COUNT or COUNT@TIME" in refused(fabric, "--switches=x")


def test_preferred_nodes_are_used_if_they_are_free(fabric, job):
    assert started_on(fabric, job("-p", "flat", "--prefer", "fast", "-N2", "-c4")) == ["n7", "n8"]
    assert started_on(fabric, job("-p", "flat", "--prefer", "fast", "-c4"))[0] not in ("n7", "n8")


def test_spread_placement_uses_empty_nodes(fabric, job):
    nodes = [started_on(fabric, job("-p", "flat"))[0] for _ in range(4)]
    assert len(set(nodes)) == 4


def test_file_of_jobs_may_set_segment_and_switches(fabric, tmp_path):
    lines = tmp_path / "jobs"
    lines.write_text(json.dumps({"wrap": "true", "nodes": 4, "segment": 2, "switches": "2@10"}) + "\n")
    done = fabric.run("asub", "--parsable", "--from", lines)
    number = done.stdout.strip()
    assert "Switches=2@00:10:00 SegmentSize=2" in fabric.run("actl", "show", "job", number).stdout
    fabric.completed(number)


def test_partitions_show_their_placement_and_topology(fabric):
    shown = fabric.run("actl", "show", "partition", "flat").stdout
    assert "PlacementCPU=spread PlacementGPU=binpack Topology=(null)" in shown
    assert "Topology=fabric" in fabric.run("actl", "show", "partition", "main").stdout


def test_placement_strategy_can_be_updated(fabric, job):
    fabric.run("actl", "update", "partition=flat", "PlacementCPU=binpack")
    try:
        assert "PlacementCPU=binpack" in fabric.run("actl", "show", "partition", "flat").stdout
        nodes = [started_on(fabric, job("-p", "flat"))[0] for _ in range(4)]
        assert len(set(nodes)) == 1
        done = fabric.run("actl", "update", "partition=flat", "PlacementGPU=tight", check=False)
        assert '"tight" is none of binpack, spread, least_fragmentation' in done.stderr
    finally:
        fabric.run("actl", "update", "partition=flat", "PlacementCPU=spread")


def test_reconfigure_loads_a_changed_topology(fabric, job):
    fabric.topology.write_text(TOPOLOGY.replace("n[1,4]", "n[1,6]").replace("n[3,6]", "n[3,4]"))
    preview = fabric.run("actl", "reconfigure", "--dry-run").stdout
    assert "topology fabric" in preview
    fabric.run("actl", "reconfigure")
    assert started_on(fabric, job("-N2", "--switches=1")) == ["n1", "n6"]
    fabric.topology.write_text(TOPOLOGY.replace("spine", "spline").replace("leaf[1-3]", "leaf[1-4]"))
    done = fabric.run("actl", "reconfigure", check=False)
    assert done.returncode != 0
    assert 'switch "spline" names the unknown switch "leaf4"' in done.stderr
    fabric.topology.write_text(TOPOLOGY)
    fabric.run("actl", "reconfigure")
