#!/usr/bin/env python3
"""Durable submissions of two builds, in turns: CPU time over all processes and submissions a second.

  bench/foundation/compare_submit.py BEFORE AFTER [--rounds 7] [--submissions 4000] [--out FILE]

BEFORE and AFTER are folders with the programs of a release build, bench_submit among them. Both clusters run all the time; the one that
is not measured is idle. Prints medians and their ratios; the JSON has every round. CPU time is counted by a control group, which needs
root. The rate is only worth reading on a quiet machine.
"""
import argparse
import json
import os
import pathlib
import shutil
import statistics
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "bench"))

from lib.ares import Cluster  # noqa: E402
from lib.measure import CpuGroup, machine  # noqa: E402
from lib.process import run  # noqa: E402

# In flight, jobs in a request, share of the submissions (one at a time takes long).
KINDS = {"one at a time": (1, 1, 0.25), "64 at a time": (64, 1, 1.0), "50 in a request": (4, 50, 2.0)}


def measure(cluster, group, count, in_flight, batch):
    requests = max(1, round(count / batch))
    before = group.seconds()
    row = json.loads(run(f"{cluster.bin}/bench_submit", cluster.env["ARES_CONF"], str(requests), str(in_flight), str(batch), env=cluster.env))
    cpu = None if before is None else (group.seconds() - before) * 1e6 / (requests * batch)
    return {"per_second": row["per_second"], "p50_ms": row["p50_ms"], "p99_ms": row["p99_ms"], "cpu_us": cpu}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("before")
    parser.add_argument("after")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--submissions", type=int, default=4000)
    parser.add_argument("--out")
    given = parser.parse_args()
    directory = tempfile.mkdtemp(prefix="ares-bench-")
    os.chmod(directory, 0o755)
    group = CpuGroup()
    clusters = []
    samples = {name: ([], []) for name in KINDS}
    try:
        for number, folder in enumerate((given.before, given.after)):
            clusters.append(Cluster(os.path.abspath(folder), f"{directory}/{number}", nodes=1, cpus=4, memory="4G"))
        for turn in range(given.rounds + 1):
            order = (0, 1) if turn % 2 else (1, 0)
            for name, (in_flight, batch, share) in KINDS.items():
                for which in order:
                    row = measure(clusters[which], group, given.submissions * share, in_flight, batch)
                    if turn:  # the first one warms up
                        samples[name][which].append(row)
        print("| | before | after | ratio of the medians |\n|---|---:|---:|---:|")
        for name, (before, after) in samples.items():
            for key, unit in (("cpu_us", "CPU us each"), ("per_second", "a second")):
                if before[0][key] is None:
                    continue
                old, new = (statistics.median(row[key] for row in rows) for rows in (before, after))
                print(f"| {name}, {unit} | {old:,.0f} | {new:,.0f} | {new / old:.3f} |")
        if given.out:
            pathlib.Path(given.out).write_text(json.dumps({"machine": machine(), "before": given.before, "after": given.after,
                                                           "rounds": samples}, indent=1) + "\n")
    finally:
        for cluster in clusters:
            cluster.down()
        group.close()
        shutil.rmtree(directory, ignore_errors=True)


if __name__ == "__main__":
    sys.exit(main())
