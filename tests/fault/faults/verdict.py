"""What a campaign proves: starts from the disk are compared with what was acknowledged and with accounting.

After an accepted roll-back, and only then, a job may be missing that was acknowledged after the copy was begun, and an attempt that the
copy does not know may run again (ares-backup(7)).
"""
import collections
import itertools
import time

from .processes import belonging_to
from .restore import fates
from .workload import starts_on_disk

COUNTS = ["lost", "started twice", "overlapping", "ids twice", "orphans", "wrong exit codes", "stuck"]
SETTLE_SECONDS = 300
COLUMNS = "JobID,State,ExitCode,Start"


class Verdict:
    def __init__(self, campaign):
        self.target, self.workload, self.rollbacks = campaign.target, campaign.workload, campaign.rollbacks
        self.ended_by_kill = campaign.ended_by_kill
        self.problems = []  # (count it belongs to, text)
        self.ran_again = 0  # starts that an accepted roll-back explains

    def problem(self, count, text):
        self.problems.append((count, text))

    # --- the end --------------------------------------------------------------------------------------------------------
    def settle(self):
        """Waits until every job has ended, and then looks for processes that jobs have left."""
        deadline = time.monotonic() + SETTLE_SECONDS
        while True:
            done = self.target.run("aqueue", "-h", "-t", "PENDING,CONFIGURING,RUNNING,COMPLETING,SUSPENDED", "-o", "%i %T %r %N",
                                   check=False)
            if done.returncode == 0 and not done.stdout.strip():
                break
            if time.monotonic() > deadline:
                for line in done.stdout.splitlines() or [done.stderr]:
                    self.problem("stuck", f"not over after {SETTLE_SECONDS} s: {line}")
                break
            time.sleep(0.2)
        ping = self.target.run("actl", "ping", check=False)
        nodes = len(self.target.nodes)
        while f"{nodes} of {nodes} nodes answer" not in ping.stdout:
            if time.monotonic() > deadline:
                self.problem("stuck", f"not all nodes are back: {ping.stdout}{ping.stderr}")
                break
            time.sleep(0.5)
            ping = self.target.run("actl", "ping", check=False)
        self._look_for_orphans()

    def _look_for_orphans(self):
        left = []
        deadline = time.monotonic() + 10
        while time.monotonic() < deadline:
            left = belonging_to(str(self.workload.out), self.workload.out)
            if not left:
                return
            time.sleep(0.2)
        for process, line in left:
            self.problem("orphans", f"{process.pid} {line}")

    # --- comparing ------------------------------------------------------------------------------------------------------
    def compare(self):
        self.starts, strange = starts_on_disk(self.workload.out)
        for name in strange:
            self.problem("started twice", f"unexpected file of a start {name}")
        self.by_job = collections.defaultdict(list)
        for start in self.starts:
            self.by_job[start.job].append(start)
        self.rows = self._accounting()
        for job in self.workload.given_twice:
            self.problem("ids twice", f"job id {job} was given out twice")
        for message, count in self.workload.refused.items():
            self.problem("refused", f"{count} submissions: {message}")
        for job, starts in self.by_job.items():
            self._compare_starts(job, starts)
        self._compare_submissions()
        for submission in self.workload.acknowledged.values():
            for name in submission.names():
                self._compare_acknowledged(submission, name)

    def _accounting(self):
        rows = collections.defaultdict(list)
        text = self.target.run("aacct", "-X", "-D", "-n", "-P", "-a", "-S", "2000-01-01", "-E", "2099-01-01", "-o", COLUMNS).stdout
        for line in text.splitlines():
            job, state, code, start = line.split("|")
            rows[job].append((state.split(" ")[0], code, start))
        return rows

    def _forgot(self, rollback, start):
        """A roll-back to a copy that does not know this start's attempt."""
        known = rollback.copy.attempts
        return start.begin < rollback.accepted_at and (start.job, start.attempt) not in known and \
            int(start.job.split("_")[0]) < rollback.first_id

    def _forgotten(self, start):
        return any(self._forgot(rollback, start) for rollback in self.rollbacks)

    def _unknown(self, name, acknowledged_at=None):
        """The roll-back that lost the job, if it was allowed to."""
        for rollback in self.rollbacks:
            if int(name.split("_")[0]) < rollback.first_id and not rollback.copy.knows(name):
                if acknowledged_at is None or acknowledged_at > rollback.dumped_at:
                    return rollback
        return None

    def _compare_starts(self, job, starts):
        by_attempt = collections.defaultdict(list)
        for start in starts:
            by_attempt[start.attempt].append(start)
        for attempt, same in by_attempt.items():
            forgotten = sum(1 for start in same if self._forgotten(start))
            self.ran_again += min(forgotten, len(same) - 1)
            if len(same) - min(forgotten, len(same) - 1) > 1:
                self.problem("started twice", f"attempt {attempt} of job {job} started {len(same)} times: {same}")
        for first, second in itertools.pairwise(sorted(starts, key=lambda start: start.begin)):
            if first.end >= second.begin:
                which = "overlapping after a roll-back" if self._forgotten(first) else "overlapping"
                self.problem(which, f"attempt {second.attempt} of job {job} ran while attempt {first.attempt} did, "
                                    f"for {first.end - second.begin:.3f} s: {first} {second}")
        for start in starts:
            if start.attempt > len(self.rows.get(job, [])) and not self._unknown(job) and not self._forgotten(start):
                self.problem("lost", f"attempt {start.attempt} of job {job} ran, but accounting does not know it: {start}")

    def _compare_submissions(self):
        jobs = collections.defaultdict(set)
        for start in self.starts:
            jobs[start.submission].add(start.job.split("_")[0])
        for submission, found in jobs.items():
            remaining = {job for job in found if not self._unknown(job)}
            if len(remaining) > 1:
                self.problem("started twice", f"submission {submission} ran as jobs {', '.join(sorted(remaining))}")

    def _compare_acknowledged(self, submission, name):
        rows = self.rows.get(name, [])
        if not rows:
            if not self._unknown(name, submission.acknowledged_at):
                self.problem("lost", f"job {name} was acknowledged and is not in accounting: {submission}")
            return
        state, exit_code, _ = rows[-1]
        starts = self.by_job.get(name, [])
        remembered = [start for start in starts if not self._forgotten(start)]
        if not submission.requeue and len(remembered) > 1:
            self.problem("started twice", f"job {name}, which may not be requeued, started {len(remembered)} times: {remembered}")
        if not submission.requeue and state == "NODE_FAIL" or state in submission.ends:
            return
        if (state, exit_code) == ("FAILED", "0:9") and f"{name}.{len(rows)}" in self.ended_by_kill:
            return
        expected = "COMPLETED" if submission.code == 0 else "FAILED"
        if submission.ends or state != expected or exit_code != f"{submission.code}:0":
            count = "stuck" if state in ("PENDING", "CONFIGURING", "RUNNING", "COMPLETING") else "wrong exit codes"
            right = " or ".join(sorted(submission.ends)) or f"{expected} {submission.code}:0"
            self.problem(count, f"job {name} ended {state} {exit_code}, not {right} ({rows}; {submission})")
        elif sum(1 for start in starts if start.attempt == len(rows)) == 0:
            self.problem("lost", f"job {name} ended {state}, but attempt {len(rows)} never started ({rows}; {starts})")

    # --- words ----------------------------------------------------------------------------------------------------------
    def names(self):
        return [name for submission in self.workload.acknowledged.values() for name in submission.names()]

    def fates(self):
        """[(roll-back, {fate: names})]"""
        found = []
        for rollback in self.rollbacks:
            ran = {start.job for start in self.starts if self._forgot(rollback, start)}
            found.append((rollback, fates(rollback, self.names(), self.rows, ran)))
        return found

    def counts(self):
        found = collections.Counter(count for count, _ in self.problems)
        return {**{count: 0 for count in COUNTS}, **found}

    def summary(self):
        attempts = sum(len(rows) for rows in self.rows.values())
        return (f"{len(self.workload.acknowledged)} submissions with {len(self.names())} jobs and tasks acknowledged, {attempts} attempts in "
                f"accounting, {len(self.starts)} starts ({self.ran_again} again after accepted roll-backs): "
                + ", ".join(f"{number} {count}" for count, number in self.counts().items()))
