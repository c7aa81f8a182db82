#!/usr/bin/env python3
"""Makes prologs, epilogs and health checks of nodes fail or hang while jobs are prepared, run and end.

    tests/fault/site_programs.py [--injections 100] [--seed N] [--bin DIR]

An injection makes one program of one node fail or hang when a job of its own comes to a phase: before its start is committed (its prolog
runs), running, or ending. Then the node must be drained with that program's reason, and the jobs must have the right end: each job of the
load and each injection's job is COMPLETED, ran exactly once and was never counted as restarted. An operator resumes the node, or, after a health
check, it comes back by itself. Sometimes the daemon or the supervisor is killed at the same time.
"""
import argparse
import collections
import os
import pathlib
import pwd
import random
import shutil
import signal
import sys
import tempfile
import threading

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "e2e")]

NODES = ["n1", "n2", "n3"]
KINDS = ["prolog fails", "prolog hangs", "epilog fails", "epilog hangs", "health fails"]
PHASES = ["before commit", "running", "ending"]
CONFIG = """
cluster: injected
controller: {{operators: [{owner}]}}
policy: {{kill_wait: 2, heartbeat: 1, launch_backoff: 1}}
node:
  prolog: {folder}/prolog
  prolog_timeout: 2
  epilog: {folder}/epilog
  epilog_timeout: 2
  health_check: {folder}/health
  health_check_interval: 1
nodes:
  - {{name: "n[1-3]", cpus: 4, memory: 4G}}
partitions:
  - {{name: main, nodes: "n[1-3]", default: true}}
"""

# A program waits while the file NAME.wait.JOB exists, and then does what NAME.do.NODE says. The health check has no node in its
# environment: the parent of the program is the node's daemon, whose arguments name it.
PROGRAM = """#!/bin/bash
cd {folder}
node=$ARESD_NODENAME
[ -n "$node" ] || node=$(tr '\\0' '\\n' < /proc/$PPID/cmdline | tail -1)
touch "{name}.began.$node.$ARES_JOB_ID"
while [ -e "{name}.wait.$ARES_JOB_ID" ]; do sleep 0.05; done
[ ! -e "{name}.do.$node" ] || . "./{name}.do.$node"
"""
SCRIPT = """#!/bin/bash
echo "$ARES_JOB_ID" >> {folder}/ran
while [ -e {folder}/script.wait.$ARES_JOB_ID ]; do sleep 0.05; done
sleep ${{LAST:-0}}
"""


class Site:
    def __init__(self):
        import cluster
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="ares-inject-"))
        self.folder.chmod(0o777)
        for name in ("prolog", "epilog", "health"):
            self.write(name, PROGRAM.format(folder=self.folder, name=name))
        self.cluster = cluster.Cluster(
            config=CONFIG.format(folder=self.folder, owner=pwd.getpwuid(os.geteuid()).pw_name))
        self.script = self.cluster.script(SCRIPT.format(folder=self.folder), "once.sh")
        self.expected = []

    def write(self, name, text):
        new = self.folder / f"{name}.new"
        new.write_text(text)
        new.chmod(0o755)
        new.rename(self.folder / name)

    def remove(self, name):
        (self.folder / name).unlink(missing_ok=True)

    def began(self, program, job):
        """The node on which the program of this job has begun."""
        found = list(self.folder.glob(f"{program}.began.*.{job}"))
        return found[0].name.split(".")[2] if found else None

    def submit(self, *words):
        job = self.cluster.submit("-o", "/dev/null", *words, self.script)
        self.expected.append(job)
        return job

    def node(self, name):
        return self.cluster.show("node", name)

    def wait(self, what, seconds=60):
        """Meanwhile an operator resumes nodes on which programs of other jobs failed, once what makes them fail is gone."""
        from cluster import until

        def look():
            for name in NODES:
                if not any((self.folder / f"{program}.do.{name}").exists() for program in ("prolog", "epilog", "health")):
                    self.resume(name)
            return what()
        return until(look, seconds, every=0.2)

    def resume(self, name):
        shown = self.node(name)
        if "DRAIN" in shown and ("prolog" in shown or "epilog" in shown):
            self.cluster.run("actl", "update", f"node={name}", "state=resume", check=False)

    def close(self):
        self.cluster.close()
        shutil.rmtree(self.folder)


class Load:
    """Short jobs on all nodes meanwhile."""

    def __init__(self, site, seed):
        self.site, self.choose = site, random.Random(f"{seed} load")
        self.stopping, self.failed = threading.Event(), None
        self.thread = threading.Thread(target=self._run)

    def _run(self):
        try:
            while not self.stopping.is_set():
                self.site.submit(f"--export=ALL,LAST={self.choose.choice([0, 0, 0.2, 1])}")
                self.stopping.wait(self.choose.uniform(0.1, 0.6))
        except AssertionError as error:
            self.failed = str(error)

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.stopping.set()
        self.thread.join()


def reasons(kind):
    program, how = kind.split()
    if program == "health":
        return ["health check exited with 9: injected"]
    return [f"{program} did not end within 2 s"] if how == "hangs" else [f"{program} exited with 9: injected"]


def inject(site, kind, phase, kill):
    """One injection. Returns the problems."""
    from cluster import until
    program, how = kind.split()
    # What the job waits at, so that its phase is certain.
    at = {"before commit": "prolog", "running": "script", "ending": "epilog"}[phase]
    job = site.submit("--hold")
    wait = site.folder / f"{at}.wait.{job}"
    wait.touch()
    site.cluster.run("actl", "release", job)
    if at == "script":
        site.wait(lambda: site.cluster.state(job) == "RUNNING")
        node = site.began("prolog", job)
    else:
        node = site.wait(lambda: site.began(at, job))
    # The program of later jobs fails, too, until the node is drained.
    site.write(f"{program}.do.{node}", "echo looking; echo injected; exit 9\n" if how == "fails" else "sleep 1000\n")
    if kill:
        os.kill(site.cluster.pid(f"aresd@{node}"), signal.SIGKILL)
    wait.unlink()
    if program != "health":
        # A job for this node, in case that none comes by itself.
        site.submit("-w", node)
    wanted = reasons(kind)
    problems = []

    def drained():
        shown = site.node(node)
        if any(reason in shown for reason in wanted):
            return "DRAIN" in shown
        site.resume(node)  # drained for an earlier injection, whose jobs have ended only now
        return False
    try:
        until(drained, 60, every=0.2)
    except AssertionError:
        problems.append(f"{node} is not drained for {wanted}: {site.node(node)}")
    site.remove(f"{program}.do.{node}")
    try:
        site.wait(lambda: "DRAIN" not in site.node(node))
    except AssertionError:
        problems.append(f"{node} does not come back: {site.node(node)}")
    return problems


def campaign(injections, seed, say=lambda line: None):
    """Returns a summary and the problems."""
    from cluster import processes_naming
    choose = random.Random(seed)
    site = Site()
    counts, problems = collections.Counter(), []
    cells = [(kind, phase) for kind in KINDS for phase in PHASES]
    try:
        with Load(site, seed) as load:
            for number in range(injections):
                if number % len(cells) == 0:
                    choose.shuffle(cells)
                kind, phase = cells[number % len(cells)]
                kill = choose.random() < 0.2
                found = inject(site, kind, phase, kill)
                problems += [f"injection {number + 1}: {kind}, {phase}: {problem}" for problem in found]
                counts[f"{kind} {phase}"] += 1
                say(f"{number + 1:4}  {kind:13}{phase:14}{'aresd killed' if kill else ''}  {'; '.join(found)}")
        if load.failed:
            problems.append(f"a submission failed: {load.failed}")
        site.wait(lambda: not site.cluster.run("aqueue", "-h", "-t", "PENDING,CONFIGURING,RUNNING,COMPLETING").stdout.strip(), 300)
        problems += compare(site)
        counts["jobs"] = len(site.expected)
        top = str(site.cluster.top)
    finally:
        site.close()
    problems += [f"left after the cluster was ended: {line}" for line in processes_naming(top)]
    return ", ".join(f"{count} {name}" for name, count in sorted(counts.items())), problems


def compare(site):
    """Every job ran once, was COMPLETED, and was not counted as restarted."""
    problems = []
    rows = collections.defaultdict(list)
    for line in site.cluster.run("aacct", "-X", "-n", "-P", "-a", "-o", "JobID,State,ExitCode").stdout.splitlines():
        job, *row = line.split("|")
        rows[job].append(row)
    ran = collections.Counter((site.folder / "ran").read_text().split())
    for job in site.expected:
        if rows[job] != [["COMPLETED", "0:0"]]:
            problems.append(f"job {job} has the end {rows[job]}")
        if ran[job] != 1:
            problems.append(f"job {job} ran {ran[job]} times")
    for line in site.cluster.run("actl", "show", "job", check=False).stdout.splitlines():
        if "Restarts=" in line and "Restarts=0" not in line:
            problems.append(f"a restart was counted: {line.strip()}")
    return problems


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--injections", type=int, default=100)
    parser.add_argument("--seed", type=int, default=None, help="default: a random one, which is printed")
    parser.add_argument("--bin", help="folder of the programs; default: build/release/bin")
    args = parser.parse_args()
    if args.bin:
        os.environ["ARES_BIN_DIR"] = os.path.abspath(args.bin)
    seed = random.randrange(1 << 30) if args.seed is None else args.seed
    print(f"seed {seed}", flush=True)
    summary, problems = campaign(args.injections, seed, say=lambda line: print(line, flush=True))
    print(summary)
    for problem in problems:
        print("PROBLEM:", problem)
    sys.exit(1 if problems else 0)


if __name__ == "__main__":
    main()
