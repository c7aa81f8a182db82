#!/usr/bin/python3
"""Faults while jobs of eight nodes are prepared and started: no rank runs unless the whole job was told to go.

  tests/fault/gang_start.py --faults 300 [--seed N]

Each fault submits a job of eight of ten nodes, whose prologs take a random time, and then kills or stops a daemon of one of the nodes, kills
the supervisor of the job there, the fork server or the controller, or fills the disk of a node's spool (as root). Each rank writes its number
and that of its attempt to a file. In the end:

* every job has run: its last attempt is COMPLETED, and each of its ranks ran once in it;
* in an attempt that accounting says never started, no rank ran; in no attempt a rank ran twice;
* an attempt that never started is not counted as a restart, and the node that was blamed for it last is not part of the next one.

A fault that comes after the job was told to go may end an attempt in which some ranks have run; such attempts are counted apart. A job may
then end as FAILED, because its script has seen its step fail. Exits with 1 if anything is wrong.
"""
import argparse
import collections
import contextlib
import os
import pathlib
import random
import shutil
import signal
import subprocess
import sys
import threading
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "e2e")]

from cluster import Cluster, until  # noqa: E402
from faults.processes import Process, children, recorded  # noqa: E402

NODES, WIDTH = 10, 8
WINDOW = 1.2  # seconds from the submission within which a fault comes
AT_ONCE = 5   # jobs that have not ended
CONFIG = """
cluster: gangstart
controller: {{operators: [root]}}
policy:
  {{kill_wait: 1, heartbeat: 1, lease: 20, kill_allowance: 2, launch_backoff: 1, launch_backoff_max: 1, prepare_timeout: 6,
    start_barrier: 6, launch_guard: {{failures: 0}}, min_job_age: 3600}}
nodes:
  - {{name: "n[1-{nodes}]", cpus: 8, memory: 8G}}
partitions:
  - {{name: main, nodes: "n[1-{nodes}]", default: true}}
node: {{prolog: {prolog}, prolog_timeout: 5}}
"""
PROLOG = """#!/bin/bash
sleep 0.$((RANDOM % 6))
"""
# A step that is refused before its tasks begin is tried again: a node daemon may be about to be started again.
SCRIPT = """#!/bin/bash
attempt=${{ARES_ATTEMPT_DIR##*.}}
runs={runs}/$ARES_JOB_ID
for try in $(seq 20); do
  arun -N{width} -n{width} bash -c "echo $attempt \\$ARES_PROCID >> $runs; sleep 0.1" && exit 0
  grep -qs "^$attempt " $runs && exit 1
  sleep 0.5
done
exit 2
"""


class GangStart:
    def __init__(self, faults, seed, say=lambda line: None):
        self.faults, self.random, self.say = faults, random.Random(seed), say
        self.cluster = None
        self.mounted = []
        self.injected = collections.Counter()
        self.later = []  # threads that undo a fault
        self.problems = []
        self.jobs = []
        try:
            self.make()
        except BaseException:
            self.close()
            raise

    def make(self):
        folder = pathlib.Path(subprocess.run(["mktemp", "-d", "-t", "ares-gang-XXXXXX"], check=True, text=True,
                                             capture_output=True).stdout.strip())
        folder.chmod(0o755)
        self.folder = folder
        prolog = folder / "prolog"
        prolog.write_text(PROLOG)
        prolog.chmod(0o755)
        self.cluster = Cluster(config=CONFIG.format(nodes=NODES, prolog=prolog))
        self.runs = self.cluster.work / "runs"
        self.runs.mkdir()
        self.script = self.cluster.script(SCRIPT.format(runs=self.runs, width=WIDTH))
        if os.geteuid() == 0:
            self.mount()

    def mount(self):
        """Each spool becomes a small disk of its own."""
        self.cluster.acluster("down")
        for number in range(1, NODES + 1):
            spool = self.cluster.dir / "spool" / f"n{number}"
            done = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=24M", "tmpfs", str(spool)], capture_output=True)
            if done.returncode == 0:
                self.mounted.append(spool)
        self.cluster.up()

    def close(self):
        for thread in self.later:
            thread.join()
        if self.cluster:
            self.cluster.acluster("down", check=False)
            for spool in self.mounted:
                subprocess.run(["umount", "-l", str(spool)], check=False)
            self.cluster.close()
        if getattr(self, "folder", None):
            shutil.rmtree(self.folder, ignore_errors=True)

    # --- faults -----------------------------------------------------------------------------------------------------
    def daemon(self, node):
        return Process.of(self.cluster.pid(f"aresd@{node}"))

    def after(self, seconds, what):
        thread = threading.Timer(seconds, what)
        thread.start()
        self.later.append(thread)

    def kill_daemon(self, node, _):
        return self.daemon(node).send(signal.SIGKILL)

    def stop_daemon(self, node, _):
        daemon = self.daemon(node)
        self.after(self.random.choice([0.5, 2, 8]), lambda: daemon.send(signal.SIGCONT))
        return daemon.send(signal.SIGSTOP)

    def kill_supervisor(self, _, job):
        """Of any node of the job that has one."""
        spool = self.cluster.dir / "spool"
        found = list(spool.glob(f"n*/jobs/{job}.*/started"))
        self.random.shuffle(found)
        for started in found:
            with contextlib.suppress(OSError, KeyError, LookupError, ValueError):
                supervisor = recorded(started)
                if supervisor.name() == "aresstepd" and supervisor.send(signal.SIGKILL):
                    return True
        return False

    def kill_fork_server(self, node, _):
        return any(child.name() == "aresstepd" and child.send(signal.SIGKILL) for child in children(self.daemon(node)))

    def kill_controller(self, _, __):
        return Process.of(self.cluster.pid("aresctld")).send(signal.SIGKILL)

    def fill_disk(self, node, _):
        spool = self.cluster.dir / "spool" / node
        if spool not in self.mounted:
            return False
        filler = spool / ".filler"
        with contextlib.suppress(OSError), open(filler, "wb", buffering=0) as file:
            while True:
                file.write(bytes(1 << 14))
        self.after(1.5, lambda: filler.unlink(missing_ok=True))
        return True

    def inject(self, job):
        kinds = [self.kill_daemon, self.stop_daemon, self.kill_supervisor, self.kill_fork_server, self.kill_controller]
        kinds += [self.fill_disk] if self.mounted else []
        kind = self.random.choice(kinds)
        node = f"n{self.random.randint(1, NODES)}"
        name = kind.__name__.replace("_", " ")
        try:
            done = kind(node, job)
        except (OSError, LookupError, ValueError, AssertionError):
            done = False  # it does not run just now
        self.injected[name if done else "none: nothing to harm"] += 1
        self.say(f"{len(self.jobs):4} job {job}: {name} {node}{'' if done else ': nothing to harm'}")

    # --- the run ----------------------------------------------------------------------------------------------------
    def live(self):
        return self.cluster.run("aqueue", "-h", "--me", "-o", "%i", check=False).stdout.split()

    def run(self):
        while len(self.jobs) < self.faults:
            until(lambda: len(self.live()) < AT_ONCE, 300, every=0.2)
            job = self.cluster.submit("-N", str(WIDTH), "--ntasks-per-node=1", "--requeue", "-o", "/dev/null", "-t", "10",
                                      str(self.script), timeout=120)
            self.jobs.append(job)
            time.sleep(self.random.uniform(0, WINDOW))
            self.inject(job)
        for thread in self.later:
            thread.join()
        until(lambda: not self.live(), 300, every=0.5)
        self.verify()
        return self.problems

    # --- the verdict ------------------------------------------------------------------------------------------------
    def attempts(self):
        fields = "JobID,Attempt,State,Start,Restarts,NodeList,Cause"
        rows = collections.defaultdict(list)
        for at in range(0, len(self.jobs), 100):
            some = ",".join(self.jobs[at:at + 100])
            for line in self.cluster.run("aacct", "-X", "-D", "-n", "-P", "-j", some, "-o", fields).stdout.splitlines():
                job, *rest = line.split("|")
                rows[job].append(dict(zip(fields.split(",")[1:], rest)))
        return rows

    def ranks(self, job):
        """{attempt: [rank, ...]} as they ran."""
        ran = collections.defaultdict(list)
        with contextlib.suppress(FileNotFoundError):
            for line in (self.runs / job).read_text().splitlines():
                attempt, rank = line.split()
                ran[attempt].append(int(rank))
        return ran

    def blames(self):
        """{attempt: [node, ...]}: whose fault it is that it never started, in the order of the reports."""
        found = collections.defaultdict(list)
        said = self.cluster.psql("SELECT name, detail FROM node_event WHERE what = 'LAUNCH_FAILED' ORDER BY id")
        for line in said.splitlines():
            node, detail = line.split("|", 1)
            found[detail.split(":")[0].removeprefix("attempt ")].append(node)
        return found

    def names(self, nodes):
        return set(self.cluster.run("actl", "show", "hostnames", nodes).stdout.split()) if nodes.startswith("n") else set()

    def verify(self):
        self.fates = collections.Counter()
        self.blamed = self.blames()
        for job, rows in sorted(self.attempts().items(), key=lambda item: int(item[0])):
            self.verify_job(job, sorted(rows, key=lambda row: int(row["Attempt"])), self.ranks(job))
        missing = set(self.jobs) - set(self.attempts())
        if missing:
            self.problems.append(f"accounting does not know {sorted(missing)}")

    def wrong(self, job, text):
        self.problems.append(f"job {job}: {text}")

    def verify_job(self, job, rows, ran):
        started = 0
        for at, row in enumerate(rows):
            attempt, last = row["Attempt"], row is rows[-1]
            ranks = sorted(ran.pop(attempt, []))
            has_started = row["Start"][:1].isdigit()
            if len(set(ranks)) != len(ranks):
                self.wrong(job, f"attempt {attempt} ran ranks twice: {ranks}")
            if ranks and not has_started:
                self.wrong(job, f"attempt {attempt} never started and ran ranks {ranks}")
            if last and int(row["Restarts"]) != started:
                self.wrong(job, f"has {row['Restarts']} restarts, and {started} earlier attempts started")
            if last and row["State"] == "COMPLETED":
                self.fates["completed"] += 1
                if ranks != list(range(WIDTH)):
                    self.wrong(job, f"is COMPLETED, and attempt {attempt} ran ranks {ranks}")
            elif last and row["State"] == "FAILED" and has_started and ranks:
                self.fates["failed after go"] += 1
            elif last:
                self.wrong(job, f"is {row['State']} after attempt {attempt}: {row['Cause']}")
            elif has_started:
                self.fates["ended after go, and ran again"] += 1
                if not row["State"].startswith("NODE_FAIL"):
                    self.wrong(job, f"attempt {attempt} is {row['State']}")
            else:
                self.fates["failed before go, and ran elsewhere"] += 1
                # Where too few nodes would be left, only the last one that failed stays excluded.
                blamed = self.blamed[f"{job}.{attempt}"]
                if not blamed:
                    self.wrong(job, f"no node is blamed for attempt {attempt}: {row['Cause']}")
                elif blamed[-1] in self.names(rows[at + 1]["NodeList"]):
                    self.wrong(job, f"attempt {rows[at + 1]['Attempt']} has {blamed[-1]} again, which failed before: {row['Cause']}")
            started += has_started
        if ran:
            self.wrong(job, f"attempts {sorted(ran)} ran ranks and accounting does not know them")

    def summary(self):
        return (", ".join(f"{count} {kind}" for kind, count in sorted(self.injected.items())) + "; attempts: " +
                ", ".join(f"{count} {fate}" for fate, count in sorted(self.fates.items())))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--faults", type=int, default=300)
    parser.add_argument("--seed", type=int, default=int(time.time()))
    args = parser.parse_args()
    print(f"seed {args.seed}", flush=True)
    gang = GangStart(args.faults, args.seed, say=lambda line: print(line, flush=True))
    try:
        problems = gang.run()
        print(gang.summary())
        for problem in problems:
            print("PROBLEM:", problem)
    finally:
        gang.close()
    sys.exit(1 if problems else 0)


if __name__ == "__main__":
    main()
