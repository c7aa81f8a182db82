"""A control plane of the test bed, etcd and kube-apiserver alone, with simulated kubelets; and requests to it."""
import http.client
import json
import os
import pathlib
import re
import ssl
import subprocess
import time
import urllib.parse

from lib.process import run

ROOT = pathlib.Path(__file__).resolve().parents[2]
SCRIPTS = ROOT / "contrib/kubernetes/testbed"


class ControlPlane:
    """The constructor starts it in `directory`, with the programs in `programs` and on seven ports from `port` on."""

    def __init__(self, directory, programs, port):
        self.dir = str(directory)
        os.makedirs(self.dir, exist_ok=True)
        env = dict(os.environ, KUBE_BIN=programs, KUBE_ETCD=f"{programs}/etcd", KUBE_PORT=str(port))
        # The controller manager would collect the Secrets of pods, and judge nodes by their leases: neither is measured here.
        run(f"{SCRIPTS}/up.sh", self.dir, "--no-kcm", env=env)
        text = pathlib.Path(f"{self.dir}/run/env").read_text()
        self.values = dict(re.findall(r"(KUBE_\w+)=(\S+)", text))
        self.kubeconfig = f"{self.dir}/run/admin.kubeconfig"
        self.context = ssl.create_default_context(cafile=self.values["KUBE_CA"])
        self.context.load_cert_chain(self.values["KUBE_CERT"], self.values["KUBE_KEY"])
        self.connection = None

    def pids(self):
        return {name: [int(pathlib.Path(f"{self.dir}/run/{name}.pid").read_text())] for name in ("kube-apiserver", "etcd")}

    def call(self, method, path, body=None, kind="application/json"):
        """The answer's object. Raises RuntimeError if the status is not one of success."""
        for attempt in (1, 2):  # the server may have closed the connection
            try:
                if not self.connection:
                    address = urllib.parse.urlsplit(self.values["KUBE_API"])
                    self.connection = http.client.HTTPSConnection(address.hostname, address.port, context=self.context, timeout=60)
                self.connection.request(method, path, json.dumps(body) if body is not None else None, {"Content-Type": kind})
                answer = self.connection.getresponse()
                text = answer.read()
                break
            except (OSError, http.client.HTTPException):
                self.connection = None
                if attempt == 2:
                    raise
        if answer.status >= 300:
            raise RuntimeError(f"{method} {path}: {answer.status} {text.decode()}")
        return json.loads(text)

    def patch_node(self, node, change):
        self.call("PATCH", f"/api/v1/nodes/{node}", change, "application/merge-patch+json")

    def make_namespace(self, name):
        self.call("POST", "/api/v1/namespaces", {"metadata": {"name": name}})

    def down(self):
        run(f"{SCRIPTS}/down.sh", self.dir)


class Kubelets:
    """The simulated kubelets, in one process."""

    def __init__(self, bin_dir, plane, nodes, run_ms, cpus):
        self.timeline = f"{plane.dir}/timeline.jsonl"
        self.log = f"{plane.dir}/kubelets.log"
        with open(self.log, "w") as log:
            self.process = subprocess.Popen(
                [f"{bin_dir}/bench_simulated_kubelet", f"--kubeconfig={plane.kubeconfig}", f"--timeline={self.timeline}", f"--nodes={nodes}",
                 f"--run-ms={run_ms}", f"--cpus={cpus}"], stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        begin = time.monotonic()
        while "nodes are ready" not in pathlib.Path(self.log).read_text():
            if self.process.poll() is not None:
                raise RuntimeError(pathlib.Path(self.log).read_text())
            time.sleep(0.1)
        self.registered_s = time.monotonic() - begin

    def rows(self, space):
        return rows_of(self.timeline, space)

    def wait(self, space, state, count, seconds):
        return wait_for(self, space, state, count, seconds)

    def end(self):
        self.process.terminate()
        self.process.wait(timeout=60)
        return pathlib.Path(self.log).read_text()


def rows_of(timeline, space):
    """(time, counts) of the namespace, from its first pod on."""
    rows = []
    for line in pathlib.Path(timeline).read_text().splitlines():
        try:
            row = json.loads(line)
        except ValueError:
            continue  # is being written
        if space in row:
            rows.append((row["at"], row[space]))
    return rows


def wait_for(kubelets, space, state, count, seconds):
    """Until so many pods have reached the state. Whether they have in time."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        rows = kubelets.rows(space)
        if rows and rows[-1][1][state] >= count:
            return True
        time.sleep(0.5)
    return False


def rates(rows, pods):
    """Pods a second that reached each state: from the first pod created to the last one of the state, and of the middle four fifths."""
    if not rows:
        return {}
    result = {}
    for state in ("created", "bound", "running", "ended", "gone"):
        reached = [(at, counts[state]) for at, counts in rows]

        def when(count):
            return next((at for at, number in reached if number >= count), None)

        end = when(pods)
        if end is None:
            result[state] = {"reached": reached[-1][1]}
            continue
        low, high = when(pods // 10), when(pods * 9 // 10)
        result[state] = {"reached": pods, "first_to_last_s": round(end - reached[0][0], 2),
                         "per_s": round(pods / max(end - reached[0][0], 0.2), 1),
                         "middle_per_s": round(pods * 0.8 / max(high - low, 0.2), 1)}
    return result
