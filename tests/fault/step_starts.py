#!/usr/bin/env python3
"""Harms steps while they start, and counts how often each of their tasks has begun.

    tests/fault/step_starts.py [--faults 300] [--seed N] [--bin DIR]

Jobs on three nodes run steps over all of them without a pause, two at a time. Each task appends a line to a file before anything else. A
fault kills or stops a step host, a node daemon, the controller, arun, a task or a supervisor. Between the faults callers without the right
credential ask for steps: an unknown key, the key with an earlier fence, the key of an attempt that has ended, another user at the socket of
the attempt. A caller with the right one is let in, so that the others are refused for the right reason.
"""
import argparse
import collections
import contextlib
import hashlib
import hmac
import os
import pathlib
import pwd
import random
import signal
import socket
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "e2e")]

from faults.processes import descendants, everything, recorded  # noqa: E402

NODES = ["n1", "n2", "n3"]
CONFIG = """
cluster: starts
controller: {{operators: [{owner}]}}
policy: {{kill_wait: 1, heartbeat: 1, launch_backoff: 1}}
nodes:
  - {{name: "n[1-3]", cpus: 8, memory: 4G}}
partitions:
  - {{name: main, nodes: "n[1-3]", default: true}}
"""
TASKS = 6
JOB = f"""#!/bin/bash
steps() {{
  while [ ! -e stop ]; do
    arun --exact -N3 -n{TASKS} ./task $1; echo "$ARES_JOB_ID.${{ARES_RESTART_COUNT:-0}} $1 $?" >> steps
  done
}}
steps a & steps b & wait
"""
# One write, with what the kernel appends whole. Its arun is told by the loop and the step.
TASK = """#!/bin/bash
echo "$ARES_JOB_ID.${ARES_RESTART_COUNT:-0} $ARES_STEP_ID $ARES_PROCID $1" >> starts
sleep 0.03
"""


# --- callers -------------------------------------------------------------------------------------------------------------
def prove(key, what, attempt, theirs, ours, fence, rank_from, rank_to):
    text = b"\n".join([what, attempt.encode(), theirs, ours]) + f"\n{fence} {rank_from} {rank_to}".encode()
    return hmac.new(key, text, hashlib.sha512).digest()[:32]


def ask(address, attempt, fence, key, rank_from=0, rank_to=1):
    """The answer of the node daemon to one that would start tasks: "ok" or its reason."""
    host, _, port = address.rpartition(":")
    with socket.create_connection((host, int(port)), timeout=10) as connection:
        stream = connection.makefile("rwb")
        theirs = bytes.fromhex(stream.readline().split()[2].decode())
        ours = os.urandom(16)
        proof = prove(key, b"dial", attempt, theirs, ours, fence, rank_from, rank_to)
        stream.write(f"{attempt} {fence} {rank_from} {rank_to} {ours.hex()} {proof.hex()}\n".encode())
        stream.flush()
        return stream.readline().decode().strip()


def as_another_user(path):
    """The answer of the socket of an attempt to a user who may not use it."""
    child = os.fork()
    if child == 0:
        os.setgroups([])
        os.setgid(65534)
        os.setuid(65534)
        try:
            socket.socket(socket.AF_UNIX).connect(str(path))
        except PermissionError:
            os._exit(1)
        except OSError:
            os._exit(2)
        os._exit(0)
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    if code == 2:
        raise FileNotFoundError(path)
    return "no permission" if code == 1 else "ok "


class Credential:
    def __init__(self, directory):
        fields = collections.defaultdict(list)
        for line in (directory / "spec").read_text().splitlines():
            name, _, value = line.partition(" ")
            fields[name].append(value)
        self.attempt, self.key, self.fence = directory.name, fields["step_key"][0].encode(), int(fields["fence"][0])
        self.addresses, self.directory = fields["step_address"], directory


# --- the test ------------------------------------------------------------------------------------------------------------
class Starts:
    def __init__(self, seed):
        from cluster import Cluster
        self.choose = random.Random(seed)
        self.cluster = Cluster(config=CONFIG.format(owner=pwd.getpwuid(os.geteuid()).pw_name))
        self.script = self.cluster.script(JOB, "job.sh")
        self.cluster.script(TASK, "task")
        self.spool = self.cluster.dir / "spool"
        self.counts, self.problems, self.jobs, self.ended = collections.Counter(), [], [], []
        self.stopped = []

    def submit(self):
        """Keeps one job in the queue or running."""
        if not self.jobs or not self.cluster.queue(self.jobs[-1]):
            self.jobs.append(self.cluster.submit("--requeue", "-N3", "--ntasks-per-node=4", "-o", "/dev/null", self.script))

    def running(self):
        """Directories of attempts that have begun on all nodes, one for each node."""
        names = set.intersection(*({path.parent.name for path in (self.spool / node / "jobs").glob("*/go")} for node in NODES))
        found = [[self.spool / node / "jobs" / name for node in NODES] for name in sorted(names)]
        return [paths for paths in found if not any((path / "exit").exists() for path in paths)]

    def hosts(self, directory):
        """Step hosts have the directory of their attempt open. A task that has not executed its program yet looks the same, but for its
        directory."""
        for process in everything():
            if process.name() != "ares-steps":
                continue
            with contextlib.suppress(OSError):
                open_files = [os.readlink(fd) for fd in pathlib.Path(f"/proc/{process.pid}/fd").iterdir()]
                if str(directory) in open_files and os.readlink(f"/proc/{process.pid}/cwd") == "/":
                    yield process

    def tasks(self, name):
        for directory in [path for paths in self.running() for path in paths]:
            for host in self.hosts(directory):
                for process in descendants(host):
                    if process.name() == name:
                        yield process

    def arun(self):
        for process in everything():
            with contextlib.suppress(OSError):
                if process.name() == "arun" and os.readlink(f"/proc/{process.pid}/cwd") == str(self.cluster.work):
                    yield process

    def candidates(self, kind):
        attempts = self.running()
        if not attempts:
            return []
        paths = self.choose.choice(attempts)
        if kind.endswith("host"):
            return list(self.hosts(self.choose.choice(paths)))
        if kind.endswith("aresd"):
            return [recorded(self.cluster.dir / "procs" / f"aresd@{self.choose.choice(NODES)}")]
        if kind == "aresctld":
            return [recorded(self.cluster.dir / "procs" / "aresctld")]
        if kind == "arun":
            return list(self.arun())
        if kind == "task":
            return list(self.tasks("task"))
        return [recorded(self.choose.choice(paths) / "started")]

    def inject(self, kind):
        """False if there was nothing to harm."""
        try:
            found = self.candidates(kind)
        except (LookupError, OSError, KeyError):
            return False
        if not found:
            return False
        process = self.choose.choice(found)
        time.sleep(self.choose.uniform(0, 0.03))
        if not kind.startswith("stop"):
            return process.send(signal.SIGKILL)
        if not process.send(signal.SIGSTOP):
            return False
        time.sleep(self.choose.uniform(0.02, 0.4))
        process.send(signal.SIGCONT)
        return True

    def expect(self, what, answer, accepted):
        self.counts[f"caller: {what}"] += 1
        if answer.startswith("ok ") != accepted:
            self.problems.append(f"{what}: {answer}")

    def call(self):
        """Callers with a wrong credential, and one with the right one."""
        for paths in self.running()[:1]:
            with contextlib.suppress(OSError, IndexError, KeyError):
                credential = Credential(paths[1])
                address = credential.addresses[1]
                known = lambda: paths in self.running()  # noqa: E731
                right = ask(address, credential.attempt, credential.fence, credential.key)
                # Its supervisor may have been killed.
                if not known() or "Connection refused" in right:
                    return
                self.expect("right", right, True)
                self.expect("unknown key", ask(address, credential.attempt, credential.fence, os.urandom(32).hex().encode()), False)
                self.expect("earlier fence", ask(address, credential.attempt, credential.fence - 1, credential.key), False)
                self.expect("for another node", ask(address, credential.attempt, credential.fence, credential.key, 0, 2), False)
                if os.geteuid() == 0:
                    self.expect("another user", as_another_user(paths[0] / "steps"), False)
                self.ended.append(credential)
        for credential in list(self.ended):
            if not credential.directory.exists() or (credential.directory / "exit").exists():
                self.ended.remove(credential)
                with contextlib.suppress(OSError, IndexError):
                    self.expect("attempt that has ended", ask(credential.addresses[1], credential.attempt, credential.fence, credential.key), False)

    def run(self, faults, say):
        from cluster import until
        kinds = {"host": 6, "stop host": 3, "aresd": 2, "stop aresd": 2, "aresctld": 1, "arun": 3, "task": 3, "supervisor": 1}
        done = 0
        while done < faults:
            self.submit()
            kind = self.choose.choices(list(kinds), kinds.values())[0]
            before = self.lines("starts")
            if not self.inject(kind):
                time.sleep(0.05)
                continue
            done += 1
            self.counts[kind] += 1
            if done % 5 == 0:
                self.call()
            say(f"{done:4}  {kind}  {before} tasks have begun")
        (self.cluster.work / "stop").touch()
        until(lambda: not any(self.cluster.queue(job) for job in self.jobs[-3:]), 120)
        self.compare()

    def lines(self, name):
        try:
            return (self.cluster.work / name).read_text().count("\n")
        except FileNotFoundError:
            return 0

    def compare(self):
        begun, of_step = collections.Counter(), collections.defaultdict(set)
        good = collections.Counter()
        for line in (self.cluster.work / "starts").read_text().splitlines():
            attempt, step, rank, loop = line.split()
            begun[attempt, step, rank] += 1
            of_step[attempt, step, loop].add(rank)
        for (attempt, step, rank), count in begun.items():
            if count > 1:
                self.problems.append(f"task {rank} of step {attempt}.{step} has begun {count} times")
        for line in (self.cluster.work / "steps").read_text().splitlines():
            attempt, loop, code = line.split()
            self.counts["steps of code 0" if code == "0" else "steps that failed"] += 1
            if code == "0":
                good[attempt, loop] += 1
        # Each arun that said 0 has run all tasks of its step.
        for (attempt, loop), count in good.items():
            whole = sum(1 for (a, _, of), ranks in of_step.items() if (a, of) == (attempt, loop) and len(ranks) == TASKS)
            if whole < count:
                self.problems.append(f"attempt {attempt}, loop {loop}: {count} steps succeeded, {whole} ran whole")
        self.counts["tasks that began"], self.counts["jobs"] = sum(begun.values()), len(self.jobs)
        self.counts["attempts"] = len({attempt for attempt, _, _ in begun})
        if sum(good.values()) == 0:
            self.problems.append("no step has succeeded")


def starts(faults, seed, say=lambda line: None):
    """Returns a summary and the problems."""
    found = Starts(seed)
    try:
        found.run(faults, say)
        return ", ".join(f"{name}: {count}" for name, count in sorted(found.counts.items())), found.problems
    finally:
        found.cluster.close()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--faults", type=int, default=300)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--bin")
    args = parser.parse_args()
    if args.bin:
        os.environ["ARES_BIN_DIR"] = os.path.abspath(args.bin)
    summary, problems = starts(args.faults, args.seed, print)
    print(summary)
    print("\n".join(problems) or "no problem")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
