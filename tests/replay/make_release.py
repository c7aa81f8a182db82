#!/usr/bin/python3
"""Creates the folder tests/replay/<release> with the programs of that release. Run once when a release is tagged, as root:

  git checkout <tag> && cmake --preset release && cmake --build --preset release
  git checkout main -- tests/replay            # if the release is older than this script
  tests/replay/make_release.py v0.2.0          # programs from $ARES_BIN_DIR, else build/release/bin
  git add tests/replay/v0.2.0

It runs a scenario through the real commands on a private cluster: jobs of all kinds and states, accounts, limits, reservations,
changed partitions and nodes. In the end some jobs run, some are about to start, and two end while the controller is down. Then it dumps
the database and copies the spools (see restored.py), restores both with the same programs, and stores their output. Later releases must
have the same output.
test_replay of the same build (in $ARES_TEST_PROGRAMS, else build/release/tests) adds events.txt, records.txt and frozen.txt. Nothing
depends on the machine except times, boot ids and process ids; a second run creates a folder with the same content.

The scenario grows with the product: everything that a new release stores is added to it before the release is made.
"""

import gzip
import io
import json
import os
import re
import signal
import subprocess
import sys
import tarfile
import time

from restored import (BIN, HERE, TEST_PROGRAMS, Cluster, Restored, attempts_that_ran, in_queue, listings, outcome, stop, until,
                      views_columns)

# `history` sets short times, so that leases and records expire during the scenario. LASTING is used later, so that nothing expires
# whenever the database is restored.
CONFIG = """
cluster: release
controller: {{operators: [root], mail_program: /bin/true}}
policy:
  kill_wait: 2
  heartbeat: 1
  launch_backoff: 1
  launch_backoff_max: 2
  kill_allowance: 1
  preemption: {{min_age: 1, grace: 1, per_hour: 100}}
  {history}
accounting: {{enforce: limits}}
fairness:
  policy: multifactor
  weights: {{age: 1000, fairshare: 1000, qos: 100}}
  calc_period: 1
  billing_weights: {{cpu: 2, gres/gpu: 10}}
licenses: {{matlab: 2}}
nodes:
  - {{name: "n[1-4]", cpus: 16, memory: 8000M}}
  - {{name: n5, cpus: 16, memory: 8000M, gpus: "a100:4", features: [fast]}}
partitions:
  - {{name: main, nodes: "n[1-5]", default: true, default_memory_per_cpu: 100M}}
  - {{name: low, nodes: n5, default_memory_per_cpu: 100M, preempt_mode: requeue}}
  - {{name: high, nodes: n5, default_memory_per_cpu: 100M, tier: 5}}
"""
FIRST_LIFE = "lease: 3\n  min_job_age: 2\n  request_retention: 2"
LASTING = "lease: 300\n  min_job_age: 2000000000\n  request_retention: 2000000000\n  prepare_timeout: 2000000000"

# Runs before all other user code; the path of the attempt's folder contains that of the cluster.
STARTS = 'echo "${ARES_ATTEMPT_DIR##*/}" >> "${ARES_ATTEMPT_DIR%/spool/*}/runs"; '
# arun, which is not in the PATH of the scenario: it is beside the program of the first process of the job's namespace.
STEP = '"$(dirname "$(readlink /proc/1/exe)")/arun"'
# A second attempt ends at once.
UNTIL_REQUEUED = STARTS + '[ "${ARES_RESTART_COUNT:-0}" = 0 ] || exit 0; exec sleep 100000'
# Ends with the code in the file `end-JOB` in the cluster's folder.
UNTIL_TOLD = (STARTS + 'end="${ARES_ATTEMPT_DIR%/spool/*}/end-$ARES_JOB_ID"; while [ ! -s "$end" ]; do sleep 0.1; done; exit $(cat "$end")')


class PlainCluster(Cluster):
    """A cluster whose users have no variables of this machine in the environment, which is stored with their jobs."""

    def environment(self, **more):
        return {"ARES_CONF": str(self.dir / "ares.yaml"), "HOME": "/root", "PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "LANG": "C.UTF-8",
                **more}


class Scenario:
    def __init__(self):
        self.cluster = PlainCluster("--no-supervise", config=CONFIG.format(history=FIRST_LIFE))
        self.processes = []
        self.jobs = {}  # by role

    def submit(self, role, script, *words):
        self.jobs[role] = self.cluster.wrap(STARTS + script if not script.startswith(STARTS) else script, "-o", "/dev/null", "-D", "/tmp",
                                            *words)
        return self.jobs[role]

    def running(self, role, script, *words):
        job = self.submit(role, script, *words)
        self.cluster.wait_state(job, "RUNNING")
        return job

    def manager(self, line):
        self.cluster.run("aacctmgr", "-i", *line.split())

    def accounts(self):
        for line in ("add account science description=all_of_it", "add account physics parent=science", "add account biology parent=science",
                     "add user root account=physics", "add user daemon account=physics,biology", "add qos urgent priority=100",
                     "add qos scavenger priority=1", "modify account root set qos=normal,urgent,scavenger",
                     "modify account physics set fairshare=30 GrpTRES=cpu=60 MaxSubmitJobs=500", "add wckey sun,moon user=root",
                     "modify user root set defaultwckey=sun", "modify qos urgent set flags=DenyOnLimit MaxWall=1-0",
                     "modify qos scavenger set GrpJobs=3", "modify account biology set GrpJobsAccrue=1"):
            self.manager(line)

    def life_with_losses(self):
        """A node stops answering: its attempt is fenced and runs on another node, and the node is cleared later. Records expire."""
        cluster = self.cluster
        lost = self.submit("fenced", UNTIL_REQUEUED, "--requeue", "-w", "n2")
        cluster.wait_state(lost, "RUNNING")
        daemon = cluster.pid("aresd@n2")
        os.kill(daemon, signal.SIGSTOP)
        until(lambda: "NodeFenced" in self.kinds(), 60)
        os.kill(daemon, signal.SIGCONT)
        cluster.wait_end(lost, 60)
        until(lambda: {"ChargeCleared", "Forgotten", "RequestExpired"} <= self.kinds(), 60)

    def kinds(self):
        return set(self.cluster.psql("SELECT DISTINCT kind FROM journal").split())

    def history(self):
        """Jobs that end in every way, and changes of everything that commands can change."""
        cluster = self.cluster
        for role, script, words in (("good", "true", ["-J", "good", "-c2", "--comment=a comment"]), ("bad", "exit 3", ["--wckey=moon"]),
                                    ("array", "exit $((ARES_ARRAY_TASK_ID == 2))", ["--array=0-3"]),
                                    ("gpus", "true", ["--gpus=a100:2"]), ("wide", "true", ["-N3", "--exclusive"]),
                                    ("mailed", "true", ["--mail-type=ALL", "--mail-user=team@example.org"]),
                                    ("urgent", "true", ["-q", "urgent", "-t", "10"]), ("killed", "kill -9 $$", []), ("featured", "true", ["-C", "fast"]),
                                    ("part", "true", ["--gres=gpu:a100:0.5"]),
                                    ("steps", STEP + " -n1 true", [])):
            self.submit(role, script, *words)
        first = self.submit("first", "true", "--begin=now+1hour")
        cluster.run("actl", "hold", first)
        self.submit("depends", "true", "-d", f"afterok:{first},afternotok:{self.jobs['bad']}")
        cluster.run("actl", "update", f"job={first}", "StartTime=now")
        cluster.run("actl", "release", first)
        self.submit("noisy", "sleep 100", "-t", "0:03", "--mail-type=TIME_LIMIT,TIME_LIMIT_50")
        cluster.run("asub", "-o", "/nonexistent/folder/file", "--wrap", "true")
        for role in ("one", "two"):
            self.submit(f"gang-{role}", "sleep 1", "--gang=team", "--gang-size=2")
        licensed = self.running("licensed", "trap 'exit 4' USR1; while true; do sleep 0.1; done", "-L", "matlab:1")
        cluster.run("acancel", "-b", "-s", "USR1", licensed)
        cluster.wait_state(licensed, "FAILED")
        cancelled = self.running("cancelled", "sleep 100")
        cluster.cancel(cancelled)
        waiting = self.submit("modified", "true", "-H")
        cluster.run("actl", "update", f"job={waiting}", "priority=7", "name=renamed", "timelimit=10")
        cluster.run("actl", "release", waiting)
        held = self.submit("cancelled-held", "true", "--array=0-9", "-H")
        cluster.cancel(f"{held}_[3-5]")
        cluster.cancel(held)
        again = self.running("requeued", UNTIL_REQUEUED, "--requeue")
        cluster.run("actl", "requeue", again)
        slept = self.running("slept", UNTIL_REQUEUED, "--requeue")
        cluster.run("actl", "suspend", slept)
        cluster.run("actl", "resume", slept)
        cluster.run("actl", "requeue", slept)
        self.running("preempted", UNTIL_REQUEUED, "--requeue", "-p", "low", "-c16")
        self.submit("preempting", "sleep 1", "-p", "high", "-c16")
        accruing = [self.submit(f"accrues-{i}", "true", "-A", "physics", "-H") for i in range(2)]
        cluster.run("actl", "release", ",".join(accruing))
        cluster.run("asub", "-A", "biology", "-N5", "-c16", "-o", "/dev/null", "--wrap", "true", user="daemon",
                    cwd="/tmp")
        cluster.run("actl", "create", "reservation", "gone", "Nodes=n3", "StartTime=now+1hour", "Duration=60", "Users=root")
        cluster.run("actl", "delete", "reservation", "gone")
        until(lambda: not in_queue(cluster), 120)
        self.manager("reset usage account biology")

    def lasting(self):
        """The records in the dump, apart from running jobs."""
        cluster = self.cluster
        cluster.run("actl", "create", "reservation", "far", "Nodes=n3", "StartTime=2097-01-01T00:00", "Duration=60", "Users=root")
        cluster.run("actl", "create", "reservation", "weekly", "Nodes=n5", "StartTime=2097-02-01T00:00", "Duration=60", "Accounts=physics",
                    "Flags=WEEKLY")
        cluster.run("actl", "update", "partition=low", "MaxTime=20:00:00", "PriorityTier=2")
        cluster.run("actl", "drain", "n5", "reason=bad_fan")
        held = self.submit("held", "true", "-H")
        self.submit("dependent", "true", "-d", f"afterok:{held}")
        self.submit("never", "true", "-d", f"afterok:{self.jobs['bad']}")
        self.submit("later", "true", "--begin=2097-01-01T00:00:00")
        self.submit("reserved", "true", "--reservation=far", "-t", "10")
        self.submit("gpu-waits", "true", "--gpus=a100:4")
        self.submit("held-array", "true", "--array=0-99%3", "-H")
        self.submit("half-a-gang", "true", "--gang=half", "--gang-size=2")
        self.submit("wide-waits", "true", "-w", "n5", "--mail-type=END", "--nice=5")

    def running_attempts(self):
        """Attempts in every phase on the nodes n1 to n4."""
        cluster = self.cluster
        for node in ("n1", "n2"):
            self.running(f"requeueable-{node}", UNTIL_REQUEUED, "--requeue", "-w", node)
            self.running(f"once-{node}", UNTIL_REQUEUED, "--no-requeue", "-w", node)
            self.running(f"ends-{node}", UNTIL_TOLD, "--requeue", "-w", node)
        first_two = '[ "$ARES_ARRAY_TASK_ID" -le 2 ] || exit 0; '
        array = self.submit("array-runs", STARTS + first_two + UNTIL_REQUEUED.removeprefix(STARTS), "--requeue", "--array=1-4%2", "-w", "n1")
        self.running("two-nodes", UNTIL_REQUEUED, "--requeue", "-w", "n1,n2", "-N2")
        self.running("suspended", UNTIL_REQUEUED, "--requeue", "-w", "n1")
        cluster.run("actl", "suspend", self.jobs["suspended"])
        until(lambda: cluster.queue(array, "%T").split().count("RUNNING") == 2)
        # Accepted by n4, whose step supervisors never get as far as their election.
        idle = cluster.top / "idle"
        idle.write_text('#!/bin/sh\nwhile [ -d "$1" ]; do sleep 0.5; done\n')
        idle.chmod(0o755)
        stop(cluster.pid("aresd@n4"))
        config = cluster.top / "n4.yaml"
        config.write_text(re.sub(r"(?m)^(\s+)stepd:.*$", rf"\1stepd: {idle}", (cluster.dir / "ares.yaml").read_text()))
        assert str(idle) in config.read_text()
        self.start(BIN / "aresd", "--config", config, "--node", "n4")
        until(lambda: "5 of 5 nodes answer" in cluster.run("actl", "ping").stdout)
        self.submit("accepted", UNTIL_REQUEUED.replace("exec sleep 100000", "exit 0"), "--requeue", "-w", "n4")
        until(lambda: self.records("n4", "accepted") >= {"spec", "intent"})
        # Ready on n1, where it does not start because n3 does not answer.
        os.kill(cluster.pid("aresd@n3"), signal.SIGSTOP)
        self.submit("ready", UNTIL_REQUEUED.replace("exec sleep 100000", "exit 0"), "--requeue", "-w", "n1,n3", "-N2", "-t", "1-0")
        until(lambda: self.records("n1", "ready") >= {"spec", "intent", "started", "task"})
        self.wait_quiet()

    def start(self, *words):
        self.processes.append(subprocess.Popen(list(map(str, words)), env=self.cluster.environment(), stdout=subprocess.DEVNULL,
                                               stderr=subprocess.DEVNULL))

    def records(self, node, role):
        """Names of the records that the first attempt of a job has on a node."""
        folder = self.cluster.dir / "spool" / node / "jobs" / f"{self.jobs[role]}.1"
        return {path.name for path in folder.iterdir()} if folder.exists() else set()

    def wait_quiet(self):
        """Waits until no further job will start."""
        self.cluster.wait_state(self.jobs["suspended"], "SUSPENDED")
        until(lambda: {self.cluster.queue(self.jobs[role]) for role in ("ready", "accepted")} == {"CONFIGURING"})

    def end_unseen(self):
        """Stops the controller, and then lets two jobs end."""
        cluster = self.cluster
        stop(cluster.pid("aresctld"))
        for node, code in (("n1", 7), ("n2", 5)):
            (cluster.dir / f"end-{self.jobs[f'ends-{node}']}").write_text(str(code))
            until(lambda: "exit" in self.records(node, f"ends-{node}"))

    def close(self):
        for process in self.processes:
            process.kill()
            process.wait()
        # Stopped processes would not end.
        for role in ("aresd@n2", "aresd@n3"):
            try:
                os.kill(self.cluster.pid(role), signal.SIGCONT)
            except (OSError, ValueError, AssertionError):
                pass
        self.cluster.close()


def write_compressed(path, content):
    """Writes the same bytes for the same content."""
    with open(path, "wb") as file, gzip.GzipFile(filename="", mode="wb", fileobj=file, mtime=0) as packed:
        packed.write(content)


def dump_database(cluster, path):
    words = cluster.database()
    text = cluster.postgres("pg_dump", *words[:-2], words[-1], "--no-owner")
    # Lines that differ between dumps, or that older servers do not know.
    of_this_dump = ("-- Dumped ", "\\restrict", "\\unrestrict", "SET transaction_timeout")
    kept = [line for line in text.split("\n") if not line.startswith(of_this_dump)]
    write_compressed(path, ("\n".join(kept) + "\n").encode())


def copy_spools(cluster, path):
    buffer = io.BytesIO()
    spool = cluster.dir / "spool"
    with tarfile.open(fileobj=buffer, mode="w", format=tarfile.USTAR_FORMAT) as archive:
        for file in sorted(spool.rglob("*")):
            # Sockets and locks belong to processes; `.reserved` files only reserve space.
            if file.is_socket() or file.name in ("lock", "log") or file.name.endswith(".reserved"):
                continue
            if "free" in file.relative_to(spool).parts:
                continue
            entry = archive.gettarinfo(file, str(file.relative_to(spool)))
            entry.mtime = 0
            entry.uid = entry.gid = 0
            entry.uname = entry.gname = ""
            if file.is_file():
                with open(file, "rb") as content:
                    archive.addfile(entry, content)
            else:
                archive.addfile(entry)
    write_compressed(path, buffer.getvalue())


def made_by_this_release(folder):
    """Restores the folder with the programs of this release, and returns their output and the outcome of the jobs."""
    meta = json.loads((folder / "expected.json").read_text())
    restored = Restored(folder)
    try:
        cluster = restored.cluster
        (cluster.dir / "runs").write_text("".join(f"{run}\n" for run in meta["runs"]))
        meta["records"] = restored.check_state()
        meta["listings"] = listings(cluster, meta["dumped_at"])
        columns = views_columns(cluster)
        restored.start_nodes()
        adopted = set(meta["attempts"])
        restored.wait_settled(adopted)
        meta["outcome"] = outcome(cluster, adopted)
        meta["runs_after"] = sorted(attempts_that_ran(cluster))
    finally:
        restored.close()
    return meta, columns


def main():
    if len(sys.argv) != 2 or not re.fullmatch(r"v\d+\.\d+\.\d+", sys.argv[1]):
        sys.exit("usage: make_release.py v0.2.0")
    folder = HERE / sys.argv[1]
    folder.mkdir(exist_ok=True)
    (folder / "base.yaml").write_text(CONFIG.format(history=LASTING).lstrip("\n"))
    scenario = Scenario()
    try:
        cluster = scenario.cluster
        scenario.accounts()
        scenario.life_with_losses()
        cluster.acluster("down")
        cluster.up("--no-supervise", "--config", str(folder / "base.yaml"))
        scenario.history()
        scenario.lasting()
        scenario.running_attempts()
        scenario.end_unseen()
        dump_database(cluster, folder / "database.sql.gz")
        copy_spools(cluster, folder / "spool.tar.gz")
        attempts = sorted({path.name.split(".")[0].split("_")[0] for path in (cluster.dir / "spool").glob("*/jobs/*")}, key=int)
        meta = {"jobs": scenario.jobs, "attempts": attempts, "runs": attempts_that_ran(cluster), "journal_kinds": sorted(scenario.kinds()),
                "dumped_at": time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime())}
    finally:
        scenario.close()
    (folder / "expected.json").write_text(json.dumps(meta))
    meta, columns = made_by_this_release(folder)
    (folder / "expected.json").write_text(json.dumps(meta, indent=1, sort_keys=True) + "\n")
    (folder / "columns.txt").write_text("".join(f"{line}\n" for line in columns))
    subprocess.run([TEST_PROGRAMS / "test_replay", "--gtest_filter=*WhenAsked"], env={**os.environ, "ARES_WRITE_REPLAY": str(folder)},
                   check=True, stdout=subprocess.DEVNULL)
    print(f"{folder}: {len(meta['listings']['jobs']['jobs'])} jobs in the queue, {len(meta['journal_kinds'])} kinds of events, "
          f"{sum(path.stat().st_size for path in folder.iterdir())} bytes")


if __name__ == "__main__":
    main()
