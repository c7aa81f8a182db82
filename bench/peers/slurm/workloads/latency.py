"""Time from submission to the first instruction of the job, on an idle cluster."""
import os
import select
import time

from lib.measure import summary

PATIENCE = 60  # seconds within which a job must start


class Starts:
    """A named pipe to which jobs write their token and start time: waiting uses no CPU."""

    def __init__(self, system):
        self.path = system.work / "starts"
        os.mkfifo(self.path)
        os.chmod(self.path, 0o666)
        # Also open for writing, so that reading never returns end of file.
        self.descriptor = os.open(self.path, os.O_RDWR | os.O_NONBLOCK)
        self.script = system.script("start.sh", f'#!/bin/bash\necho "$1 $EPOCHREALTIME" > {self.path}\n')
        os.set_blocking(self.descriptor, True)

    def wait(self, token):
        """Returns the start time of the job with this token, in seconds of the wall clock."""
        text, deadline = "", time.monotonic() + PATIENCE
        while not text.endswith("\n"):
            ready, _, _ = select.select([self.descriptor], [], [], max(0, deadline - time.monotonic()))
            if not ready:
                raise RuntimeError(f"job {token} did not start within {PATIENCE} s")
            text += os.read(self.descriptor, 4096).decode()
        found, when = text.split()
        if found != token:
            raise RuntimeError(f"expected the start of {token}, not of {found}")
        return float(when)

    def close(self):
        os.close(self.descriptor)


def start(world):
    system, sizes = world.system, world.sizes
    starts = Starts(system)
    samples = []
    try:
        for i in range(sizes.start_jobs):
            # Users submit at random phases of all timers, and after an idle time.
            time.sleep(world.random.uniform(0.1, 1.5))
            begin = time.time()
            system.burst(1, 1, lambda _: system.submit(starts.script, f"t{i}")).check()
            samples.append((starts.wait(f"t{i}") - begin) * 1e3)
            system.wait_done()
    finally:
        starts.close()
    times = summary(samples)
    figures = {"start.p50": times["p50"], "start.p99": times["p99"], "raw": {"start_ms": samples}}
    if hasattr(system, "srun"):
        srun = system.burst(1, sizes.srun_jobs, lambda i: [system.srun, "-n1", "true"]).check()
        figures["start.srun"] = summary(srun.ms)["p50"]
        figures["raw"]["srun_ms"] = srun.ms
    return figures
