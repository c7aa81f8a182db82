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
import platform
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent


def run(*argv, env=None, cwd=None):
    done = subprocess.run(argv, env=env, cwd=cwd, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, argv))}: exit {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout


def quantile(samples, q):
    return sorted(samples)[int(q * (len(samples) - 1))]


class CpuGroup:
    """A cgroup that counts the CPU time of everything started from this process on."""

    def __init__(self):
        self.path = None
        for base, file in (("/sys/fs/cgroup/cpuacct", "cpuacct.usage"), ("/sys/fs/cgroup", "cpu.stat")):
            if not os.path.exists(f"{base}/{file}"):
                continue
            path = f"{base}/ares-bench-{os.getpid()}"
            try:
                os.mkdir(path)
                with open(f"{path}/cgroup.procs", "w") as procs:
                    procs.write(str(os.getpid()))
            except OSError:
                continue
            self.path, self.base, self.file = path, base, file
            return

    def seconds(self):
        with open(f"{self.path}/{self.file}") as file:
            text = file.read()
        if self.file == "cpuacct.usage":
            return int(text) / 1e9
        return int(re.search(r"usage_usec (\d+)", text).group(1)) / 1e6

    def close(self):
        if not self.path:
            return
        with open(f"{self.base}/cgroup.procs", "w") as procs:
            procs.write(str(os.getpid()))
        deadline = time.monotonic() + 10
        while time.monotonic() < deadline:
            try:
                os.rmdir(self.path)
                return
            except OSError:
                time.sleep(0.05)


def fsync_latency(directory, count=200):
    """Milliseconds of one 8 KiB write and fdatasync, as PostgreSQL does for a small commit."""
    samples = []
    descriptor = os.open(os.path.join(directory, "fsync-probe"), os.O_CREAT | os.O_WRONLY, 0o600)
    try:
        for i in range(count):
            begin = time.perf_counter()
            os.pwrite(descriptor, b"x" * 8192, (i % 64) * 8192)
            os.fdatasync(descriptor)
            samples.append((time.perf_counter() - begin) * 1e3)
    finally:
        os.close(descriptor)
        os.unlink(os.path.join(directory, "fsync-probe"))
    return samples


def cpu_model():
    with open("/proc/cpuinfo") as file:
        found = re.search(r"model name\s*:\s*(.*)", file.read())
    return found.group(1) if found else platform.processor()


class Cluster:
    def __init__(self, bin_dir, directory):
        self.bin, self.dir = bin_dir, directory
        self.env = dict(os.environ, PATH=f"{bin_dir}:{os.environ['PATH']}")
        run(f"{bin_dir}/acluster", "up", "--dir", directory, "--nodes", "2", "--cpus", "32", "--memory", "64G", env=self.env)
        for line in run(f"{bin_dir}/acluster", "env", "--dir", directory, env=self.env).splitlines():
            found = re.match(r"export ([A-Z_]+)=(.*)$", line)
            if found and found.group(1) != "PATH":
                self.env[found.group(1)] = found.group(2).strip("'\"")

    def submit(self, script, *options):
        return int(run(f"{self.bin}/asub", "--parsable", *options, script, env=self.env, cwd=self.dir).strip())

    def wait_all(self, first, last):
        """Until no job of the range is in the queue's live states."""
        while True:
            left = run(f"{self.bin}/aqueue", "-h", "-t", "PENDING,CONFIGURING,RUNNING,COMPLETING", "-o", "%i", env=self.env).split()
            if not left:
                return
            time.sleep(0.02)

    def down(self):
        run(f"{self.bin}/acluster", "down", "--dir", self.dir, env=self.env)


def submit_to_start(cluster, count):
    """Milliseconds from before `asub` is started to the first instruction of the job's shell, one job at a time."""
    out = os.path.join(cluster.dir, "starts")
    os.makedirs(out, mode=0o777, exist_ok=True)
    script = os.path.join(cluster.dir, "start.sh")
    with open(script, "w") as file:
        file.write(f'#!/bin/bash\nnow=$EPOCHREALTIME\necho "$now" > {out}/$ARES_JOB_ID.tmp\nmv {out}/$ARES_JOB_ID.tmp {out}/$ARES_JOB_ID\n')
    whole, acknowledged = [], []
    for _ in range(count):
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
        cluster.wait_all(job, job)
    return whole, acknowledged


def true_jobs(cluster, group, count):
    script = os.path.join(cluster.dir, "true.sh")
    with open(script, "w") as file:
        file.write("#!/bin/sh\ntrue\n")
    cpu = group.seconds() if group.path else None
    begin = time.perf_counter()
    jobs = [cluster.submit(script, "-o", "/dev/null") for _ in range(count)]
    cluster.wait_all(jobs[0], jobs[-1])
    seconds = time.perf_counter() - begin
    result = {"jobs": count, "seconds": seconds, "jobs_per_second": count / seconds}
    if cpu is not None:
        result["cpu_ms_per_job"] = (group.seconds() - cpu) * 1e3 / count
    begin_cpu = group.seconds() if group.path else None
    begin = time.perf_counter()
    job = cluster.submit(script, "-o", "/dev/null", f"--array=1-{min(count, 1000)}")
    cluster.wait_all(job, job)
    seconds = time.perf_counter() - begin
    result["array"] = {"tasks": min(count, 1000), "seconds": seconds, "tasks_per_second": min(count, 1000) / seconds}
    if begin_cpu is not None:
        result["array"]["cpu_ms_per_task"] = (group.seconds() - begin_cpu) * 1e3 / min(count, 1000)
    return result


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", default=str(ROOT / "build/release/bin"))
    parser.add_argument("--jobs", type=int, default=200)
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
        cluster = Cluster(os.path.abspath(args.bin), directory + "/cluster")
        started, acknowledged = submit_to_start(cluster, args.jobs)
        true = true_jobs(cluster, group, args.true_jobs)
        rates = []
        for in_flight in (1, 64):
            cpu = group.seconds() if group.path else None
            count = args.submissions if in_flight > 1 else min(2000, args.submissions)
            row = json.loads(run(f"{args.bin}/bench_submit", cluster.env["ARES_CONF"], str(count), str(in_flight), env=cluster.env))
            if cpu is not None:
                row["cpu_us_per_submission"] = (group.seconds() - cpu) * 1e6 / count
            rates.append(row)
        report = {
            "machine": {"cpu": cpu_model(), "cores": os.cpu_count(), "kernel": platform.release()},
            "fsync_ms": {"p50": quantile(fsync, 0.5), "p99": quantile(fsync, 0.99)},
            "configuration": pathlib.Path(cluster.env["ARES_CONF"]).read_text(),
            "submit_to_start_ms": {"p50": quantile(started, 0.5), "p99": quantile(started, 0.99), "samples": started},
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
    main()
