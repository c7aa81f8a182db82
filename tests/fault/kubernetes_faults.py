#!/usr/bin/python3
"""Faults of every part of a real Kubernetes and of Ares, while short jobs run as pods.

  ARES_KUBERNETES_TESTBED=DIR tests/fault/kubernetes_faults.py --faults 100 [--seed N] [--kinds A,B] [--name NAME] [--keep DIR]

DIR is the test bed of contrib/kubernetes/testbed, up with one kubelet or two; links are cut if it is up with --networks. Campaigns with different names may run there at the same
time, if their kinds harm only agents and controllers. Jobs write into a mounted directory when they start and
when they end, and while they run. In the end every job that was acknowledged has ended; none has run twice in one attempt, and no
two attempts of one at the same time, and one that may not be requeued has started once; a job that may be requeued is COMPLETED, unless
dead_node_timeout has given it up; what
was printed is stored once; no pod and no Secret is left. Exits with 1 if anything is wrong.
"""
import argparse
import base64
import collections
import contextlib
import json
import os
import pathlib
import random
import re
import shutil
import signal
import subprocess
import sys
import threading
import time
import urllib.request

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "e2e"))

import kubernetes  # noqa: E402
from api_proxy import ApiProxy  # noqa: E402
from cluster import ROOT, Cluster, until  # noqa: E402
from kubernetes_machine import Machine, stays  # noqa: E402

CONFIG = """
cluster: {name}
controller: {{operators: [root]}}
policy:
  kill_wait: 2
  heartbeat: 1
  lease: 10
  launch_backoff: 1
  launch_backoff_max: 2
  dead_node_timeout: 600
  launch_guard: {{failures: 0}}
  dynamic_nodes: [{{names: "{nodes}", partitions: [kube]}}]
nodes:
  - {{name: n1, cpus: 4, memory: 4000M}}
partitions:
  - {{name: kube, nodes: n1, default: true, default_memory_per_cpu: 50M}}
"""

# $1: tenths of seconds. Lines are appended in the order in which they are written, also from two containers.
SCRIPT = """#!/bin/sh
cd {shared}
id=$SLURM_JOB_ID.${{SLURM_RESTART_COUNT:-0}}
echo "start $id" >> events
echo "begin $id"
while [ $((i=i+1)) -le $1 ]; do
  sleep 0.1
  echo "run $id" >> events
done
echo "done $id"
echo "end $id" >> events
"""

TESTBED = ROOT / "contrib/kubernetes/testbed"
JOBS_AT_ONCE = 6
HOLDS = "this agent holds the lease"


class Campaign:
    def __init__(self, faults, seed, kinds=None, name="faults", jobs=JOBS_AT_ONCE):
        self.space = f"ares-{name}"
        self.random = random.Random(seed)
        self.faults = faults
        self.jobs = jobs
        self.counts = collections.Counter()
        self.problems = []
        self.submitted = {}  # job: whether it may be requeued
        self.given_up = set()  # jobs that may be requeued, but not as long as it is unknown whether they run
        self.enough = threading.Event()  # of jobs
        self.over = threading.Event()
        kubernetes.give_gate_image()
        self.api = kubernetes.Api()
        self.nodes = list(filter(None, [self.api.node, kubernetes.second_node()]))
        self.machines = [Machine(self.api, node) for node in self.nodes]
        self.kinds = kinds or [kind for kind in KINDS if kind not in OF_LINKS or kubernetes.has_links()]
        self.cluster = Cluster(config=CONFIG.format(name=name, nodes=",".join(self.nodes)))
        self.proxy = ApiProxy(kubernetes.FOLDER, self.cluster.top / "kubeconfig")  # only of the agents
        self.agents = 0
        self.moving = threading.Lock()  # the agent is another one afterwards
        self.script = self.cluster.work / "job.sh"
        self.shared = self.cluster.work / "shared"  # what the pods see; the jobs' directory is not in it, so the controller stores what they print
        self.shared.mkdir()
        (self.shared / "events").touch()
        self.script.write_text(SCRIPT.format(shared=self.shared))

    # --- the workload -------------------------------------------------------------------------------------------------
    def submit_jobs(self):
        while not self.enough.is_set():
            running = self.cluster.run("aqueue", "-h", "-o", "%i", check=False).stdout.split()
            if len(running) < self.jobs:
                self.submit()
            time.sleep(0.2)

    def submit(self):
        again = self.random.random() < 0.7
        gang = len(self.nodes) > 1 and self.random.random() < 0.2
        done = self.cluster.run("asub", "--parsable", "--requeue" if again else "--no-requeue", "-w", ",".join(self.nodes) if gang else
                                self.random.choice(self.nodes), "-N2" if gang else "-N1", self.script, str(self.random.randint(5, 50)), check=False)
        if done.returncode == 0:
            self.submitted[done.stdout.strip()] = again

    # --- parts that are harmed ------------------------------------------------------------------------------------------
    def run_agent(self):
        """The service manager: an agent that ends is started again."""
        self.agent = self.new_agent()
        while not self.over.wait(0.1):
            with self.moving:
                if self.agent.process.poll() is not None:
                    self.agent.start()
        self.agent.close()

    def new_agent(self, name=None):
        self.agents += 1
        return kubernetes.Agent(self.cluster, self.space, name=name or f"agent{self.agents}", mounts=[str(self.shared)],
                                kubeconfig=str(self.cluster.top / "kubeconfig"))

    def restart(self, name, how="TERM"):
        subprocess.run([str(TESTBED / "restart.sh"), kubernetes.FOLDER, name, how], check=True, timeout=120)

    def stop(self, pid, seconds):
        os.kill(pid, signal.SIGSTOP)
        time.sleep(seconds)
        os.kill(pid, signal.SIGCONT)

    def any_machine(self):
        return self.random.choice(self.machines)

    def own_pods(self):
        return self.api.of_ares("pods", self.space)

    # --- faults ---------------------------------------------------------------------------------------------------------
    def kill_agent(self):
        self.agent.kill()

    def kill_agent_between_create_and_bind(self):
        before = set(self.own_pods())
        until(lambda: set(self.own_pods()) - before, 60, every=0.001)
        self.agent.kill()

    def stop_agent_between_create_and_bind(self):
        """Its successor, and then it itself, find a pod that is not bound; or its binding arrives after its successor has begun."""
        where, method, end = self.random.choice([("after the creation of its pod", "after", "/pods"),
                                                 ("after the creation of its Secret", "after", "/secrets"),
                                                 ("with its binding on the way", "before", "/binding")])
        until(lambda: HOLDS in self.agent.own_text(), 60)
        agent, there, is_on_its_way = self.agent.process.pid, threading.Event(), threading.Event()

        def look(command, path):
            if command != "POST" or not path.split("?")[0].endswith(end) or there.is_set():
                return
            os.kill(agent, signal.SIGSTOP)
            there.set()
            if method == "before":
                is_on_its_way.wait(60)

        standby = self.new_agent("standby")
        try:
            until(lambda: "standing by" in standby.own_text(), 20)
            setattr(self.proxy, method, look)
            assert there.wait(120), "no pod was made"
            pods = self.api.objects("pods", self.space)
            if any("nodeName" not in pod["spec"] for pod in pods):
                self.counts[f"stopped {where}"] += 1
            until(lambda: HOLDS in standby.own_text(), 40, every=0.01)
            time.sleep(self.random.choice([0, 0.05, 0.2, 1, 4]))  # it removes the pod and makes it anew
            is_on_its_way.set()
            os.kill(agent, signal.SIGCONT)
            until(lambda: self.agent.process.pid != agent, 60)
        finally:
            self.proxy.before = self.proxy.after = None
            is_on_its_way.set()
            with contextlib.suppress(ProcessLookupError):
                os.kill(agent, signal.SIGCONT)
            standby.kill()

    def move_agent(self):
        """Another agent on another machine: it has nothing of the first one."""
        with self.moving:
            self.agent.kill()
            self.agent = self.new_agent()

    def refuse_requests(self, status):
        self.proxy.refusal = status
        time.sleep(self.random.uniform(1, 6))
        self.proxy.refusal = None

    def lose_answers(self):
        """Requests are carried out, and half of the answers are lost."""
        self.proxy.lost = 0.5
        time.sleep(self.random.uniform(1, 6))
        self.proxy.lost = 0.0

    def cut_connections(self):
        self.proxy.cut()

    def delete_namespace(self):
        self.api.call("DELETE", f"/api/v1/namespaces/{self.space}")
        until(lambda: self.api.call("GET", f"/api/v1/namespaces/{self.space}") is None, 180, every=0.5)
        self.api.call("POST", "/api/v1/namespaces", {"metadata": {"name": self.space}})
        until(lambda: self.api.objects("serviceaccounts", self.space))

    def stop_agent(self):
        self.stop(self.agent.process.pid, self.random.uniform(0.5, 4))

    def stop_agent_for_longer_than_its_lease(self):
        pid = self.agent.process.pid
        standby = self.new_agent("standby")
        try:
            until(lambda: "standing by" in standby.own_text() or HOLDS in standby.own_text(), 20)
            self.stop(pid, 26)
            until(lambda: self.agent.process.pid != pid or HOLDS in standby.own_text(), 60)
        finally:
            standby.kill()

    def kill_controller(self):
        os.kill(self.cluster.pid("aresctld"), signal.SIGKILL)

    def stop_controller(self):
        self.stop(self.cluster.pid("aresctld"), self.random.uniform(0.5, 4))

    def restart_api_server(self):
        self.restart("kube-apiserver", self.random.choice(["TERM", "KILL"]))

    def restart_etcd(self):
        self.restart("etcd", self.random.choice(["TERM", "KILL"]))

    def compact_etcd(self):
        url = dict(word.split("=", 1) for word in (pathlib.Path(kubernetes.FOLDER) / "run/env").read_text().split() if "=" in word)["KUBE_ETCD_URL"]

        def ask(path, body):
            with urllib.request.urlopen(urllib.request.Request(url + path, data=json.dumps(body).encode()), timeout=10) as answer:
                return json.load(answer)

        key = base64.b64encode(b"/").decode()
        revision = ask("/v3/kv/range", {"key": key, "limit": "1"})["header"]["revision"]
        ask("/v3/kv/compaction", {"revision": revision, "physical": True})
        self.restart("kube-apiserver")  # its cache would hide the compaction

    def kill_kubelet(self):
        self.restart(self.any_machine().part("kubelet"), "KILL")

    def stop_kubelet(self):
        self.stop(self.any_machine().pid_of("kubelet"), self.random.uniform(1, 6))

    def restart_containerd(self):
        self.restart(self.any_machine().part("containerd"), self.random.choice(["TERM", "KILL"]))

    def stop_containerd(self):
        self.stop(self.any_machine().pid_of("containerd"), self.random.uniform(1, 6))

    def cut_link(self):
        with kubernetes.link_cut(self.any_machine().node):
            time.sleep(self.random.uniform(1, 15))

    def cut_link_until_not_ready(self):
        """For so long that its Node is no longer Ready. Its pods may run, so its jobs neither end nor start again."""
        machine = self.any_machine()
        until(lambda: machine.jobs(self.space), 120)
        with kubernetes.link_cut(machine.node):
            until(lambda: not machine.is_ready(), 120, every=0.2)
            jobs = machine.jobs(self.space)
            if not stays(lambda: jobs <= self.on(machine.node), self.random.uniform(1, 10)):
                self.problems.append(f"of jobs {jobs} on a machine without a link, some were given up")
            self.counts["jobs on a machine whose Node was not Ready"] += len(jobs)
        until(machine.is_ready, 120, every=0.2)
        until(lambda: self.is_up(machine.node), 60)

    def delete_pod(self):
        pods = self.own_pods()
        if pods:
            self.api.call("DELETE", f"/api/v1/namespaces/{self.space}/pods/{self.random.choice(pods)}")

    def delete_secret(self):
        secrets = self.api.of_ares("secrets", self.space)
        if secrets:
            self.api.call("DELETE", f"/api/v1/namespaces/{self.space}/secrets/{self.random.choice(secrets)}")

    def remove_machine(self, ending):
        """It is cut off and its Node removed. Its jobs do not start again until it is known to be gone: by `ending`."""
        machine = self.any_machine()
        until(lambda: machine.jobs(self.space), 120)
        machine.cut_off()
        try:
            machine.remove()
            until(lambda: "down" in self.cluster.run("ainfo", "-h", "-N", "-n", machine.node, "-o", "%t", check=False).stdout, 60)
            jobs = machine.jobs(self.space)
            if not stays(lambda: jobs <= self.on(machine.node), self.random.uniform(1, 4)):
                self.problems.append(f"of jobs {jobs} on a machine that may run, some were given up")
            self.counts["jobs on a removed machine"] += len(jobs)
            machine.end_processes()
            jobs = self.on(machine.node)
            ending(machine.node, jobs)
        finally:
            machine.come_back()
        until(lambda: self.is_up(machine.node), 60)

    def say_dead(self, node, jobs):
        """Jobs that were lost with it run again, as the operator knows that they do not."""
        self.cluster.run("actl", "update", "node", node, "state=down", "reason=removed")
        until(lambda: not self.on(node), 60)
        for job in self.lost(jobs):
            self.cluster.run("actl", "requeue", job)
            self.counts["jobs requeued after an operator's word"] += 1
        until(lambda: self.cluster.run("actl", "delete", "node", node, check=False).returncode == 0, 60)

    def time_out(self, node, jobs):
        """Nothing proves that jobs that were lost with it do not run, so none runs again."""
        file = self.cluster.dir / "ares.yaml"
        for seconds in (10, 600):
            file.write_text(re.sub("dead_node_timeout: .*", f"dead_node_timeout: {seconds}", file.read_text()))
            self.cluster.run("actl", "reconfigure")
            until(lambda: not self.on(node), 60)
        self.given_up |= set(self.lost(jobs))

    def lost(self, jobs):
        """Those of them that could run again and have ended with their node."""
        return [job for job in sorted(jobs) if self.submitted.get(job) and self.cluster.state(job) == "NODE_FAIL"]

    def delete_node_object(self):
        """By mistake: its kubelet goes on, and registers it again when it is restarted."""
        machine = self.any_machine()
        until(lambda: machine.jobs(self.space), 120)
        machine.remove()
        time.sleep(self.random.uniform(0, 6))
        machine.come_back()
        until(lambda: self.is_up(machine.node), 120)

    def on(self, node):
        """Jobs that have this node."""
        return set(self.cluster.run("aqueue", "-h", "-w", node, "-t", "R,CG", "-o", "%i").stdout.split())

    def is_up(self, node):
        return re.search("idle|mix|alloc", self.cluster.run("ainfo", "-h", "-N", "-n", node, "-o", "%t", check=False).stdout)

    # --- the course of it -----------------------------------------------------------------------------------------------
    def run(self):
        """What is wrong."""
        with self.api.namespace(self.space):
            manager, submitting = threading.Thread(target=self.run_agent), threading.Thread(target=self.submit_jobs)
            manager.start()
            try:
                until(lambda: self.is_up(self.api.node), 60)
                submitting.start()
                for number in range(self.faults):
                    kind = self.random.choice(self.kinds)
                    print(f"{number + 1}/{self.faults} {kind}", flush=True)
                    KINDS[kind](self)
                    self.counts[kind] += 1
                    time.sleep(self.random.uniform(0.5, 3))
                self.enough.set()
                submitting.join()
                self.await_ends()
                self.judge()
            finally:
                self.enough.set()
                self.over.set()
                manager.join()
        return self.problems

    def await_ends(self):
        try:
            until(lambda: not self.cluster.run("aqueue", "-h", "-o", "%i", check=False).stdout.split(), 240, every=1)
        except AssertionError:
            self.problems.append("still there: " + self.cluster.run("aqueue", "-o", "%i %T %r %R", check=False).stdout +
                                 self.cluster.run("actl", "show", "node", check=False).stdout + self.agent.text()[-3000:])

    def judge(self):
        lines = [line.split() for line in (self.shared / "events").read_text().splitlines()]
        events = collections.Counter(f"{what} {run}" for what, run in lines if what != "run")
        self.problems += [f"{count} times: {event}" for event, count in events.items() if count > 1]
        starts = collections.Counter(run.split(".")[0] for what, run in lines if what == "start")
        self.problems += [f"job {job}, which may not be requeued, started {count} times" for job, count in starts.items()
                          if count > 1 and not self.submitted.get(job, True)]
        newest = {}  # attempt of each job
        for what, run in lines:
            job, attempt = run.split(".")
            if newest.setdefault(job, int(attempt)) > int(attempt):
                self.problems.append(f"attempt {attempt} of job {job} still ran while attempt {newest[job]} did")
            newest[job] = max(newest[job], int(attempt))
        rows = self.cluster.run("aacct", "-n", "-P", "-X", "-o", "JobID,State,ExitCode", timeout=120).stdout.splitlines()
        states = {row.split("|")[0]: row.split("|")[1].split(" ")[0] for row in rows}
        ended = {event.split()[1].split(".")[0] for event in events if event.startswith("end")}
        said = sum(log.read_text().count("the end of its output could not be read") for log in self.cluster.top.glob("*.log"))
        for job, again in self.submitted.items():
            state = states.get(job)
            if state is None:
                self.problems.append(f"job {job} is lost")
            elif again and state != "COMPLETED" and not (job in self.given_up and state == "NODE_FAIL"):
                self.problems.append(f"job {job}, which may be requeued, is {state}")
            elif state == "COMPLETED" and job not in ended:
                self.problems.append(f"job {job} is COMPLETED and has not come to its end")
            elif state == "COMPLETED":
                printed = self.cluster.run("actl", "output", job, check=False).stdout
                last = newest[job]
                if printed == f"begin {job}.{last}\ndone {job}.{last}\n":
                    continue
                # The log of a pod that is deleted in Kubernetes right after its end goes before it can be read; the agent says so.
                if f"begin {job}.{last}\ndone {job}.{last}\n".startswith(printed) and said > 0:
                    said -= 1
                    self.counts["ends of output that were gone with a deleted pod"] += 1
                else:
                    self.problems.append(f"job {job} printed {printed!r} by attempt {last}")
        self.counts["jobs"] = len(self.submitted)
        self.counts["starts"] = sum(count for event, count in events.items() if event.startswith("start"))
        self.counts.update(f"ended {state}" for job, state in states.items() if job in self.submitted)
        try:
            until(lambda: not self.api.of_ares("pods", self.space) and not self.api.of_ares("secrets", self.space), 90, every=1)
        except AssertionError:
            self.problems.append(f"left: {self.api.of_ares('pods', self.space)} {self.api.of_ares('secrets', self.space)}")

    def keep(self, folder):
        folder = pathlib.Path(folder)
        folder.mkdir(parents=True, exist_ok=True)
        for file in [*self.cluster.top.glob("*.log"), *self.cluster.dir.rglob("*.log"), self.shared / "events"]:
            shutil.copy(file, folder)
        (folder / "accounting").write_text(self.cluster.run("aacct", "-P", "-D", "-o", "JobID,State,ExitCode,NodeList,Start,End", check=False).stdout)

    def close(self):
        self.counts.update({f"requests or connections {what}": count for what, count in self.proxy.counts.items()})
        self.proxy.close()
        self.cluster.close()


KINDS = {
    "agent killed": Campaign.kill_agent,
    "agent killed between create and bind": Campaign.kill_agent_between_create_and_bind,
    "agent stopped between create and bind": Campaign.stop_agent_between_create_and_bind,
    "agent moved": Campaign.move_agent,
    "agent stopped": Campaign.stop_agent,
    "agent stopped longer than its lease": Campaign.stop_agent_for_longer_than_its_lease,
    "controller killed": Campaign.kill_controller,
    "controller stopped": Campaign.stop_controller,
    "API server restarted": Campaign.restart_api_server,
    "etcd restarted": Campaign.restart_etcd,
    "etcd compacted": Campaign.compact_etcd,
    "kubelet killed": Campaign.kill_kubelet,
    "kubelet stopped": Campaign.stop_kubelet,
    "containerd restarted": Campaign.restart_containerd,
    "containerd stopped": Campaign.stop_containerd,
    "link of a kubelet cut": Campaign.cut_link,
    "link of a kubelet cut until its Node is not Ready": Campaign.cut_link_until_not_ready,
    "requests refused with 429": lambda campaign: campaign.refuse_requests(429),
    "requests refused with 500": lambda campaign: campaign.refuse_requests(500),
    "answers lost": Campaign.lose_answers,
    "connections cut": Campaign.cut_connections,
    "namespace deleted": Campaign.delete_namespace,
    "pod deleted": Campaign.delete_pod,
    "Secret deleted": Campaign.delete_secret,
    "Node removed with its machine until an operator's word": lambda campaign: campaign.remove_machine(campaign.say_dead),
    "Node removed with its machine until dead_node_timeout": lambda campaign: campaign.remove_machine(campaign.time_out),
    "Node object deleted while its pod runs": Campaign.delete_node_object,
}
OF_LINKS = {"link of a kubelet cut", "link of a kubelet cut until its Node is not Ready"}  # need up.sh --networks


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--faults", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--kinds", type=lambda text: text.split(","), help="of: " + ", ".join(KINDS))
    parser.add_argument("--name", default="faults", help="of the cluster of Ares; its pods are in the namespace ares-NAME")
    parser.add_argument("--jobs", type=int, default=JOBS_AT_ONCE, help="that are pending or run at the same time")
    parser.add_argument("--keep", help="a folder for logs, events and accounting of a campaign with a problem")
    given = parser.parse_args()
    if not kubernetes.is_there():
        sys.exit(kubernetes.MISSING)
    campaign = Campaign(given.faults, given.seed, given.kinds, given.name, given.jobs)
    problems = ["it broke off"]
    try:
        problems = campaign.run()
    finally:
        if problems and given.keep:
            campaign.keep(given.keep)
        campaign.close()
    for what, count in sorted(campaign.counts.items()):
        print(f"{count:5}  {what}")
    for problem in problems:
        print("PROBLEM:", problem)
    sys.exit(1 if problems else 0)


if __name__ == "__main__":
    main()
