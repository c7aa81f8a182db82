# Tests: kubernetes/cluster_agent
"""A node of this machine and a node of Kubernetes in one partition: one queue, one fair share, one preemption. Skipped without one."""
import pytest

import kubernetes
from cluster import Cluster, until
from test_kubernetes import api, ends, is_idle, nothing_is_left, space  # noqa: F401

pytestmark = pytest.mark.skipif(not kubernetes.is_there(), reason=kubernetes.MISSING)

CONFIG = """
cluster: kube
controller: {{operators: [root]}}
fairness: {{policy: fair_tree, calc_period: 1, half_life: 7-00:00:00}}
accounting: {{enforce: associations}}
policy:
  kill_wait: 2
  heartbeat: 1
  launch_backoff: 1
  preemption: {{min_age: 0, grace: 2}}
  dynamic_nodes: [{{names: "{node}", partitions: [low, high]}}]
nodes:
  - {{name: n1, cpus: 4, memory: 4000M}}
partitions:
  - {{name: low, nodes: n1, default: true, default_memory_per_cpu: 20M, preempt_mode: requeue}}
  - {{name: high, nodes: n1, default_memory_per_cpu: 20M, tier: 5}}
"""
HOLD = "until [ -e {0} ]; do sleep 0.1; done; echo $ARES_RESTART_COUNT >> {0}.ends"


@pytest.fixture
def cluster(api, space):  # noqa: F811
    cluster = Cluster(config=CONFIG.format(node=api.node))
    for account in ("first", "second", "third"):
        cluster.run("aacctmgr", "-i", "add", "account", account)
        cluster.run("aacctmgr", "-i", "add", "user", "root", f"account={account}")
    agent = kubernetes.Agent(cluster, space)
    try:
        until(lambda: is_idle(cluster, api.node))
        yield cluster
    finally:
        agent.close()
        cluster.close()


def submit(cluster, name, *options):
    """Submits a job that runs until the file `name` is there."""
    script = cluster.work / f"{name}.sh"
    script.write_text("#!/bin/sh\n" + HOLD.format(cluster.work / name) + "\n")
    return cluster.run("asub", "--parsable", "-A", "first", "-t", "10", *options, script).stdout.strip()


def release(cluster, name):
    (cluster.work / name).touch()


def node_of(cluster, job):
    return cluster.run("aqueue", "-h", "-j", job, "-t", "R", "-o", "%N", check=False).stdout.strip()


def runs_on(cluster, job, node):
    until(lambda: node_of(cluster, job) == node)


def cpus_of(cluster, node):
    return int(cluster.run("ainfo", "-h", "-N", "-n", node, "-o", "%c").stdout)


def test_one_backfill_over_both(cluster, api, space):  # noqa: F811
    here = submit(cluster, "here", "-w", "n1", "-c3")
    there = submit(cluster, "there", "-w", api.node, "-c", str(cpus_of(cluster, api.node)))
    runs_on(cluster, here, "n1")
    runs_on(cluster, there, api.node)
    wide = submit(cluster, "wide", "-c4")  # only n1 has as many, when `here` has ended
    until(lambda: cluster.run("aqueue", "-h", "-j", wide, "-o", "%S").stdout.strip() not in ("", "N/A"))
    long = submit(cluster, "long", "-c1", "-t", "600")
    short = submit(cluster, "short", "-c1", "-t", "1")
    runs_on(cluster, short, "n1")  # ends before `wide` could start
    assert node_of(cluster, long) == "", "it would delay the job before it"
    release(cluster, "there")
    runs_on(cluster, long, api.node)
    release(cluster, "short")
    release(cluster, "here")
    runs_on(cluster, wide, "n1")
    release(cluster, "wide")
    release(cluster, "long")
    for job in (here, there, wide, long, short):
        assert ends(cluster, job, "COMPLETED") == "COMPLETED|0:0"
    nothing_is_left(api, space)


def test_one_fair_share_of_both(cluster, api, space):  # noqa: F811
    cpus = str(cpus_of(cluster, api.node))
    used = submit(cluster, "used", "-w", api.node, "-c", cpus)
    runs_on(cluster, used, api.node)
    until(lambda: int(cluster.run("ashare", "-n", "-P", "-A", "first", "-o", "RawUsage").stdout.split()[0]) > 0)
    full = submit(cluster, "full", "-w", "n1", "-c4", "-A", "third")
    runs_on(cluster, full, "n1")
    later = [submit(cluster, f"later{i}", "-w", "n1", "-c4", "-A", account) for i, account in enumerate(("first", "second"))]
    release(cluster, "full")
    # The pods of the first account count as its other jobs do, so that the second's job passes.
    runs_on(cluster, later[1], "n1")
    assert node_of(cluster, later[0]) == ""
    for name in ("used", "later1", "later0"):
        release(cluster, name)
    for job in (used, full, *later):
        assert ends(cluster, job, "COMPLETED") == "COMPLETED|0:0"
    nothing_is_left(api, space)


def test_one_preemption_of_both(cluster, api, space):  # noqa: F811
    cpus = str(cpus_of(cluster, api.node))
    low = {"n1": submit(cluster, "low-n1", "-w", "n1", "-c4"), api.node: submit(cluster, "low-pod", "-w", api.node, "-c", cpus)}
    for node, job in low.items():
        runs_on(cluster, job, node)
    high = {"n1": submit(cluster, "high-n1", "-p", "high", "-w", "n1", "-c4"),
            api.node: submit(cluster, "high-pod", "-p", "high", "-w", api.node, "-c", cpus)}
    for node, job in high.items():
        runs_on(cluster, job, node)
        assert node_of(cluster, low[node]) == ""
    for name in ("high-n1", "high-pod", "low-n1", "low-pod"):
        release(cluster, name)
    for job in (*high.values(), *low.values()):
        assert ends(cluster, job, "COMPLETED") == "COMPLETED|0:0"
    for name in ("low-n1", "low-pod"):
        assert (cluster.work / f"{name}.ends").read_text() == "1\n", "its second run, and no other, came to its end"
    nothing_is_left(api, space)
