"""A test bed of contrib/kubernetes/testbed that runs with a kubelet, and the agent of a cluster of Ares that serves it."""

import base64
import contextlib
import json
import os
import pathlib
import re
import ssl
import subprocess
import urllib.error
import urllib.request

from cluster import BIN, ROOT, until

FOLDER = os.environ.get("ARES_KUBERNETES_TESTBED")
TESTBED = ROOT / "contrib/kubernetes/testbed"
MISSING = "no Kubernetes to test against: see contrib/kubernetes/testbed"


def is_there():
    return bool(FOLDER) and (pathlib.Path(FOLDER) / "run/kubelet.pid").exists()


class Api:
    """The API server, as its administrator sees it."""

    def __init__(self):
        text = (pathlib.Path(FOLDER) / "run/env").read_text()
        values = dict(re.findall(r"(KUBE_\w+)=(\S+)", text))
        self.server = values["KUBE_API"]
        self.node = values["KUBE_NODE"]
        self.context = ssl.create_default_context(cafile=values["KUBE_CA"])
        self.context.load_cert_chain(values["KUBE_CERT"], values["KUBE_KEY"])

    def call(self, method, path, body=None, kind="application/json"):
        """The answer's object; none if there is no such object."""
        request = urllib.request.Request(self.server + path, method=method, headers={"Content-Type": kind},
                                         data=json.dumps(body).encode() if body is not None else None)
        try:
            with urllib.request.urlopen(request, context=self.context, timeout=30) as answer:
                return json.load(answer)
        except urllib.error.HTTPError as error:
            if error.code == 404:
                return None
            raise AssertionError(f"{method} {path}: {error.code} {error.read().decode()}") from error

    def objects(self, kind, space):
        return self.call("GET", f"/api/v1/namespaces/{space}/{kind}")["items"]

    def of_ares(self, kind, space):
        return [one["metadata"]["name"] for one in self.objects(kind, space) if one["metadata"]["name"].startswith("ares-")]

    def is_ready(self, node):
        found = self.call("GET", f"/api/v1/nodes/{node}")
        return bool(found) and any(one["type"] == "Ready" and one["status"] == "True" for one in found["status"]["conditions"])

    def log(self, space, pod):
        request = urllib.request.Request(f"{self.server}/api/v1/namespaces/{space}/pods/{pod}/log?container=main")
        with urllib.request.urlopen(request, context=self.context, timeout=30) as answer:
            return answer.read().decode()

    def patch(self, path, body):
        return self.call("PATCH", path, body, "application/merge-patch+json")

    @contextlib.contextmanager
    def namespace(self, name):
        self.call("POST", "/api/v1/namespaces", {"metadata": {"name": name}})
        until(lambda: self.objects("serviceaccounts", name))  # pods need the account `default`
        try:
            yield name
        finally:
            self.call("DELETE", f"/api/v1/namespaces/{name}")
            for pod in self.of_ares("pods", name):  # left by a test that failed
                self.patch(f"/api/v1/namespaces/{name}/pods/{pod}", {"metadata": {"finalizers": None}})
            until(lambda: self.call("GET", f"/api/v1/namespaces/{name}") is None, 60)


def secret_texts(secret):
    return {key: base64.b64decode(value).decode(errors="replace") for key, value in secret.get("data", {}).items()}


class Agent:
    """An aresd with the exec plugin `kubernetes`."""

    def __init__(self, cluster, space, name="agent", **more):
        self.cluster = cluster
        settings = {"kubeconfig": f"{FOLDER}/run/admin.kubeconfig", "namespace": space, "image": "localhost/busybox:1",
                    "gate_image": "localhost/ares-gate:1", "allow_root": True, "mounts": [str(cluster.work)], **more}
        lines = (cluster.dir / "ares.yaml").read_text().splitlines(keepends=True)
        start = lines.index("node:\n")
        end = next((i for i in range(start + 1, len(lines)) if lines[i][0] not in " \n"), len(lines))
        self.config = cluster.top / f"{name}.yaml"
        self.config.write_text("".join(lines[:start] + [f"node: {json.dumps({'exec': 'kubernetes', 'kubernetes': settings})}\n"] + lines[end:]))
        self.log = cluster.top / f"{name}.log"
        self.process = None
        self.start()

    def start(self):
        with open(self.log, "a") as log:
            self.earlier = os.fstat(log.fileno()).st_size
            self.process = subprocess.Popen([str(BIN / "aresd"), "--config", str(self.config), "--join"],
                                            env=self.cluster.environment(), stdin=subprocess.DEVNULL, stdout=log, stderr=log)

    def kill(self):
        self.process.kill()
        self.process.wait()

    def close(self):
        if self.process.poll() is None:
            self.process.terminate()
            self.process.wait(timeout=20)

    def text(self):
        return self.log.read_text()

    def own_text(self):
        """What its present process has said."""
        return self.log.read_bytes()[self.earlier:].decode()


def second_node():
    """The name of another node with a kubelet (add_node.sh); none if there is none."""
    nodes = [path.parent.name for path in pathlib.Path(FOLDER).glob("run/nodes/*/kubelet.pid")]
    return nodes[0] if nodes else None


def has_links():
    """Whether each kubelet is in a network namespace of its own, whose link can be cut (up.sh --networks)."""
    return (pathlib.Path(FOLDER) / "run/link").exists()


@contextlib.contextmanager
def link_cut(node):
    """Its kubelet and its pods run on, and reach nothing outside of the node."""
    subprocess.run([str(TESTBED / "link.sh"), FOLDER, node, "cut"], check=True)
    try:
        yield
    finally:
        subprocess.run([str(TESTBED / "link.sh"), FOLDER, node, "mend"], check=True)


def give_gate_image():
    subprocess.run([str(TESTBED / "gate_image.sh"), FOLDER, str(BIN / "ares-gate")], check=True)
