# Tests: shown_priority
"""The priorities of jobs in all listings."""

import json

import pytest
from cluster import Cluster

CONFIG = """
cluster: test
controller:
  operators: [root]
policy: {kill_wait: 2, heartbeat: 1, launch_backoff: 1}
nodes:
  - {name: n1, cpus: 2, memory: 4000M}
partitions:
  - {name: main, nodes: n1, default: true, priority: 10}
fairness: {policy: multifactor, weights: {partition: 1000, job_size: 500}}
"""


@pytest.fixture(scope="module")
def ranked():
    made = Cluster(config=CONFIG)
    yield made
    made.close()


def keys(cluster, job):
    return [word.split("=")[0] for word in cluster.show("job", job).split()]


def test_priorities_are_those_by_which_jobs_are_ordered(ranked):
    blocker = ranked.wrap("sleep 1000", "-c2")
    ranked.wait_state(blocker, "RUNNING")
    low, high = ranked.wrap("true", "-c1", "--nice=300"), ranked.wrap("true", "-c2")
    held = ranked.wrap("true", "-H")
    told = {str(line["job"]["job"]): int(line["value"]) for line in json.loads(ranked.run("aprio", "--json").stdout)["lines"]}
    assert told[high] > told[low] > 1
    assert [int(ranked.queue(job, "%Q")) for job in (low, high, held)] == [told[low], told[high], 0]
    assert ranked.run("aqueue", "-h", "-t", "PD", "-o", "%i").stdout.split() == [high, low, held]
    assert ranked.run("aqueue", "-h", "-t", "PD", "-S", "p", "-o", "%i").stdout.split() == [held, low, high]
    shown = json.loads(ranked.run("aqueue", "--json", "-j", high).stdout)["jobs"][0]
    assert shown["priority"] == told[high]
    assert f"Priority={told[high]} " in ranked.show("job", high) and keys(ranked, high).count("Priority") == 1
    assert ranked.account(low, "Priority") == str(told[low]), "of a job that waits"
    ranked.cancel(blocker)
    ranked.completed(high)
    assert int(ranked.run("aqueue", "-h", "-t", "all", "-j", high, "-o", "%Q").stdout) == told[high], "of a job that has run"
    assert ranked.account(high, "Priority") == str(told[high]), "of a job that has run"
    ranked.cancel(held)
