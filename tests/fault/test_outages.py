"""Outages of single parts: no running job is lost, and ended jobs have the right times.

Outages are short by default; ARES_OUTAGE_SECONDS sets their length.
"""
import os
import pathlib
import signal
import subprocess
import sys
import time

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "e2e"))

from cluster import BIN, Cluster, until  # noqa: E402

OUTAGE = float(os.environ.get("ARES_OUTAGE_SECONDS", "6"))

CONFIG = """
cluster: outages
controller: {{operators: [root]}}
policy: {{kill_wait: 2, heartbeat: 1, lease: {lease}, kill_allowance: 1, launch_backoff: 1}}
nodes:
  - {{name: "n[1-2]", cpus: 4, memory: 4G}}
partitions:
  - {{name: main, nodes: "n[1-2]", default: true}}
"""


@pytest.fixture
def make():
    made = []

    def build(lease=300):
        made.append(Cluster("--no-supervise", config=CONFIG.format(lease=lease)))
        return made[-1]

    yield build
    for cluster in made:
        cluster.close()


def seconds_of(clock):
    """Seconds since 1970 of a time printed by aacct."""
    return time.mktime(time.strptime(clock, "%Y-%m-%dT%H:%M:%S"))


def kill(pid, number=signal.SIGKILL):
    os.kill(pid, number)
    until(lambda: not pathlib.Path(f"/proc/{pid}").exists() or "Z" in
          pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0])


def test_jobs_that_end_during_a_controller_outage_keep_times_and_codes(make):
    cluster = make()
    jobs = {cluster.wrap(f"sleep 1.5; exit {code}"): code for code in (0, 0, 5)}
    for job in jobs:
        cluster.wait_state(job, "RUNNING")
    died = time.time()
    kill(cluster.pid("aresctld"))
    time.sleep(OUTAGE)  # the outage itself
    back = time.time()
    cluster.up()
    for job, code in jobs.items():
        cluster.wait_end(job)
        state, exit_code, end, elapsed = cluster.rows(job, "State,ExitCode,End,ElapsedRaw")[0]
        assert (state, exit_code) == (("COMPLETED", "0:0") if code == 0 else ("FAILED", "5:0"))
        assert died - 2 <= seconds_of(end) <= min(died + 4, back), f"ended {end}, controller died {died}, back {back}"
        assert int(elapsed) <= 4


def test_database_outage_delays_submission_but_not_running_jobs(make):
    cluster = make()
    mark = cluster.work / "finished"
    job = cluster.wrap(f"sleep 1; date +%s > {mark}; exit 3")
    cluster.wait_state(job, "RUNNING")
    kill(cluster.pid("postgres"), signal.SIGQUIT)
    waiting = subprocess.Popen([str(BIN / "asub"), "--parsable", "--wrap", "true"], cwd=cluster.work, env=cluster.environment(),
                               stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    until(mark.exists)  # the running job completed
    time.sleep(OUTAGE)  # the outage itself
    assert waiting.poll() is None, "acknowledged without a database"
    cluster.up()
    out, err = waiting.communicate(timeout=60)
    assert waiting.returncode == 0, err
    cluster.completed(out.strip())
    assert cluster.wait_end(job) == {job: "FAILED"}
    assert cluster.account(job, "ExitCode") == "3:0"


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can freeze a job, and without that no job is started on a lease")
def test_job_of_a_disconnected_node_is_requeued_without_overlap(make):
    cluster = make(lease=4)
    beats = cluster.work / "beats"
    job = cluster.wrap(f"for i in $(seq 100); do echo $ARESD_NODENAME $(date +%s.%N) >> {beats}; sleep 0.1; done", "--requeue")
    first = until(lambda: beats.read_text().split()[0])
    daemon = cluster.pid(f"aresd@{first}")
    os.kill(daemon, signal.SIGSTOP)  # no communication; its step supervisors keep running
    try:
        def elsewhere():
            nodes = {line.split()[0] for line in beats.read_text().splitlines()}
            return nodes - {first}
        until(elsewhere, 60)
    finally:
        os.kill(daemon, signal.SIGCONT)
    cluster.completed(job, 60)
    rows = [line.split() for line in beats.read_text().splitlines()]
    last_first = max(float(at) for node, at in rows if node == first)
    first_second = min(float(at) for node, at in rows if node != first)
    assert last_first < first_second, "the fenced attempt ran on"
    assert len([node for node, _ in rows if node != first]) == 100
    assert [row[0] for row in cluster.rows(job, "State", "-D")] == ["NODE_FAIL", "COMPLETED"]


def test_controller_outage_longer_than_every_lease_loses_no_job(make):
    cluster = make(lease=3)
    beats = cluster.work / "beats"
    job = cluster.wrap(f"for i in $(seq 20); do echo x >> {beats}; sleep 0.1; done", "--requeue")
    until(beats.exists)
    kill(cluster.pid("aresctld"))
    time.sleep(max(OUTAGE, 6))  # the outage itself: longer than the lease
    cluster.up()
    cluster.completed(job, 60)
    assert len(beats.read_text().split()) == 20, "it ran once, from its beginning to its end"
    assert cluster.account(job, "Restarts") == "0"


def test_second_node_with_the_same_name_is_refused(make):
    cluster = make()
    other = cluster.top / "other.yaml"
    text = (cluster.dir / "ares.yaml").read_text()
    other.write_text(text.replace(str(cluster.dir / "spool"), str(cluster.top / "other-spool")))
    assert other.read_text() != text
    impostor = subprocess.Popen([str(BIN / "aresd"), "--config", str(other), "--node", "n1"], stdin=subprocess.DEVNULL,
                                stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    try:
        until(lambda: "refused" in cluster.acluster("logs", "aresctld", "--lines=200").stdout)
        for _ in range(3):
            cluster.completed(cluster.wrap("true", "-w", "n1", "-N1"))
    finally:
        impostor.terminate()
        impostor.communicate(timeout=30)
