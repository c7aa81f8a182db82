#!/usr/bin/env python3
"""A tree of 100,000 associations: loading it, what it takes of the controller's memory, what commands over it cost.

  bench/accounting/associations.py [--bin build/release/bin] [--associations 100000] [--accounts 300] [--repeat 5] [--out FILE]

Writes the tree as aacctmgr's dump would (departments, accounts within them, each user in two accounts, shares all different, limits on
some), loads it into a private cluster that holds jobs to limits and orders by fair share, and times that and what comes after. Memory is
the resident size of aresctld: before, after, and of one that has read all of it from the database. One JSON object holds machine,
configuration and raw samples; a summary is printed. What computing priorities anew costs is in bench/micro/bench_fairness.cc.
"""
import argparse
import json
import os
import pathlib
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
sys.path.insert(0, str(HERE.parent))

from lib.ares import Cluster  # noqa: E402
from lib.measure import CpuGroup, fsync_latency, machine, summary  # noqa: E402
from lib.process import run  # noqa: E402

CONFIG = """
cluster: bench
accounting: {enforce: limits}
fairness: {policy: multifactor, weights: {age: 1000, fairshare: 10000, qos: 1000}}
nodes:
  - {name: n1, cpus: 4, memory: 8G}
partitions:
  - {name: main, nodes: n1, default: true, default_time: 60}
"""
DEPARTMENTS = 20


def tree(associations, accounts):
    """Returns the text of the file. Root is in account a0, so that root can submit jobs."""
    dice = random.Random(1)
    members = {account: [] for account in range(accounts)}
    for one in range(associations - 1):
        members[one % accounts].append(f"u{one // 2}")
    lines = ["accounts:", "  root:", "    accounts:"]
    for department in range(DEPARTMENTS):
        lines += [f"      d{department}:", f"        fairshare: {dice.randrange(1, 100)}", "        accounts:"]
        for account in range(department, accounts, DEPARTMENTS):
            lines += [f"          a{account}:", f"            fairshare: {dice.randrange(1, 100)}", "            MaxWall: 2-00:00:00",
                      "            users:"]
            if account == 0:
                lines.append("              - user: root")
            for user in members[account]:
                lines.append(f"              - {{user: {user}, fairshare: {dice.randrange(1, 100)}"
                             + (", MaxTRESPerJob: cpu=64" if dice.random() < 0.1 else "") + "}")
    lines += ["users:", "  root: {defaultaccount: a0}"]
    lines += [f"  u{user}: {{defaultaccount: a{user * 2 % accounts}}}" for user in range(associations // 2)]
    return "\n".join(lines) + "\n"


def memory(cluster):
    """Memory of aresctld in MiB: resident now, and its peak."""
    found = {}
    with open(f"/proc/{cluster.pid('aresctld')}/status") as file:
        for line in file:
            key, _, value = line.partition(":")
            if key in ("VmRSS", "VmHWM"):
                found[key] = int(value.split()[0]) / 1024
    return {"resident_mib": found["VmRSS"], "peak_mib": found["VmHWM"]}


def seconds(cluster, *words, out=None):
    """Runs a command. Returns its wall time and the CPU time of all processes (None if it cannot be counted)."""
    used, begin = cluster.group.seconds(), time.perf_counter()
    with open(out or os.devnull, "w") as file:
        subprocess.run([f"{cluster.bin}/{words[0]}", *words[1:]], stdout=file, env=cluster.env, check=True)
    took = time.perf_counter() - begin
    return took, None if used is None else cluster.group.seconds() - used


def restarted(cluster):
    """Kills the controller, which acluster restarts, and waits until it answers. Returns seconds, which include up to one second until
    the restart."""
    os.kill(cluster.pid("aresctld"), signal.SIGKILL)
    begin = time.perf_counter()
    while subprocess.run([f"{cluster.bin}/aqueue"], env=cluster.env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode:
        time.sleep(0.02)
    return time.perf_counter() - begin


def submissions(cluster, repeat):
    """Durable submissions per second, with 64 in flight."""
    rows = [json.loads(run(f"{cluster.bin}/bench_submit", cluster.env["ARES_CONF"], "3000", "64", env=cluster.env)) for _ in range(repeat)]
    return summary([row["per_second"] for row in rows])


def measure(cluster, args, report):
    file = f"{cluster.dir}/tree.yaml"
    tiny = f"{cluster.dir}/tiny.yaml"
    pathlib.Path(tiny).write_text(tree(2 * DEPARTMENTS, DEPARTMENTS))
    pathlib.Path(file).write_text(tree(args.associations, args.accounts))
    report["file_bytes"] = os.path.getsize(file)
    seconds(cluster, "aacctmgr", "-iQ", "load", tiny)
    report["submissions_before"] = submissions(cluster, args.repeat)
    restarted(cluster)
    report["memory_before"] = memory(cluster)
    report["dry_run_s"], report["dry_run_cpu_s"] = seconds(cluster, "aacctmgr", "-t", "load", file)
    report["load_s"], report["load_cpu_s"] = seconds(cluster, "aacctmgr", "-iQ", "load", file)
    report["memory_after_load"] = memory(cluster)
    report["restart_s"] = restarted(cluster)
    report["memory_after_restart"] = memory(cluster)
    report["submissions_after"] = submissions(cluster, args.repeat)
    users = max(1, (args.associations - 1) // 2)
    cases = {
        "load of what is there already": ["aacctmgr", "-iQ", "load", file],
        "dump": ["aacctmgr", "-Q", "dump", f"{cluster.dir}/dumped.yaml"],
        "show association, all": ["aacctmgr", "-nP", "show", "association"],
        "show association, one user": ["aacctmgr", "-nP", "show", "association", f"user=u{users // 2}"],
        "modify one user": lambda turn: ["aacctmgr", "-iQ", "modify", "user", f"u{users // 2}", "where",
                                         f"account=a{(users // 2 * 2) % args.accounts}", "set", f"fairshare={turn + 2}"],
        "add a user": lambda turn: ["aacctmgr", "-iQ", "add", "user", f"new{turn}", "account=a1"],
        "ashare of one user": ["ashare", "-n", "-P", f"--users=u{users // 2}"],
        "ashare, all": ["ashare", "-n", "-P", "-a"],
    }
    report["commands_ms"] = {}
    for name, words in cases.items():
        pairs = [seconds(cluster, *(words(turn) if callable(words) else words), out=f"{cluster.dir}/out") for turn in range(args.repeat)]
        cpu = None if pairs[0][1] is None else sum(used for _, used in pairs) * 1e3 / len(pairs)
        with open(f"{cluster.dir}/out") as out:
            lines = sum(1 for _ in out)
        report["commands_ms"][name] = {**summary([took * 1e3 for took, _ in pairs]), "cpu_ms": cpu, "lines": lines}
    report["memory_after_commands"] = memory(cluster)
    report["associations"] = int(run(f"{cluster.bin}/aacctmgr", "-nP", "show", "association", "format=user", env=cluster.env).count("\n"))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", default=str(ROOT / "build/release/bin"))
    parser.add_argument("--associations", type=int, default=100_000)
    parser.add_argument("--accounts", type=int, default=300)
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("--out")
    args = parser.parse_args()
    directory = tempfile.mkdtemp(prefix="ares-bench-")
    os.chmod(directory, 0o755)
    cluster = group = None
    try:
        report = {"machine": machine(), "fsync_ms": summary(fsync_latency(directory)),
                  "arguments": {k: v for k, v in vars(args).items() if k not in ("bin", "out")}}
        group = CpuGroup()
        cluster = Cluster(os.path.abspath(args.bin), f"{directory}/cluster", nodes=1, cpus=4, memory="8G", config=CONFIG)
        cluster.group = group
        report["configuration"] = cluster.configuration()
        measure(cluster, args, report)
        report["machine"]["load_after"] = os.getloadavg()[0]
        before, after = report["memory_before"]["resident_mib"], report["memory_after_restart"]["resident_mib"]
        report["bytes_per_association"] = (after - before) * 2**20 / report["associations"]
        if args.out:
            pathlib.Path(args.out).write_text(json.dumps(report, indent=1) + "\n")
        print(f"{report['associations']} associations: dry run {report['dry_run_s']:.1f} s, load {report['load_s']:.1f} s "
              f"({report['load_cpu_s'] or 0:.1f} s of processor time), restart {report['restart_s']:.1f} s")
        print(f"aresctld {before:.0f} MiB before, {report['memory_after_load']['resident_mib']:.0f} after the load (peak "
              f"{report['memory_after_load']['peak_mib']:.0f}), {after:.0f} after a restart: {report['bytes_per_association']:.0f} bytes each; "
              f"{report['memory_after_commands']['resident_mib']:.0f} after the commands (peak {report['memory_after_commands']['peak_mib']:.0f})")
        print(f"submissions {report['submissions_before']['p50']:.0f}/s before, {report['submissions_after']['p50']:.0f}/s after")
        for name, one in report["commands_ms"].items():
            print(f"{name:32} p50 {one['p50']:8.1f} ms   CPU {one['cpu_ms'] or 0:8.1f} ms   {one['lines']} lines")
    finally:
        if cluster:
            cluster.down()
        if group:
            group.close()
        shutil.rmtree(directory, ignore_errors=True)


if __name__ == "__main__":
    main()
