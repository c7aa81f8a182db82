#!/usr/bin/python3
"""Nodes join and leave under load, each in a network namespace of its own, while short jobs run without a break.

  tests/fault/joins.py --joins 200 [--at-once 4] [--seed N]

Each node starts `aresd --join` in a new namespace, runs jobs, is drained, stops and is deleted; some are killed instead and come back
first. In the end every task that ran has run exactly once and is COMPLETED, no node that joined is left, and the configured nodes serve.
As root only. Exits with 1 if anything is wrong.
"""
import argparse
import collections
import json
import os
import pathlib
import random
import subprocess
import sys
import threading

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "e2e"))

from cluster import BIN, Cluster, until  # noqa: E402

CONFIG = """
cluster: joins
controller: {{operators: [root]}}
policy:
  kill_wait: 2
  heartbeat: 1
  launch_backoff: 1
  launch_backoff_max: 2
  dynamic_nodes: [{{names: "d[1-{most}]", partitions: [main]}}]
nodes:
  - {{name: "n[1-2]", cpus: 2, memory: 2000M}}
partitions:
  - {{name: main, nodes: "n[1-2]", default: true, default_memory_per_cpu: 50M}}
"""
TASKS = 90_000  # more than can run
FIRST_ADDRESS = 100  # behind those of acluster's own nodes


class Joins:
    def __init__(self, joins, at_once, seed):
        self.joins, self.at_once = joins, at_once
        self.random = random.Random(seed)
        self.cluster = Cluster("--isolate", "--no-supervise", config=CONFIG.format(most=at_once))
        self.hub = self.cluster.pid("netns@hub")
        self.lock = threading.Lock()
        self.done = 0
        self.problems = []
        self.config = self.cluster.dir / "node.yaml"  # nodes reach the controller by TCP only
        self.runs = self.cluster.work / "runs"

    def in_hub(self, *words, check=True):
        subprocess.run(["nsenter", "-t", str(self.hub), "-n", "ip", *words], check=check, capture_output=True)

    def nodes(self):
        done = self.cluster.run("actl", "--json", "show", "nodes")
        return {node["name"]: node for node in json.loads(done.stdout)["nodes"]}

    def state(self, name):
        return self.nodes().get(name, {}).get("state")

    def one(self, slot, kill):
        name, port = f"d{slot}", f"j{slot}"
        holder = subprocess.Popen(["unshare", "-n", "sleep", "1000000"])
        daemon = None
        try:
            until(lambda: os.readlink(f"/proc/{holder.pid}/ns/net") != os.readlink("/proc/self/ns/net"))
            self.in_hub("link", "del", port, check=False)  # the namespace before may take a moment to go
            self.in_hub("link", "add", port, "type", "veth", "peer", "name", "eth0", "netns", str(holder.pid))
            self.in_hub("link", "set", port, "master", "br0", "up")
            inside = ["nsenter", "-t", str(holder.pid), "-n"]
            for words in ("link set lo up", f"addr add 10.77.0.{FIRST_ADDRESS + slot}/16 dev eth0", "link set eth0 up"):
                subprocess.run([*inside, "ip", *words.split()], check=True, capture_output=True)
            log = open(self.cluster.work / f"aresd-{name}.log", "a")

            def start():
                return subprocess.Popen([*inside, str(BIN / "aresd"), "--config", str(self.config), "--node", name, "--join"],
                                        env=self.cluster.environment(), stdin=subprocess.DEVNULL, stdout=log, stderr=log)

            daemon = start()
            until(lambda: self.state(name) in ("MIXED", "ALLOCATED"), 60)  # it runs jobs
            if kill:
                daemon.kill()
                daemon.wait()
                daemon = start()
                until(lambda: not (self.state(name) or "*").endswith("*"), 60)
            self.cluster.run("actl", "drain", name, "reason=leaves", "--wait", timeout=120)
            daemon.terminate()
            daemon.wait(timeout=30)
            self.cluster.run("actl", "delete", "node", name)
            log.close()
        finally:
            if daemon and daemon.poll() is None:
                daemon.kill()
                daemon.wait()
            holder.kill()
            holder.wait()

    def slot(self, number):
        while True:
            with self.lock:
                if self.done >= self.joins or self.problems:
                    return
                self.done += 1
                kill = self.random.random() < 0.3
            try:
                self.one(number, kill)
            except Exception as error:  # noqa: BLE001: a thread's end must be told
                with self.lock:
                    self.problems.append(f"d{number}: {error!r}")
                return

    def run(self):
        job = self.cluster.submit(f"--array=1-{TASKS}", "-o", "/dev/null", "--wrap", f"echo $ARES_ARRAY_TASK_ID >> {self.runs}; sleep 0.05")
        threads = [threading.Thread(target=self.slot, args=(number + 1,)) for number in range(self.at_once)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.cluster.cancel(f"{job}", "--state=PENDING", check=False)
        self.cluster.cancel(job, check=False)
        self.judge(job)
        return self.problems

    def judge(self, job):
        until(lambda: not self.cluster.queue(job, "%i"), 120)
        left = [name for name in self.nodes() if name.startswith("d")]
        if left:
            self.problems.append(f"still there: {left}")
        runs = collections.Counter(self.runs.read_text().split())
        twice = [task for task, times in runs.items() if times > 1]
        if twice:
            self.problems.append(f"tasks that ran more than once: {twice[:20]}")
        states = collections.Counter()
        for key, state in self.cluster.rows(job, "JobID,State"):
            states[state.split(" ")[0]] += 1
            task = key.rpartition("_")[2]
            if state == "COMPLETED" and task not in runs:
                self.problems.append(f"{key} is COMPLETED and did not run")
        bad = {state: count for state, count in states.items() if state not in ("COMPLETED", "CANCELLED")}
        if bad:
            self.problems.append(f"states: {bad}")
        for name in ("n1", "n2"):
            self.cluster.completed(self.cluster.wrap("true", "-w", name, "-o", "/dev/null"))
        print(f"{self.done} joins, {states['COMPLETED']} tasks completed, {states['CANCELLED']} cancelled at the end, "
              f"{len(runs)} ran", flush=True)

    def close(self):
        self.cluster.close()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--joins", type=int, default=200)
    parser.add_argument("--at-once", type=int, default=4)
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    joins = Joins(args.joins, args.at_once, args.seed)
    try:
        problems = joins.run()
        if problems:
            print(joins.cluster.logs())
    finally:
        joins.close()
    for problem in problems:
        print("WRONG:", problem)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
