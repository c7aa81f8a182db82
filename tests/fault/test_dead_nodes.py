"""Nodes that stay away with jobs that may run only once: the jobs end by policy, or sooner on an operator's word."""
import os
import pathlib
import re
import signal
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "e2e"))

from cluster import Cluster, processes_naming, until  # noqa: E402

CONFIG = """
cluster: dead
controller: {{operators: [root]}}
policy: {{kill_wait: 2, heartbeat: 1, lease: 3, kill_allowance: 1, dead_node_timeout: {timeout}, launch_backoff: 1}}
nodes:
  - {{name: "n[1-2]", cpus: 4, memory: 4G}}
partitions:
  - {{name: main, nodes: "n[1-2]", default: true}}
"""


@pytest.fixture
def make():
    made = []

    def build(timeout):
        made.append(Cluster("--no-supervise", config=CONFIG.format(timeout=timeout)))
        return made[-1]

    yield build
    for cluster in made:
        cluster.close()


def start(cluster, name):
    """A job on n1 that may run only once. Returns its id and a text that the command line of its process contains."""
    mark = str(cluster.work / name)
    job = cluster.wrap(f"exec bash -c 'sleep 1000; true' {mark}", "--no-requeue", "-w", "n1")
    until(lambda: processes_naming(mark))
    return job, mark


def lose(cluster, node):
    """Its daemon dies; its jobs run on."""
    pid = cluster.pid(f"aresd@{node}")
    os.kill(pid, signal.SIGKILL)


def test_jobs_of_a_dead_node_end_by_policy_and_are_killed_when_it_returns(make):
    cluster = make(timeout=20)
    job, mark = start(cluster, "runs")
    cancelled, cancelled_mark = start(cluster, "cancelled")
    dependent = cluster.wrap("true", "--dependency", f"afternotok:{job}")
    lose(cluster, "n1")
    cluster.cancel(cancelled)
    for waits, state in ((job, "RUNNING"), (cancelled, "COMPLETING")):
        cluster.wait_reason(waits, "NodeNotResponding")
        assert cluster.queue(waits, "%T") == state
        assert cluster.queue(waits, "%R") == "n1(NodeNotResponding)"
    why = " ".join(cluster.run("aqueue", "--why", job).stdout.split())
    assert "n1 does not answer" in why
    assert "actl update node n1 state=down reason=TEXT" in why
    assert re.search(r"until \S+T\S+, when the node counts as dead \(dead_node_timeout\)", why), why
    assert re.search(r"SilentNodes=n1 SilentSince=\d\S+ NodeDeadTime=\d\S+", cluster.show("job", job))
    assert "RUNNING on n1, which does not answer" in " ".join(cluster.run("aqueue", "--why", dependent).stdout.split())

    assert cluster.wait_end(job) == {job: "NODE_FAIL"}
    assert cluster.wait_end(cancelled) == {cancelled: "CANCELLED"}
    cluster.completed(dependent)
    assert "did not answer for 00:00:20 (dead_node_timeout)" in cluster.show("job", job)
    assert processes_naming(mark) and processes_naming(cancelled_mark), "nothing can tell them to end"
    ended = cluster.rows(job, "State,End,ElapsedRaw", "-D")

    cluster.up()
    until(lambda: not processes_naming(mark) and not processes_naming(cancelled_mark))
    cluster.completed(cluster.wrap("true", "-w", "n1", "--exclusive"))
    assert cluster.rows(job, "State,End,ElapsedRaw", "-D") == ended, "it ended once"


def test_operator_ends_jobs_of_a_dead_node_with_the_command_that_their_reason_names(make):
    cluster = make(timeout=0)
    job, _ = start(cluster, "runs")
    lose(cluster, "n1")
    cluster.wait_reason(job, "NodeNotResponding")
    shown = cluster.show("job", job)
    assert "NodeDeadTime=UNLIMITED" in shown
    command = re.search(r"ReasonDetail=.*: (actl .*)", shown).group(1)
    cluster.run(*command.replace("TEXT", "burnt").split())
    assert cluster.wait_end(job) == {job: "NODE_FAIL"}
    assert "Cause=n1: was set down: burnt" in cluster.show("job", job)
