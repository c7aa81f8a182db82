#!/usr/bin/env python3
"""Makes a log in the Standard Workload Format for a machine of any size, the same for the same seed.

    make_swf.py OUT.swf[.gz] [--jobs N] [--nodes N] [--cpus N] [--load SHARE] [--users N] [--seed N]

What it draws, in the manner of the logs of the Parallel Workloads Archive: a quarter of the jobs ask for one processor, 45 %
for a power of two within a node, 26 % for 1 to 16 whole nodes, 4 % for up to 1/80 of the machine and two in a thousand for up to a
tenth of it. Run times are log-normal (median 20 minutes, mean about 2 hours, at most two days). Limits are round
numbers above the run time; a fifth ask for a day whatever they run. Few users submit most jobs (Zipf), in bursts of like jobs.
Arrivals follow a daily and a weekly cycle. The length of the log follows from the load: work asked for over what the machine has.
"""

import argparse
import bisect
import gzip
import itertools
import math
import random
import sys

DAY = 86_400
ROUND_LIMITS = [900, 1800, 3600, 7200, 14_400, 28_800, 43_200, DAY, 2 * DAY]
# Share of the jobs, minimum and maximum number of nodes on a machine of 10,000 nodes; uniform in the logarithm.
WIDE = [(0.26, 1, 16), (0.04, 16, 125), (0.002, 125, 1000)]
SERIAL = 0.25
MEDIAN_RUN, SPREAD_OF_RUN = 1200, 1.9
MEAN_BURST = 4
ZIPF = 1.1


def draw_processors(dice, nodes, cpus):
    at = dice.random()
    for share, fewest, most in WIDE:
        if at < share:
            most = min(max(fewest, round(most * nodes / 10_000)), nodes)
            return cpus * round(math.exp(dice.uniform(math.log(fewest), math.log(max(most, fewest)))))
        at -= share
    return 1 if at < SERIAL else 2 ** dice.randint(1, cpus.bit_length() - 1)


def draw_run(dice):
    return max(1, min(2 * DAY, round(MEDIAN_RUN * math.exp(dice.gauss(0, SPREAD_OF_RUN)))))


def draw_limit(dice, run):
    asked = DAY if dice.random() < 0.2 else run * dice.uniform(1, 5)
    return next((limit for limit in ROUND_LIMITS if limit >= max(asked, run)), ROUND_LIMITS[-1])


def draw_jobs(dice, count, nodes, cpus, users):
    """Yields (processors, run, limit, user, whether it belongs to the burst of the previous job), burst by burst."""
    weights = list(itertools.accumulate(1 / (rank + 1) ** ZIPF for rank in range(users)))
    left = count
    while left > 0:
        user = bisect.bisect_left(weights, dice.random() * weights[-1])
        processors, typical = draw_processors(dice, nodes, cpus), draw_run(dice)
        burst = min(left, 1 + int(dice.expovariate(1 / (MEAN_BURST - 1))))
        for number in range(burst):
            run = max(1, min(2 * DAY, round(typical * math.exp(dice.gauss(0, 0.3)))))
            yield processors, run, draw_limit(dice, run), user + 1, number > 0
        left -= burst


def busy(second):
    """Arrival rate at this second relative to the mean: highest at 15:00, half as high at the weekend."""
    daily = 1 + 0.6 * math.cos((second % DAY / DAY - 15 / 24) * 2 * math.pi)
    return daily * (0.58 if second // DAY % 7 >= 5 else 1.17)


def draw_arrivals(dice, bursts, span):
    """Returns one arrival time per burst, ascending, distributed over the span with the rate busy()."""
    hours = max(1, math.ceil(span / 3600))
    upto = list(itertools.accumulate(busy(hour * 3600) for hour in range(hours)))
    moments = []
    for _ in range(bursts):
        hour = bisect.bisect_left(upto, dice.random() * upto[-1])
        moments.append(int((hour + dice.random()) * 3600))
    return sorted(moments)


def write(out, asked):
    dice = random.Random(asked.seed)
    jobs = list(draw_jobs(dice, asked.jobs, asked.nodes, asked.cpus, asked.users))
    work = sum(processors * run for processors, run, *_ in jobs)
    span = work / (asked.load * asked.nodes * asked.cpus)
    arrivals = iter(draw_arrivals(dice, sum(not follows for *_, follows in jobs), span))
    out.write(f"; Note: made by make_swf.py, seed {asked.seed}, load {asked.load}, {span / DAY:.1f} days\n"
              f"; UnixStartTime: 1750636800\n; MaxNodes: {asked.nodes}\n; MaxProcs: {asked.nodes * asked.cpus}\n")
    at = 0
    rows = []
    for processors, run, limit, user, follows in jobs:
        at = at + dice.randint(0, 5) if follows else next(arrivals)
        rows.append((at, processors, run, limit, user))
    rows.sort(key=lambda row: row[0])
    for number, (at, processors, run, limit, user) in enumerate(rows, 1):
        out.write(f"{number} {at} -1 {run} {processors} -1 -1 {processors} {limit} -1 1 {user} -1 -1 -1 -1 -1 -1\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out")
    parser.add_argument("--jobs", type=int, default=1_000_000)
    parser.add_argument("--nodes", type=int, default=10_000)
    parser.add_argument("--cpus", type=int, default=64, help="of each node")
    parser.add_argument("--load", type=float, default=0.87)
    parser.add_argument("--users", type=int, default=500)
    parser.add_argument("--seed", type=int, default=1)
    asked = parser.parse_args()
    opener = gzip.open if asked.out.endswith(".gz") else open
    with opener(asked.out, "wt", encoding="ascii") as out:
        write(out, asked)
    return 0


if __name__ == "__main__":
    sys.exit(main())
