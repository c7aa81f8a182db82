#!/usr/bin/env python3
"""How soon a job of a higher tier runs where it has to preempt: from before its `asub` is started to the first line of its script.

    bench/preemption/run.py [--times 20] [--grace 3] [--bin DIR] [--out FILE]

One job of the lower tier fills the only node each time. It ends as soon as it is told to, half-way through its grace, or only when it is
killed. The goal: no later than its own end or the grace, and one second more.
"""
import argparse
import json
import os
import pathlib
import statistics
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "bench"))

from lib.ares import Cluster  # noqa: E402
from lib.measure import machine, quantile  # noqa: E402
from lib.process import run  # noqa: E402

CONFIG = """
cluster: preemption
policy: {{kill_wait: 2, heartbeat: 1, launch_backoff: 1, preemption: {{min_age: 0, min_gap: 1, grace: {grace}, per_hour: 100000, per_day: 100000}}}}
nodes:
  - {{name: n1, cpus: 4, memory: 4000M}}
partitions:
  - {{name: low, nodes: n1, default: true, preempt_mode: cancel}}
  - {{name: high, nodes: n1, tier: 5}}
"""
# What the job does with SIGTERM, and how long its end then takes, in parts of the grace.
VICTIMS = {"ends at once": ("exit 0", 0), "ends within its grace": ("sleep {half}; exit 0", 0.5), "does not end by itself": (":", 1)}


def script(cluster, name, text):
    path = os.path.join(cluster.dir, name)
    with open(path, "w") as file:
        file.write("#!/bin/bash\n" + text)
    os.chmod(path, 0o755)
    return path


def submit(cluster, *words):
    return run(f"{cluster.bin}/asub", "--parsable", "-c4", "-o", "/dev/null", *words, env=cluster.env, cwd=cluster.dir).strip()


def wait(what, seconds=60):
    end = time.monotonic() + seconds
    while not what():
        if time.monotonic() > end:
            sys.exit("a job does not start")
        time.sleep(0.002)


def once(cluster, victim, number):
    mark, begun = f"{cluster.dir}/begun{number}", f"{cluster.dir}/victim{number}"
    submit(cluster, "-p", "low", victim, begun)
    wait(lambda: os.path.exists(begun))
    before = time.time()
    submit(cluster, "-p", "high", f"{cluster.dir}/high.sh", mark)
    wait(lambda: os.path.exists(mark) and os.path.getsize(mark) > 0)
    with open(mark) as file:
        seconds = float(file.read()) - before
    wait(lambda: not cluster.live())
    return seconds


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", default=str(ROOT / "build/release/bin"))
    parser.add_argument("--times", type=int, default=20)
    parser.add_argument("--grace", type=int, default=3)
    parser.add_argument("--out")
    args = parser.parse_args()
    rows = {}
    with tempfile.TemporaryDirectory(prefix="ares-preemption-") as directory:
        os.chmod(directory, 0o755)
        cluster = Cluster(os.path.abspath(args.bin), directory + "/cluster", nodes=1, cpus=4, memory="4000M",
                          config=CONFIG.format(grace=args.grace))
        try:
            script(cluster, "high.sh", 'date +%s.%N > "$1"\n')
            number = 0
            for name, (reaction, part) in VICTIMS.items():
                trap = reaction.format(half=args.grace / 2)
                victim = script(cluster, "low.sh", f"trap '{trap}' TERM\ntouch \"$1\"\nwhile :; do sleep 0.01; done\n")
                rows[name] = []
                for _ in range(args.times):
                    number += 1
                    rows[name].append(once(cluster, victim, number) - part * args.grace)
        finally:
            cluster.down()
    for name, seconds in rows.items():
        print(f"{name:24} p50 {statistics.median(seconds):6.3f} s later  p95 {quantile(seconds, 0.95):6.3f}  most {max(seconds):6.3f}   at most 1")
    if args.out:
        with open(args.out, "w") as file:
            json.dump({"machine": machine(), "grace": args.grace, "seconds_later": rows}, file, indent=1)


if __name__ == "__main__":
    main()
