# Tests: job_slice
"""Whatever ends all processes in the control groups of a node daemon, as systemd may do with those of a service, ends no job."""

import os
import pathlib
import re
import signal
import time

import pytest

from cluster import Cluster, until

CONFIG = """
cluster: grouped
controller: {operators: [root]}
policy: {kill_wait: 2, heartbeat: 1, launch_backoff: 1}
nodes:
  - {name: "n1", cpus: 8, memory: 1000M}
partitions:
  - {name: main, nodes: "n1", default: true}
"""


def own_groups():
    """Our group in each hierarchy."""
    points = {}
    for line in open("/proc/self/mountinfo"):
        left, right = line.split(" - ")
        kind, _, options = right.split()
        for name in {"cgroup": options.split(","), "cgroup2": [""]}.get(kind, []):
            points[name] = left.split()[4]
    found = []
    for line in open("/proc/self/cgroup"):
        _, names, path = line.rstrip("\n").split(":", 2)
        point = points.get(names.split(",")[0])
        if point and os.path.isdir(point + path):
            found.append(pathlib.Path(point + path))
    return found


def make_group(path):
    path.mkdir()
    for name in ("cpuset.cpus", "cpuset.mems"):
        if (path / name).exists() and (path.parent / name).exists():
            (path / name).write_text((path.parent / name).read_text())


def processes_in(group):
    return [int(pid) for path, _, _ in os.walk(group) for pid in (pathlib.Path(path) / "cgroup.procs").read_text().split()]


@pytest.fixture
def groups():
    """A group in each hierarchy, in which the test may make others; removed at the end."""
    if os.geteuid() != 0:
        pytest.skip("needs root")
    made = []
    try:
        for own in own_groups():
            made.append(own / f"ares-e2e-{os.getpid()}")
            make_group(made[-1])
    except OSError as error:
        for path in made:
            if path.exists():
                path.rmdir()
        pytest.skip(f"needs groups of its own in every hierarchy: {error}")
    yield made
    for top in made:
        for path, _, _ in os.walk(top, topdown=False):
            until(lambda: removed(path), 10)


def removed(path):
    try:
        os.rmdir(path)
    except FileNotFoundError:
        pass
    return True


def kill_everything(group):
    """As systemd does it: until nothing is left."""
    while pids := processes_in(group):
        for pid in pids:
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
        time.sleep(0.01)


@pytest.fixture
def cluster(groups):
    made = Cluster(config=CONFIG)
    yield made
    made.close()


def enter(cluster, groups):
    """Moves the node's daemon into groups of its own, in every hierarchy."""
    pid = cluster.pid("aresd@n1")
    for top in groups:
        make_group(top / "daemon")
        (top / "daemon/cgroup.procs").write_text(str(pid))
    return pid


def test_jobs_go_on_when_everything_in_them_is_killed(cluster, groups):
    before = enter(cluster, groups)
    jobs = [cluster.wrap(f"(while :; do date +%s.%N >> beat.{i}; sleep 0.1; done) & while [ ! -e finish ]; do sleep 0.05; done; exit {i}")
            for i in range(3)]
    for i, job in enumerate(jobs):
        cluster.wait_state(job, "RUNNING")
        until((cluster.work / f"beat.{i}").exists)
    for top in groups:
        assert processes_in(top / "daemon") == [before], "supervisors and jobs have left"
    for top in groups:
        kill_everything(top / "daemon")
    until(lambda: cluster.acluster("pid", "aresd@n1", check=False).stdout.strip() not in ("", str(before)))
    beats = [(cluster.work / f"beat.{i}").stat().st_size for i in range(3)]
    for i, size in enumerate(beats):
        until(lambda: (cluster.work / f"beat.{i}").stat().st_size > size)
    assert [cluster.state(job) for job in jobs] == ["RUNNING"] * 3
    (cluster.work / "finish").touch()
    for i, job in enumerate(jobs):
        cluster.wait_end(job)
        assert cluster.account(job, "ExitCode") == f"{i}:0"


def test_groups_of_a_shared_session_are_not_left_and_the_log_says_so(cluster):
    """The daemons of a private cluster share the groups of the shell that started it; they end with it."""
    job = cluster.wrap("cat /proc/self/cgroup")
    cluster.completed(job)
    assert "ares.jobs" not in cluster.output(job)
    log = cluster.acluster("logs", "--lines=1000", "aresd@n1").stdout
    for own in own_groups():
        if (own.parent / "cgroup.procs").exists():  # it is not the root, which nothing ends
            assert re.search(rf"jobs stay in control groups of aresd .*{re.escape(str(own))}", log)
