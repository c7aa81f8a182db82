"""Users' queries with a long queue, each in its own process, and of accounting after the queue was cancelled."""
import json
import time

from lib.measure import quantile
from lib.process import CommandFailed

from systems import CANCELLED, SINCE


def measure(world, key, at_once, argv, figures, raw):
    """Median of the time until all of `at_once` equal commands have ended. Skipped if the command refuses its options."""
    system = world.system
    try:
        system.run(argv)
    except CommandFailed as error:
        raw[key] = f"skipped: {str(error).splitlines()[-1]}"
        return
    bursts = [system.burst(at_once, at_once, lambda i: argv, keep=200).check() for _ in range(world.sizes.query_repeats)]
    samples = [burst.seconds * 1e3 for burst in bursts]
    figures[key], raw[key] = quantile(samples, 0.5), samples


def queries(world):
    system, count = world.system, world.sizes.pending
    system.api(count, 64 if system.name == "ares" else 8)
    ids = sorted(system.live(), key=int)
    if len(ids) != count:
        raise RuntimeError(f"{system.name}: {len(ids)} jobs in the queue, not {count}")
    middle = ids[len(ids) // 2]
    figures, raw = {}, {"pending": count}

    measure(world, "queue.all", 1, system.queue(), figures, raw)
    measure(world, "queue.8", 8, system.queue(), figures, raw)
    measure(world, "queue.one", 1, system.queue("-h", "-j", middle, "-o", "%i %T %r"), figures, raw)
    measure(world, "queue.json", 1, system.queue("--json"), figures, raw)
    if "queue.json" in figures:
        found = len(json.loads(system.run(system.queue("--json")))["jobs"])
        if found < count:  # Slurm also lists recently ended jobs
            raise RuntimeError(f"{system.name}: --json lists {found} jobs, not {count}")

    begin = time.perf_counter()
    cancelling = system.burst(1, 1, lambda i: system.cancel_all()).check()
    figures["cancel.all"] = cancelling.ms[0]
    system.wait_done()
    raw["cancelled_and_gone_ms"] = (time.perf_counter() - begin) * 1e3

    system.wait_accounted(count, "CANCELLED", *CANCELLED)
    measure(world, "account.all", 1, system.account(*SINCE, *CANCELLED), figures, raw)
    measure(world, "account.one", 1, system.account("-j", middle), figures, raw)
    return {**figures, "raw": raw}
