# Tests: pods/manifest, agent/nodes/node_object, spec_cpus
"""Fractions of CPUs: nodes of a stand-in for Kubernetes give them exactly, other nodes round them up."""
import os
import signal

from cluster import until
from test_kubernetes_stand_in import cluster, site, the_site  # noqa: F401


def cpus_of(pod):
    """The CPUs that its containers request and are limited to."""
    lists = [container["resources"][kind]["cpu"] for container in pod["spec"]["initContainers"] + pod["spec"]["containers"]
             for kind in ("requests", "limits")]
    assert len(set(lists)) == 1, lists
    return lists[0]


def test_jobs_share_cpus_in_thousandths(cluster, site):  # noqa: F811
    site.kube.add_node("t", cpus="3920m")
    until(lambda: site.state("t") == "idle")
    assert "CPUAlloc=0 CPUEfctv=3.92 CPUTot=3.92" in cluster.show("node", "k-t")
    jobs = [site.submit({"waits": True}, "--cpus-per-task=0.49", nodes="t") for _ in range(8)]
    for job in jobs:
        site.runs(job)
        [pod] = site.kube.pods(job)
        assert cpus_of(pod) == "490m"
    assert "CPUAlloc=3.92 " in cluster.show("node", "k-t")
    until(lambda: site.state("t") == "alloc")
    assert " CPUs/Task=0.49\n" in cluster.show("job", jobs[0])
    assert "CPUs=0.49 " in cluster.run("actl", "-d", "show", "job", jobs[0]).stdout
    assert cluster.account(jobs[0], "AllocCPUS") == "1", "rounded up"
    ninth = site.submit({"waits": True}, "-c", "490m", nodes="t")
    cluster.wait_reason(ninth, "Resources")
    assert "needs 0.49 CPUs" in cluster.run("aqueue", "--why", ninth).stdout
    os.kill(cluster.pid("aresctld"), signal.SIGKILL)
    cluster.up()
    assert "CPUAlloc=3.92 " in cluster.show("node", "k-t")
    until(lambda: site.state("t") == "alloc")
    cluster.wait_reason(ninth, "Resources")
    site.kube.kubelet.finish(jobs[0])
    site.runs(ninth)
    for job in (*jobs[1:], ninth):
        site.kube.kubelet.finish(job)
    for job in (*jobs, ninth):
        site.ends(job, "COMPLETED")
    whole = site.submit({"waits": True}, "-c3", nodes="t")
    site.runs(whole)
    assert cpus_of(*site.kube.pods(whole)) == "3"
    assert "CPUAlloc=3 " in cluster.show("node", "k-t")
    rest = site.submit({"waits": True}, "-c0.92", nodes="t")
    site.runs(rest)
    assert cpus_of(*site.kube.pods(rest)) == "920m"
    for job in (whole, rest):
        site.kube.kubelet.finish(job)
        site.ends(job, "COMPLETED")
    site.kube.remove_node("t")


def test_other_nodes_round_fractions_of_cpus_up(cluster, site):  # noqa: F811
    job = cluster.wrap("echo $ARES_CPUS_PER_TASK $ARES_CPUS_ON_NODE ${ARES_CPU_LIMIT-none}", "-w", "n1", "-n2", "-c1.25")
    cluster.completed(job)
    assert cluster.output(job) == "2 4 none\n"
    shown = cluster.show("job", job)
    assert " CPUs/Task=1.25\n" in shown and "cpu=4" in shown
    held = cluster.wrap("true", "-H", "-w", "n1", "-c0.5")
    cluster.run("actl", "update", "job", held, "CPUsPerTask=1.5")
    assert " CPUs/Task=1.5\n" in cluster.show("job", held)
    cluster.run("actl", "update", "job", held, "CPUsPerTask=2")
    assert " CPUs/Task=2\n" in cluster.show("job", held)
    cluster.cancel(held)
    refused = cluster.run("arun", "-c0.5", "true", check=False)
    assert refused.returncode != 0 and "the tasks of a step get whole CPUs" in refused.stderr
