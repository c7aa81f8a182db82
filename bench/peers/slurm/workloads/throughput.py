"""Throughput of `true` scripts, from the first submission to the end of the last, and CPU time per job."""
import time

from lib.measure import Meter

TRUE = "#!/bin/sh\ntrue\n"
CLIENTS = 8


def true(world):
    """One submit process per job, from 8 clients at once."""
    system, count = world.system, world.sizes.true_jobs
    script = system.script("true.sh", TRUE)
    with Meter(world.group) as meter:
        burst = system.burst(CLIENTS, count, lambda i: system.submit(script)).check()
        system.wait_done()
    system.wait_accounted(count, "COMPLETED")
    return {"true.rate": count / meter.seconds, "true.cpu": meter.cpu_each(count),
            "raw": {"jobs": count, "seconds": meter.seconds, "submitting_seconds": burst.seconds, "cpu_seconds": meter.cpu,
                    "submit_ms": burst.ms}}


def array(world):
    """The same jobs as one array."""
    system, count = world.system, world.sizes.array_tasks
    script = system.script("true.sh", TRUE)
    with Meter(world.group) as meter:
        system.burst(1, 1, lambda i: system.submit(script, array=f"1-{count}")).check()
        system.wait_done()
    system.wait_accounted(count, "COMPLETED")
    return {"array.rate": count / meter.seconds, "array.cpu": meter.cpu_each(count),
            "raw": {"tasks": count, "seconds": meter.seconds, "cpu_seconds": meter.cpu}}


def loop(world):
    """Only fork, exec and wait: the upper bound for every scheduler."""
    system, count = world.system, world.sizes.array_tasks
    script = system.script("true.sh", TRUE)
    with Meter(world.group) as meter:
        system.run(script, count)
    return {"array.rate": count / meter.seconds, "array.cpu": meter.cpu_each(count),
            "raw": {"scripts": count, "seconds": meter.seconds, "cpu_seconds": meter.cpu, "loops": system.loops}}


def bare_or_array(world):
    return array(world) if hasattr(world.system, "submit") else loop(world)


def array10000(world):
    """Time to submit a large held array."""
    system, tasks = world.system, world.sizes.large_array_tasks
    script = system.script("true.sh", TRUE)
    samples = []
    for _ in range(world.sizes.large_array_repeats):
        samples += system.burst(1, 1, lambda i: system.submit(script, hold=True, array=f"1-{tasks}")).check().ms
        system.run(system.cancel_all())
        time.sleep(0.2)  # so that a sample does not include the cancellation of the previous one
    return {"array10000.p50": sorted(samples)[len(samples) // 2], "raw": {"tasks": tasks, "submit_ms": samples}}
