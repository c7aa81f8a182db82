#!/usr/bin/env python3
"""The agent of Kubernetes with many nodes and many short pods, beside a generator that only creates and binds pods.

  bench/kubernetes_scale/run.py --testbed DIR --work DIR [--nodes 1000] [--pods 10000] [--run-ms 2000] [--port 27443]
                                [--bin build/release/bin] [--bench-bin build/release/bin] [--out FILE]
  bench/kubernetes_scale/run.py --stand-in --work DIR [--nodes 5000] [--pods 50000] ...

DIR of --testbed is that of contrib/kubernetes/testbed/get.sh. In --work a control plane of its own is started, etcd and kube-apiserver
alone, with simulated kubelets. One after the other: the generator; the generator with a Secret for each pod, as the agent makes one; the
jobs of a private cluster of Ares, arrays of one pod a task; the generator again. With --stand-in the API server and the kubelets are those of
tests/e2e/kubernetes_stand_in, and --generator-pods bounds what the generator does. One JSON object with machine and raw samples; a
summary is printed.
"""
import argparse
import json
import os
import pathlib
import signal
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "bench"))

from control_plane import ControlPlane, Kubelets, rates  # noqa: E402
from lib.ares import Cluster  # noqa: E402
from lib.measure import machine, quantile  # noqa: E402
from lib.process import CommandFailed, run  # noqa: E402
from meters import InBackground, NodeChanges, Use, with_children  # noqa: E402
from stand_in import StandInPlane  # noqa: E402

# All jobs are placed at once, and the last one has its turn after all others. The generator has no limit of calls either.
CONFIG = """policy: {max_array_size: 100001, max_jobs: 200000, prepare_timeout: 3600}
node: {kubernetes: {features: [colour], calls_per_second: 100000}}
"""
MOST_IN_ARRAY = 10_000


def generate(args, plane, kubelets, space, *options):
    """One run of the generator, its pods removed."""
    pods = min(args.pods, args.generator_pods or args.pods)
    plane.make_namespace(space)
    words = [f"{args.bench_bin}/bench_pod_generator", f"--kubeconfig={plane.kubeconfig}", f"--namespace={space}", f"--nodes={args.nodes}",
             f"--pods={pods}", *options]
    process = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True)
    with Use({**plane.pids(), "kubelets": [kubelets.process.pid], "generator": [process.pid]}) as use:
        kubelets.wait(space, "bound", pods, args.limit)
        text = process.stdout.readline()  # before it is reaped, for its CPU time
    process.wait()
    result = {"options": options, "generator": json.loads(text), "use": use.of}
    result["complete"] = kubelets.wait(space, "ended", pods, args.limit)
    run(*words, "--remove=1")
    kubelets.wait(space, "gone", pods, args.limit)
    result["rows"] = kubelets.rows(space)
    result["rates"] = rates(result["rows"], pods)
    print(f"{space}: {result['generator']['pods_per_s']:.1f} pods/s bound, by its own clock", flush=True)
    return result


class Ares(Cluster):
    """A private cluster whose nodes are those of the control plane."""

    def __init__(self, args, plane):
        self.bin, self.dir = os.path.abspath(args.bin), f"{args.work}/ares"
        self.env = dict(os.environ, PATH=f"{self.bin}:{os.environ['PATH']}")
        self.mount = f"{args.work}/shared"  # the output of jobs lies there, so that no log is read
        os.makedirs(self.mount, exist_ok=True)
        config = pathlib.Path(f"{args.work}/given.yaml")
        config.write_text(CONFIG)
        begin = time.monotonic()
        try:
            self.acluster("up", f"--kubernetes={plane.kubeconfig}", "--gate-image=simulated", "--image=simulated", f"--mount={self.mount}",
                          f"--config={config}")
            self._take_environment()
            while self.idle() < args.nodes:
                if time.monotonic() - begin > args.limit:
                    raise RuntimeError(f"only {self.idle()} nodes are idle")
                time.sleep(0.2)
        except BaseException:
            self.down()
            raise
        self.ready_s = time.monotonic() - begin

    def idle(self):
        return int((run(f"{self.bin}/ainfo", "-h", "-t", "idle", "-o", "%D", env=self.env).split() or [0])[0])

    def pids(self):
        return {"aresctld": [self.pid("aresctld")], "aresd": [self.pid("aresd@kubernetes")], "postgres": with_children(self.pid("postgres"))}

    def completed(self, jobs):
        states = {}
        for job in jobs:
            for state in run(f"{self.bin}/aacct", "-n", "-P", "-X", "-j", str(job), "-o", "State", env=self.env).split():
                states[state] = states.get(state, 0) + 1
        return states


def run_jobs(args, plane, kubelets):
    cluster = Ares(args, plane)
    result = {"ready_s": round(cluster.ready_s, 2), "configuration": cluster.configuration()}
    try:
        quiet = NodeChanges(cluster, plane, args.nodes)
        for _ in range(args.changes):
            quiet.once()
        result["changes_quiet_ms"] = quiet.samples
        busy = NodeChanges(cluster, plane, args.nodes)
        script = pathlib.Path(f"{args.work}/job.sh")
        script.write_text("#!/bin/sh\ntrue\n")
        with Use({**plane.pids(), **cluster.pids(), "kubelets": [kubelets.process.pid]}) as use:
            begin = time.time()
            jobs = [cluster.submit(str(script), f"--array=1-{min(MOST_IN_ARRAY, args.pods - done)}", "-c1", "--mem=64M", "-o", f"{cluster.mount}/out")
                    for done in range(0, args.pods, MOST_IN_ARRAY)]
            result["submitted_s"] = round(time.time() - begin, 2)
            with InBackground(busy, 1):
                result["complete"] = kubelets.wait("default", "bound", args.pods, args.limit)
            result["use_until_bound"] = use.so_far()
            kubelets.wait("default", "gone", args.pods, args.limit)
        result["use"], result["seconds"] = use.of, round(use.seconds, 2)
        result["changes_busy_ms"] = busy.samples
        result["first_pod_s"] = round(kubelets.rows("default")[0][0] - begin, 2)
        deadline = time.monotonic() + args.limit
        while cluster.live() and time.monotonic() < deadline:
            time.sleep(0.5)
        result["states"] = cluster.completed(jobs)
    finally:
        result["rows"] = kubelets.rows("default")
        result["rates"] = rates(result["rows"], args.pods)
        if args.keep_log:
            for log in pathlib.Path(cluster.dir).rglob("*.log"):
                print(f"--- {log}\n{log.read_text()[-3000:]}")
        cluster.down()
    return result


def summarise(report):
    baseline = max(one["rates"]["bound"].get("per_s", 0) for one in report["generator"])
    for one in report["generator"] + report["generator_with_secret"]:
        print(f"generator {' '.join(one['options']):14s} bound/s {one['rates']['bound']}")
    ares = report["ares"]
    bound = ares["rates"]["bound"]
    print(f"Ares                     bound/s {bound}, of the generator {bound.get('per_s', 0) / baseline:.2f}")
    print(f"states {ares['states']}; nodes ready after {ares['ready_s']} s; first pod {ares['first_pod_s']} s after the submission")
    for name, use in ares["use"].items():
        print(f"  {name:16s} CPU {use['cpu_s']:8.2f} s, peak {use['peak_mib']} MiB")
    for name in ("changes_quiet_ms", "changes_busy_ms"):
        for kind, samples in ares[name].items():
            if samples:
                print(f"  {name} {kind:7s} median {quantile(samples, 0.5):.0f}, p95 {quantile(samples, 0.95):.0f}, longest {max(samples):.0f}, of {len(samples)}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--testbed")
    parser.add_argument("--stand-in", action="store_true")
    parser.add_argument("--generator-pods", type=int, default=0, help="at most so many pods of the generator; 0: as many as jobs")
    parser.add_argument("--work", required=True)
    parser.add_argument("--bin", default=str(ROOT / "build/release/bin"))
    parser.add_argument("--bench-bin", default=str(ROOT / "build/release/bin"))
    parser.add_argument("--nodes", type=int, default=1000)
    parser.add_argument("--pods", type=int, default=10_000)
    parser.add_argument("--run-ms", type=int, default=2000)
    parser.add_argument("--cpus", type=int, default=16)
    parser.add_argument("--changes", type=int, default=20)
    parser.add_argument("--port", type=int, default=27443)
    parser.add_argument("--limit", type=int, default=1200, help="seconds that each part may take")
    parser.add_argument("--keep-log", action="store_true")
    parser.add_argument("--out")
    args = parser.parse_args()
    if bool(args.testbed) == args.stand_in:
        parser.error("one of --testbed and --stand-in is needed")
    args.work = os.path.abspath(args.work)
    os.makedirs(args.work, exist_ok=True)
    os.chmod(args.work, 0o755)  # PostgreSQL runs as another user
    report = {"machine": machine(), "nodes": args.nodes, "pods": args.pods, "run_ms": args.run_ms, "stand_in": args.stand_in}
    if args.stand_in:
        plane = StandInPlane(f"{args.work}/plane", args.nodes, args.run_ms, args.cpus)
    else:
        plane = ControlPlane(f"{args.work}/plane", f"{os.path.abspath(args.testbed)}/bin", args.port)
    try:
        kubelets = plane if args.stand_in else Kubelets(args.bench_bin, plane, args.nodes, args.run_ms, args.cpus)
        try:
            report["registered_s"] = round(kubelets.registered_s, 2)
            report["generator"] = [generate(args, plane, kubelets, "generator-1")]
            report["generator_with_secret"] = [generate(args, plane, kubelets, "secret-1", "--secret=1")]
            if args.stand_in:
                plane.problems()  # of the generator
            report["ares"] = run_jobs(args, plane, kubelets)
            if args.stand_in:
                report["problems"] = plane.problems()
            report["generator"].append(generate(args, plane, kubelets, "generator-2"))
            report["load_after"] = os.getloadavg()[0]
        finally:
            report["kubelets"] = kubelets.end()
    finally:
        plane.down()
        if args.out:
            pathlib.Path(args.out).write_text(json.dumps(report, indent=None) + "\n")
    summarise(report)
    for problem, count in report.get("problems", {}).items():
        print(f"PROBLEM: {count} times: {problem}")
    complete = report["ares"]["states"].get("COMPLETED", 0) == args.pods and not report.get("problems")
    sys.exit(0 if complete else 1)


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("ended by a signal"))  # and all that was started is ended
    try:
        main()
    except CommandFailed as error:
        sys.exit(str(error))
