"""The controller restarts again and again under a loop of mixed commands: each succeeds, or says plainly what to do.

ARES_LOOP_COMMANDS sets how many commands there are at least, 150 by default, with a restart for each 30. The figures are printed
(pytest -s).
"""
import collections
import os
import pathlib
import random
import re
import signal
import sys
import threading
import time

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "e2e"))

from cluster import Cluster, until  # noqa: E402

COMMANDS = int(os.environ.get("ARES_LOOP_COMMANDS", "150"))
WORKERS = 3

CONFIG = """
cluster: loop
controller: {operators: [root]}
policy: {kill_wait: 2, heartbeat: 1, launch_backoff: 1}
nodes:
  - {name: "n[1-2]", cpus: 4, memory: 4G}
partitions:
  - {name: main, nodes: "n[1-2]", default: true, default_memory_per_cpu: 100M}
"""

# What a command may answer of a job that is not in the state that the command needs.
ABOUT_STATE = re.compile(r"has (already )?ended|is not pending|is already|Job/step already completing|is running|is ending|not be (held|requeued)|is not held|no longer pending")


class Restarts(threading.Thread):
    """Ends the controller by turns with KILL and TERM, each time when it has answered."""

    def __init__(self, cluster):
        super().__init__(daemon=True)
        self.cluster, self.over, self.count = cluster, threading.Event(), 0

    def run(self):
        while not self.over.wait(0.3):
            pid = until(lambda: self.cluster.pid("aresctld"), seconds=60)
            try:
                os.kill(pid, signal.SIGTERM if self.count % 2 else signal.SIGKILL)
            except ProcessLookupError:
                continue
            self.count += 1
            until(lambda pid=pid: self.cluster.pid("aresctld") != pid, seconds=60)
            until(lambda: self.cluster.run("actl", "ping", check=False, timeout=60).returncode == 0, seconds=60)


@pytest.fixture
def cluster():
    made = Cluster(config=CONFIG)
    yield made
    made.close()


def words_of(chance, jobs):
    """One command of a user's day."""
    job = chance.choice(jobs) if jobs else 1
    return chance.choice([
        ["asub", "--parsable", "-o", "/dev/null", "--wrap", "true"],
        ["asub", "--parsable", "-o", "/dev/null", "--wrap", "true"],
        ["asub", "--parsable", "-H", "-o", "/dev/null", "-a", "1-3", "--wrap", "true"],
        ["aqueue"], ["aqueue", "-j", str(job)], ["ainfo"], ["actl", "show", "node", "n1"],
        ["aacct", "-X", "-j", str(job)], ["actl", "show", "job", str(job)], ["actl", "hold", str(job)],
        ["actl", "release", str(job)], ["actl", "update", f"job={job}", "comment=looked-at"], ["acancel", str(job)]])


def test_each_command_succeeds_or_says_what_to_do(cluster):
    jobs, failures, kinds = [], [], collections.Counter()
    lock = threading.Lock()

    def work(seed):
        chance = random.Random(seed)
        while sum(kinds.values()) < COMMANDS or restarts.count < COMMANDS // 30:
            words = words_of(chance, jobs)
            begin = time.monotonic()
            done = cluster.run(*words, check=False, timeout=300)
            took = time.monotonic() - begin
            with lock:
                kinds[words[0], done.returncode] += 1
                if words[0] == "asub" and done.returncode == 0:
                    jobs.append(int(done.stdout))
                if done.returncode and not ABOUT_STATE.search(done.stderr) and "Invalid job id" not in done.stderr:
                    failures.append((words, done.returncode, done.stderr, round(took, 1)))

    restarts = Restarts(cluster)
    restarts.start()
    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(WORKERS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    restarts.over.set()
    restarts.join()
    print(f"\n{sum(kinds.values())} commands, {restarts.count} restarts, {len(jobs)} jobs: {dict(kinds)}")

    assert not failures, "\n".join(map(str, failures))
    assert restarts.count >= COMMANDS // 30
    # None is lost and none was submitted twice.
    assert len(jobs) == len(set(jobs)) > 0
    cluster.run("actl", "release", *map(str, jobs), check=False)
    until(lambda: cluster.run("aqueue", "-h").stdout == "", seconds=120)
    known = {int(row.split("_")[0]) for row in cluster.run("aacct", "-X", "-n", "-P", "-o", "JobID").stdout.split()}
    assert known == set(jobs)
