#!/usr/bin/env python3
"""Interrupts jobs that save their state, in every way that a job can be interrupted, and looks whether they end with the right result.

    tests/fault/checkpoints.py [--faults 200] [--seed N] [--bin DIR]

A job is the example etc/examples/checkpoint_training.py, which adds up numbers. Each gets a few faults, one after the other, and then runs to
its end. Its sum must be right. After each fault it must begin at a state that it had saved, not older than the newest checkpoint that the controller
knew at the fault and that is intact; never at one that was damaged or is not whole. As root the checkpoints are on a small file system that
is filled.
"""
import argparse
import collections
import contextlib
import json
import os
import pathlib
import pwd
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "e2e")]

NODES = ["n1", "n2"]
STEPS, PAUSE, EVERY = 400, 0.02, 15
SLOW = 0.2  # pause of a job that has to reach a time limit, which is a whole minute
PER_JOB = 5
CONFIG = """
cluster: training
controller: {{operators: [{owner}]}}
policy: {{kill_wait: 4, heartbeat: 1, launch_backoff: 1, preemption: {{min_age: 1, min_gap: 1, grace: 5, per_hour: 100000}}}}
nodes:
  - {{name: "n[1-2]", cpus: 2, memory: 2000M}}
partitions:
  - {{name: low, nodes: "n[1-2]", default: true, preempt_mode: requeue}}
  - {{name: high, nodes: "n[1-2]", tier: 5}}
"""


class Training:
    """One job, and what it may begin at."""

    def __init__(self, site, pause):
        self.site, self.cluster = site, site.cluster
        self.damaged = set()  # a changed manifest may be consistent in itself
        self.job = self.cluster.submit(f"--checkpoint={site.store}", site.examples / "checkpoint.sh", STEPS, pause, EVERY,
                                       env={"TRAINING": str(site.examples / "checkpoint_training.py")})

    def output(self):
        with contextlib.suppress(FileNotFoundError):
            return (self.cluster.work / f"training-{self.job}.out").read_text()
        return ""

    def begins(self):
        return [int(step) for step in re.findall(r"begins at step (\d+)", self.output())]

    def committed(self):
        """Directories of the checkpoints that the controller knows, newest first."""
        return [pathlib.Path(path) for path in re.findall(r"CheckpointPath=(\S+)", self.cluster.show("job", self.job))]

    def step_of_newest_intact(self):
        for path in self.committed():
            if path not in self.damaged and self.cluster.run("acheckpoint", "verify", path, check=False).returncode == 0:
                with contextlib.suppress(OSError):  # it may be removed after a newer one was committed
                    return json.loads((path / "state.json").read_text())["step"]
        return 0

    def ended(self):
        return f"sum {STEPS * (STEPS + 1) // 2}" in self.output()

    def directory_of_attempt(self):
        found = [path for path in self.cluster.dir.glob(f"**/jobs/{self.job}.*") if (path / "go").exists() and not (path / "exit").exists()]
        return found[0] if found else None


class Site:
    def __init__(self):
        import cluster
        self.examples = cluster.ROOT / "etc/examples"
        # Mounted before the cluster starts: supervisors that are kept ready have a mount namespace of their own.
        self.store = pathlib.Path(tempfile.mkdtemp(prefix="ares-store-"))
        self.small = os.geteuid() == 0 and subprocess.run(
            ["mount", "-t", "tmpfs", "-o", "size=1M", "tmpfs", str(self.store)], capture_output=True).returncode == 0
        self.cluster = cluster.Cluster(config=CONFIG.format(owner=pwd.getpwuid(os.geteuid()).pw_name))

    def close(self):
        self.cluster.close()
        if self.small:
            subprocess.run(["umount", "-l", str(self.store)], check=False)
        shutil.rmtree(self.store)


# Each does its harm to a running job. True: the job begins again by itself.

def preempt(site, training, choose):
    jobs = [site.cluster.wrap("true", "-p", "high", "-c2", "-t1", "-N2", "-o", "/dev/null")]
    for job in jobs:
        site.cluster.completed(job, 60)
    return True


def requeue(site, training, choose):
    """As an operator does who drains the node."""
    node = site.cluster.queue(training.job, "%N")
    if node not in NODES:
        return False
    site.cluster.run("actl", "drain", node, "reason=test")
    site.cluster.run("actl", "requeue", training.job, check=False)
    time.sleep(choose.uniform(0, 1))
    site.cluster.run("actl", "resume", node)
    return True


def time_limit(site, training, choose):
    """Limits are whole minutes: the job gets the one that it is in, if it has the time to be told."""
    ran = re.search(r"RunTime=(\d+):(\d+):(\d+)", site.cluster.show("job", training.job))
    if not ran:
        return False
    hours, minutes, seconds = map(int, ran.groups())
    site.cluster.run("actl", "update", f"job={training.job}", f"TimeLimit={60 * hours + minutes + (2 if seconds > 57 else 1)}", check=False)
    if site.cluster.wait_state(training.job, "TIMEOUT", "COMPLETED", seconds=150) == "TIMEOUT":
        site.cluster.run("actl", "requeuehold", training.job)
        site.cluster.run("actl", "update", f"job={training.job}", "TimeLimit=30")
        site.cluster.run("actl", "release", training.job)
        return True
    return False  # it ended before


def kill_supervisor(site, training, choose):
    directory = training.directory_of_attempt()
    if not directory:
        return False
    with contextlib.suppress(OSError, AttributeError):
        os.kill(int(re.search(r"^pid (\d+)", (directory / "started").read_text(), re.M).group(1)), signal.SIGKILL)
    return True


def kill_aresd(site, training, choose):
    with contextlib.suppress(OSError, AssertionError):
        os.kill(site.cluster.pid("aresd"), signal.SIGKILL)
    return False


def kill_controller(site, training, choose):
    with contextlib.suppress(OSError, AssertionError):
        os.kill(site.cluster.pid("aresctld"), signal.SIGKILL)
    return False


def full_disk(site, training, choose):
    filler = site.store / "filler"
    with contextlib.suppress(OSError), open(filler, "wb", buffering=0) as file:
        while True:
            file.write(bytes(4096))
    time.sleep(choose.uniform(0.3, 1.5))
    site.cluster.run("actl", "requeue", training.job, check=False)
    time.sleep(choose.uniform(0, 1))
    filler.unlink()
    return True


def damage(site, training, choose):
    """Of the committed checkpoints the newest, or its manifest, while the job is held."""
    from cluster import until
    held = site.cluster.run("actl", "requeuehold", training.job, check=False)
    if held.returncode != 0:
        return False  # it has ended, or has not begun
    until(lambda: site.cluster.queue(training.job) in ("PENDING", ""), 60)
    if not site.cluster.queue(training.job):
        return False
    committed = training.committed()
    if len(committed) > 1:
        file = committed[0] / choose.choice(["state.json", "MANIFEST.json"])
        how = choose.choice(["cut", "flip", "remove"])
        text = bytearray(file.read_bytes())
        if how == "cut":
            file.write_bytes(text[:len(text) // 2])
        elif how == "flip":
            text[choose.randrange(len(text))] ^= 1
            file.write_bytes(text)
        else:
            file.unlink()
        training.damaged.add(committed[0])
    return True


KINDS = {"preemption": preempt, "drain and requeue": requeue, "time limit": time_limit, "kill -9 aresstepd": kill_supervisor,
         "kill -9 aresd": kill_aresd, "kill -9 aresctld": kill_controller, "full disk": full_disk, "damaged checkpoint": damage}


def interrupt(site, training, kind, choose):
    """Returns whether the job began again, and what is wrong with how it went on, or an empty text."""
    from cluster import until
    known = training.step_of_newest_intact()
    before = len(training.begins())  # after that: it may just begin for the first time
    began_again = KINDS[kind](site, training, choose)
    if kind == "damaged checkpoint":
        known, before = training.step_of_newest_intact(), len(training.begins())
        site.cluster.run("actl", "release", training.job, check=False)
    if began_again:
        until(lambda: len(training.begins()) > before or training.ended(), 60)
    begins = training.begins()[before:]
    # What it began at was saved: by a signal, or every few steps.
    saved = {int(step) for step in re.findall(r"told to save at step (\d+)", training.output())}
    for step in begins:
        if step < known:
            return True, f"{kind}: job {training.job} began at step {step}, but the checkpoint of step {known} was committed and is intact"
        if step % EVERY and step not in saved:
            return True, f"{kind}: job {training.job} began at step {step}, which it has not saved"
    return bool(begins), ""


def campaign(faults, seed, kinds=None):
    """Returns a summary and a list of problems."""
    choose = random.Random(seed)
    counts, again, problems, interrupted = collections.Counter(), collections.Counter(), [], 0
    site = Site()
    try:
        names = [name for name in (kinds or KINDS) if site.small or name != "full disk"]
        order = []
        while len(order) < faults:
            order += choose.sample(names, len(names))
        del order[faults:]
        while order and not problems:
            training = Training(site, SLOW if "time limit" in order[:PER_JOB] else PAUSE)
            site.cluster.wait_state(training.job, "RUNNING", seconds=60)
            for _ in range(PER_JOB):
                if not order or training.ended():
                    break
                time.sleep(choose.uniform(0.3, 2))
                kind = order.pop(0)
                began_again, wrong = interrupt(site, training, kind, choose)
                if wrong:
                    problems.append(wrong)
                counts[kind] += 1
                again[kind] += began_again
            interrupted += 1
            try:
                site.cluster.completed(training.job, 120)
            except AssertionError as error:
                problems.append(f"job {training.job}: {error}")
            if not training.ended():
                problems.append(f"job {training.job} has another sum:\n{training.output()}")
            for path in site.store.glob("*"):
                shutil.rmtree(path, ignore_errors=True)
        summary = f"seed {seed}: {sum(counts.values())} faults on {interrupted} jobs ({', '.join(f'{n} {k}: {again[k]} began again' for k, n in counts.items())})"
        return summary, problems
    finally:
        site.close()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--faults", type=int, default=200)
    parser.add_argument("--seed", type=int, default=int(time.time()))
    parser.add_argument("--bin")
    parser.add_argument("--kinds", help="only these, separated by commas")
    given = parser.parse_args()
    if given.bin:
        os.environ["ARES_BIN_DIR"] = given.bin
    summary, problems = campaign(given.faults, given.seed, given.kinds and given.kinds.split(","))
    print(summary)
    for problem in problems:
        print(problem)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
