#!/usr/bin/env python3
"""Makes a cluster of GPU nodes (ares.yaml) and a workload for it (asim's own YAML), the same for the same numbers.

    make_gpu_workload.py OUT_FOLDER [--jobs N] [--nodes N] [--load SHARE]

Writes OUT_FOLDER/cluster.yaml and OUT_FOLDER/workload.yaml. The cluster: eight GPUs a node, twenty shapes of three types of GPUs, as in
bench_plan. The jobs: kinds in the proportions of the public GPU traces (a fifth ask for no GPU, one GPU is commonest, one in
fifty is a training of 2 to 16 whole nodes). Run times are uniform in the logarithm, requested times 1 to 4 times as long, arrivals
independent (Poisson). How often they come follows from the load: GPU time asked for over what the cluster has.
"""

import argparse
import math
import pathlib
import sys

TYPES = ["a100", "h100", "l40s"]
SHAPES, GPUS = 20, 8
# Share of the jobs; GPUs per node, nodes, CPUs per node; shortest and longest run time in seconds.
KINDS = [
    (0.200, 0, 1, 8, 30, 14_400),
    (0.340, 1, 1, 8, 60, 28_800),
    (0.180, 2, 1, 16, 60, 43_200),
    (0.150, 4, 1, 32, 120, 43_200),
    (0.110, 8, 1, 64, 300, 43_200),
    (0.012, 8, 2, 64, 600, 43_200),
    (0.006, 8, 4, 64, 600, 86_400),
    (0.002, 8, 16, 64, 600, 86_400),
]


def mean_run(shortest, longest):
    """Mean of a run time whose logarithm is uniformly distributed."""
    return (longest - shortest) / math.log(longest / shortest)


def shares():
    """Share of the nodes by GPU type. Shapes alternate between types, so the shares are not equal."""
    counts = [sum(shape % len(TYPES) == kind for shape in range(SHAPES)) for kind in range(len(TYPES))]
    return [count / SHAPES for count in counts]


def cluster(nodes):
    lines = ["nodes:"]
    each, more = divmod(nodes, SHAPES)
    for shape in range(SHAPES):
        count = each + (shape < more)
        if count:
            lines.append(f'  - {{name: "s{shape:02}-[1-{count}]", cpus: {64 + 16 * (shape % 5)}, '
                         f'memory: {256 + 64 * shape}G, gpus: "{TYPES[shape % len(TYPES)]}:{GPUS}"}}')
    return "\n".join(lines) + "\npartitions:\n  - {name: all, nodes: ALL}\n"


def workload(jobs, nodes, load):
    gpu_seconds = jobs * sum(share * gpus * wide * mean_run(shortest, longest)
                             for share, gpus, wide, _, shortest, longest in KINDS)
    span = gpu_seconds / (load * nodes * GPUS)
    lines = [f"# {jobs} jobs over {span / 86_400:.2f} days, load {load}", "jobs:"]
    for share, gpus, wide, cpus, shortest, longest in KINDS:
        for kind, part in zip(TYPES, shares()):
            count = round(jobs * share * part)
            if count == 0:
                continue
            asked = f', gpus: "{kind}:{gpus}"' if gpus else ""
            lines.append(f"  - {{name: {kind}-{gpus}x{wide}, user: u{gpus}x{wide}{kind}, users: 40, count: {count}, "
                         f"every: {span / count:.3f}, arrivals: random, run: [{shortest}, {longest}], "
                         f"overestimate: [1, 4], nodes: {wide}, tasks: {wide}, cpus_per_task: {cpus}, "
                         f"memory_per_cpu: 3G{asked}}}")
    return "\n".join(lines) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=pathlib.Path)
    parser.add_argument("--jobs", type=int, default=1_000_000)
    parser.add_argument("--nodes", type=int, default=10_000)
    parser.add_argument("--load", type=float, default=0.87)
    asked = parser.parse_args()
    asked.out.mkdir(parents=True, exist_ok=True)
    (asked.out / "cluster.yaml").write_text(cluster(asked.nodes))
    (asked.out / "workload.yaml").write_text(workload(asked.jobs, asked.nodes, asked.load))
    return 0


if __name__ == "__main__":
    sys.exit(main())
