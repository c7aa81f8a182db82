"""The disk of the database is full: what was committed can be read, nothing is acknowledged, and work goes on by itself once there is
space again. The database is moved to a small file system for it.
"""
import os
import pathlib
import signal
import subprocess
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "e2e"))

from cluster import BIN, Cluster, until  # noqa: E402

CONFIG = """
cluster: full
controller: {operators: [root]}
policy: {kill_wait: 2, heartbeat: 1, launch_backoff: 1}
nodes:
  - {name: "n[1-2]", cpus: 4, memory: 4G}
partitions:
  - {name: main, nodes: "n[1-2]", default: true}
"""
SIZE = 96 << 20  # bytes


class SmallDisk:
    """A cluster whose database, except its log of transactions, is on a file system of its own."""

    def __init__(self):
        self.path = None
        self.cluster = Cluster("--no-supervise", config=CONFIG)
        try:
            self.move()
        except BaseException:
            self.close()
            raise

    def superuser(self, statement):
        return self.cluster.postgres("psql", "-XAtq", "-v", "ON_ERROR_STOP=1", *self.cluster.database("postgres"), "-U", "postgres",
                                     "-c", statement)

    def move(self):
        path = self.cluster.top / "disk"
        path.mkdir()
        server = os.stat(f"/proc/{self.cluster.pid('postgres')}")
        done = subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={SIZE},uid={server.st_uid},mode=700", "tmpfs", str(path)],
                              capture_output=True, text=True)
        if done.returncode != 0:
            pytest.skip("no right to mount a small file system: " + done.stderr)
        self.path = path
        os.kill(self.cluster.pid("aresctld"), signal.SIGKILL)
        self.superuser(f"CREATE TABLESPACE small LOCATION '{path}'")
        until(lambda: self.superuser("SELECT count(*) FROM pg_stat_activity WHERE datname = 'ares'") == "0")
        self.superuser("ALTER DATABASE ares SET TABLESPACE small")
        self.cluster.up()

    def fill(self):
        with open(self.path / "fill", "wb", buffering=0) as out:
            try:
                while True:
                    out.write(bytes(1 << 16))
            except OSError:
                pass

    def free(self):
        (self.path / "fill").unlink()

    def close(self):
        self.cluster.acluster("down", check=False)
        if self.path:
            subprocess.run(["umount", str(self.path)], check=True)
        self.cluster.close()


@pytest.fixture
def disk():
    if os.geteuid() != 0:
        pytest.skip("only root can mount a small file system")
    made = SmallDisk()
    yield made
    made.close()


class Waiting:
    """A command that runs beside the test."""

    def __init__(self, cluster, program, *words):
        self.errors = cluster.top / f"errors-{id(self)}"
        with open(self.errors, "w") as errors:
            self.process = subprocess.Popen([str(BIN / program), *map(str, words)], cwd=cluster.work, text=True,
                                            env=cluster.environment(), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=errors)

    def waits(self):
        return self.process.poll() is None

    def told(self):
        return self.errors.read_text()

    def output(self):
        out, _ = self.process.communicate(timeout=60)
        assert self.process.returncode == 0, self.told()
        return out.strip()


def script_of(cluster, bytes_needed, name):
    """A script that leaves a line each time it runs, and that cannot be compressed."""
    runs = cluster.work / f"{name}.runs"
    text = f"#!/bin/bash\necho run >> {runs}\n: {os.urandom(bytes_needed // 2).hex()}\n"
    return cluster.script(text, name), runs


def test_reading_goes_on_and_what_was_held_is_acknowledged_once(disk):
    cluster = disk.cluster
    controller = cluster.pid("aresctld")
    running = cluster.wrap("sleep 5; exit 3")
    cluster.wait_state(running, "RUNNING")
    disk.fill()

    script, runs = script_of(cluster, 1 << 20, "large.sh")
    held = Waiting(cluster, "asub", "--parsable", script)
    until(lambda: "disk is full" in cluster.run("actl", "ping").stdout)
    later = [Waiting(cluster, "asub", "--parsable", "--wrap", "true"), Waiting(cluster, "actl", "update", "job", running, "comment=x")]
    for command in later:
        until(lambda: "disk is full: make room there, retrying" in command.told())
    assert cluster.queue(running) in ("RUNNING", "COMPLETING")
    assert cluster.run("ainfo", "-h").stdout
    assert cluster.account(running, "JobID") == running
    assert all(command.waits() for command in (held, *later)), "acknowledged without a commit"
    assert not runs.exists()

    disk.free()
    jobs = [running, held.output(), later[0].output()]
    assert len(set(jobs)) == 3
    for job in jobs[1:]:
        cluster.completed(job)
    assert runs.read_text() == "run\n"
    assert cluster.wait_end(running) == {running: "FAILED"}
    assert cluster.account(running, "ExitCode") == "3:0"
    assert cluster.psql("SELECT count(DISTINCT job_id) FROM attempt") == "3", "each was submitted once"
    assert cluster.pid("aresctld") == controller, "it was not restarted"
    log = cluster.acluster("logs", "aresctld", "--lines=1000").stdout
    assert log.count("disk is full") == 1, log
    assert "active again" in log
