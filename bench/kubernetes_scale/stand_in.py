"""A stand-in for a control plane and its kubelets (tests/e2e/kubernetes_stand_in), in a process of its own, behind the interface of
control_plane.py. What is sent to it is checked strictly.

    stand_in.py DIR NODES RUN_MS CPUS     serves until its input ends; each line of that is a request of StandInPlane"""
import collections
import gc
import heapq
import json
import os
import pathlib
import subprocess
import sys
import threading
import time
import traceback

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "bench"), str(ROOT / "tests/e2e")]

from control_plane import rows_of, wait_for  # noqa: E402
from kubernetes_stand_in import StandIn  # noqa: E402
from kubernetes_stand_in.kubelet import fields_of, result_text  # noqa: E402
from kubernetes_stand_in.objects import Refused, merge, now_text  # noqa: E402

TIMELINE_STEP = 0.2
STATES = ("created", "bound", "running", "ended", "gone")


class StandInPlane:
    """Starts the process. It is the control plane and the kubelets at once."""

    def __init__(self, directory, nodes, run_ms, cpus):
        self.dir, self.timeline = str(directory), f"{directory}/timeline.jsonl"
        os.makedirs(self.dir, exist_ok=True)
        begin = time.monotonic()
        self.process = subprocess.Popen([sys.executable, __file__, self.dir, str(nodes), str(run_ms), str(cpus)],
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.lock = threading.Lock()
        self.kubeconfig = json.loads(self.process.stdout.readline())["kubeconfig"]
        self.registered_s = time.monotonic() - begin

    def ask(self, **request):
        with self.lock:
            self.process.stdin.write(json.dumps(request) + "\n")
            self.process.stdin.flush()
            return json.loads(self.process.stdout.readline())

    def pids(self):
        return {"stand-in": [self.process.pid]}

    def patch_node(self, node, change):
        self.ask(node=node, change=change)

    def make_namespace(self, name):
        self.ask(namespace=name)

    def rows(self, space):
        return rows_of(self.timeline, space)

    def wait(self, space, state, count, seconds):
        return wait_for(self, space, state, count, seconds)

    def problems(self):
        """What was wrong with requests since the last call."""
        return self.ask(problems=True)

    def end(self):
        return ""

    def down(self):
        self.process.stdin.close()
        self.process.wait(timeout=60)


class Kubelets:
    """All of them: pods that are bound run at once; one with the gate of Ares first waits for its go. Each ends after the run time."""

    def __init__(self, stand_in, timeline, run_s):
        self.store, self.run_s = stand_in.store, run_s
        self.counts = collections.defaultdict(collections.Counter)
        self.reached = {}  # by uid, the states
        self.due = []  # ends: (time, uid, namespace, name, whether it was told to end)
        self.addresses = 0
        self.timeline = open(timeline, "w")
        threading.Thread(target=self.run, daemon=True).start()

    def log_of(self, uid):
        return None  # jobs write into files

    def run(self):
        try:
            self.follow()
        except BaseException:
            traceback.print_exc()
            os._exit(1)  # the harness must not wait for what never comes

    def follow(self):
        version, next_line = self.store.version, 0
        while True:
            events, version = self.store.wait_for_events("pods", version, 0, self.pause())
            if events is None:
                raise RuntimeError("the kubelets have missed events")
            with self.store.changed:  # so that no requests are served meanwhile: there are many threads for these, and one for all kubelets
                for event in events:
                    self.see(event)
                while self.due and self.due[0][0] <= time.monotonic():
                    self.end(*heapq.heappop(self.due)[1:])
            if time.monotonic() >= next_line:
                next_line = time.monotonic() + TIMELINE_STEP
                self.timeline.write(json.dumps({"at": time.time(), **self.counts}) + "\n")
                self.timeline.flush()

    def pause(self):
        return min(TIMELINE_STEP, max(0, self.due[0][0] - time.monotonic())) if self.due else TIMELINE_STEP

    def reach(self, pod, state):
        """Whether it is the first time."""
        metadata = pod["metadata"]
        states = self.reached.setdefault(metadata["uid"], set())
        if state in states:
            return False
        states.add(state)
        counts = self.counts[metadata["namespace"]]
        if not counts:
            counts.update(dict.fromkeys(STATES, 0))
        counts[state] += 1
        return True

    def see(self, event):
        pod = event.after or event.before
        metadata = pod["metadata"]
        self.reach(pod, "created")
        if not event.after:
            self.reach(pod, "gone")
            del self.reached[metadata["uid"]]
            return
        if pod["spec"].get("nodeName") and self.reach(pod, "bound") and not metadata.get("deletionTimestamp"):
            self.report(pod, "running", {"phase": "Running", **self.statuses(pod, {"running": {"startedAt": now_text()}})})
        is_told = bool(metadata.get("deletionTimestamp"))
        if "ended" not in self.reached[metadata["uid"]]:
            has_go = "ares.io/cluster" not in metadata.get("labels", {}) or metadata.get("annotations", {}).get("ares.io/go")
            if "running" in self.reached[metadata["uid"]] and (is_told or has_go) and self.reach(pod, "going"):
                heapq.heappush(self.due, (time.monotonic() + (0 if is_told else self.run_s), metadata["uid"], metadata["namespace"], metadata["name"]))
        elif metadata.get("deletionGracePeriodSeconds"):
            self.store.delete("pods", metadata["namespace"], metadata["name"], {"gracePeriodSeconds": 0})

    def end(self, uid, space, name):
        found = self.store.objects.get(("pods", space, name))
        if found and found["metadata"]["uid"] == uid:
            result = result_text("exited") if fields_of(found["metadata"].get("annotations", {}).get("ares.io/go", "")) else result_text("never_ran", sealed=True)
            state = {"terminated": {"exitCode": 0, "reason": "Completed", "startedAt": now_text(), "finishedAt": now_text(), "message": result}}
            self.report(found, "ended", {"phase": "Succeeded", **self.statuses(found, state)})

    def statuses(self, pod, state):
        init = [{"name": one["name"], "ready": True, "restartCount": 0, "image": one["image"], "imageID": "",
                 "state": {"terminated": {"exitCode": 0, "reason": "Completed", "startedAt": now_text(), "finishedAt": now_text()}}}
                for one in pod["spec"].get("initContainers", [])]
        self.addresses += 1
        address = f"10.{self.addresses >> 16 & 255}.{self.addresses >> 8 & 255}.{self.addresses & 255}"
        return {"podIP": address, "podIPs": [{"ip": address}], "startTime": now_text(), "initContainerStatuses": init, "containerStatuses": [
            {"name": one["name"], "ready": "running" in state, "restartCount": 0, "image": one["image"], "imageID": "", "state": state}
            for one in pod["spec"]["containers"]]}

    def report(self, pod, state, status):
        metadata = pod["metadata"]

        def to(now):
            if now["metadata"]["uid"] == metadata["uid"]:
                now["status"].update(status)
            return now

        try:
            self.store.change("pods", metadata["namespace"], metadata["name"], to)
            self.reach(pod, state)
        except Refused:
            pass  # it has gone meanwhile


def serve(directory, nodes, run_ms, cpus):
    stand_in = StandIn(f"{directory}/server", space="default", with_kubelet=False)
    stand_in.api.seen = collections.deque(maxlen=1000)
    for number in range(nodes):
        stand_in.add_node(f"node-{number:05d}", cpus, "64Gi")
    gc.disable()  # JSON has no cycles, and to look for some among all its objects stops the server for seconds
    stand_in.api.kubelet = Kubelets(stand_in, f"{directory}/timeline.jsonl", run_ms / 1000)
    print(json.dumps({"kubeconfig": str(stand_in.config)}), flush=True)
    for line in sys.stdin:
        request = json.loads(line)
        answer = {}
        if "node" in request:
            stand_in.store.change("nodes", "", request["node"], lambda node, change=request["change"]: merge(node, change))
        elif "namespace" in request:
            stand_in.store.create("namespaces", "", {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": request["namespace"]}})
        else:
            answer = collections.Counter(stand_in.api.problems[:1000])
            stand_in.api.problems.clear()
        print(json.dumps(answer), flush=True)
    os._exit(0)  # the threads serve for ever


if __name__ == "__main__":
    serve(sys.argv[1], *map(int, sys.argv[2:]))
