#!/usr/bin/env python3
"""Replaces and restarts the daemons of nodes again and again while jobs run, and compares the jobs' output and exit codes.

    tests/fault/replace.py [--times 100] [--seed N] [--bin DIR]

Before most restarts the files of aresd and aresstepd are replaced by others, as an upgrade does: supervisors of earlier files go on beside
later daemons. A daemon is ended by TERM or KILL, and acluster's supervisor starts it again. Jobs run for 0 to 8 s and print lines that are
numbered; a third prints from two processes. Each must run exactly once, in one attempt, and leave all of its lines and its exit code.
"""
import argparse
import collections
import contextlib
import os
import pathlib
import random
import shutil
import signal
import sys
import threading
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "e2e")]

NODES = ["n1", "n2"]
CONFIG = """
cluster: replaced
controller: {{operators: [{owner}]}}
policy: {{kill_wait: 2, heartbeat: 1, launch_backoff: 1}}
nodes:
  - {{name: "n[1-2]", cpus: 8, memory: 4G}}
partitions:
  - {{name: main, nodes: "n[1-2]", default: true}}
"""

# COUNT, PAUSE and CODE are exported. The second process prints letters.
SCRIPT = """#!/bin/bash
echo "begin ${ARES_RESTART_COUNT:-0}"
if ((TWO)); then for ((i = 0; i < COUNT; i++)); do echo "b$i"; sleep $PAUSE; done & fi
for ((i = 0; i < COUNT; i++)); do echo "a$i"; sleep $PAUSE; done
wait
echo end
exit $CODE
"""


def cluster_of_copies():
    """A cluster whose programs are in a folder of its own, so that the files of daemons can be replaced."""
    import cluster

    class Copies(cluster.Cluster):
        def up(self, *options):
            if not (self.top / "bin").exists():
                self.bin = self.top / "bin"
                self.bin.mkdir()
                for program in cluster.BIN.iterdir():
                    if program.name in ("acluster", "aresd", "aresstepd"):
                        shutil.copy2(program, self.bin / program.name)
                    else:
                        (self.bin / program.name).symlink_to(program)
            return super().up(*options)

    import pwd
    return Copies(config=CONFIG.format(owner=pwd.getpwuid(os.geteuid()).pw_name))


class Load:
    """Submits jobs so that some run at any time."""

    def __init__(self, cluster, seed):
        self.cluster, self.choose = cluster, random.Random(f"{seed} load")
        self.script = cluster.script(SCRIPT, "lines.sh")
        self.jobs = {}  # id -> (lines, two, code)
        self.stopping = threading.Event()
        self.failed = None
        self.thread = threading.Thread(target=self._run)

    def _run(self):
        try:
            while not self.stopping.is_set():
                self._submit()
                self.stopping.wait(self.choose.uniform(0.02, 0.25))
        except AssertionError as error:
            self.failed = str(error)

    def _submit(self):
        lines, two, code = self.choose.choice([0, 3, 20, 40, 80]), int(self.choose.random() < 0.3), self.choose.choice([0, 0, 3, 77])
        values = {"COUNT": lines, "TWO": two, "CODE": code, "PAUSE": self.choose.choice([0.02, 0.1])}
        exported = ",".join(["ALL", *(f"{name}={value}" for name, value in values.items())])
        job = self.cluster.submit("--no-requeue", f"--export={exported}", self.script)
        self.jobs[job] = (lines, two, code)

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.stopping.set()
        self.thread.join()


def attempts_that_run(cluster, node):
    """Attempts whose scripts were started and have not ended."""
    jobs = cluster.dir / "spool" / node / "jobs"
    return {go.parent.name for go in jobs.glob("*/go") if not (go.parent / "exit").exists()}


def replace(path, number):
    """The file becomes another one, with other content."""
    new = path.with_name(f".{path.name}.{number}")
    shutil.copy2(path, new)
    with open(new, "ab") as file:
        file.write(f"\n{number}\n".encode())
    new.rename(path)


def restarts(times, seed, say=lambda line: None):
    """Returns a summary and the problems."""
    from cluster import until
    choose = random.Random(seed)
    found = cluster_of_copies()
    counts, problems = collections.Counter(), []
    try:
        with Load(found, seed) as load:
            for number in range(times):
                node = choose.choice(NODES)
                until(lambda: attempts_that_run(found, node), 30)
                before = found.pid(f"aresd@{node}")
                if choose.random() < 0.7:
                    for name in ("aresd", "aresstepd"):
                        replace(found.bin / name, number)
                    counts["replaced"] += 1
                end = choose.choice([signal.SIGTERM, signal.SIGKILL])
                running = attempts_that_run(found, node)
                os.kill(before, end)
                until(lambda: found.pid(f"aresd@{node}") != before and os.path.exists(f"/proc/{found.pid(f'aresd@{node}')}"), 30)
                after = found.pid(f"aresd@{node}")
                with contextlib.suppress(OSError):
                    if os.stat(f"/proc/{after}/exe").st_ino != os.stat(found.bin / "aresd").st_ino:
                        problems.append(f"restart {number}: {node} runs another file than that of aresd")
                until(lambda: f"{len(NODES)} of {len(NODES)} nodes answer" in found.run("actl", "ping", check=False).stdout, 30)
                counts[end.name] += 1
                counts["attempts that ran meanwhile"] += len(running)
                say(f"{number + 1:4}  {node}  {end.name}  {len(running)} attempts run")
                time.sleep(choose.uniform(0, 0.3))
        if load.failed:
            problems.append(f"a submission failed: {load.failed}")
        problems += compare(found, load)
        counts["jobs"] = len(load.jobs)
        top = str(found.top)
    finally:
        found.close()
    from cluster import processes_naming
    problems += [f"left after the cluster was ended: {line}" for line in processes_naming(top)]
    return ", ".join(f"{count} {name}" for name, count in counts.items()), problems


def compare(cluster, load):
    from cluster import until
    problems = []
    until(lambda: not cluster.run("aqueue", "-h", "-t", "PENDING,CONFIGURING,RUNNING,COMPLETING").stdout.strip(), 60, every=0.3)
    rows = collections.defaultdict(list)
    for line in cluster.run("aacct", "-X", "-D", "-n", "-P", "-a", "-o", "JobID,State,ExitCode").stdout.splitlines():
        job, *row = line.split("|")
        rows[job].append(row)
    for job, (lines, two, code) in load.jobs.items():
        expected = [["COMPLETED" if code == 0 else "FAILED", f"{code}:0"]]
        if rows[job] != expected:
            problems.append(f"job {job} has the attempts {rows[job]}, not {expected}")
        try:
            printed = cluster.output(job).splitlines()
        except OSError as error:
            problems.append(f"job {job}: {error}")
            continue
        # Lines of one process are in its order; those of two are mixed.
        whole = printed[:1] == ["begin 0"] and printed[-1:] == ["end"] and len(printed) == lines * (1 + two) + 2 and all(
            [line for line in printed[1:-1] if line.startswith(letter)] == [f"{letter}{number}" for number in range(count)]
            for letter, count in (("a", lines), ("b", lines if two else 0)))
        if not whole:
            problems.append(f"job {job}: its output is not whole: {' '.join(printed)}")
    return problems


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--times", type=int, default=100)
    parser.add_argument("--seed", type=int, default=None, help="default: a random one, which is printed")
    parser.add_argument("--bin", help="folder of the programs; default: build/release/bin")
    args = parser.parse_args()
    if args.bin:
        os.environ["ARES_BIN_DIR"] = os.path.abspath(args.bin)
    seed = random.randrange(1 << 30) if args.seed is None else args.seed
    print(f"seed {seed}", flush=True)
    summary, problems = restarts(args.times, seed, say=lambda line: print(line, flush=True))
    print(summary)
    for problem in problems:
        print("PROBLEM:", problem)
    sys.exit(1 if problems else 0)


if __name__ == "__main__":
    main()
