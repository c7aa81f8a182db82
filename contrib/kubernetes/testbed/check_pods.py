#!/usr/bin/env python3
"""Checks that the kubelet of up.sh --kubelet runs real pods as jobs need it.

    . DIR/run/env && check_pods.py

Pods are bound by this program, as Ares does. Prints one line a check and exits 1 if one fails.
"""

import os
import sys
import time

from fake_kubelet import Api

PODS = "/api/v1/namespaces/default/pods"


class Checks:
    def __init__(self):
        self.api = Api(os.environ)
        self.node = os.environ["KUBE_NODE"]
        self.suffix = f"{os.getpid()}-{int(time.time()) % 100000}"
        self.made = []
        self.failed = 0

    def check(self, what, holds, note=""):
        self.failed += not holds
        print(("ok      " if holds else "FAILED  ") + what + (f": {note}" if note and not holds else ""), flush=True)

    @staticmethod
    def wait(condition, seconds=60):
        end = time.monotonic() + seconds
        while not condition():
            if time.monotonic() > end:
                return False
            time.sleep(0.1)
        return True

    def start(self, name, command, limits=None, **spec):
        """Creates a pod that runs a command of the shell and binds it; returns its name."""
        name = f"{name}-{self.suffix}"
        self.made.append(name)
        container = {"name": "main", "image": "localhost/busybox:1", "imagePullPolicy": "Never", "command": ["sh", "-c", command],
                     "resources": {"limits": limits or {}}}
        self.api.call("POST", PODS, {"metadata": {"name": name}, "spec": {
            "schedulerName": "ares", "restartPolicy": "Never", "terminationGracePeriodSeconds": 2, "containers": [container], **spec}})
        self.api.call("POST", f"{PODS}/{name}/binding", {"metadata": {"name": name}, "target": {"kind": "Node", "name": self.node}})
        return name

    def pod(self, name):
        status, pod = self.api.call("GET", f"{PODS}/{name}")
        return pod if status == 200 else None

    def phase(self, name):
        pod = self.pod(name)
        return pod["status"]["phase"] if pod else "gone"

    def end_of(self, name):
        """The state in which its container has ended."""
        self.wait(lambda: self.phase(name) in ("Succeeded", "Failed", "gone"), 90)
        pod = self.pod(name) or {}
        statuses = pod.get("status", {}).get("containerStatuses", [{}])
        return statuses[0].get("state", {}).get("terminated", {})

    def is_ready(self):
        node = self.api.call("GET", f"/api/v1/nodes/{self.node}")[1]
        return any(one["type"] == "Ready" and one["status"] == "True" for one in node.get("status", {}).get("conditions", []))

    def run(self):
        self.check("the node is ready", self.wait(self.is_ready))
        self.check("exit code 0 is Succeeded", self.end_of(self.start("true", "exit 0")).get("exitCode") == 0)
        self.check("another exit code is kept", self.end_of(self.start("three", "exit 3")).get("exitCode") == 3)
        name = self.start("hello", "echo hello")
        self.end_of(name)
        with self.api.open("GET", f"{PODS}/{name}/log") as answer:
            self.check("its output is its log", answer.read() == b"hello\n")
        ended = self.end_of(self.start("memory", "exec dd if=/dev/zero of=/dev/null bs=100M count=3", {"memory": "32Mi"}))
        self.check("more memory than the limit is OOMKilled", ended.get("reason") == "OOMKilled", ended)
        name = self.start("deleted", "exec sleep 1000")
        self.wait(lambda: self.phase(name) == "Running")
        self.api.call("DELETE", f"{PODS}/{name}")
        self.check("a deleted pod is gone after its grace", self.wait(lambda: self.phase(name) == "gone", 90))
        name = self.start("late", "exec sleep 1000", activeDeadlineSeconds=2)
        self.wait(lambda: self.phase(name) == "Failed", 90)
        self.check("a deadline ends the pod", (self.pod(name) or {}).get("status", {}).get("reason") == "DeadlineExceeded")
        for name in self.made:
            self.api.call("DELETE", f"{PODS}/{name}", {"gracePeriodSeconds": 0})


if __name__ == "__main__":
    checks = Checks()
    checks.run()
    sys.exit(1 if checks.failed else 0)
