#!/usr/bin/env python3
"""What a long queue costs in memory, and what one user's loops cost another.

  bench/load/run.py [--bin build/release/bin] [--jobs 100000] [--calls 60] [--loops 8] [--user NAME] [--out FILE]

Memory: submits held jobs with `asub --from`, ten thousand lines a call, each with a name and a command of its own, and takes the
resident memory of aresctld before, after, and after the queue was listed once. Loops: as root, times `asub` and `aqueue` of one user
with nothing else going on, then while loops of another user (--user) submit and list without a pause, and counts the retries that
those were told to make. One JSON object with machine, configuration and raw samples; a summary is printed.
"""
import argparse
import json
import os
import pathlib
import pwd
import signal
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "bench"))
from lib.ares import Cluster  # noqa: E402
from lib.measure import fsync_latency, machine, summary  # noqa: E402
from lib.process import run  # noqa: E402

CONFIG = "policy: {max_jobs: 2000000, heartbeat: 10}\n"
LOOP = 'while :; do asub -H -o /dev/null --wrap true >/dev/null 2>>"$0"; aqueue -h -o %i >/dev/null 2>>"$0"; done'


def resident(pid):
    with open(f"/proc/{pid}/status") as file:
        return next(int(line.split()[1]) << 10 for line in file if line.startswith("VmRSS:"))


def memory(cluster, jobs):
    pid = cluster.pid("aresctld")
    rows = [{"jobs": 0, "resident": resident(pid)}]
    path = f"{cluster.dir}/lines"
    for begin in range(0, jobs, 10_000):
        with open(path, "w") as file:
            for i in range(begin, min(jobs, begin + 10_000)):
                file.write(json.dumps({"wrap": f"work {i % 100}", "job-name": f"run-{i}", "hold": True, "output": "/dev/null"}) + "\n")
        run(f"{cluster.bin}/asub", "--from", path, env=cluster.env, cwd=cluster.dir)
        rows.append({"jobs": min(jobs, begin + 10_000), "resident": resident(pid)})
    run(f"{cluster.bin}/aqueue", "-h", "-o", "%i", env=cluster.env)
    rows.append({"jobs": jobs, "resident": resident(pid), "listed": True})
    return rows


def timed(cluster, calls):
    samples = {"asub": [], "aqueue": []}
    job = None
    for _ in range(calls):
        begin = time.perf_counter()
        job = run(f"{cluster.bin}/asub", "--parsable", "-H", "-o", "/dev/null", "--wrap", "true", env=cluster.env, cwd=cluster.dir).strip()
        samples["asub"].append((time.perf_counter() - begin) * 1e3)
        begin = time.perf_counter()
        run(f"{cluster.bin}/aqueue", "-h", "-j", job, "-o", "%T", env=cluster.env)
        samples["aqueue"].append((time.perf_counter() - begin) * 1e3)
    return {name: summary(values) for name, values in samples.items()}


def beside_loops(cluster, loops, user, calls):
    who = pwd.getpwnam(user)
    logs = [f"{cluster.dir}/loop{i}" for i in range(loops)]
    for log in logs:
        open(log, "w").close()
        os.chown(log, who.pw_uid, who.pw_gid)
    started = [subprocess.Popen(["bash", "-c", LOOP, log], env=cluster.env, cwd="/", user=who.pw_uid, group=who.pw_gid, extra_groups=[],
                                start_new_session=True) for log in logs]
    try:
        time.sleep(3)  # until all loops are running
        found = timed(cluster, calls)
    finally:
        for process in started:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
    found["told_to_wait"] = sum(open(log).read().count("retry") for log in logs)
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", default=str(ROOT / "build/release/bin"))
    parser.add_argument("--jobs", type=int, default=100_000)
    parser.add_argument("--calls", type=int, default=60)
    parser.add_argument("--loops", type=int, default=8)
    parser.add_argument("--user")
    parser.add_argument("--out")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="ares-load-") as directory:
        os.chmod(directory, 0o755)
        report = {"machine": machine(), "fsync_ms": summary(fsync_latency(directory)), "arguments": {k: v for k, v in vars(args).items() if k not in ("bin", "out")}}
        cluster = Cluster(os.path.abspath(args.bin), f"{directory}/cluster", 2, 8, "16G", CONFIG)
        try:
            report["configuration"] = cluster.configuration()
            if args.user:
                report["alone"] = timed(cluster, args.calls)
                report["beside_loops"] = beside_loops(cluster, args.loops, args.user, args.calls)
            report["memory"] = memory(cluster, args.jobs)
        finally:
            cluster.down()
    if args.out:
        pathlib.Path(args.out).write_text(json.dumps(report, indent=1) + "\n")
    rows = report["memory"]
    for what, last in (("held", rows[-2]), ("held and listed once", rows[-1])):
        each = (last["resident"] - rows[0]["resident"]) / last["jobs"]
        print(f"{last['jobs']} jobs {what}: {each:.0f} bytes a job, aresctld {last['resident'] >> 20} MiB")
    if args.user:
        for name in ("alone", "beside_loops"):
            found = report[name]
            print(f"{name:13s} asub p50 {found['asub']['p50']:.1f} p95 {found['asub']['p95']:.1f} ms, "
                  f"aqueue of one job p50 {found['aqueue']['p50']:.1f} p95 {found['aqueue']['p95']:.1f} ms")
        print(f"{args.loops} loops of {args.user} were told to wait {report['beside_loops']['told_to_wait']} times")


if __name__ == "__main__":
    main()
