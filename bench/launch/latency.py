#!/usr/bin/env python3
"""How soon jobs start on one node, and what an idle node daemon uses.

  bench/launch/latency.py [--bin build/release/bin] [--jobs 200] [--burst 500] [--idle 60] [--out FILE]

* Single jobs, one after the other on an idle cluster: from the moment before `asub` is started to the first line of the script, and
  from the answer of `asub` to it. The cluster has no other job.
* A burst: an array of so many tasks, all of which fit on the node, from its submission to the start of the last script. Before
  they end, all of them run at the same time.
* Idle: CPU time of aresd, aresctld and the fork server over so many seconds without a job, and their memory (Pss).

Scripts write the time with `date`, whose own start, some 0.7 ms, is in the figures.
"""
import argparse
import json
import os
import pathlib
import re
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "bench"))

from lib.ares import Cluster  # noqa: E402
from lib.measure import machine, quantile  # noqa: E402
from lib.process import run  # noqa: E402

TICK = os.sysconf("SC_CLK_TCK")


def script(cluster, name, *lines):
    path = os.path.join(cluster.dir, name)
    with open(path, "w") as file:
        file.write("\n".join(("#!/bin/sh", 'date +%s%N >"$1/${ARES_ARRAY_TASK_ID:-$ARES_JOB_ID}"', *lines, "")))
    return path


def submit(cluster, *words):
    run(f"{cluster.bin}/asub", "--parsable", "-o", "/dev/null", *words, env=cluster.env, cwd=cluster.dir)


def started(directory, expected, patience=120):
    """name -> time in ns that a script wrote; waits until there are `expected`."""
    end = time.monotonic() + patience
    while True:
        times = {}
        for entry in os.scandir(directory):
            with open(entry.path) as file:
                text = file.read()
            if text.endswith("\n"):
                times[entry.name] = int(text)
        if len(times) >= expected:
            return times
        if time.monotonic() > end:
            sys.exit(f"only {len(times)} of {expected} scripts have started")
        time.sleep(0.002 if expected == 1 else 0.05)


def until_idle(cluster):
    while cluster.live():
        time.sleep(0.05)


def single(cluster, jobs):
    path = script(cluster, "single.sh")
    whole, after_answer = [], []
    for number in range(jobs):
        directory = os.path.join(cluster.dir, f"single-{number}")
        os.mkdir(directory)
        before = time.time_ns()
        submit(cluster, path, directory)
        answered = time.time_ns()
        (at,) = started(directory, 1).values()
        whole.append((at - before) / 1e6)
        after_answer.append((at - answered) / 1e6)
        until_idle(cluster)
    return {"from_start_of_asub_ms": whole, "from_its_answer_ms": after_answer}


def burst(cluster, tasks):
    directory = os.path.join(cluster.dir, "burst")
    os.mkdir(directory)
    path = script(cluster, "burst.sh", "sleep 20")
    before = time.time_ns()
    submit(cluster, "-a", f"1-{tasks}", path, directory)
    answered = time.time_ns()
    times = started(directory, tasks).values()
    if max(times) - min(times) > 20e9:
        sys.exit("the first task had ended before the last one started")
    run(f"{cluster.bin}/acancel", "--user", "root", env=cluster.env)
    until_idle(cluster)
    return {"tasks": tasks, "submitted_s": (answered - before) / 1e9, "first_s": (min(times) - before) / 1e9,
            "last_s": (max(times) - before) / 1e9}


def idle(cluster, seconds):
    aresd = cluster.pid("aresd@n1")
    with open(f"/proc/{aresd}/task/{aresd}/children") as file:
        children = [int(pid) for pid in file.read().split()]
    pids = {"aresd": [aresd], "fork server": children, "aresctld": [cluster.pid("aresctld")]}

    def cpu(pid):
        with open(f"/proc/{pid}/stat") as file:
            fields = file.read().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / TICK

    def pss(pid):
        with open(f"/proc/{pid}/smaps_rollup") as file:
            return int(re.search(r"^Pss: +(\d+)", file.read(), re.M).group(1)) / 1024

    before = {name: sum(map(cpu, each)) for name, each in pids.items()}
    time.sleep(seconds)
    return {name: {"cpu_percent": (sum(map(cpu, each)) - before[name]) / seconds * 100, "pss_mib": sum(map(pss, each))}
            for name, each in pids.items()}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", default=str(ROOT / "build/release/bin"))
    parser.add_argument("--jobs", type=int, default=200)
    parser.add_argument("--burst", type=int, default=500)
    parser.add_argument("--idle", type=int, default=60)
    parser.add_argument("--out")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="ares-latency-") as directory:
        os.chmod(directory, 0o755)  # PostgreSQL and munge run as other users
        cluster = Cluster(os.path.abspath(args.bin), directory + "/cluster", nodes=1, cpus=args.burst, memory="16G")
        try:
            single(cluster, 5)
            for number in range(5):
                os.rename(os.path.join(cluster.dir, f"single-{number}"), os.path.join(cluster.dir, f"warm-{number}"))
            result = {"single": single(cluster, args.jobs), "idle": idle(cluster, args.idle), "burst": burst(cluster, args.burst)}
            configuration = cluster.configuration()
        finally:
            cluster.down()
    for name, samples in result["single"].items():
        print(f"{name:24} p50 {quantile(samples, .5):6.1f}  p95 {quantile(samples, .95):6.1f}  p99 {quantile(samples, .99):6.1f}")
    for name, use in result["idle"].items():
        print(f"{'idle ' + name:24} {use['cpu_percent']:.3f} % CPU, {use['pss_mib']:.1f} MiB")
    print("burst of {tasks}: the first script after {first_s:.2f} s, the last after {last_s:.2f} s".format(**result["burst"]))
    if args.out:
        with open(args.out, "w") as file:
            json.dump({"machine": machine(), "configuration": configuration, **result}, file, indent=1)


if __name__ == "__main__":
    main()
