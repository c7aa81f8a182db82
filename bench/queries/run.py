#!/usr/bin/env python3
"""What users' queries cost beside a long queue: each command as a process of its own, one at a time and eight at once.

  bench/queries/run.py [--bin build/release/bin] [--jobs 10000] [--nodes 4] [--rounds 20] [--out FILE]

Starts a private cluster, submits held jobs, times the commands, cancels all of them in one request. Writes one JSON object with
machine, configuration and raw samples, and prints a summary. The goals are half of what Slurm 22.05 needed on two cores.
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

ROOT = pathlib.Path(__file__).resolve().parents[2]

# name, goal in milliseconds, concurrent processes, command line ({job} is one of the pending jobs)
CASES = [
    ("aqueue", 35, 1, ["aqueue"]),
    ("aqueue, 8 at once", 165, 8, ["aqueue"]),
    ("aqueue --json", 500, 1, ["aqueue", "--json"]),
    ("aqueue of one job", 5, 1, ["aqueue", "-h", "-j", "{job}", "-o", "%i %T %r"]),
    ("aqueue -l", None, 1, ["aqueue", "-l"]),
    ("aqueue --me -t R (empty)", None, 1, ["aqueue", "--me", "-t", "R"]),
    ("aqueue -o of 12 columns", None, 1, ["aqueue", "-o", "%A|%i|%j|%u|%a|%T|%r|%l|%V|%m|%k|%Z"]),
    ("aqueue --why of one job", None, 1, ["aqueue", "--why", "{job}"]),
    ("ainfo", None, 1, ["ainfo"]),
    ("ainfo -N -l", None, 1, ["ainfo", "-N", "-l"]),
    ("aqueue --version (starting a process)", None, 1, ["aqueue", "--version"]),
]


def run(*argv, env=None, cwd=None):
    done = subprocess.run(argv, env=env, cwd=cwd, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, argv))}: exit {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout


def cpu_of(pid):
    """CPU time (user and system) of a process and its threads in milliseconds."""
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) * 1000 / os.sysconf("SC_CLK_TCK")


class Cluster:
    def __init__(self, bin_dir, directory, nodes):
        self.bin, self.dir = bin_dir, directory
        self.env = {k: v for k, v in os.environ.items() if not k.startswith("AQUEUE_")}
        self.env["PATH"] = f"{bin_dir}:{os.environ['PATH']}"
        run(f"{bin_dir}/acluster", "up", "--dir", directory, "--nodes", str(nodes), "--cpus", "8", "--exec", "mock", env=self.env)
        self.env["ARES_CONF"] = f"{directory}/ares.yaml"
        self.controller = int(run(f"{bin_dir}/acluster", "pid", "aresctld", "--dir", directory, env=self.env))

    def submit(self, count):
        return json.loads(run(f"{self.bin}/bench_submit", self.env["ARES_CONF"], str(count), "64", env=self.env))

    def down(self):
        run(f"{self.bin}/acluster", "down", "--dir", self.dir, env=self.env)


def timed(cluster, words, at_once):
    """Milliseconds until all of `at_once` equal processes have ended, their CPU time and the controller's."""
    argv = [f"{cluster.bin}/{words[0]}", *words[1:]]
    client, server = os.times(), cpu_of(cluster.controller)
    begin = time.perf_counter()
    running = [subprocess.Popen(argv, env=cluster.env, stdout=subprocess.DEVNULL) for _ in range(at_once)]
    codes = [process.wait() for process in running]
    wall = (time.perf_counter() - begin) * 1e3
    if any(codes):
        sys.exit(f"{' '.join(words)}: exit {codes}")
    after = os.times()
    cpu = (after.children_user + after.children_system - client.children_user - client.children_system) * 1e3
    return {"wall_ms": wall, "client_cpu_ms": cpu, "controller_cpu_ms": cpu_of(cluster.controller) - server}


def measure(cluster, job, rounds):
    results = {}
    for name, goal, at_once, words in CASES:
        words = [word.format(job=job) for word in words]
        timed(cluster, words, at_once)  # warms caches
        samples = [timed(cluster, words, at_once) for _ in range(rounds)]
        walls = sorted(sample["wall_ms"] for sample in samples)
        mean = lambda key: sum(sample[key] for sample in samples) / len(samples)
        results[name] = {"command": words, "at_once": at_once, "goal_ms": goal, "median_ms": statistics.median(walls),
                         "best_ms": walls[0], "client_cpu_ms": mean("client_cpu_ms"),
                         "controller_cpu_ms": mean("controller_cpu_ms"), "samples": samples}
        show(name, results[name])
    return results


def show(name, result):
    goal = f"goal {result['goal_ms']:.0f}" if result["goal_ms"] else ""
    print(f"{name:40} median {result['median_ms']:8.2f} ms  best {result['best_ms']:8.2f}  client CPU "
          f"{result['client_cpu_ms']:7.2f}  controller CPU {result['controller_cpu_ms']:7.2f}  {goal}", flush=True)


def main():
    parse = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parse.add_argument("--bin", default=str(ROOT / "build/release/bin"))
    parse.add_argument("--jobs", type=int, default=10_000)
    parse.add_argument("--nodes", type=int, default=4)
    parse.add_argument("--rounds", type=int, default=20)
    parse.add_argument("--out")
    options = parse.parse_args()
    folder = tempfile.mkdtemp(prefix="ares-bench-")
    os.chmod(folder, 0o755)  # PostgreSQL runs as another user
    cluster = Cluster(os.path.abspath(options.bin), f"{folder}/c", options.nodes)
    try:
        submitted = cluster.submit(options.jobs)
        results = measure(cluster, options.jobs // 2, options.rounds)
        cancel = timed(cluster, ["acancel", "-u", str(os.getuid())], 1)
        results["acancel -u of all"] = {"command": ["acancel", "-u"], "at_once": 1, "goal_ms": 2800, "median_ms": cancel["wall_ms"],
                                        "best_ms": cancel["wall_ms"], "client_cpu_ms": cancel["client_cpu_ms"],
                                        "controller_cpu_ms": cancel["controller_cpu_ms"], "samples": [cancel]}
        show("acancel -u of all", results["acancel -u of all"])
        left = run(f"{cluster.bin}/aqueue", "-h", env=cluster.env)
        if left:
            sys.exit(f"acancel left jobs behind:\n{left[:500]}")
    finally:
        cluster.down()
        shutil.rmtree(folder, ignore_errors=True)
    if options.out:
        model = re.search(r"model name\s*:\s*(.*)", pathlib.Path("/proc/cpuinfo").read_text())
        report = {"machine": {"cores": os.cpu_count(), "cpu": model.group(1) if model else platform.processor(),
                              "kernel": platform.release()},
                  "jobs": options.jobs, "nodes": options.nodes, "load": os.getloadavg(), "submission": submitted, "results": results}
        pathlib.Path(options.out).write_text(json.dumps(report, indent=1) + "\n")


if __name__ == "__main__":
    main()
