"""A process of a job that the kernel cannot kill: it sleeps uninterruptibly, here in the freezer of cgroup version 1. The node is set aside
until it dies, without a reboot, and neither its job nor another one is hurt."""
import contextlib
import json
import os
import pathlib
import re

import pytest

from cgroups import mounts, needs
from cluster import Cluster, f1, until


@pytest.fixture
def cluster():
    if os.geteuid() != 0:
        pytest.skip("only root can move processes to another freezer")
    needs("freezer")
    if "" not in mounts():
        pytest.skip("the freezer is the node daemon's own")
    made = Cluster(config=f1())
    yield made
    made.close()


@contextlib.contextmanager
def uninterruptible(pid):
    group = pathlib.Path(mounts()["freezer"][0]) / f"ares-test-{os.getpid()}"
    group.mkdir()
    try:
        (group / "cgroup.procs").write_text(str(pid))
        (group / "freezer.state").write_text("FROZEN")
        until(lambda: (group / "freezer.state").read_text().strip() == "FROZEN")
        yield
    finally:
        (group / "freezer.state").write_text("THAWED")
        until(lambda: not (group / "cgroup.procs").read_text().split())
        until(lambda: group.rmdir() is None)


def node(cluster, name):
    return json.loads(cluster.run("actl", "--json", "show", "node", name).stdout)["nodes"][0]


def child_named(cluster, job, name):
    """The process of the job that has this name, as the machine numbers it."""
    record = (cluster.dir / "spool" / "n1" / "jobs" / f"{job}.1" / "task").read_text()
    todo = [next(int(line.split()[1]) for line in record.splitlines() if line.startswith("pid "))]
    while todo:
        pid = todo.pop()
        if pathlib.Path(f"/proc/{pid}/comm").read_text().strip() == name:
            return pid
        for thread in pathlib.Path(f"/proc/{pid}/task").iterdir():
            todo += map(int, (thread / "children").read_text().split())
    return None


def test_a_node_is_set_aside_until_the_process_dies(cluster):
    job = cluster.wrap("sleep 1000; true", "-w", "n1")
    cluster.wait_state(job, "RUNNING")
    pid = until(lambda: child_named(cluster, job, "sleep"))
    with uninterruptible(pid):
        cluster.cancel(job)
        bad = until(lambda: (found := node(cluster, "n1"))["reason"] and found, seconds=120, every=0.5)
        assert re.fullmatch(rf"processes of job {job} do not die: \d+ \(sleep, [A-Z]\)", bad["reason"]), bad
        assert bad["state"] == "DRAINING" and bad["reason_user"] == "controller"
        assert cluster.queue(job) == "COMPLETING", "its resources are not given to another job"
        waits = cluster.wrap("true", "-w", "n1")
        cluster.wait_reason(waits, "ReqNodeNotAvail")
        cluster.completed(cluster.wrap("true", "-w", "n2"))
        # It is known to a new daemon as well.
        os.kill(cluster.pid("aresd@n1"), 9)
        again = until(lambda: (found := node(cluster, "n1"))["registered_at"] and found)
        assert again["state"].startswith("DRAINING") and again["reason"] == bad["reason"]
        assert cluster.queue(job) == "COMPLETING"
    cluster.completed(waits)
    cluster.wait_end(job)
    assert cluster.account(job, "State").startswith("CANCELLED")
    until(lambda: node(cluster, "n1")["state"] == "IDLE")
    assert not pathlib.Path(f"/proc/{pid}").exists()
