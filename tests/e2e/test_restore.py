# Tests: mark_keeper, state_dir, high_water
"""Older copies of the database under a cluster whose controller was killed: none is taken without a word, no number is given twice, and
no job stays RUNNING that its node has forgotten."""

import contextlib
import os
import signal
import subprocess

import pytest
from cluster import BIN, F1, processes_naming, stop_process, until

CONFIG = F1.format(operator="root", gpus1="", gpus2="")


def alive(pid):
    try:
        return open(f"/proc/{pid}/stat").read().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


class Restored:
    """A cluster without a supervisor of its processes, and the copies that are taken of it."""

    def __init__(self, fresh):
        self.cluster = fresh("--no-supervise", config=CONFIG)
        self.controller = None
        self.log = open(self.cluster.work / "controller.log", "a+")

    # --- copies
    def dump(self):
        file = self.cluster.work / "ares.dump"
        words = self.cluster.database()
        self.cluster.postgres("pg_dump", *words[:-2], words[-1], "-Fc", "-f", file)
        return file

    def restore(self, file):
        name = self.cluster.database()[-1]
        where = self.cluster.database()[:4] + ["-U", "postgres"]
        self.cluster.postgres("dropdb", *where, "--force", name)
        self.cluster.postgres("createdb", *where, "-O", "ares", name)
        self.cluster.postgres("pg_restore", *where, "--exit-on-error", "-d", name, file)

    # --- the controller
    def kill(self):
        pid = self.controller.pid if self.controller else self.cluster.pid("aresctld")
        os.kill(pid, signal.SIGKILL)
        if self.controller:
            self.controller.wait(30)
        until(lambda: not alive(pid))

    def words(self, *options):
        return [BIN / "aresctld", "--config", self.cluster.dir / "ares.yaml", *options]

    def start(self, *options):
        self.controller = subprocess.Popen(self.words(*options), stdout=self.log, stderr=subprocess.STDOUT,
                                           env=self.cluster.environment())

    def said(self):
        self.log.seek(0)
        return self.log.read()

    def refusal(self):
        """What it says that does not start."""
        done = subprocess.run(self.words(), text=True, timeout=30, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              env=self.cluster.environment())
        assert done.returncode != 0, done.stdout
        return done.stdout

    def ping(self):
        return self.cluster.run("actl", "ping", check=False).stdout

    @property
    def mark(self):
        return self.cluster.dir / "state" / "high-water"

    def signal_nodes(self, number):
        for node in range(1, 5):
            os.kill(self.cluster.pid(f"aresd@n{node}"), number)

    def wait_until_a_node_heard(self):
        """Of the last commit."""
        lsn = int(self.cluster.psql("SELECT lsn FROM controller"))
        until(lambda: any(f"position_lsn {n}" in p.read_text() for p in (self.cluster.dir / "spool").glob("*/identity")
                          for n in range(lsn, lsn + 100)))

    def submit(self):
        return subprocess.Popen([BIN / "asub", "-H", "--parsable", "--wrap", "true"], cwd=self.cluster.work, text=True,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=self.cluster.environment())

    def keeps_the_objection_until_accepted(self, submitting, held):
        """Another start does not forget it; what was being submitted gets a number of its own."""
        self.kill()
        assert "--accept-rollback" in self.refusal()
        self.start("--accept-rollback")
        out, err = submitting.communicate(timeout=60)
        assert submitting.returncode == 0, err
        assert int(out) > max(held), "no number is given twice"

    def close(self):
        self.log.close()
        if self.controller and self.controller.poll() is None:
            self.controller.send_signal(signal.SIGTERM)
            with contextlib.suppress(subprocess.TimeoutExpired):
                self.controller.wait(30)


@pytest.fixture
def restored(fresh):
    made = []

    def make():
        made.append(Restored(fresh))
        return made[-1]

    yield make
    for one in made:
        one.close()


def test_the_last_acknowledged_job_before_a_rest_is_missed(restored):
    """However soon after another commit it came, and though the controller was killed."""
    r = restored()
    cluster = r.cluster
    first = cluster.wrap("true", "-H")
    file = r.dump()
    # A burst, so that the last of them follows another commit closely.
    ids = [int(cluster.wrap("true", "-H", "-J", "precious")) for _ in range(3)]
    r.kill()
    r.restore(file)
    assert "an older copy was restored" in r.refusal()
    assert "--accept-rollback" in r.refusal()
    r.start("--accept-rollback")
    until(lambda: "4 of 4 nodes answer" in r.ping(), 60)
    assert cluster.queue(first) == "PENDING"
    assert int(cluster.wrap("true", "-H")) > max(ids), "no number is given twice"
    # And from then on as ever, with the mark of the new history.
    last = int(cluster.wrap("true", "-H"))
    r.kill()
    r.start()
    until(lambda: "4 of 4 nodes answer" in r.ping(), 60)
    assert int(cluster.wrap("true", "-H")) == last + 1
    # The copy is older than that history too.
    r.kill()
    r.restore(file)
    assert "--accept-rollback" in r.refusal()


def test_jobs_that_ended_since_the_copy_are_settled(restored):
    r = restored()
    cluster = r.cluster
    go = cluster.work / "go"
    wait = f"while [ ! -e {go} ]; do sleep 0.1; done"
    again = cluster.wrap(f"echo x >> {cluster.work}/again; {wait}", "--requeue", "-o", "/dev/null")
    once = cluster.wrap(f"echo x >> {cluster.work}/once; {wait}", "--no-requeue", "-o", "/dev/null")
    after = cluster.wrap("true", "-d", f"afterany:{once}", "-o", "/dev/null")
    for job in (again, once):
        cluster.wait_state(job, "RUNNING")
    until(lambda: (cluster.work / "once").exists() and (cluster.work / "again").exists())
    file = r.dump()
    go.touch()
    for job in (again, once, after):
        cluster.completed(job)
    # Until the nodes were told that they may forget.
    until(lambda: not [p for p in (cluster.dir / "spool").glob("*/jobs/*.1") if (p / "intent").exists()])
    r.kill()
    r.restore(file)
    assert "--accept-rollback" in r.refusal()
    r.start("--accept-rollback")
    assert set(cluster.wait_end(once, 60).values()) == {"NODE_FAIL"}
    assert set(cluster.wait_end(again, 60).values()) == {"COMPLETED"}, "it may run again"
    cluster.completed(after, 60)
    assert (cluster.work / "once").read_text().split() == ["x"], "it may not"
    assert not cluster.run("aqueue", "-h").stdout.strip()


def test_without_the_state_directory_the_nodes_object_for_good(restored):
    """Also of jobs that never reached them: they hear the last position with the answer to each heartbeat."""
    r = restored()
    cluster = r.cluster
    beats = cluster.work / "beats"
    file = r.dump()
    running = cluster.wrap(f"while true; do echo x >> {beats}; sleep 0.1; done", "-o", "/dev/null")
    held = [int(cluster.wrap("true", "-H")) for _ in range(3)]
    until(beats.exists)
    r.wait_until_a_node_heard()
    r.kill()
    r.restore(file)
    r.mark.unlink()
    r.start()
    until(lambda: "acknowledges nothing" in r.ping(), 60)
    submitting = r.submit()
    try:
        said = submitting.stderr.readline()
        assert "--accept-rollback" in said, said
        assert submitting.poll() is None, "it waits for a controller that may answer"
        size = beats.stat().st_size
        until(lambda: beats.stat().st_size > size)  # the job goes on
        r.keeps_the_objection_until_accepted(submitting, held)
    finally:
        submitting.kill()
        submitting.wait()
    until(lambda: "4 of 4 nodes answer" in r.ping(), 60)
    # The job that the copy does not know is ended by its node.
    assert cluster.account(running, "State") == ""
    until(lambda: not processes_naming(str(beats)))
    cluster.completed(cluster.wrap("true", "-o", "/dev/null"))


def test_a_controller_that_another_has_succeeded_hears_the_nodes_first(restored):
    """Its own mark ends where the other one began, and says nothing about how old the database is."""
    r = restored()
    mark = r.mark.read_bytes()
    r.kill()
    r.start()
    until(lambda: "4 of 4 nodes answer" in r.ping(), 60)
    r.cluster.wrap("true", "-H")
    file = r.dump()
    held = [int(r.cluster.wrap("true", "-H")) for _ in range(3)]
    r.wait_until_a_node_heard()
    r.signal_nodes(signal.SIGSTOP)
    r.kill()
    r.restore(file)
    r.mark.write_bytes(mark)
    r.start()
    until(lambda: "until it has heard its nodes" in r.ping(), 20)
    submitting = r.submit()
    try:
        r.signal_nodes(signal.SIGCONT)
        assert "--accept-rollback" in submitting.stderr.readline()
        r.keeps_the_objection_until_accepted(submitting, held)
    finally:
        r.signal_nodes(signal.SIGCONT)
        submitting.kill()
        submitting.wait()


def test_after_a_roll_back_nothing_starts_before_what_runs_was_ended(restored):
    """A job that the copy has as pending runs on a node that is late."""
    r = restored()
    cluster = r.cluster
    beats = cluster.work / "beats"
    beats.mkdir(mode=0o777)
    beats.chmod(0o777)
    job = cluster.wrap(f"file=$(mktemp {beats}/XXXXXX); for i in $(seq 6000); do date +%s.%N >> $file; sleep 0.02; done",
                       "-H", "-o", "/dev/null")
    file = r.dump()
    cluster.run("actl", "release", job)
    cluster.wait_state(job, "RUNNING")
    node = cluster.queue(job, "%N")
    until(lambda: list(beats.iterdir()))
    daemon = cluster.pid(f"aresd@{node}")
    stop_process(daemon)
    try:
        r.kill()
        r.restore(file)
        assert "--accept-rollback" in r.refusal()
        r.start("--accept-rollback")
        until(lambda: "until it has heard its nodes" in r.ping(), 20)
        releasing = subprocess.Popen([BIN / "actl", "release", job], env=cluster.environment())
        until(lambda: "3 of 4 nodes answer" in r.ping(), 20)
        assert releasing.poll() is None and len(list(beats.iterdir())) == 1
    finally:
        os.kill(daemon, signal.SIGCONT)
    assert releasing.wait(60) == 0
    until(lambda: len([file for file in beats.iterdir() if file.stat().st_size > 0]) == 2, 60)
    cluster.cancel(job)
    first, second = sorted([float(line) for line in file.read_text().split()] for file in beats.iterdir())
    assert first[-1] < second[0], "they ran at the same time"
