"""CPU time and memory of processes, and how soon a change of a Node is seen in Ares."""
import os
import subprocess
import threading
import time

TICK = os.sysconf("SC_CLK_TCK")


def cpu_seconds(pid):
    with open(f"/proc/{pid}/stat") as file:
        fields = file.read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / TICK


def memory_mib(pid, key):
    with open(f"/proc/{pid}/status") as file:
        return next((int(line.split()[1]) >> 10 for line in file if line.startswith(f"{key}:")), 0)


def with_children(pid):
    with open(f"/proc/{pid}/task/{pid}/children") as file:
        return [pid] + [int(child) for child in file.read().split()]


class Use:
    """`with Use(pids) as use: ...`: afterwards use.seconds and use.of, with CPU seconds of each name and its peak of resident memory so far.
    `pids`: name -> pids."""

    def __init__(self, pids):
        self.pids = pids

    def cpu(self):
        return {name: sum(cpu_seconds(pid) for pid in pids if os.path.exists(f"/proc/{pid}")) for name, pids in self.pids.items()}

    def __enter__(self):
        self.begin, self.before = time.time(), self.cpu()
        return self

    def __exit__(self, *error):
        self.seconds = time.time() - self.begin
        self.of = self.so_far()

    def so_far(self):
        after = self.cpu()
        return {name: {"cpu_s": round(after[name] - self.before[name], 2),
                          "peak_mib": max((memory_mib(pid, "VmHWM") for pid in pids if os.path.exists(f"/proc/{pid}")), default=0)}
                   for name, pids in self.pids.items()}


class NodeChanges:
    """Milliseconds from the request that changes a Node to the end of the `ainfo` that shows it, in a loop of `ainfo`."""

    def __init__(self, cluster, plane, nodes):
        self.cluster, self.plane, self.nodes = cluster, plane, nodes
        self.samples = {"cordon": [], "label": [], "ainfo": []}
        self.number = 0

    def shown(self, node, columns):
        begin = time.perf_counter()
        done = subprocess.run([f"{self.cluster.bin}/ainfo", "-h", "-N", "-n", f"kube-{node}", "-o", columns], env=self.cluster.env,
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True, check=True)
        self.samples["ainfo"].append(round((time.perf_counter() - begin) * 1e3, 1))
        return done.stdout

    def measure(self, kind, node, change, columns, is_shown):
        begin = time.perf_counter()
        self.plane.patch_node(node, change)
        while not is_shown(self.shown(node, columns)):
            if time.perf_counter() - begin > 120:
                raise RuntimeError(f"{kind} of {node} is not shown after 120 s: {self.shown(node, columns)}")
        self.samples[kind].append(round((time.perf_counter() - begin) * 1e3, 1))

    def once(self):
        # A prime, so that the nodes are spread over all.
        self.number += 1
        node = f"node-{self.number * 7919 % self.nodes:05d}"
        self.measure("cordon", node, {"spec": {"unschedulable": True}}, "%t %E", lambda text: "cordoned" in text)
        self.measure("cordon", node, {"spec": {"unschedulable": None}}, "%t %E", lambda text: "cordoned" not in text)
        colour = f"c{self.number}"
        self.measure("label", node, {"metadata": {"labels": {"colour": colour}}}, "%f", lambda text: f"colour={colour}" in text)


class InBackground(threading.Thread):
    """`with InBackground(changes): ...` measures again and again until the end of the block."""

    def __init__(self, changes, pause):
        super().__init__(daemon=True)
        self.changes, self.pause = changes, pause
        self.over = threading.Event()
        self.error = None

    def run(self):
        try:
            while not self.over.wait(self.pause):
                self.changes.once()
        except Exception as error:  # reported by the thread that waits
            self.error = error

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, *error):
        self.over.set()
        self.join()
        if self.error and not error[0]:
            raise self.error
