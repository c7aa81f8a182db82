"""Table of all figures that workloads report, with their goals. Reports have the same order."""
import dataclasses
from typing import Callable, Optional


@dataclasses.dataclass(frozen=True)
class Goal:
    text: str
    # (Ares's value, the best of Slurm's or None, all values by system) -> met; None if it cannot be decided.
    met: Callable[[float, Optional[float], dict], Optional[bool]]


def at_least(limit):
    return Goal(f">= {limit:,}", lambda value, best, all_: value >= limit)


def below(limit):
    return Goal(f"< {limit:,}", lambda value, best, all_: value < limit)


def at_most(limit):
    return Goal(f"<= {limit:,}", lambda value, best, all_: value <= limit)


def times(factor):
    return Goal(f">= {factor}x Slurm", lambda value, best, all_: None if best is None else value >= factor * best)


def share(part):
    return Goal(f"<= {part}x Slurm", lambda value, best, all_: None if best is None else value <= part * best)


def against_loop(factor, part):
    def met(value, best, all_):
        if best is None or all_.get("loop") is None:
            return None
        return value >= factor * best and value >= all_["loop"] * part
    return Goal(f">= {factor}x Slurm, >= {part:.2f}x loop", met)


@dataclasses.dataclass(frozen=True)
class Figure:
    key: str  # the key in the results of workloads
    workload: str
    text: str
    unit: str
    higher_is_better: bool
    goal: Optional[Goal] = None


UP, DOWN = True, False
FIGURES = [
    Figure("true.rate", "true", "true scripts end to end, 8 clients", "jobs/s", UP, times(4)),
    Figure("true.cpu", "true", "CPU a job, all processes", "ms", DOWN, at_most(6)),
    Figure("array.rate", "array", "the same as one array", "tasks/s", UP, against_loop(8, 1 / 3)),
    Figure("array.cpu", "array", "CPU a task, all processes", "ms", DOWN),
    Figure("submit.one.p50", "submit", "submit command, held, one by one: p50", "ms", DOWN, share(1)),
    Figure("submit.one.p99", "submit", "  p99", "ms", DOWN),
    Figure("submit.one.rate", "submit", "  rate", "jobs/s", UP),
    Figure("submit.one.cpu", "submit", "  CPU a job, all processes", "ms", DOWN),
    Figure("submit.held8", "submit", "held, from 8 clients", "jobs/s", UP, times(1.2)),
    Figure("submit.held8.cpu", "submit", "  CPU a job, all processes", "ms", DOWN),
    Figure("submit.unheld8", "submit", "that may start, from 8 clients", "jobs/s", UP, times(3)),
    Figure("api.one", "api", "library, one at a time", "jobs/s", UP),
    Figure("api.one.cpu", "api", "  CPU a job, all processes", "us", DOWN),
    Figure("api.parallel", "api", "library, 64 under way (Slurm: 8 processes)", "jobs/s", UP, at_least(5000)),
    Figure("api.parallel.cpu", "api", "  CPU a job, all processes", "us", DOWN),
    Figure("api.batch", "api", "library, many jobs a call", "jobs/s", UP, at_least(10000)),
    Figure("api.batch.cpu", "api", "  CPU a job, all processes", "us", DOWN),
    Figure("array10000.p50", "array10000", "held array of 10,000 tasks submitted: p50", "ms", DOWN, below(100)),
    Figure("start.p50", "start", "submission to start, idle: p50", "ms", DOWN, below(25)),
    Figure("start.p99", "start", "  p99", "ms", DOWN, below(100)),
    Figure("start.srun", "start", "srun -n1 true: p50", "ms", DOWN),
    Figure("steps.p50", "steps", "srun -n1 true, arun -n1 true within a job: p50", "ms", DOWN, share(0.5)),
    Figure("steps.p99", "steps", "  p99", "ms", DOWN),
    Figure("steps.wide", "steps", "  a step of many tasks", "s", DOWN, at_most(5)),
    Figure("queue.all", "queries", "squeue, aqueue", "ms", DOWN, share(0.5)),
    Figure("queue.8", "queries", "  8 of them at once", "ms", DOWN, share(0.5)),
    Figure("queue.json", "queries", "  --json", "ms", DOWN, share(0.5)),
    Figure("queue.one", "queries", "  one job", "ms", DOWN, share(1)),
    Figure("account.all", "queries", "sacct -X, aacct over as many finished jobs", "ms", DOWN, share(0.5)),
    Figure("account.one", "queries", "  one job", "ms", DOWN, share(0.5)),
    Figure("cancel.all", "queries", "scancel -u, acancel -u of all", "ms", DOWN, share(0.5)),
    Figure("stress.wrong", "stress", "jobs not COMPLETED exactly once", "jobs", DOWN, at_most(0)),
    Figure("stress.one.rate", "stress", "commands, one by one", "jobs/s", UP),
    Figure("stress.burst.rate", "stress", "commands, all at once", "jobs/s", UP),
    Figure("stress.sustained.rate", "stress", "commands, 50 workers", "jobs/s", UP),
    Figure("stress.api.p50", "stress", "API, worst phase: p50", "ms", DOWN, below(5)),
    Figure("stress.api.p95", "stress", "  p95", "ms", DOWN, below(40)),
    Figure("stress.api.p99", "stress", "  p99", "ms", DOWN, below(80)),
    Figure("stress.api.burst", "stress", "API, all at once", "jobs/s", UP, Goal("> 2,000", lambda value, best, all_: value > 2000)),
    Figure("kill.lost", "kill", "acknowledged jobs gone after kill -9 of the controller", "jobs", DOWN, at_most(0)),
    Figure("kill.never", "kill", "  that never ran", "jobs", DOWN, at_most(0)),
    Figure("kill.reused", "kill", "  whose ids were given out again", "jobs", DOWN, at_most(0)),
    Figure("kill.twice", "kill", "  that ran twice", "jobs", DOWN, at_most(0)),
    Figure("kill.stuck", "kill", "  still shown as live a minute later", "jobs", DOWN, at_most(0)),
    Figure("kill.back", "kill", "  until the restarted controller answered", "s", DOWN),
]
