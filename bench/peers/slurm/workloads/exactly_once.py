"""Checks that every acknowledged job runs exactly once. Starts are counted on disk: each job first creates a file."""
import collections
import time

from systems import Skip, StillLive

# Does not fork, and does not use $$, which is not unique across pid namespaces.
COUNT = """#!/bin/sh
read -r unique < /proc/sys/kernel/random/uuid
: > "{starts}/$1.$unique"
{rest}
"""
STUCK_AFTER = 60  # seconds within which jobs of half a second must end


class Tokens:
    """Submissions and their results. Each has a unique token as argument and as job name."""

    def __init__(self, system, rest="exit 0"):
        self.system = system
        self.folder = system.work / "counted"
        self.folder.mkdir()
        self.folder.chmod(0o1777)
        self.script = system.script("count.sh", COUNT.format(starts=self.folder, rest=rest))
        self.acknowledged = {}  # token -> job id
        self.reused = []  # job ids assigned twice
        self.refused = []  # messages

    def submit(self, prefix, clients, count):
        burst = self.system.burst(clients, count, lambda i: self.system.submit(self.script, f"{prefix}{i}", name=f"{prefix}{i}"))
        self.refused += [sample.text.strip() for sample in burst.failed]
        known = set(self.acknowledged.values())
        for sample in burst.samples:
            if sample.status == 0:
                job = self.system.job_id(sample.text)
                if job in known:
                    self.reused.append(job)
                known.add(job)
                self.acknowledged[f"{prefix}{sample.number}"] = job
        return burst

    def starts(self):
        """Token -> number of its starts."""
        return collections.Counter(path.name.split(".")[0] for path in self.folder.iterdir())


def stress(world):
    """Submits some jobs one by one, some all at once, some from many workers; on Ares then the same through the API."""
    system, sizes = world.system, world.sizes
    tokens = Tokens(system)
    phases = {"one": (1, sizes.stress_one), "burst": (sizes.stress_burst, sizes.stress_burst), "sustained": (50, sizes.stress_sustained)}
    figures, raw = {}, {}
    for phase, (clients, count) in phases.items():
        burst = tokens.submit(phase, clients, count)
        figures[f"stress.{phase}.rate"] = count / burst.seconds
        raw[phase] = burst.ms
    system.wait_done()
    total = sum(count for _, count in phases.values())
    starts = tokens.starts()
    time.sleep(0.5)  # a wrong second start may be late
    states = await_states(system, total)
    figures["stress.wrong"] = (sum(1 for token in tokens.acknowledged if starts[token] != 1) + len(tokens.refused) + len(tokens.reused)
                               + abs(total - states["COMPLETED"]))
    raw.update(states=dict(states), refused=tokens.refused, reused=tokens.reused, starts=sum(starts.values()), jobs=total)
    if system.name == "ares":
        try:
            stress_api(system, phases, figures, raw)
        except Skip as skip:
            raw["api"] = f"skipped: {skip}"
    return {**figures, "raw": raw}


def stress_api(system, phases, figures, raw):
    """Reports the quantiles of the worst phase, so that a good phase does not hide a bad one."""
    rows = {phase: system.api(count, clients) for phase, (clients, count) in phases.items()}
    for quantile in ("p50", "p95", "p99"):
        figures[f"stress.api.{quantile}"] = max(row[f"{quantile}_ms"] for row in rows.values())
    figures["stress.api.burst"] = rows["burst"]["per_second"]
    raw["api"] = rows


def await_states(system, total, patience=60):
    """Waits until accounting has `total` ended jobs. Returns the number of jobs by state."""
    deadline = time.monotonic() + patience
    while True:
        states = collections.Counter(system.ended())
        if sum(states.values()) - states["RUNNING"] - states["PENDING"] >= total or time.monotonic() > deadline:
            return states
        time.sleep(0.3)


def kill(world):
    """Kills the controller right after the last of many submissions was acknowledged, then restarts it."""
    system, count = world.system, world.sizes.kill_jobs
    tokens = Tokens(system, rest="sleep 0.5")
    tokens.submit("before", 8, count)
    first = dict(tokens.acknowledged)
    system.kill_controller()
    begin = time.monotonic()
    system.wait_controller()
    back = time.monotonic() - begin
    queued, started = system.names(), tokens.starts()
    there = [token for token in first if queued.get(token) == first[token] or started[token]]
    tokens.submit("after", 8, max(count // 4, 8))
    again = len(tokens.reused)
    stuck = 0
    try:
        system.wait_done(patience=STUCK_AFTER)
    except StillLive as error:
        stuck = error.args[1]
    time.sleep(1)  # a wrong second start may be late
    starts = tokens.starts()
    return {"kill.lost": len(first) - len(there), "kill.reused": again, "kill.twice": sum(1 for n in starts.values() if n > 1),
            "kill.stuck": stuck, "kill.back": back,
            "kill.never": sum(1 for token in tokens.acknowledged if starts[token] == 0),
            "raw": {"acknowledged": len(first), "refused": tokens.refused, "in_queue_after": len(queued),
                    "started_before_looking": sum(1 for token in first if started[token]), "reused_ids": tokens.reused}}
