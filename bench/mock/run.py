#!/usr/bin/env python3
"""Thousands of simulated nodes: heartbeats, then a steady rate of starts, with memory and latency watched.

  bench/mock/run.py [--bin build/release/bin] [--nodes 10000] [--rate 1000] [--seconds 600] [--trouble] [--out FILE]

Starts a private cluster with --exec=mock, submits arrays of jobs that last one simulated second so that `rate` of them start each
second, and samples once a second: starts (from the controller's own count of jobs), resident memory and CPU time of aresctld, aresd
and PostgreSQL, and the time an `aqueue` and a one-job submission take. --trouble switches on failing jobs, failing launches, slow
nodes and lost messages; then every job must still end, and none may be lost.
"""
import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from lib.ares import Cluster  # noqa: E402
from lib.measure import fsync_latency, machine, quantile  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
TICK = os.sysconf("SC_CLK_TCK")
PAGE = os.sysconf("SC_PAGE_SIZE")

CONFIG = """policy:
  min_job_age: 10
  heartbeat: 10
  max_array_size: 100001
node:
  mock:
    run_time_ms: {run_time}
{trouble}"""
TROUBLE = """    fail_rate: 0.05
    launch_fail_rate: 0.002
    slow_rate: 0.02
    slow_delay_ms: 3000
    loss_rate: 0.01
"""


def process(pid):
    """Returns (CPU seconds, resident bytes) of one process."""
    with open(f"/proc/{pid}/stat") as file:
        fields = file.read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / TICK, int(fields[21]) * PAGE


def children(pid):
    with open(f"/proc/{pid}/task/{pid}/children") as file:
        return [int(child) for child in file.read().split()]


class Watch:
    """Samples CPU time and memory of the cluster's processes."""

    def __init__(self, cluster):
        self.pids = {"aresctld": [cluster.pid("aresctld")], "aresd": [cluster.pid("aresd")]}
        postmaster = cluster.pid("postgres")
        self.pids["postgres"] = [postmaster] + children(postmaster)
        self.last = self.cpu()

    def cpu(self):
        return {name: sum(process(pid)[0] for pid in pids if os.path.exists(f"/proc/{pid}")) for name, pids in self.pids.items()}

    def sample(self):
        now = self.cpu()
        row = {f"{name}_cpu": round(now[name] - self.last[name], 3) for name in now}
        row["aresctld_rss_mib"] = process(self.pids["aresctld"][0])[1] >> 20
        row["aresd_rss_mib"] = process(self.pids["aresd"][0])[1] >> 20
        self.last = now
        return row


def timed(cluster, *words):
    begin = time.perf_counter()
    done = subprocess.run([f"{cluster.bin}/{words[0]}", *words[1:]], env=cluster.env, cwd=cluster.dir,
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    if done.returncode != 0:
        sys.exit(f"{' '.join(words)}: exit {done.returncode}\n{done.stderr}")
    return (time.perf_counter() - begin) * 1e3, done.stdout


def submit(cluster, tasks):
    ms, out = timed(cluster, "asub", "--parsable", f"--array=1-{tasks}", "-o", "/dev/null", "--wrap", "true")
    return int(out.strip()), ms


def ended(cluster, jobs):
    """Number of ended tasks of these arrays by state, from accounting."""
    counts = {}
    for job in jobs:
        for state in timed(cluster, "aacct", "-n", "-P", "-X", "-j", str(job), "-o", "State")[1].split("\n"):
            if state:
                counts[state.split()[0]] = counts.get(state.split()[0], 0) + 1
    return counts


def settle(cluster, until):
    while time.monotonic() < until:
        live = timed(cluster, "aqueue", "-h", "-o", "%i")[1]
        if not live.strip():
            return True
        time.sleep(0.2)
    return False


def steady(cluster, rate, seconds):
    """Submits `rate` jobs per second. Returns one row of samples per second."""
    watch, rows, jobs = Watch(cluster), [], []
    begin = time.monotonic()
    for second in range(seconds):
        job, submit_ms = submit(cluster, rate)
        jobs.append(job)
        queue_ms, _ = timed(cluster, "aqueue", "-h", "-j", str(job), "-o", "%i")
        row = watch.sample()
        row.update({"second": second, "asub_ms": round(submit_ms, 2), "aqueue_ms": round(queue_ms, 2)})
        rows.append(row)
        pause = begin + second + 1 - time.monotonic()
        if pause > 0:
            time.sleep(pause)
        elif pause < -30:
            sys.exit(f"after {second} seconds the harness is {-pause:.0f} s late: this machine cannot keep the rate")
    return rows, jobs, time.monotonic() - begin


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", default=str(ROOT / "build/release/bin"))
    parser.add_argument("--nodes", type=int, default=10000)
    parser.add_argument("--rate", type=int, default=1000)
    parser.add_argument("--seconds", type=int, default=600)
    parser.add_argument("--run-time-ms", type=int, default=1000)
    parser.add_argument("--trouble", action="store_true")
    parser.add_argument("--out")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="ares-mock-") as directory:
        os.chmod(directory, 0o755)
        config = CONFIG.format(run_time=args.run_time_ms, trouble=TROUBLE if args.trouble else "")
        report = {"machine": machine(), "fsync_ms": quantile(fsync_latency(directory), 0.5), "nodes": args.nodes, "rate": args.rate,
                  "trouble": args.trouble}
        begin = time.monotonic()
        cluster = Cluster(os.path.abspath(args.bin), directory + "/cluster", args.nodes, 8, "32G", config, exec_plugin="mock")
        try:
            report["configuration"] = cluster.configuration()
            while int(timed(cluster, "ainfo", "-h", "-t", "idle", "-o", "%D")[1].split("\n")[0] or 0) < args.nodes:
                time.sleep(0.2)
            report["registered_s"] = time.monotonic() - begin
            idle = Watch(cluster)
            time.sleep(20)  # measures two rounds of heartbeats and nothing else
            report["idle_20s"] = idle.sample()
            report["rows"], jobs, took = steady(cluster, args.rate, args.seconds)
            finished = settle(cluster, time.monotonic() + 120)
            report["all_ended"] = finished
            report["states"] = ended(cluster, jobs)
            report["seconds"] = took
        finally:
            cluster.down()
    if args.out:
        pathlib.Path(args.out).write_text(json.dumps(report, indent=1) + "\n")
    summarise(report, args)
    expected = args.rate * args.seconds
    sys.exit(0 if report["all_ended"] and sum(report["states"].values()) == expected else 1)


def summarise(report, args):
    rows = report["rows"]
    tenth = max(1, len(rows) // 10)

    def median(part, key):
        return quantile([row[key] for row in part], 0.5)

    print(f"{args.nodes} nodes registered after {report['registered_s']:.1f} s; 20 idle seconds cost {report['idle_20s']}")
    print(f"{args.rate} starts/s for {args.seconds} s: ended {report['states']}, all ended: {report['all_ended']}")
    for name, part in (("first tenth", rows[:tenth]), ("middle", rows[len(rows) // 2:len(rows) // 2 + tenth]), ("last tenth", rows[-tenth:])):
        print(f"  {name:12s} asub p50 {median(part, 'asub_ms'):6.1f} ms, aqueue of one job p50 {median(part, 'aqueue_ms'):6.1f} ms, CPU s/s: "
              f"aresctld {median(part, 'aresctld_cpu'):.2f} aresd {median(part, 'aresd_cpu'):.2f} postgres {median(part, 'postgres_cpu'):.2f}, "
              f"memory aresctld {part[-1]['aresctld_rss_mib']} MiB, aresd {part[-1]['aresd_rss_mib']} MiB")


if __name__ == "__main__":
    main()
