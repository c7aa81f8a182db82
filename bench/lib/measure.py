"""Measurements that all benchmarks use: CPU time of a process tree, fsync latency of the disk, the machine, quantiles."""
import os
import platform
import re
import time


def quantile(samples, q):
    return sorted(samples)[int(q * (len(samples) - 1))]


def summary(samples):
    return {"p50": quantile(samples, 0.5), "p95": quantile(samples, 0.95), "p99": quantile(samples, 0.99), "samples": samples}


class CpuGroup:
    """A cgroup that counts the CPU time of this process and of all processes that it starts later. Without root or a usable cgroup
    hierarchy `path` is None and nothing is counted."""

    def __init__(self):
        self.path = None
        for base, file in (("/sys/fs/cgroup/cpuacct", "cpuacct.usage"), ("/sys/fs/cgroup", "cpu.stat")):
            if not os.path.exists(f"{base}/{file}"):
                continue
            path = f"{base}/ares-bench-{os.getpid()}"
            try:
                os.mkdir(path)
                with open(f"{path}/cgroup.procs", "w") as procs:
                    procs.write(str(os.getpid()))
            except OSError:
                continue
            self.path, self.base, self.file = path, base, file
            return

    def take_in(self, pid):
        """Counts this running process and its descendants from now on."""
        if not self.path:
            return
        with open(f"{self.path}/cgroup.procs", "w") as procs:
            procs.write(str(pid))
        for task in os.listdir(f"/proc/{pid}/task"):
            with open(f"/proc/{pid}/task/{task}/children") as children:
                for child in children.read().split():
                    self.take_in(int(child))

    def seconds(self):
        """CPU time so far; None when it is not counted."""
        if not self.path:
            return None
        with open(f"{self.path}/{self.file}") as file:
            text = file.read()
        if self.file == "cpuacct.usage":
            return int(text) / 1e9
        return int(re.search(r"usage_usec (\d+)", text).group(1)) / 1e6

    def close(self):
        if not self.path:
            return
        # Processes that still run, and this one, move back to the base group.
        with open(f"{self.path}/cgroup.procs") as procs:
            members = procs.read().split()
        for pid in members:
            try:
                with open(f"{self.base}/cgroup.procs", "w") as procs:
                    procs.write(pid)
            except ProcessLookupError:
                pass  # the process has ended meanwhile
        deadline = time.monotonic() + 10
        while time.monotonic() < deadline:
            try:
                os.rmdir(self.path)
                return
            except OSError:
                time.sleep(0.05)


class Meter:
    """`with Meter(group) as m: ...`: afterwards m.seconds is the wall time and m.cpu the CPU time, None if it is not counted."""

    def __init__(self, group):
        self.group = group

    def __enter__(self):
        self.cpu_before = self.group.seconds()
        self.begin = time.perf_counter()
        return self

    def __exit__(self, *error):
        self.seconds = time.perf_counter() - self.begin
        self.cpu = None if self.cpu_before is None else self.group.seconds() - self.cpu_before

    def cpu_each(self, count, scale=1e3):
        """CPU time per item, by default in milliseconds; None if it is not counted."""
        return None if self.cpu is None else self.cpu * scale / count


def busy_seconds():
    """CPU seconds of all processes of this machine since boot."""
    with open("/proc/stat") as file:
        user, nice, system, _, _, irq, softirq, *_ = (int(word) for word in file.readline().split()[1:])
    return (user + nice + system + irq + softirq) / os.sysconf("SC_CLK_TCK")


class Others:
    """`with Others(group) as o: ...`: afterwards o.share is the share of all cores' time that processes outside the group used; None if
    it is not counted. Figures taken with a share above a few hundredths are unreliable."""

    def __init__(self, group):
        self.group = group

    def __enter__(self):
        self.begin, self.busy, self.own = time.perf_counter(), busy_seconds(), self.group.seconds()
        return self

    def __exit__(self, *error):
        self.share = None
        if self.own is not None:
            used = busy_seconds() - self.busy - (self.group.seconds() - self.own)
            self.share = max(0.0, used / (time.perf_counter() - self.begin) / os.cpu_count())


def fsync_latency(directory, count=200):
    """Milliseconds of single 8 KiB writes with fdatasync, as in a small commit of PostgreSQL."""
    samples = []
    path = os.path.join(directory, "fsync-probe")
    descriptor = os.open(path, os.O_CREAT | os.O_WRONLY, 0o600)
    try:
        for i in range(count):
            begin = time.perf_counter()
            os.pwrite(descriptor, b"x" * 8192, (i % 64) * 8192)
            os.fdatasync(descriptor)
            samples.append((time.perf_counter() - begin) * 1e3)
    finally:
        os.close(descriptor)
        os.unlink(path)
    return samples


def machine():
    with open("/proc/cpuinfo") as file:
        found = re.search(r"model name\s*:\s*(.*)", file.read())
    with open("/proc/meminfo") as file:
        memory = re.search(r"MemTotal:\s*(\d+)", file.read())
    return {"cpu": found.group(1) if found else platform.processor(), "cores": os.cpu_count(), "kernel": platform.release(),
            "memory_mib": int(memory.group(1)) // 1024, "load_before": os.getloadavg()[0]}
