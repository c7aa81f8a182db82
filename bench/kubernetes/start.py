#!/usr/bin/env python3
"""How soon a job starts as a pod, beside a bare pod that kube-scheduler places.

  ARES_KUBERNETES_TESTBED=DIR bench/kubernetes/start.py [--pairs 40] [--gate-folder] [--out FILE]

DIR is the test bed of contrib/kubernetes/testbed, started by `up.sh DIR --kubelet --scheduler`. Its first node has nothing else to do. The
two are started there in turns, one at a time:

* a job: from the moment before `asub` is started
* a bare pod with the image and the amounts of the job: from the moment before the request that creates it

until containerd started the container of the script (its event /tasks/start), and until the first line of the script made a file. Of a
job the start of the first container, which puts ares-gate into the pod, is shown as well; with --gate-folder there is none, as the node
has the program. Before each start there is a pause of up to a second, since kubelets look at containers once a second. Programs are those of $ARES_BIN_DIR.
"""
import argparse
import contextlib
import datetime
import json
import pathlib
import random
import re
import subprocess
import sys
import threading
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "bench"), str(ROOT / "tests/e2e")]

import kubernetes  # noqa: E402
from cluster import BIN, Cluster, until  # noqa: E402
from lib.measure import machine, quantile  # noqa: E402

CONFIG = """
cluster: start
controller: {{operators: [root]}}
policy: {{dynamic_nodes: [{{names: "{node}", partitions: [kube]}}]}}
nodes:
  - {{name: n1, cpus: 4, memory: 4000M}}
partitions:
  - {{name: kube, nodes: n1, default: true, default_memory_per_cpu: 50M}}
"""
SPACE = "ares-start"
AMOUNTS = {"cpu": "1", "memory": "50Mi"}
EVENT = re.compile(r"^(\S+ \S+) \+0000 UTC \S+ /tasks/start ")


class Starts:
    """When containerd started the containers and sandboxes of the node, in ns."""

    def __init__(self):
        root = pathlib.Path(kubernetes.FOLDER)
        self.times = []
        self.process = subprocess.Popen([str(root / "root/usr/bin/ctr"), "-a", str(root / "run/containerd/containerd.sock"), "-n", "k8s.io", "events"],
                                        stdout=subprocess.PIPE, text=True)
        threading.Thread(target=self.read, daemon=True).start()

    def read(self):
        for line in self.process.stdout:
            if found := EVENT.match(line):
                seconds, _, fraction = found.group(1).partition(".")
                at = datetime.datetime.fromisoformat(seconds).replace(tzinfo=datetime.timezone.utc)
                self.times.append(int(at.timestamp()) * 10**9 + int((fraction or "0").ljust(9, "0")[:9]))

    def close(self):
        self.process.terminate()
        self.process.wait()


class Measurement:
    def __init__(self, cluster, api, starts, names):
        self.cluster, self.api, self.starts, self.names, self.count = cluster, api, starts, names, 0
        self.random = random.Random(1)

    def file(self):
        """What the script makes first, after a pause."""
        time.sleep(self.random.random())
        self.count += 1
        return self.cluster.work / f"started.{self.count}"

    def look(self, before, names, file):
        """Milliseconds since `before` of the starts of these, and of the script."""
        until(file.exists, 60, every=0.02)
        until(lambda: sum(at > before for at in self.starts.times) >= len(names), 10)
        at = sorted(at for at in self.starts.times if at > before)
        if len(at) != len(names):
            sys.exit(f"{len(at)} containers were started, not {len(names)}: the node has something else to do")
        return {**{name: (each - before) / 1e6 for name, each in zip(names, at)}, "script": (file.stat().st_mtime_ns - before) / 1e6}

    def job(self):
        file = self.file()
        script = self.cluster.script(f"#!/bin/sh\n: > {file}\nsleep 1\n")
        before = time.time_ns()
        job = self.cluster.run("asub", "--parsable", "-w", self.api.node, script).stdout.strip()
        took = self.look(before, self.names, file)
        self.cluster.completed(job)
        until(lambda: not self.api.objects("pods", SPACE))
        return took

    def bare_pod(self):
        file = self.file()
        work = str(self.cluster.work)
        pod = {"metadata": {"name": "bare"},
               "spec": {"nodeSelector": {"kubernetes.io/hostname": self.api.node}, "restartPolicy": "Never", "automountServiceAccountToken": False, "enableServiceLinks": False, "terminationGracePeriodSeconds": 1,
                        "containers": [{"name": "main", "image": "localhost/busybox:1", "command": ["/bin/sh", "-c", f": > {file}; sleep 1"],
                                        "resources": {"requests": AMOUNTS, "limits": AMOUNTS}, "volumeMounts": [{"name": "work", "mountPath": work}]}],
                        "volumes": [{"name": "work", "hostPath": {"path": work, "type": "Directory"}}]}}
        before = time.time_ns()
        self.api.call("POST", f"/api/v1/namespaces/{SPACE}/pods", pod)
        took = self.look(before, ("sandbox", "container"), file)
        until(lambda: self.api.objects("pods", SPACE)[0]["status"]["phase"] == "Succeeded")
        self.api.call("DELETE", f"/api/v1/namespaces/{SPACE}/pods/bare")
        until(lambda: not self.api.objects("pods", SPACE))
        return took


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pairs", type=int, default=40)
    parser.add_argument("--gate-folder", action="store_true", help="the node has ares-gate")
    parser.add_argument("--out", help="a file for all samples, as JSON")
    args = parser.parse_args()
    if not kubernetes.is_there() or not (pathlib.Path(kubernetes.FOLDER) / "run/kube-scheduler.pid").exists():
        sys.exit("start the test bed by up.sh DIR --kubelet --scheduler")
    kubernetes.give_gate_image()
    api = kubernetes.Api()
    with contextlib.ExitStack() as stack:
        stack.enter_context(api.namespace(SPACE))
        cluster = Cluster(config=CONFIG.format(node=api.node))
        stack.callback(cluster.close)
        names, settings = ("sandbox", "first container", "container"), {}
        if args.gate_folder:
            folder = cluster.top / "gate"
            folder.mkdir()
            subprocess.run([str(BIN / "ares-gate"), "install", str(folder)], check=True)
            names, settings = ("sandbox", "container"), {"gate_folder": str(folder)}
        agent = kubernetes.Agent(cluster, SPACE, **settings)
        stack.callback(agent.close)
        starts = Starts()
        stack.callback(starts.close)
        until(lambda: "idle" in cluster.run("ainfo", "-h", "-N", "-n", api.node, "-o", "%t", check=False).stdout)
        one = Measurement(cluster, api, starts, names)
        one.job(), one.bare_pod()  # not counted
        samples = {"job": [], "bare pod": []}
        for number in range(args.pairs):
            for kind in (("job", "bare pod"), ("bare pod", "job"))[number % 2]:
                samples[kind].append(one.job() if kind == "job" else one.bare_pod())
    for kind, taken in samples.items():
        for name in taken[0]:
            times = [each[name] for each in taken]
            print(f"{kind:9} {name:16} p50 {quantile(times, .5):7.1f} ms   p95 {quantile(times, .95):7.1f}   min {min(times):7.1f}   max {max(times):7.1f}")
    if args.out:
        pathlib.Path(args.out).write_text(json.dumps({"machine": machine(), "pairs": args.pairs, "gate_folder": args.gate_folder, "milliseconds": samples}, indent=1) + "\n")


if __name__ == "__main__":
    main()
