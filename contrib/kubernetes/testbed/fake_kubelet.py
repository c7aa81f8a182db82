#!/usr/bin/env python3
"""Stands in for kubelets where no container can run, or where many nodes are needed.

    . DIR/run/env && fake_kubelet.py NODE...

Registers the nodes, keeps their leases and their status fresh, and takes the pods that are bound to them through the states that a
kubelet would: ContainerCreating, Running, then Succeeded or Failed. A pod that is deleted is killed and then really deleted.

Annotations of a pod: fake/start-seconds (0), fake/run-seconds (1, or "forever"), fake/exit-code (0).
Variables: FAKE_CPU (8), FAKE_MEMORY (32Gi), FAKE_EXTRA (more resources, as JSON).
"""

import json
import os
import ssl
import sys
import threading
import time
import urllib.error
import urllib.request

MERGE = "application/strategic-merge-patch+json"
LEASES = "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases"


def now(micro=False):
    return time.strftime("%Y-%m-%dT%H:%M:%S" + (".000000Z" if micro else "Z"), time.gmtime())


class Api:
    """Requests to the API server that the environment names."""

    def __init__(self, env):
        self.url = env["KUBE_API"]
        self.context = ssl.create_default_context(cafile=env["KUBE_CA"])
        self.context.load_cert_chain(env["KUBE_CERT"], env["KUBE_KEY"])

    def open(self, method, path, body=None, content_type="application/json", timeout=20):
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self.url + path, data=data, method=method, headers={"Content-Type": content_type})
        return urllib.request.urlopen(request, context=self.context, timeout=timeout)

    def call(self, *arguments):
        """The status and the object of the answer."""
        try:
            with self.open(*arguments) as answer:
                return answer.status, json.loads(answer.read() or b"{}")
        except urllib.error.HTTPError as error:
            return error.code, json.loads(error.read() or b"{}")


def node_conditions():
    return [{"type": kind, "status": "True" if kind == "Ready" else "False", "reason": "Fake",
             "lastHeartbeatTime": now(), "lastTransitionTime": now()}
            for kind in ("Ready", "MemoryPressure", "DiskPressure", "PIDPressure")]


def register(api, node):
    capacity = {"cpu": os.environ.get("FAKE_CPU", "8"), "memory": os.environ.get("FAKE_MEMORY", "32Gi"),
                "pods": "110", "ephemeral-storage": "100Gi", **json.loads(os.environ.get("FAKE_EXTRA", "{}"))}
    labels = {"kubernetes.io/hostname": node, "kubernetes.io/os": "linux", "kubernetes.io/arch": "amd64"}
    api.call("POST", "/api/v1/nodes", {"metadata": {"name": node, "labels": labels}})
    status = {"capacity": capacity, "allocatable": capacity, "conditions": node_conditions(),
              "addresses": [{"type": "Hostname", "address": node}, {"type": "InternalIP", "address": "127.0.0.1"}],
              "nodeInfo": {"kubeletVersion": "fake"}}
    api.call("PATCH", f"/api/v1/nodes/{node}/status", {"status": status}, MERGE)


def keep_alive(api, nodes):
    """Renews the leases every 5 s and the status every 30 s."""
    rounds = 0
    while True:
        for node in nodes:
            renewal = {"spec": {"renewTime": now(micro=True)}}
            if api.call("PATCH", f"{LEASES}/{node}", renewal, "application/merge-patch+json")[0] == 404:
                spec = {"holderIdentity": node, "leaseDurationSeconds": 40, **renewal["spec"]}
                api.call("POST", LEASES, {"metadata": {"name": node}, "spec": spec})
            if rounds % 6 == 0:
                ready = {"type": "Ready", "status": "True", "reason": "Fake", "lastHeartbeatTime": now()}
                api.call("PATCH", f"/api/v1/nodes/{node}/status", {"status": {"conditions": [ready]}}, MERGE)
        rounds += 1
        time.sleep(5)


class Pods:
    """The pods that are bound to the nodes; each runs in a thread of its own."""

    def __init__(self, api, nodes):
        self.api = api
        self.nodes = nodes
        self.stops = {}  # by uid: set to kill the pod
        self.lock = threading.Lock()

    @staticmethod
    def path(pod):
        return f"/api/v1/namespaces/{pod['metadata']['namespace']}/pods/{pod['metadata']['name']}"

    def set_status(self, pod, phase, state, start):
        is_running = "running" in state
        status = {
            "phase": phase, "hostIP": "127.0.0.1", "startTime": start,
            "conditions": [{"type": kind, "status": "True" if is_running or kind == "Initialized" else "False",
                            "lastTransitionTime": now()} for kind in ("Initialized", "Ready", "ContainersReady")],
            "containerStatuses": [{"name": container["name"], "ready": is_running, "restartCount": 0, "image": "fake",
                                   "imageID": "fake", "state": state, "started": is_running}
                                  for container in pod["spec"]["containers"]]}
        self.api.call("PATCH", self.path(pod) + "/status", {"metadata": {"uid": pod["metadata"]["uid"]}, "status": status}, MERGE)

    def delete(self, pod):
        self.api.call("DELETE", self.path(pod), {"gracePeriodSeconds": 0, "preconditions": {"uid": pod["metadata"]["uid"]}})

    def run(self, pod, stop):
        annotations = pod["metadata"].get("annotations", {})
        start = now()
        stop.wait(float(annotations.get("fake/start-seconds", 0)))
        if not stop.is_set():
            self.set_status(pod, "Running", {"running": {"startedAt": start}}, start)
            seconds = annotations.get("fake/run-seconds", "1")
            stop.wait(None if seconds == "forever" else float(seconds))
        is_killed = stop.is_set()
        code = 137 if is_killed else int(annotations.get("fake/exit-code", 0))
        end = {"exitCode": code, "reason": "Error" if code else "Completed", "startedAt": start, "finishedAt": now()}
        self.set_status(pod, "Failed" if code else "Succeeded", {"terminated": end}, start)
        if is_killed:
            self.delete(pod)

    def see(self, pod, is_gone=False):
        if pod["spec"].get("nodeName") not in self.nodes:
            return
        uid = pod["metadata"]["uid"]
        has_ended = pod.get("status", {}).get("phase") in ("Succeeded", "Failed")
        with self.lock:
            if is_gone:
                if stop := self.stops.pop(uid, None):
                    stop.set()
            elif pod["metadata"].get("deletionTimestamp"):
                if stop := self.stops.get(uid):
                    stop.set()
                if not stop or has_ended:
                    self.delete(pod)
            elif uid not in self.stops and not has_ended:
                self.stops[uid] = threading.Event()
                threading.Thread(target=self.run, args=(pod, self.stops[uid]), daemon=True).start()

    def follow(self):
        """Lists the pods, then watches them until the server ends the watch."""
        _, listed = self.api.call("GET", "/api/v1/pods?fieldSelector=spec.nodeName%21%3D")
        for pod in listed["items"]:
            self.see(pod)
        version = listed["metadata"]["resourceVersion"]
        path = f"/api/v1/pods?watch=1&timeoutSeconds=300&fieldSelector=spec.nodeName%21%3D&resourceVersion={version}"
        with self.api.open("GET", path, timeout=400) as events:
            for line in events:
                event = json.loads(line)
                if event["type"] == "ERROR":
                    return
                self.see(event["object"], event["type"] == "DELETED")


def main(nodes):
    if not nodes:
        sys.exit(__doc__)
    api = Api(os.environ)
    for node in nodes:
        register(api, node)
    threading.Thread(target=keep_alive, args=(api, nodes), daemon=True).start()
    pods = Pods(api, set(nodes))
    print("fake_kubelet: " + " ".join(nodes), flush=True)
    while True:
        try:
            pods.follow()
        except (OSError, KeyError, ValueError) as error:
            print(f"fake_kubelet: {error!r}", flush=True)
            time.sleep(1)


if __name__ == "__main__":
    main(sys.argv[1:])
