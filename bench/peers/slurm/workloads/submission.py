"""Rate of acknowledged submissions, through commands and through the client libraries."""
from lib.measure import Meter, summary

from systems import Skip
from workloads.throughput import CLIENTS, TRUE


def submit(world):
    """Submits by command: held jobs one by one, held jobs from 8 clients, and jobs that may start from 8 clients."""
    system, sizes = world.system, world.sizes
    script = system.script("true.sh", TRUE)

    def held(clients, count):
        with Meter(world.group) as meter:
            burst = system.burst(clients, count, lambda i: system.submit(script, hold=True)).check()
        system.run(system.cancel_all())
        system.wait_done()
        return burst, meter

    one, one_meter = held(1, sizes.submit_one)
    several, several_meter = held(CLIENTS, sizes.submit_burst)
    may_start = system.burst(CLIENTS, sizes.submit_burst, lambda i: system.submit(script)).check()
    times = summary(one.ms)
    return {"submit.one.p50": times["p50"], "submit.one.p99": times["p99"], "submit.one.rate": sizes.submit_one / one.seconds,
            "submit.one.cpu": one_meter.cpu_each(sizes.submit_one), "submit.held8": sizes.submit_burst / several.seconds,
            "submit.held8.cpu": several_meter.cpu_each(sizes.submit_burst), "submit.unheld8": sizes.submit_burst / may_start.seconds,
            "raw": {"one_ms": one.ms, "held8_ms": several.ms, "unheld8_ms": may_start.ms}}


def api(world):
    """Submits held jobs through the library: one at a time, in parallel as suits the system, and many per call if supported."""
    system, sizes = world.system, world.sizes
    is_ares = system.name == "ares"
    kinds = [("api.one", sizes.api_one, lambda n: system.api(n, 1)),
             ("api.parallel", sizes.api_parallel, lambda n: system.api(n, 64 if is_ares else CLIENTS)),
             ("api.batch", sizes.api_batch, system.api_batch)]
    figures, raw = {}, {}
    for key, count, call in kinds:
        try:
            with Meter(world.group) as meter:
                row = call(count)
        except Skip as skip:
            raw[key] = f"skipped: {skip}"
            continue
        if row["failed"]:
            raise RuntimeError(f"{key}: {row['failed']} of {count} submissions failed")
        figures[key] = row["per_second"]
        if meter.cpu is not None:
            figures[key + ".cpu"] = meter.cpu_each(count, 1e6)
        raw[key] = row
    return {**figures, "raw": raw}
