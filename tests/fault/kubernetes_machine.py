"""A machine of a test bed with a kubelet: its link is cut, it is cut off, loses its power, and comes back as another Node of its name."""
import contextlib
import os
import pathlib
import signal
import subprocess
import time

import kubernetes
from cluster import ROOT, until

RESTART = ROOT / "contrib/kubernetes/testbed/restart.sh"


class Machine:
    def __init__(self, api, node):
        self.api, self.node = api, node
        self.folder = pathlib.Path(kubernetes.FOLDER) / "run" / self.part("")

    def part(self, name):
        """Its kubelet or containerd, as restart.sh calls it."""
        return name if self.node == self.api.node else f"nodes/{self.node}/{name}"

    def pid_of(self, name):
        return int((self.folder / f"{name}.pid").read_text())

    def jobs(self, space):
        """Those of Ares whose pods here run and have their go."""
        return {pod["metadata"]["labels"]["ares.io/job"] for pod in self.api.objects("pods", space)
                if pod["spec"].get("nodeName") == self.node and "ares.io/go" in pod["metadata"].get("annotations", {})
                and pod.get("status", {}).get("phase") == "Running" and "deletionTimestamp" not in pod["metadata"]}

    def cut_off(self):
        """The kubelet tells nothing more, and pods run on."""
        os.kill(self.pid_of("kubelet"), signal.SIGSTOP)

    def remove(self):
        self.api.call("DELETE", f"/api/v1/nodes/{self.node}")

    def end_processes(self):
        """All processes of its pods end, as if its power had failed."""
        group = pathlib.Path("/sys/fs/cgroup/pids") / (self.folder / "cgroup").read_text().strip().lstrip("/")

        def none_is_left():
            pids = [int(pid) for file in group.rglob("cgroup.procs") for pid in file.read_text().split()]
            for pid in pids:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
            return not pids

        until(none_is_left, 30)

    def come_back(self):
        """Its kubelet starts and registers it."""
        subprocess.run([str(RESTART), kubernetes.FOLDER, self.part("kubelet"), "KILL"], check=True, timeout=120)
        until(self.is_ready, 120, every=0.2)

    def is_ready(self):
        return self.api.is_ready(self.node)


def stays(what, seconds):
    """`what` stays true for so long."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if not what():
            return False
        time.sleep(0.2)
    return True
