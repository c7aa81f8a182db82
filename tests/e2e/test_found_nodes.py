# Tests: found_nodes
"""Nodes that the exec plugin of an aresd finds: they come, change and go without a word in the configuration of the controller."""
import contextlib
import json
import subprocess

import pytest

from cluster import BIN, Cluster, until

CONFIG = """
cluster: found
controller: {operators: [root]}
policy:
  kill_wait: 2
  heartbeat: 1
  lease: 4
  launch_backoff: 1
  dynamic_nodes: [{names: "k[1-4]", partitions: [main]}]
nodes:
  - {name: n1, cpus: 4, memory: 4000M}
partitions:
  - {name: main, nodes: n1, default: true, default_memory_per_cpu: 100M}
"""


@pytest.fixture
def cluster():
    cluster = Cluster(config=CONFIG)
    yield cluster
    cluster.close()


def write_nodes(cluster, *lines):
    new = cluster.work / "nodes.new"
    new.write_text("".join(line + "\n" for line in lines))
    new.rename(cluster.work / "nodes")


@contextlib.contextmanager
def finding_daemon(cluster):
    """An aresd that serves the nodes of the file `nodes`, and none of the configuration."""
    lines = (cluster.dir / "ares.yaml").read_text().splitlines(keepends=True)
    start = lines.index("node:\n")
    end = next((i for i in range(start + 1, len(lines)) if lines[i][0] not in " \n"), len(lines))
    config = cluster.work / "finding.yaml"
    config.write_text("".join(lines[:start] + [f"node: {{exec: mock, mock: {{nodes_file: {cluster.work}/nodes}}}}\n"] + lines[end:]))
    log = open(cluster.work / "finding.log", "a")
    process = subprocess.Popen([str(BIN / "aresd"), "--config", str(config), "--join"], env=cluster.environment(),
                               stdin=subprocess.DEVNULL, stdout=log, stderr=log)
    try:
        yield process
    finally:
        process.terminate()
        process.wait(timeout=20)
        log.close()


def shown(cluster, name):
    done = cluster.run("actl", "--json", "show", "node", name, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)["nodes"][0]


def test_nodes_come_change_and_go(cluster):
    write_nodes(cluster, "k1 uid-1 1 4 2000 zone-a,fast a100,a100", "k2 uid-2 1 4 2000 - - cordoned by an administrator")
    with finding_daemon(cluster):
        first = until(lambda: shown(cluster, "k1"))
        assert first["state"] == "IDLE" and first["dynamic"] and first["cpus"] == 4 and first["partitions"] == ["main"]
        cordoned = until(lambda: (node := shown(cluster, "k2"))["state"] == "DRAINED" and node)
        assert "cordoned by an administrator" in cordoned["reason"]
        job = cluster.wrap("true", "-w", "k1", "-C", "zone-a", "--gpus=2")
        cluster.completed(job)
        assert cluster.account(job, "NodeList,AllocTRES").startswith("k1|billing=1,cpu=1,gres/gpu=2,gres/gpu:a100=2,")

        write_nodes(cluster, "k1 uid-1 1 2 1000 zone-a -", "k2 uid-2 1 4 2000 - -", "k3 uid-3 1 8 1000 - -")
        until(lambda: (node := shown(cluster, "k1"))["cpus"] == 2 and not node.get("gpus"))
        until(lambda: shown(cluster, "k2")["state"] == "IDLE")
        until(lambda: shown(cluster, "k3")["cpus"] == 8)


def test_a_node_that_is_removed_keeps_its_jobs_until_they_end(cluster):
    write_nodes(cluster, "k1 uid-1 1 4 2000 - -")
    with finding_daemon(cluster):
        until(lambda: shown(cluster, "k1")["state"] == "IDLE")
        job = cluster.wrap("sleep 6", "-w", "k1")
        cluster.wait_state(job, "RUNNING")
        write_nodes(cluster)
        gone = until(lambda: (node := shown(cluster, "k1"))["reason"] and node)
        assert "no longer in" in gone["reason"]
        waiting = cluster.wrap("true", "-w", "k1")
        cluster.completed(job)
        assert cluster.state(waiting) == "PENDING"
        until(lambda: "DOWN" in shown(cluster, "k1")["state"])


def test_jobs_of_a_machine_that_is_gone_end_when_an_operator_says_so(cluster):
    write_nodes(cluster, "k1 uid-1 1 4 2000 - -")
    with finding_daemon(cluster):
        until(lambda: shown(cluster, "k1")["state"] == "IDLE")
        job = cluster.wrap("sleep 1000", "-w", "k1")
        cancelled = cluster.wrap("sleep 1000", "-w", "k1")
        cluster.wait_state(job, "RUNNING")
        cluster.wait_state(cancelled, "RUNNING")
        write_nodes(cluster, "k1 uid-1 1 4 2000 - - gone: removed by the autoscaler")
        gone = until(lambda: (node := shown(cluster, "k1"))["state"] == "DOWN" and node)
        assert gone["reason"].startswith("removed by the autoscaler")
        cluster.cancel(cancelled)
        told = until(lambda: "autoscaler" in (text := cluster.run("actl", "show", "job", job).stdout) and text)
        assert "actl update node k1 state=down" in told
        assert cluster.queue(job, "%T") == "RUNNING" and cluster.queue(cancelled, "%T") == "COMPLETING"
        assert cluster.run("actl", "delete", "node", "k1", check=False).returncode != 0
        cluster.run("actl", "update", "node", "k1", "state=down", "reason=deleted")
        cluster.wait_state(job, "NODE_FAIL")
        cluster.wait_state(cancelled, "CANCELLED")
        write_nodes(cluster)
        cluster.run("actl", "delete", "node", "k1")


def test_a_machine_that_is_back_goes_on_with_its_jobs(cluster):
    write_nodes(cluster, "k1 uid-1 1 4 2000 - -")
    with finding_daemon(cluster):
        until(lambda: shown(cluster, "k1")["state"] == "IDLE")
        job = cluster.wrap("sleep 4", "-w", "k1")
        cluster.wait_state(job, "RUNNING")
        write_nodes(cluster, "k1 uid-1 1 4 2000 - - gone: removed")
        until(lambda: shown(cluster, "k1")["state"] == "DOWN")
        write_nodes(cluster, "k1 uid-1 1 4 2000 - -")
        until(lambda: shown(cluster, "k1")["state"] != "DOWN")
        cluster.cancel(job)
        cluster.wait_state(job, "CANCELLED")


def test_another_machine_of_the_name_ends_what_ran_on_the_first(cluster):
    write_nodes(cluster, "k1 uid-1 1 4 2000 - -")
    with finding_daemon(cluster):
        until(lambda: shown(cluster, "k1")["state"] == "IDLE")
        job = cluster.wrap("sleep 1000", "-w", "k1", "--requeue")
        lost = cluster.wrap("sleep 1000", "-w", "k1", "--no-requeue")
        cluster.wait_state(job, "RUNNING")
        cluster.wait_state(lost, "RUNNING")
        write_nodes(cluster, "k1 uid-2 2 4 2000 - -")
        cluster.wait_state(lost, "NODE_FAIL")
        until(lambda: cluster.queue(job, "%T") == "RUNNING" and "Restarts=1" in cluster.run("actl", "show", "job", job).stdout)
        cluster.cancel(job)


def test_a_name_that_no_rule_has_is_refused(cluster):
    write_nodes(cluster, "x9 uid-1 1 4 2000 - -")
    with finding_daemon(cluster):
        until(lambda: "no rule of dynamic_nodes" in (cluster.work / "finding.log").read_text() + cluster.logs())
    assert cluster.run("actl", "show", "node", "x9", check=False).returncode != 0
