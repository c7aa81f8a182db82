"""Rate of job submission, with and without a load of accounting queries.

Phases of a few seconds, one for each load in turn and in each round in another order, so that what drifts (the machine's other users,
growing tables) falls on all alike. What counts is the ratio of a phase to the one without load of the same round.
"""
import json
import os
import random
import signal
import statistics
import time

from lib.measure import quantile
from lib.process import run

NOTHING = "nothing"
ONE_CORE = "a core kept busy"  # a load without Ares: the cost of any process that uses one CPU


class Loop:
    """`with Loop(argv, env, period) as loop: ...`: a process that repeats the command, at most once per period (seconds), or only
    computes if argv is empty. Afterwards loop.ms has the time of each command."""

    def __init__(self, argv, env, period=0.0):
        self.argv, self.env, self.period = argv, env, period
        self.ms = []

    def __enter__(self):
        self.result = os.memfd_create("result")
        self.stopped = False
        self.pid = os.fork()
        if self.pid == 0:
            code = 1
            try:
                signal.signal(signal.SIGTERM, lambda *_: self._stop())
                self._work()
                with os.fdopen(os.dup(self.result), "w") as file:
                    json.dump(self.ms, file)
                code = 0
            finally:
                os._exit(code)
        return self

    def _stop(self):
        self.stopped = True  # takes effect when the current command has ended

    def _work(self):
        null = os.open("/dev/null", os.O_WRONLY)
        while not self.stopped:
            if not self.argv:
                sum(range(20_000))
                continue
            begin = time.perf_counter()
            pid = os.posix_spawnp(self.argv[0], self.argv, self.env, file_actions=[(os.POSIX_SPAWN_DUP2, null, 1)])
            if os.waitpid(pid, 0)[1]:
                raise RuntimeError(f"{self.argv} failed")
            took = time.perf_counter() - begin
            self.ms.append(took * 1e3)
            until = begin + self.period
            while not self.stopped and time.perf_counter() < until:
                time.sleep(min(0.05, max(0.0, until - time.perf_counter())))

    def __exit__(self, *error):
        os.kill(self.pid, signal.SIGTERM)
        _, status = os.waitpid(self.pid, 0)
        if status == 0:
            with os.fdopen(os.dup(self.result)) as file:
                file.seek(0)
                self.ms = json.load(file)
        os.close(self.result)
        if status and not error[0]:
            raise RuntimeError(f"the loop of {self.argv} failed")


def submissions(cluster, in_flight, seconds):
    """Durable submissions per second of held jobs, with `in_flight` in flight, and their latency. The number of jobs is adjusted after
    each phase, so that a phase takes about `seconds`."""
    count = cluster.phase_counts.get(in_flight, 300 * in_flight)
    row = json.loads(run(f"{cluster.bin}/bench_submit", cluster.env["ARES_CONF"], str(count), str(in_flight), env=cluster.env))
    cluster.phase_counts[in_flight] = max(50, int(count * seconds / row["seconds"] / 2 + count / 2))
    return row


def beside(cluster, loads, rounds, seconds, period, in_flight):
    """{load: {"per_second": [...], "p50_ms": [...], "ratio": median ratio to the phase without, "ratios": [...], "load_ms": [...]}}.
    `loads`: names and commands of the concurrent loads."""
    cluster.phase_counts = getattr(cluster, "phase_counts", {})
    submissions(cluster, in_flight, seconds)
    submissions(cluster, in_flight, seconds)
    loads = {NOTHING: None, ONE_CORE: [], **loads}
    dice = random.Random(3)
    found = {name: {"per_second": [], "p50_ms": [], "p99_ms": [], "load_ms": []} for name in loads}
    for _ in range(rounds):
        for name in dice.sample(list(loads), len(loads)):
            if loads[name] is None:
                row = submissions(cluster, in_flight, seconds)
            else:
                with Loop(loads[name], cluster.env, period) as loop:
                    time.sleep(0.1)
                    row = submissions(cluster, in_flight, seconds)
                found[name]["load_ms"] += loop.ms
            for key in ("per_second", "p50_ms", "p99_ms"):
                found[name][key].append(row[key])
    for one in found.values():
        one["ratios"] = [a / b for a, b in zip(one["per_second"], found[NOTHING]["per_second"])]
        one["ratio"] = statistics.median(one["ratios"])
    return found


def print_beside(title, found):
    print(title)
    for name, one in found.items():
        asked = f"{len(one['load_ms'])} of p50 {quantile(one['load_ms'], 0.5):.0f} ms" if one["load_ms"] else "-"
        print(f"  {name:32} {statistics.median(one['per_second']):8.0f}/s   ratio {one['ratio']:.2f} "
              f"({min(one['ratios']):.2f} to {max(one['ratios']):.2f})   p50 {statistics.median(one['p50_ms']):6.2f} ms   beside: {asked}",
              flush=True)
