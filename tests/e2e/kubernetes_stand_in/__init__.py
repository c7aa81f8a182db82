"""Stands in for the API server and the kubelets of a Kubernetes of any version, in memory, and checks strictly what the agent sends.

    definitions  rules    what is wrong with a body, by published definitions and by what servers check besides
    objects               objects with versions, finalizers and deletions, and what watches are told
    calls  discovery  api the calls of the plugin's own table, carried out; all others are problems
    server                HTTPS, and faults that a test asks for
    kubelet               takes pods through their states; runs no program
"""

import pathlib
import uuid

from .api import Api
from .kubelet import Kubelet
from .objects import Store, now_text
from .server import Server


class StandIn:
    """A server of version 1.`minor` with the namespaces kube-system and `space`. `folder` is its own. Without a kubelet the caller has one."""

    def __init__(self, folder, minor=34, space="jobs", with_kubelet=True, **more):
        folder = pathlib.Path(folder)
        folder.mkdir()
        self.space = space
        self.store = Store()
        self.api = Api(self.store, minor, **more)
        for name in ("kube-system", space):
            self.store.create("namespaces", "", {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}, "status": {"phase": "Active"}})
        self.kubelet = self.api.kubelet = Kubelet(self.store, self.api) if with_kubelet else None
        self.server = Server(self.api, folder)
        self.config, self.faults = self.server.config, self.server.faults

    def close(self):
        if self.kubelet:
            self.kubelet.close()
        self.store.end_watches()
        self.server.close()

    # --- nodes

    def add_node(self, name, cpus=4, memory="8Gi", labels=(), devices=()):
        """`devices`: amounts by resource."""
        amounts = {"cpu": str(cpus), "memory": memory, "pods": "110", "ephemeral-storage": "100Gi", **dict(devices)}
        conditions = [{"type": kind, "status": "True" if kind == "Ready" else "False", "reason": "StandIn", "lastHeartbeatTime": now_text(),
                       "lastTransitionTime": now_text()} for kind in ("Ready", "MemoryPressure", "DiskPressure", "PIDPressure")]
        return self.store.create("nodes", "", {
            "apiVersion": "v1", "kind": "Node", "metadata": {"name": name, "labels": {"kubernetes.io/hostname": name, **dict(labels)}}, "spec": {},
            "status": {"capacity": amounts, "allocatable": dict(amounts), "conditions": conditions, "addresses": [{"type": "Hostname", "address": name}],
                       "nodeInfo": {"bootID": str(uuid.uuid4()), "kubeletVersion": "v1.34.1", "operatingSystem": "linux", "architecture": "amd64"}}})

    def change_node(self, name, change):
        """`change` is called with the object."""
        def to(node):
            change(node)
            return node

        return self.store.change("nodes", "", name, to)

    def remove_node(self, name):
        self.store.remove("nodes", "", name)

    # --- what is there

    def pods(self, job):
        return self.store.all("pods", self.space, f"ares.io/job={job}")

    def left(self):
        """Names of what Ares has made and has not removed."""
        return [one["metadata"]["name"] for kind in ("pods", "secrets") for one in self.store.all(kind, self.space, "app.kubernetes.io/managed-by=ares")]

    def add_foreign_pods(self, count, node):
        """Pods of others that have ended, so that they use nothing."""
        for i in range(count):
            self.store.create("pods", self.space, {
                "apiVersion": "v1", "kind": "Pod", "metadata": {"name": f"other-{i:05}"}, "status": {"phase": "Succeeded"},
                "spec": {"nodeName": node, "containers": [{"name": "main", "image": "other:1", "resources": {"requests": {"cpu": "1"}}}]}})
