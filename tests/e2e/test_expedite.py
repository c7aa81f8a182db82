"""Failed jobs that return first (--requeue=expedite), on a cluster whose nodes and scripts fail."""
import os
import re
import signal

import pytest

from cluster import Cluster, until

CONFIG = """
cluster: expedite
controller: {operators: [root]}
policy:
  kill_wait: 2
  heartbeat: 1
  lease: 5
  kill_allowance: 2
  launch_backoff: 60
  expedite: {most: 2, keep: 120}
nodes:
  - {name: "n[1-3]", cpus: 2, memory: 2000M}
partitions:
  - {name: main, nodes: "n[1-3]", default: true, default_memory_per_cpu: 100M}
"""


@pytest.fixture
def nodes():
    made = Cluster("--no-supervise", config=CONFIG)
    yield made
    made.close()


def starts(cluster, job):
    """The times at which its attempts started, in order."""
    return [row[0] for row in cluster.rows(job, "Start", "-D")]


def competitors(cluster, count, *words):
    """Jobs of a higher priority that each need a whole node."""
    return [cluster.wrap("true", "--exclusive", "--priority=5000", *words) for _ in range(count)]


def test_job_whose_node_dies_returns_first_on_the_healthy_node(nodes):
    if "RequeueOnSilence=yes" not in nodes.show("node", "n2"):
        pytest.skip("jobs under a lease need a node that can freeze them")
    nodes.run("actl", "drain", "n3", "reason=later")
    go = nodes.work / "go"
    job = nodes.wrap(f'echo "${{ARES_RESTART_COUNT:-0}} $ARES_JOB_NODELIST"; while [ ! -e {go} ]; do sleep 0.1; done; echo result',
                     "-N2", "--exclusive", "--requeue=expedite", "--open-mode=append", "-o", str(nodes.work / "out"))
    nodes.wait_state(job, "RUNNING")
    assert nodes.queue(job, "%N") == "n[1-2]"
    others = competitors(nodes, 4)
    os.kill(nodes.pid("aresd@n2"), signal.SIGKILL)

    # It waits for another node; n1 is free meanwhile and kept for it.
    nodes.wait_state(job, "PENDING", seconds=60)
    shown = nodes.show("job", job)
    assert re.search(r"ExpeditedRequeue=Yes ExpeditedReturns=1 ReturnsFirst=Yes KeptNodeList=n1 KeptUntil=\d", shown), shown
    assert "FailedNodeList=n2" in shown
    assert f"KeptFor={job}" in nodes.show("node", "n1")
    why = " ".join(nodes.run("aqueue", "--why", others[0]).stdout.split())
    assert f"kept for a job that returns first (job {job})" in why, why
    assert "returns first: 1 node is kept for it" in " ".join(nodes.run("aqueue", "--why", job).stdout.split())
    assert {nodes.state(other) for other in others} == {"PENDING"}

    # One more node, for which the others wait as well.
    nodes.run("actl", "resume", "n3")
    nodes.wait_state(job, "RUNNING")
    assert nodes.queue(job, "%N") == "n[1,3]"
    go.touch()
    nodes.completed(job)
    for other in others:
        nodes.completed(other)
    assert (nodes.work / "out").read_text().splitlines() == ["0 n[1-2]", "1 n[1,3]", "result"]
    assert max(starts(nodes, job)) <= min(starts(nodes, other)[0] for other in others)
    assert "KeptFor" not in nodes.show("node", "n1")


def test_job_whose_script_fails_returns_before_the_queue_and_not_for_ever(nodes):
    go = nodes.work / "go"
    job = nodes.wrap(f"echo ${{ARES_RESTART_COUNT:-0}}; while [ ! -e {go} ]; do sleep 0.1; done; exit 3",
                     "-N3", "--exclusive", "--requeue=expedite", "--open-mode=append", "-o", str(nodes.work / "out"))
    nodes.wait_state(job, "RUNNING")
    others = competitors(nodes, 3)
    go.touch()
    assert nodes.wait_end(job, 60) == {job: "FAILED"}
    for other in others:
        nodes.completed(other)
    assert (nodes.work / "out").read_text().split() == ["0", "1", "2"], "expedite.most is 2"
    assert max(starts(nodes, job)) <= min(starts(nodes, other)[0] for other in others)
    states = nodes.rows(job, "State", "-D")
    assert len(states) == 3, states
    assert "ExitCode=3:0" in nodes.show("job", job)


def test_spare_node_takes_the_place_of_a_dead_one(nodes):
    if "RequeueOnSilence=yes" not in nodes.show("node", "n2"):
        pytest.skip("jobs under a lease need a node that can freeze them")
    go = nodes.work / "go"
    job = nodes.wrap(f'echo "$ARES_JOB_NODELIST $ARES_NNODES $ARES_NTASKS"; while [ ! -e {go} ]; do sleep 0.1; done',
                     "-N2", "-n4", "--spare-nodes=1", "--exclusive", "--open-mode=append", "-o", str(nodes.work / "out"))
    nodes.wait_state(job, "RUNNING")
    assert nodes.queue(job, "%N %D") == "n[1-3] 3"
    assert "SpareNodes=1 SpareNodeList=n3" in nodes.show("job", job)
    others = competitors(nodes, 3)
    os.kill(nodes.pid("aresd@n2"), signal.SIGKILL)
    until(lambda: nodes.queue(job, "%N") == "n[1,3]", seconds=60)
    nodes.wait_state(job, "RUNNING")
    assert {nodes.state(other) for other in others} == {"PENDING"}
    go.touch()
    nodes.completed(job)
    for other in others:
        nodes.completed(other)
    assert (nodes.work / "out").read_text().splitlines() == ["n[1-2] 2 4", "n[1,3] 2 4"]
    assert nodes.rows(job, "AllocNodes", "-D") == [["3"], ["2"]], "spare nodes are charged"


@pytest.mark.parametrize("words", [("actl", "hold"), ("acancel",)])
def test_kept_node_is_free_once_the_job_is_held_or_cancelled(nodes, words):
    nodes.run("actl", "drain", "n3", "reason=later")
    go = nodes.work / "go"
    job = nodes.wrap(f"while [ ! -e {go} ]; do sleep 0.1; done; exit 1", "-N2", "--exclusive", "--requeue=expedite")
    nodes.wait_state(job, "RUNNING")
    other = nodes.wrap("true", "--exclusive", "-w", "n1")
    nodes.run("actl", "drain", "n2", "reason=later")
    go.touch()
    nodes.wait_state(job, "PENDING")
    assert "KeptNodeList=n1 " in nodes.show("job", job), "n2 is out of service"
    until(lambda: f"(job {job})" in nodes.show("job", other))
    assert nodes.state(other) == "PENDING"
    nodes.run(*words, job)
    nodes.completed(other)
