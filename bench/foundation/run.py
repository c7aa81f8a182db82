#!/usr/bin/env python3
"""First figures: submit-to-start on an idle cluster, CPU per `true` job over all processes, durable submissions a second.

  bench/foundation/run.py [--bin build/release/bin] [--jobs 200] [--true-jobs 500] [--submissions 20000] [--out FILE]

Starts a private cluster of its own, writes one JSON object with machine, configuration and raw samples, prints a summary.
CPU time is counted by a cpuacct or cgroup v2 group around the whole cluster and its clients; without root it is left out and the
report says so.
"""
import argparse
import json
import os
import pathlib
import shutil
import statistics
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "bench"))

from lib.ares import Cluster  # noqa: E402
from lib.measure import CpuGroup, fsync_latency, machine, quantile  # noqa: E402
from lib.process import CommandFailed, run  # noqa: E402


def wait_all(cluster):
    """Waits until every job has ended."""
    while cluster.live():
        time.sleep(0.02)


def submit_to_start(cluster, count, rest=0.0):
    """Milliseconds from the start of `asub` to the first instruction of the job's shell, one job at a time.
    The cluster is idle for `rest` seconds before each job."""
    out = os.path.join(cluster.dir, "starts")
    os.makedirs(out, mode=0o777, exist_ok=True)
    script = os.path.join(cluster.dir, "start.sh")
    with open(script, "w") as file:
        file.write(f'#!/bin/bash\nnow=$EPOCHREALTIME\necho "$now" > {out}/$ARES_JOB_ID.tmp\nmv {out}/$ARES_JOB_ID.tmp {out}/$ARES_JOB_ID\n')
    whole, acknowledged = [], []
    for _ in range(count):
        time.sleep(rest)
        begin = time.time()
        job = cluster.submit(script, "-o", "/dev/null")
        answered = time.time()
        path = f"{out}/{job}"
        deadline = time.monotonic() + 30
        while not os.path.exists(path):
            if time.monotonic() > deadline:
                sys.exit(f"job {job} did not start within 30 s")
            time.sleep(0.0005)
        with open(path) as file:
            started = float(file.read())
        whole.append((started - begin) * 1e3)
        acknowledged.append((answered - begin) * 1e3)
        wait_all(cluster)
    return whole, acknowledged


def true_jobs(cluster, group, count):
    script = os.path.join(cluster.dir, "true.sh")
    with open(script, "w") as file:
        file.write("#!/bin/sh\ntrue\n")
    cpu = group.seconds()
    begin = time.perf_counter()
    for _ in range(count):
        cluster.submit(script, "-o", "/dev/null")
    wait_all(cluster)
    seconds = time.perf_counter() - begin
    result = {"jobs": count, "seconds": seconds, "jobs_per_second": count / seconds}
    if cpu is not None:
        result["cpu_ms_per_job"] = (group.seconds() - cpu) * 1e3 / count
    begin_cpu = group.seconds()
    begin = time.perf_counter()
    cluster.submit(script, "-o", "/dev/null", f"--array=1-{count}")
    wait_all(cluster)
    seconds = time.perf_counter() - begin
    result["array"] = {"tasks": count, "seconds": seconds, "tasks_per_second": count / seconds}
    if begin_cpu is not None:
        result["array"]["cpu_ms_per_task"] = (group.seconds() - begin_cpu) * 1e3 / count
    return result


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", default=str(ROOT / "build/release/bin"))
    parser.add_argument("--jobs", type=int, default=200)
    parser.add_argument("--rested", type=int, default=20, help="jobs submitted after two seconds of rest each")
    parser.add_argument("--true-jobs", type=int, default=500)
    parser.add_argument("--submissions", type=int, default=20000)
    parser.add_argument("--out")
    args = parser.parse_args()
    directory = tempfile.mkdtemp(prefix="ares-bench-")
    os.chmod(directory, 0o755)
    group = CpuGroup()
    cluster = None
    try:
        fsync = fsync_latency(directory)
        cluster = Cluster(os.path.abspath(args.bin), directory + "/cluster", nodes=2, cpus=32, memory="64G")
        started, acknowledged = submit_to_start(cluster, args.jobs)
        rested, _ = submit_to_start(cluster, args.rested, rest=2.0)
        true = true_jobs(cluster, group, args.true_jobs)
        rates = []
        for in_flight in (1, 64):
            cpu = group.seconds()
            count = args.submissions if in_flight > 1 else min(2000, args.submissions)
            row = json.loads(run(f"{args.bin}/bench_submit", cluster.env["ARES_CONF"], str(count), str(in_flight), env=cluster.env))
            if cpu is not None:
                row["cpu_us_per_submission"] = (group.seconds() - cpu) * 1e6 / count
            rates.append(row)
        report = {
            "machine": machine(),
            "fsync_ms": {"p50": quantile(fsync, 0.5), "p99": quantile(fsync, 0.99)},
            "configuration": cluster.configuration(),
            "submit_to_start_ms": {"p50": quantile(started, 0.5), "p99": quantile(started, 0.99), "samples": started},
            "submit_to_start_after_rest_ms": {"p50": quantile(rested, 0.5), "p99": quantile(rested, 0.99), "samples": rested},
            "asub_process_ms": {"p50": quantile(acknowledged, 0.5), "p99": quantile(acknowledged, 0.99), "samples": acknowledged},
            "true_jobs": true,
            "durable_submissions": rates,
            "cpu_counted": bool(group.path),
        }
        if args.out:
            pathlib.Path(args.out).write_text(json.dumps(report, indent=1) + "\n")
        print(f"fsync            p50 {report['fsync_ms']['p50']:.2f} ms, p99 {report['fsync_ms']['p99']:.2f} ms")
        print(f"submit to start  p50 {report['submit_to_start_ms']['p50']:.1f} ms, p99 {report['submit_to_start_ms']['p99']:.1f} ms"
              f" ({args.jobs} jobs on an idle cluster)")
        print(f"  after 2 s rest p50 {report['submit_to_start_after_rest_ms']['p50']:.1f} ms,"
              f" p99 {report['submit_to_start_after_rest_ms']['p99']:.1f} ms ({args.rested} jobs)")
        print(f"asub process     p50 {report['asub_process_ms']['p50']:.1f} ms, median of {statistics.median(acknowledged):.1f}")
        print(f"true jobs        {true['jobs_per_second']:.0f}/s one asub each"
              + (f", {true['cpu_ms_per_job']:.2f} ms CPU each over all processes" if "cpu_ms_per_job" in true else ""))
        print(f"true array       {true['array']['tasks_per_second']:.0f} tasks/s"
              + (f", {true['array']['cpu_ms_per_task']:.2f} ms CPU each" if "cpu_ms_per_task" in true["array"] else ""))
        for row in rates:
            print(f"submissions      {row['per_second']:.0f}/s with {row['in_flight']} in flight, p50 {row['p50_ms']:.2f} ms, p99 {row['p99_ms']:.2f} ms"
                  + (f", {row['cpu_us_per_submission']:.0f} us CPU each over all processes" if "cpu_us_per_submission" in row else ""))
    finally:
        if cluster:
            cluster.down()
        group.close()
        shutil.rmtree(directory, ignore_errors=True)


if __name__ == "__main__":
    try:
        main()
    except CommandFailed as error:
        sys.exit(str(error))
