"""Restores of an older database: what is done, what the copy knew, and what became of the jobs that had been acknowledged."""
import collections
import dataclasses
import signal
import subprocess
import time

REFUSAL_SECONDS = 120


@dataclasses.dataclass
class Copy:
    """What a copy of the database knows. Jobs and tasks are named as commands name them."""
    next_job_id: int
    jobs: dict  # of the queue: name -> state
    attempts: dict  # (name, number) -> state

    @staticmethod
    def read(target):
        jobs, attempts = {}, {}
        for line in target.psql("SELECT job_id, task, state FROM job").splitlines():
            job, task, state = line.split("|")
            jobs[named(job, task)] = state
        for line in target.psql("SELECT job_id, task, attempt, state FROM attempt").splitlines():
            job, task, attempt, state = line.split("|")
            attempts[named(job, task), int(attempt)] = state
        return Copy(int(target.psql("SELECT next_job_id FROM controller")), jobs, attempts)

    def __post_init__(self):
        self.known = set(self.jobs) | {name for name, _ in self.attempts}

    def knows(self, name):
        """A task of an array need not have a record yet."""
        return name in self.known or name.split("_")[0] in self.known

    def last_attempt(self, name):
        return max((number for one, number in self.attempts if one == name), default=0)


def named(job, task):
    return job if not 0 <= int(task) < 1 << 31 else f"{job}_{task}"


@dataclasses.dataclass
class Rollback:
    """An accepted one."""
    number: int
    dumped_at: float  # wall clock: when the copy was begun
    accepted_at: float  # nothing that was ordered afterwards began before
    copy: Copy
    first_id: int  # of jobs submitted afterwards
    refusal: str


class Restore:
    """With or without the controller's own record. Without it the nodes object, if one of them has heard later than the copy."""
    parts = frozenset(["controller", "database", "restore"])

    def __init__(self, choose, target):
        self.lag = choose.uniform(0.2, 2) if choose.random() < 0.7 else choose.uniform(2, 8)
        self.without_record = choose.random() < 0.25
        if self.without_record:
            self.lag += 3

    def inject(self, campaign):
        target = campaign.target
        if not target.wait_answer():
            return None
        dumped_at = time.time()
        file = target.work / "ares.dump"
        words = target.database()
        target.postgres("pg_dump", *words[:-2], words[-1], "-Fc", "-f", file)
        time.sleep(self.lag)  # commits that the copy lacks
        with target.held():
            if not kill_controller(target):
                return None
            last_id = int(target.psql("SELECT next_job_id FROM controller"))
            restore(target, file)
            copy = Copy.read(target)
            if self.without_record:
                (target.dir / "state/high-water").unlink()
            else:
                refusal = self.refuse(target, campaign)
                accepted_at = time.time()
        if self.without_record:
            refusal = objection(target)
            if refusal:
                with target.held():
                    kill_controller(target)
                    refusal = self.refuse(target, campaign)
                    accepted_at = time.time()
        if not target.wait_answer():
            campaign.problem("stuck", f"no answer after restore: {target.logs()}")
        how = "without the controller's record, " if self.without_record else ""
        how += f"{self.lag:.1f} s old, {last_id - copy.next_job_id} ids later"
        if not refusal:
            if last_id != copy.next_job_id:
                campaign.problem("lost", f"a copy from before {last_id - copy.next_job_id} jobs was taken without a word")
            return how + ", nothing to refuse"
        first_id = int(target.psql("SELECT next_job_id FROM controller"))
        campaign.rollbacks.append(Rollback(len(campaign.rollbacks) + 1, dumped_at, accepted_at, copy, first_id, refusal))
        return how + f", refused and accepted: roll-back {len(campaign.rollbacks)}"

    @staticmethod
    def refuse(target, campaign):
        """What a controller says that does not start, and has the next start accept the roll-back; empty if it starts."""
        file = target.work / "refusal"
        with open(file, "w") as log:
            done = subprocess.Popen(target.controller_words(), stdin=subprocess.DEVNULL, stdout=log, stderr=log, cwd="/")
        deadline = time.monotonic() + REFUSAL_SECONDS
        while done.poll() is None:
            said = file.read_text()
            late = time.monotonic() > deadline
            if "listening on" in said or late:
                done.kill()
                done.wait()
                if late:
                    raise AssertionError(f"it neither started nor refused in {REFUSAL_SECONDS} s: {said}")
                return ""
            time.sleep(0.05)
        said = file.read_text()
        if done.returncode == 0 or "--accept-rollback" not in said:
            campaign.problem("refusals", f"exit {done.returncode} after a restore: {said}")
        target.say_once("--accept-rollback")
        return said.strip().splitlines()[-1] if said.strip() else "nothing"


def objection(target, seconds=60):
    """What the nodes object to a controller without a record; empty if it acknowledges."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        done = target.run("actl", "ping", check=False)
        if "acknowledges nothing:" in done.stdout:
            return done.stdout
        if done.returncode == 0 and "acknowledges nothing" not in done.stdout:
            return ""
        time.sleep(0.1)
    return ""


def kill_controller(target):
    """Whatever waits to be started stays: it is held."""
    deadline = time.monotonic() + 10
    while time.monotonic() < deadline:
        try:
            process = target.process("aresctld")
        except LookupError:
            time.sleep(0.05)
            continue
        if process.name() == "aresctld":
            process.send(signal.SIGKILL)
        while process.alive() and process.name() == "aresctld":
            time.sleep(0.01)
        return True
    return False


def restore(target, file):
    name = target.database()[-1]
    where = target.database()[:4] + ["-U", "postgres"]
    target.postgres("dropdb", *where, "--force", name)
    target.postgres("createdb", *where, "-O", "ares", name)
    target.postgres("pg_restore", *where, "--exit-on-error", "-d", name, file)


# --- what became of the jobs --------------------------------------------------------------------------------------------------
TERMINAL = {"COMPLETED", "FAILED", "CANCELLED", "TIMEOUT", "NODE_FAIL", "OUT_OF_MEMORY", "BOOT_FAIL", "DEADLINE", "PREEMPTED"}


def fates(rollback, jobs, rows, ran_before):
    """{fate: names} of all jobs and tasks that were acknowledged before. `rows`: accounting, a list of (state, ...) for each name;
    `ran_before`: names that had started by then an attempt of which the copy knows nothing."""
    found = collections.defaultdict(list)
    for name in jobs:
        if int(name.split("_")[0]) >= rollback.first_id:
            continue
        copy = rollback.copy
        last = copy.last_attempt(name)
        state = (copy.attempts.get((name, last)) or copy.jobs.get(name, "")).upper()
        ends = [row[0] for row in rows.get(name, [])]
        if not copy.knows(name):
            found["unknown: later than the copy"].append(name)
        elif not ends:
            found["unknown to a later copy"].append(name)
        elif state in TERMINAL and copy.jobs.get(name, "").upper() in TERMINAL | {""}:
            found["kept: had ended"].append(name)
        elif ends[-1] == "NODE_FAIL":
            found["ended NODE_FAIL"].append(name)
        elif name in ran_before:
            found["kept pending, ran again"].append(name)
        elif last == 0 or copy.jobs.get(name, "").upper() in ("", "PENDING"):
            found["kept pending"].append(name)
        elif len(ends) > last:
            found["requeued"].append(name)
        else:
            found["kept: went on"].append(name)
    return found
