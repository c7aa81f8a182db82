# Tests: reaper, confirm, remains, init_process, os/priority
"""One set of processes at a time, whichever of a node's processes is killed or stopped, with root and without."""
import contextlib
import os
import pathlib
import signal
import subprocess
import sys
import time

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "e2e"))

from cluster import BIN, Cluster, processes_naming, until  # noqa: E402

LEASE, ALLOWANCE = 6, 2

CONFIG = """
cluster: once
controller: {{operators: [{owner}]}}
policy: {{kill_wait: 2, heartbeat: 1, lease: {lease}, kill_allowance: {allowance}, launch_backoff: 1}}
nodes:
  - {{name: "n[1-2]", cpus: 4, memory: 4G}}
partitions:
  - {{name: main, nodes: "n[1-2]", default: true}}
"""

# Writes "ATTEMPT SECONDS" on the boot clock again and again. The second process has no environment, a session of its own and no parent.
BEATS = r"""#!/bin/bash
#ARES --requeue --output=/dev/null
attempt=${ARES_ATTEMPT_DIR##*.}
cat > beat.$attempt <<'LOOP'
while :; do read up _ < /proc/uptime; echo "$1 $up" >> "$2"; sleep 0.1; done
LOOP
env -i setsid bash beat.$attempt escaped.$attempt "$PWD/beats" &
sleep 0.2
exec bash beat.$attempt main.$attempt "$PWD/beats"
"""


@pytest.fixture
def make():
    made = []

    def build(owner, namespaces=True):
        if owner != "root" and os.geteuid() != 0:
            pytest.skip("only root can act as several users")
        config = CONFIG.format(owner=owner, lease=LEASE, allowance=ALLOWANCE)
        if not namespaces:
            config += "node: {user_namespaces: false}\n"
        made.append(Cluster(owner=owner, config=config))
        return made[-1]

    yield build
    for cluster in made:
        top = str(cluster.top)
        cluster.close()
        assert processes_naming(top) == []


def unprivileged_namespaces():
    return subprocess.run(["setpriv", "--reuid", "1", "--regid", "1", "--clear-groups",
                           "unshare", "--user", "--map-current-user", "--pid", "--fork", "--mount-proc", "true"],
                          stderr=subprocess.DEVNULL).returncode == 0


def record(cluster, node, attempt, name):
    text = (cluster.dir / "spool" / node / "jobs" / attempt / name).read_text()
    return dict(line.split(" ", 1) for line in text.splitlines())


def supervisor(cluster, job):
    """Node and pid of the job's first supervisor."""
    def look():
        for node in ("n1", "n2"):
            if (cluster.dir / "spool" / node / "jobs" / f"{job}.1" / "go").exists():
                return node, int(record(cluster, node, f"{job}.1", "started")["pid"])
    return until(look)


class Beats:
    """What the attempts of one job wrote: times on the boot clock by attempt number."""

    def __init__(self, cluster):
        self.path = cluster.work / "beats"

    def of(self, attempt):
        text = self.path.read_text() if self.path.exists() else ""
        words = [line.split() for line in text.splitlines()]
        return [float(w[1]) for w in words if len(w) == 2 and w[0].endswith(f".{attempt}")]

    def escaped(self, attempt):
        return self.path.exists() and f"escaped.{attempt} " in self.path.read_text()

    def assert_apart(self):
        first, second = self.of(1), self.of(2)
        assert first and second
        # /proc/uptime has hundredths, and a beat is written a moment after its time was read.
        assert max(first) <= min(second) + 0.01, f"both ran for {max(first) - min(second):.2f} s"


def shown(cluster, node):
    return cluster.run("actl", "show", "node", node).stdout


def submit(cluster):
    return cluster.submit(cluster.script(BEATS))


@pytest.mark.parametrize("owner", ["root", "daemon"])
def test_what_cleared_its_environment_ends_with_a_killed_supervisor(make, owner):
    if owner != "root" and not unprivileged_namespaces():
        pytest.skip("needs unprivileged user namespaces")
    cluster = make(owner)
    beats = Beats(cluster)
    job = submit(cluster)
    until(lambda: beats.escaped(1))
    os.kill(supervisor(cluster, job)[1], signal.SIGKILL)
    until(lambda: beats.escaped(2), 60)
    until(lambda: len(beats.of(2)) > 20)
    beats.assert_apart()
    cluster.cancel(job)
    cluster.wait_state(job, "CANCELLED")
    assert processes_naming(str(beats.path)) == []


@pytest.mark.parametrize("guardian", ["supervisor", "init"])
@pytest.mark.parametrize("owner", ["root", "daemon"])
def test_an_attempt_whose_daemons_are_stopped_stops_before_the_next_starts(make, owner, guardian):
    if owner != "root" and not unprivileged_namespaces():
        pytest.skip("needs unprivileged user namespaces")
    cluster = make(owner)
    beats = Beats(cluster)
    job = submit(cluster)
    until(lambda: beats.escaped(1))
    node, pid = supervisor(cluster, job)
    init = int(record(cluster, node, f"{job}.1", "task")["pid"])
    stopped = [cluster.pid(f"aresd@{node}"), pid if guardian == "supervisor" else init]
    for process in stopped:
        os.kill(process, signal.SIGSTOP)
    try:
        until(lambda: len(beats.of(2)) > 10, 60)
        beats.assert_apart()
    finally:
        for process in stopped:
            with contextlib.suppress(ProcessLookupError):  # init, where the supervisor had to kill
                os.kill(process, signal.SIGCONT)
    # Back again, the first attempt is ended and not continued.
    until(lambda: not (cluster.dir / "spool" / node / "jobs" / f"{job}.1").exists())
    beats.assert_apart()


def test_an_attempt_killed_for_its_lease_runs_again(make):
    """Though its node is back before the controller gives it up: the job did not fail."""
    if not unprivileged_namespaces():
        pytest.skip("needs unprivileged user namespaces")
    cluster = make("daemon")
    beats = Beats(cluster)
    job = submit(cluster)
    until(lambda: beats.escaped(1))
    node, _ = supervisor(cluster, job)
    daemon = cluster.pid(f"aresd@{node}")
    init = int(record(cluster, node, f"{job}.1", "task")["pid"])
    for process in (init, daemon):  # the supervisor cannot freeze without init
        os.kill(process, signal.SIGSTOP)
    try:
        until(lambda: not processes_naming(str(beats.path)), LEASE + 10, every=0.02)
    finally:
        os.kill(daemon, signal.SIGCONT)
    until(lambda: len(beats.of(2)) > 5, 60)
    beats.assert_apart()
    cluster.cancel(job)
    cluster.wait_state(job, "CANCELLED")


def test_a_supervisor_that_was_stopped_lets_its_job_go_on(make):
    cluster = make("root")
    beats = Beats(cluster)
    job = submit(cluster)
    until(lambda: beats.escaped(1))
    _, pid = supervisor(cluster, job)
    os.kill(pid, signal.SIGSTOP)
    try:
        until(lambda: time.clock_gettime(time.CLOCK_BOOTTIME) - beats.of(1)[-1] > 2, 30)
        assert cluster.queue(job) == "RUNNING", "its node is alive, so that it is not started elsewhere"
    finally:
        os.kill(pid, signal.SIGCONT)
    resumed = len(beats.of(1))
    until(lambda: len(beats.of(1)) > resumed + 10)
    assert not beats.of(2)
    cluster.cancel(job)
    cluster.wait_state(job, "CANCELLED")


def scheduling(pid):
    """Policy (0: other, 2: round robin), nice and locked KiB of a process."""
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    status = pathlib.Path(f"/proc/{pid}/status").read_text()
    locked = int(status.split("VmLck:")[1].split()[0])
    return int(fields[38]), int(fields[16]), locked


def test_guardians_are_ahead_of_jobs_which_inherit_nothing_of_it(make):
    cluster = make("root")
    beats = Beats(cluster)
    job = submit(cluster)
    until(lambda: beats.escaped(1))
    node, pid = supervisor(cluster, job)
    if subprocess.run(["chrt", "--rr", "1", "true"], stderr=subprocess.DEVNULL).returncode != 0:
        pytest.skip("needs real-time scheduling")
    for guardian in (pid, int(record(cluster, node, f"{job}.1", "task")["pid"])):
        policy, _, locked = scheduling(guardian)
        assert policy == 2 and locked > 0
    assert scheduling(cluster.pid(f"aresd@{node}"))[1] == -10
    until(lambda: len(processes_naming(str(beats.path))) == 2)
    jobs = [int(line.split()[0]) for line in processes_naming(str(beats.path))]
    assert {scheduling(process) for process in jobs} == {(0, 0, 0)}


def test_without_namespaces_a_reaper_ends_what_a_killed_supervisor_left(make):
    cluster = make("daemon", namespaces=False)
    beats = Beats(cluster)
    job = submit(cluster)
    until(lambda: beats.escaped(1))
    os.kill(supervisor(cluster, job)[1], signal.SIGKILL)
    until(lambda: beats.escaped(2), 60)
    until(lambda: len(beats.of(2)) > 20)
    beats.assert_apart()
    cluster.cancel(job)
    cluster.wait_state(job, "CANCELLED")
    assert processes_naming(str(beats.path)) == []


def test_an_end_that_cannot_be_proven_waits_for_an_operator(make):
    cluster = make("daemon", namespaces=False)
    beats = Beats(cluster)
    job = submit(cluster)
    until(lambda: beats.escaped(1))
    node, pid = supervisor(cluster, job)
    reaper = int(record(cluster, node, f"{job}.1", "started")["reaper_pid"])
    early = cluster.run("aresd", "--node", node, "--confirm-ended", f"{job}.1", check=False)
    assert early.returncode == 1 and "lives" in early.stderr
    os.kill(reaper, signal.SIGSTOP)  # as if it could not end a process
    os.kill(pid, signal.SIGKILL)
    refused = "the reaper of attempt {}.1 (process {}) lives".format(job, reaper)
    until(lambda: refused in cluster.run("aresd", "--node", node, "--confirm-ended", f"{job}.1", check=False).stderr)
    os.kill(reaper, signal.SIGKILL)
    command = f"aresd --config {cluster.dir}/ares.yaml --node {node} --confirm-ended {job}.1"
    until(lambda: command in cluster.acluster("logs", "--lines=1000", f"aresd@{node}", check=False).stdout)
    until(lambda: f"   Reason=attempt {job}.1: " in shown(cluster, node) and command in shown(cluster, node))
    os.kill(cluster.pid(f"aresd@{node}"), signal.SIGKILL)
    said = cluster.acluster("logs", "--lines=1000", f"aresd@{node}", check=False).stdout.count(command)
    cluster.up()
    until(lambda: cluster.acluster("logs", "--lines=1000", f"aresd@{node}", check=False).stdout.count(command) > said)
    until(lambda: command in shown(cluster, node))
    assert cluster.queue(job) == "RUNNING"
    for line in processes_naming(str(beats.path)):  # as the operator was told to
        os.kill(int(line.split()[0]), signal.SIGKILL)
    cluster.run(*command.split())
    until(lambda: beats.of(2), 60)
    beats.assert_apart()
    until(lambda: "Reason=" not in shown(cluster, node))
    cluster.cancel(job)
    cluster.wait_state(job, "CANCELLED")


def test_a_node_that_cannot_make_namespaces_says_so(make):
    cluster = make("root")
    until(lambda: "RequeueOnSilence=yes" in shown(cluster, "n1"))
    cluster.acluster("down")
    without = ["setpriv", "--bounding-set=-sys_admin", "--inh-caps=-all"]
    done = subprocess.run([*without, str(BIN / "acluster"), "up", "--dir", str(cluster.dir)], env=cluster.environment(),
                          stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    until(lambda: "RequeueOnSilence=no" in shown(cluster, "n1"))
    said = "run without pid namespaces and leases, see NAMESPACES in aresd(8): cannot make a pid namespace: Operation not permitted"
    assert said in cluster.acluster("logs", "--lines=1000", "aresd@n1").stdout
