#!/usr/bin/env python3
"""What a launch costs: CPU time for each `true` task of one array, by process.

  bench/launch/run.py [--bin build/release/bin] [--tasks 2000] [--rounds 3] [--cpus 2] [--out FILE]

Starts a private cluster of one node. The CPU time of a process is what the kernel has charged to it and to its children that have
ended, which includes supervisors, the first processes of namespaces and scripts; it counts in hundredths of a second. Without root
the sum over all processes by a control group is left out. Kernel threads are in neither.
"""
import argparse
import json
import os
import pathlib
import statistics
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "bench"))

from lib.ares import Cluster  # noqa: E402
from lib.measure import CpuGroup, Meter, Others, machine  # noqa: E402

TICK = os.sysconf("SC_CLK_TCK")


def processes():
    """pid -> (parent, name, seconds of it, seconds of its ended children)."""
    found = {}
    for entry in os.listdir("/proc"):
        if not entry.isdigit():
            continue
        try:
            with open(f"/proc/{entry}/stat") as file:
                text = file.read()
        except OSError:
            continue
        fields = text[text.rindex(")") + 2:].split()
        name = text[text.index("(") + 1:text.rindex(")")]
        own, ended = (int(fields[11]) + int(fields[12])) / TICK, (int(fields[13]) + int(fields[14])) / TICK
        found[int(entry)] = (int(fields[1]), name, own, ended)
    return found


def by_program(cluster):
    """Seconds of the cluster's processes. Children of aresd and of its fork server are the attempts."""
    all_of = processes()
    aresd, aresctld = cluster.pid("aresd@n1"), cluster.pid("aresctld")
    servers = [pid for pid, (parent, name, _, _) in all_of.items() if parent == aresd and name == "aresstepd"]
    result = {"aresctld": sum(all_of[aresctld][2:]), "aresd": all_of[aresd][2],
              "fork server": sum(all_of[pid][2] for pid in servers),
              "attempts": all_of[aresd][3] + sum(all_of[pid][3] for pid in servers)}
    postmaster = cluster.pid("postgres")
    result["postgres"] = sum(own + (ended if pid == postmaster else 0) for pid, (parent, _, own, ended) in all_of.items()
                             if postmaster in (pid, parent))
    return result


def array(cluster, group, tasks):
    script = os.path.join(cluster.dir, "true.sh")
    with open(script, "w") as file:
        file.write("#!/bin/sh\nexit 0\n")
    before = by_program(cluster)
    with Others(group) as others, Meter(group) as meter:
        cluster.submit(script, "-a", f"1-{tasks}", "-o", "/dev/null")
        while cluster.live():
            time.sleep(0.05)
    time.sleep(1)  # the last supervisors end after their jobs
    after = by_program(cluster)
    row = {"cpu_ms_per_task": {name: (after[name] - before[name]) * 1e3 / tasks for name in after},
           "tasks_per_second": tasks / meter.seconds, "others": others.share}
    row["cpu_ms_per_task"]["sum"] = sum(row["cpu_ms_per_task"].values())
    row["cpu_ms_per_task"]["all, with the commands"] = meter.cpu_each(tasks)
    return row


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", default=str(ROOT / "build/release/bin"))
    parser.add_argument("--tasks", type=int, default=2000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--cpus", type=int, default=2)
    parser.add_argument("--out")
    args = parser.parse_args()
    group = CpuGroup()
    rounds = []
    with tempfile.TemporaryDirectory(prefix="ares-launch-") as directory:
        os.chmod(directory, 0o755)  # PostgreSQL and munge run as other users
        cluster = Cluster(os.path.abspath(args.bin), directory + "/cluster", nodes=1, cpus=args.cpus, memory="4G")
        try:
            array(cluster, group, 100)
            for _ in range(args.rounds):
                rounds.append(array(cluster, group, args.tasks))
            configuration = cluster.configuration()
        finally:
            cluster.down()
            group.close()
    for name in rounds[0]["cpu_ms_per_task"]:
        values = [row["cpu_ms_per_task"][name] for row in rounds]
        if None not in values:
            print(f"{name:24} {statistics.median(values):6.2f} ms a task   ({', '.join(f'{v:.2f}' for v in values)})")
    print(f"{'tasks a second':24} {statistics.median(row['tasks_per_second'] for row in rounds):6.0f}")
    print(f"{'CPU used by others':24} {', '.join(str(round(row['others'] or 0, 3)) for row in rounds)}")
    if args.out:
        with open(args.out, "w") as file:
            json.dump({"machine": machine(), "configuration": configuration, "tasks": args.tasks, "rounds": rounds}, file, indent=1)


if __name__ == "__main__":
    main()
