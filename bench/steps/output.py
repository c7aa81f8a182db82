#!/usr/bin/env python3
"""CPU time of 1 GB of output through the tasks of one step, beside three hops of `cat` through a socket with the same bytes.

    bench/steps/output.py [--tasks 8] [--megabytes 1000] [--rounds 3] [--out FILE]

Each task writes its part of a file of lines; arun writes what arrives into a pipe, whose reader counts lines of each task and
adds up a checksum. Both sides read the input from the page cache. Runs as root, because CPU time is counted by a cgroup.
"""
import argparse
import hashlib
import json
import os
import pathlib
import socket
import statistics
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "bench"))
from lib.ares import Cluster  # noqa: E402
from lib.measure import CpuGroup, Meter, Others, machine  # noqa: E402

READER = """
import sys
import hashlib
lines = {}
for line in sys.stdin.buffer:
    rank, _, rest = line.partition(b":")
    lines.setdefault(int(rank), hashlib.sha256()).update(line)
print(*(f"{rank} {digest.hexdigest()}" for rank, digest in sorted(lines.items())), sep="\\n")
"""


def parts(directory, tasks, size):
    """One file for each task, of lines that name it; returns their digests."""
    digests = []
    for rank in range(tasks):
        line = (f"{rank}:" + "x" * 76)[:79] + "\n"
        digest = hashlib.sha256()
        with open(f"{directory}/part{rank}", "wb") as file:
            block = (line * 8192).encode()
            left = size // tasks
            while left > 0:
                file.write(block)
                digest.update(block)
                left -= len(block)
        os.chmod(f"{directory}/part{rank}", 0o644)
        digests.append(f"{rank} {digest.hexdigest()}")
    return digests


def run(cluster, group, name, text):
    script = f"{cluster.dir}/{name}.sh"
    with open(script, "w") as file:
        file.write("#!/bin/bash\n" + text)
    with Others(group) as others, Meter(group) as meter:
        cluster.submit(script, "--wait", "-n", str(cluster.cpus), "-o", f"{cluster.dir}/{name}.out")
    with open(f"{cluster.dir}/{name}.out") as file:
        return file.read().split("\n")[:-1], {"cpu": meter.cpu, "seconds": meter.seconds, "others": others.share}


def socket_cat(group, directory, tasks):
    """The same bytes through one socket, from cat to cat."""
    with Others(group) as others, Meter(group) as meter:
        ours, theirs = socket.socketpair()
        reader = subprocess.Popen(["cat"], stdin=theirs, stdout=subprocess.DEVNULL)
        theirs.close()
        subprocess.run(["cat", *(f"{directory}/part{rank}" for rank in range(tasks))], stdout=ours, check=True)
        ours.close()
        reader.wait()
    return {"cpu": meter.cpu, "seconds": meter.seconds, "others": others.share}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", default=str(ROOT / "build/release/bin"))
    parser.add_argument("--tasks", type=int, default=8)
    parser.add_argument("--megabytes", type=int, default=1000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--out")
    args = parser.parse_args()
    group = CpuGroup()
    rows = []
    with tempfile.TemporaryDirectory(prefix="ares-output-") as directory:
        os.chmod(directory, 0o755)
        expected = parts(directory, args.tasks, args.megabytes * 1000 * 1000)
        with open(f"{directory}/reader.py", "w") as file:
            file.write(READER)
        cluster = Cluster(os.path.abspath(args.bin), directory + "/cluster", nodes=1, cpus=args.tasks, memory="4G")
        cluster.cpus = args.tasks
        try:
            step = f"arun -n{args.tasks} sh -c 'exec cat {directory}/part$ARES_PROCID'"
            lines, _ = run(cluster, group, "check", f"{step} | python3 {directory}/reader.py\n")
            if lines != expected:
                sys.exit(f"bytes were lost or changed: {lines}")
            for _ in range(args.rounds):
                _, row = run(cluster, group, "step", f"{step} > /dev/null\n")
                rows.append({"arun": row, "cat": socket_cat(group, directory, args.tasks)})
        finally:
            cluster.down()
            group.close()
    cpu = {name: statistics.median(row[name]["cpu"] for row in rows) for name in ("arun", "cat")}
    print(f"{args.megabytes} MB through {args.tasks} tasks arrived whole")
    print(f"CPU of the step with arun   {cpu['arun']:.2f} s  (" + ", ".join(f"{row['arun']['cpu']:.2f}" for row in rows) + ")")
    print(f"three hops of cat           {3 * cpu['cat']:.2f} s  (" + ", ".join(f"{3 * row['cat']['cpu']:.2f}" for row in rows) + ")")
    print(f"ratio, at most 1            {cpu['arun'] / (3 * cpu['cat']):.2f}")
    if args.out:
        with open(args.out, "w") as file:
            json.dump({"machine": machine(), "tasks": args.tasks, "megabytes": args.megabytes, "rounds": rows}, file, indent=1)


if __name__ == "__main__":
    main()
