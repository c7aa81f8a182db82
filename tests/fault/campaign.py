"""Kills daemons at random moments during a workload and compares the jobs that ran with the guarantees of the scheduler.

Every start of user code creates its own file, before the script does anything else. So the number of starts of each job is known from
the disk, without asking the scheduler. Run by hand for long campaigns:

  tests/fault/campaign.py --kills 1000 [--seed N] [--no-supervise] [--bin build/release/bin]
"""
import argparse
import collections
import itertools
import os
import pathlib
import random
import re
import signal
import subprocess
import sys
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "e2e"))

CONFIG = """
cluster: kills
controller: {{operators: [root]}}
policy: {{kill_wait: 2, heartbeat: 1, lease: {lease}, kill_allowance: 2, launch_backoff: 1, launch_backoff_max: 2, min_job_age: 3600}}
nodes:
  - {{name: "n[1-4]", cpus: 8, memory: 8G}}
partitions:
  - {{name: main, nodes: "n[1-4]", default: true}}
"""

# Creates one file for each start, named by job and attempt with a random suffix; then writes a beat every 20 ms, so that two attempts
# of a job that ran at the same time are found (a frozen one writes no beats). Exit code and duration are in the environment.
SCRIPT = """#!/bin/bash
attempt=${ARES_ATTEMPT_DIR##*/}
set -C
: > "$OUT/starts/$attempt.$$.$RANDOM$RANDOM"
for ((i = 0; i < BEATS; i++)); do echo "$EPOCHREALTIME"; sleep 0.02; done >> "$OUT/beats/$attempt"
exit $CODE
"""

# The database and the controller are killed less often: without them no job starts, and no attempt would run that can be killed.
VICTIMS = ["aresstepd"] * 5 + ["aresd"] * 3 + ["aresctld"] * 2
POSTGRES_EVERY = 15  # kills


class Campaign:
    def __init__(self, cluster, seed, submitters=4):
        self.cluster = cluster
        self.random = random.Random(seed)
        self.out = cluster.work / "out"
        for name in ("starts", "beats"):
            (self.out / name).mkdir(parents=True)
        self.script = cluster.script(SCRIPT, "kill.sh")
        self.acknowledged = {}  # job id -> exit code that it will end with
        self.lock = threading.Lock()
        self.stopping = threading.Event()
        self.submitters = submitters
        self.kills = collections.Counter()
        self.problems = []

    # --- workload -------------------------------------------------------------------------------------------------------
    def submit_forever(self, seed):
        choose = random.Random(seed)
        while not self.stopping.is_set():
            code = choose.choice([0, 0, 0, 3])
            beats = choose.choice(["0", "2", "10", "25", "50"])
            nodes = choose.choice(["1", "1", "1", "2"])
            done = subprocess.run(
                [str(pathlib.Path(self.cluster.bin) / "asub"), "--parsable", "--requeue", f"-N{nodes}", "-o", "/dev/null",
                 f"--export=ALL,OUT={self.out},CODE={code},BEATS={beats}", str(self.script)],
                env=self.cluster.environment(), cwd=self.cluster.work, stdin=subprocess.DEVNULL, text=True,
                stdout=subprocess.PIPE, stderr=subprocess.PIPE)
            if done.returncode == 0:
                with self.lock:
                    job = done.stdout.strip()
                    if job in self.acknowledged:
                        self.problems.append(f"job id {job} was given out twice")
                    self.acknowledged[job] = code
            else:
                self.problems.append(f"asub: {done.stderr.strip()}")
            # Not faster than jobs end: with a short queue, most kills affect a running attempt.
            self.stopping.wait(choose.uniform(0.02, 0.15))

    # --- kills ----------------------------------------------------------------------------------------------------------
    def supervisors(self):
        """Pids of this cluster's aresstepd processes, without the task and the namespace's init, which are forked from them and have
        the same name: killing one of those would kill the job itself."""
        mark = str(self.cluster.dir).encode()
        parents = {}
        for entry in os.listdir("/proc"):
            if not entry.isdigit():
                continue
            try:
                words = pathlib.Path(f"/proc/{entry}/cmdline").read_bytes().split(b"\0")
                parent = int(pathlib.Path(f"/proc/{entry}/stat").read_text().rsplit(")", 1)[1].split()[1])
            except OSError:
                continue
            if len(words) > 1 and words[0].endswith(b"aresstepd") and mark in b" ".join(words):
                parents[int(entry)] = parent
        return [pid for pid, parent in parents.items() if parent not in parents]

    def kill_one(self):
        role = self.random.choice(VICTIMS)
        if sum(self.kills.values()) >= POSTGRES_EVERY * (self.kills["postgres"] + 1):
            role = "postgres"
        try:
            if role == "aresstepd":
                pids = self.supervisors()
                if not pids:
                    return False
                pid, number = self.random.choice(pids), signal.SIGKILL
            elif role == "aresd":
                pid, number = self.cluster.pid(f"aresd@n{self.random.randint(1, 4)}"), signal.SIGKILL
            elif role == "postgres":
                pid, number = self.cluster.pid("postgres"), signal.SIGQUIT  # immediate stop
            else:
                pid, number = self.cluster.pid("aresctld"), signal.SIGKILL
            os.kill(pid, number)
        except (OSError, ValueError, AssertionError):
            return False  # it was not running
        self.kills[role] += 1
        return True

    def run(self, kills, supervised, pause=(0.0, 0.5)):
        threads = [threading.Thread(target=self.submit_forever, args=(self.random.random(),)) for _ in range(self.submitters)]
        for thread in threads:
            thread.start()
        try:
            while sum(self.kills.values()) < kills:
                self.stopping.wait(self.random.uniform(*pause))
                if self.kill_one() and not supervised and self.random.random() < 0.5:
                    self.cluster.acluster("up", check=False)
            if not supervised:
                self.cluster.up()
        finally:
            self.stopping.set()
            if not supervised:
                self.cluster.acluster("up", check=False)
            for thread in threads:
                thread.join()

    # --- the verdict ----------------------------------------------------------------------------------------------------
    def settle(self, seconds=240):
        deadline = time.monotonic() + seconds
        while True:
            done = self.cluster.run("aqueue", "-h", "-t", "PENDING,CONFIGURING,RUNNING,COMPLETING", "-o", "%i %T %r", check=False)
            if done.returncode == 0 and not done.stdout.strip():
                return
            if time.monotonic() > deadline:
                self.problems.append(f"still not over after {seconds} s:\n{done.stdout}{done.stderr}")
                return
            time.sleep(0.2)

    def verdict(self):
        """The problems found; empty if every guarantee was kept."""
        starts = collections.Counter()
        for name in os.listdir(self.out / "starts"):
            found = re.match(r"([\d_]+)\.(\d+)\.", name)
            if not found:
                self.problems.append(f"unexpected start file {name}")
                continue
            starts[(found.group(1), found.group(2))] += 1
        for (job, attempt), count in starts.items():
            if count > 1:
                self.problems.append(f"attempt {attempt} of job {job} started {count} times")
        beats = collections.defaultdict(dict)
        for name in os.listdir(self.out / "beats"):
            job, attempt = name.rsplit(".", 1)
            times = [float(line) for line in (self.out / "beats" / name).read_text().split()]
            if times:
                beats[job][int(attempt)] = (min(times), max(times))
        for job, attempts in beats.items():
            for (earlier, (_, end)), (later, (begin, _)) in itertools.pairwise(sorted(attempts.items())):
                if end >= begin:
                    self.problems.append(f"attempt {later} of job {job} ran while attempt {earlier} did ({end - begin:.3f} s)")

        rows = collections.defaultdict(list)
        text = self.cluster.run("aacct", "-X", "-D", "-n", "-P", "-S", "now-1day", "-o", "JobID,State,ExitCode,Start").stdout
        for line in text.splitlines():
            job, state, code, start = line.split("|")
            rows[job].append((state.split(" ")[0], code, start))
        for job, code in self.acknowledged.items():
            if job not in rows:
                self.problems.append(f"job {job} was acknowledged and is not in accounting")
                continue
            state, exit_code, _ = rows[job][-1]
            expected = "COMPLETED" if code == 0 else "FAILED"
            if state != expected or exit_code != f"{code}:0":
                self.problems.append(f"job {job} ended {state} {exit_code}, not {expected} {code}:0 ({rows[job]})")
            if starts[(job, str(len(rows[job])))] != 1:
                self.problems.append(f"job {job} ended {state}, but attempt {len(rows[job])} started "
                                     f"{starts[(job, str(len(rows[job])))]} times")
        for job, attempt in starts:
            if job not in rows or int(attempt) > len(rows[job]):
                self.problems.append(f"attempt {attempt} of job {job} ran, but accounting does not know it")
        attempts = sum(len(r) for r in rows.values())
        return (f"{sum(self.kills.values())} kills ({', '.join(f'{n} {r}' for r, n in sorted(self.kills.items()))}), "
                f"{len(self.acknowledged)} jobs acknowledged, {attempts} attempts in accounting, {sum(starts.values())} starts, "
                f"{sum(1 for c in starts.values() if c > 1)} attempts started twice, "
                f"{sum(1 for j in self.acknowledged if j not in rows)} jobs lost")


def campaign(kills, seed, supervised, lease=20):
    from cluster import BIN, Cluster
    options = [] if supervised else ["--no-supervise"]
    cluster = Cluster(*options, config=CONFIG.format(lease=lease))
    cluster.bin = BIN
    try:
        running = Campaign(cluster, seed)
        running.run(kills, supervised)
        running.settle()
        summary = running.verdict()
        if running.problems:
            summary += "\n" + cluster.logs()
        return summary, running.problems
    finally:
        cluster.close()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kills", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--no-supervise", action="store_true")
    parser.add_argument("--bin")
    args = parser.parse_args()
    if args.bin:
        os.environ["ARES_BIN_DIR"] = os.path.abspath(args.bin)
    summary, problems = campaign(args.kills, args.seed, not args.no_supervise)
    print(summary)
    for problem in problems:
        print("PROBLEM:", problem)
    sys.exit(1 if problems else 0)


if __name__ == "__main__":
    main()
