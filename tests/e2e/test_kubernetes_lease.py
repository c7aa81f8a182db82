# Tests: kubernetes/cluster_agent, lease/lease_holder, lease/agent_lease, daemons/aresd/node_host
"""Two agents for one Kubernetes cluster: one is active, the other stands by. Skipped without a test bed."""
import signal
import time

import pytest

import kubernetes
from cluster import Cluster, until
from test_kubernetes import CONFIG, api, cluster, ends, is_idle, nothing_is_left, space, submit  # noqa: F401  # fixtures among them

pytestmark = pytest.mark.skipif(not kubernetes.is_there(), reason=kubernetes.MISSING)

SCRIPT = "echo start >> starts; until [ -e release ]; do sleep 0.1; done; exit 5"
ACTIVE = "this agent holds the lease ares-kube"


@pytest.fixture
def agents(cluster, api, space):  # noqa: F811
    """The active one and the standby."""
    first = kubernetes.Agent(cluster, space)
    second = None
    try:
        until(lambda: is_idle(cluster, api.node))
        second = kubernetes.Agent(cluster, space, name="standby")
        until(lambda: f"standing by: {name_of(first)} holds the lease ares-kube in namespace {space}" in second.text())
        yield first, second
    finally:
        for agent in filter(None, [first, second]):
            agent.process.send_signal(signal.SIGCONT)
            agent.close()


def name_of(agent):
    host = open("/proc/sys/kernel/hostname", encoding="utf-8").read().strip()
    return f"{host} (process {agent.process.pid})"


def start_job(cluster, api):  # noqa: F811
    job = submit(cluster, api, SCRIPT, "--requeue")
    until(lambda: (cluster.work / "starts").exists())
    return job


def ended_once(cluster, api, space, job):  # noqa: F811
    (cluster.work / "release").touch()
    assert ends(cluster, job, "FAILED", 90) == "FAILED|5:0"
    assert (cluster.work / "starts").read_text() == "start\n"
    assert "Restarts=0" in cluster.run("actl", "show", "job", job).stdout
    nothing_is_left(api, space)


def lease_of(api, space):  # noqa: F811
    return api.call("GET", f"/apis/coordination.k8s.io/v1/namespaces/{space}/leases/ares-kube")["spec"]


def test_a_killed_agent_is_followed_at_once(cluster, api, space, agents):  # noqa: F811
    first, second = agents
    job = start_job(cluster, api)
    since = time.monotonic()
    first.kill()
    until(lambda: ACTIVE in second.text(), 30)
    took = time.monotonic() - since
    assert took < 5, "the lease of a dead process is not waited for"
    until(lambda: is_idle(cluster, api.node) or cluster.state(job) == "RUNNING")
    assert lease_of(api, space)["leaseTransitions"] == 1
    other = submit(cluster, api, "echo other > other", "-c1", "--mem=20M")
    ends(cluster, other, "COMPLETED")
    ended_once(cluster, api, space, job)


def test_a_stopped_agent_is_followed_after_its_lease_and_ends_by_itself(cluster, api, space, agents):  # noqa: F811
    first, second = agents
    job = start_job(cluster, api)
    since = time.monotonic()
    first.process.send_signal(signal.SIGSTOP)
    until(lambda: ACTIVE in second.text(), 60)
    took = time.monotonic() - since
    assert 15 <= took < 30
    other = submit(cluster, api, "echo other > other", "-c1", "--mem=20M")
    ends(cluster, other, "COMPLETED")
    first.process.send_signal(signal.SIGCONT)
    assert first.process.wait(timeout=20) == 1
    assert f"another agent, {name_of(second)}, has taken the lease ares-kube in namespace {space}: this one ends" in first.text()
    another = submit(cluster, api, "echo another > another", "-c1", "--mem=20M")
    ends(cluster, another, "COMPLETED")
    ended_once(cluster, api, space, job)


def test_an_agent_that_ends_gives_the_lease_up(cluster, api, space, agents):  # noqa: F811
    first, second = agents
    job = start_job(cluster, api)
    since = time.monotonic()
    first.process.terminate()
    assert first.process.wait(timeout=20) == 0
    until(lambda: ACTIVE in second.text(), 30)
    assert time.monotonic() - since < 5
    ended_once(cluster, api, space, job)


def test_a_standby_obeys_signals(cluster, api, space, agents):  # noqa: F811
    _, second = agents
    second.process.send_signal(signal.SIGHUP)
    until(lambda: "aresd starts again" in second.text() and second.text().count("standing by: ") == 2)
    since = time.monotonic()
    second.process.terminate()
    assert second.process.wait(timeout=20) == 0
    assert time.monotonic() - since < 2
    assert ACTIVE not in second.text()
    assert is_idle(cluster, api.node)


# The pods end later than the agent may write after its last renewal. Without more their finalizers would keep the namespace for ever.
def test_a_namespace_is_deleted_with_the_lease_and_pods_in_it(api, space):  # noqa: F811
    slow = Cluster(config=CONFIG.format(nodes=api.node).replace("kill_wait: 2", "kill_wait: 20"))
    agent = kubernetes.Agent(slow, space)
    try:
        until(lambda: is_idle(slow, api.node))
        job = submit(slow, api, "trap '' TERM; echo start >> starts; while :; do sleep 0.1; done", "--no-requeue")
        until(lambda: (slow.work / "starts").exists())
        since = time.monotonic()
        api.call("DELETE", f"/api/v1/namespaces/{space}")
        until(lambda: api.call("GET", f"/api/v1/namespaces/{space}") is None, 90)
        assert time.monotonic() - since > 15, "the pod has not lived longer than a lease"
        ends(slow, job, "NODE_FAIL")
        assert (slow.work / "starts").read_text() == "start\n"
    finally:
        agent.close()
        slow.close()
