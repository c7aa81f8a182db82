#!/usr/bin/python3
"""Ares beside Debian's own Slurm: the same workloads on one machine in one run, with ratios and the goals they are held to.

  bench/peers/slurm/setup.sh                                   once: Debian's packages
  bench/peers/slurm/run.py                                     a quick look at small sizes
  bench/peers/slurm/run.py --full --out FILE                   what counts; give it a quiet machine
  bench/peers/slurm/run.py --only true --only start --true-jobs 1000

Needs root: slurmd becomes the users, and CPU time is counted by a cgroup. Jobs run as the user given. Every workload gets a system that
was just started and has run one job, and the systems take turns. See README.md for what is measured how.
"""
import argparse
import json
import os
import pathlib
import pwd
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import traceback

sys.dont_write_bytecode = True
HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[2]
sys.path[:0] = [str(HERE), str(ROOT / "bench")]

import report  # noqa: E402
import slurm  # noqa: E402
import systems  # noqa: E402
from lib.measure import CpuGroup, Others, fsync_latency, machine, summary  # noqa: E402
from workloads import World, exactly_once, latency, queries, steps, submission, throughput  # noqa: E402

SCHEDULERS = ["ares", "slurm", "slurm-tuned", "slurm-cgroup"]
WORKLOADS = {
    "true": (throughput.true, SCHEDULERS),
    "array": (throughput.bare_or_array, ["loop", "loops", *SCHEDULERS]),
    "submit": (submission.submit, SCHEDULERS),
    "api": (submission.api, SCHEDULERS),
    "array10000": (throughput.array10000, SCHEDULERS),
    "start": (latency.start, SCHEDULERS),
    "steps": (steps.steps, SCHEDULERS),
    "queries": (queries.queries, SCHEDULERS),
    "stress": (exactly_once.stress, SCHEDULERS),
    "kill": (exactly_once.kill, SCHEDULERS),
}
# name, size of a quick run, size of a full run, description
SIZES = [
    ("rounds", 1, 3, "how often everything is done; medians are reported"),
    ("true-jobs", 200, 5000, "true: jobs"),
    ("array-tasks", 200, 5000, "array: tasks, and scripts of the loops"),
    ("submit-one", 100, 1000, "submit: jobs one by one"),
    ("submit-burst", 200, 2000, "submit: jobs from 8 clients"),
    ("api-one", 200, 2000, "api: jobs one at a time"),
    ("api-parallel", 1000, 20000, "api: jobs with many under way"),
    ("api-batch", 1000, 20000, "api: jobs in calls of many"),
    ("large-array-tasks", 10000, 10000, "array10000: tasks"),
    ("large-array-repeats", 3, 20, "array10000: arrays submitted"),
    ("start-jobs", 8, 60, "start: jobs"),
    ("srun-jobs", 5, 30, "start: runs of srun"),
    ("steps-alone", 30, 200, "steps: steps of one task, one after the other"),
    ("steps-tasks", 100, 1000, "steps: tasks of the large one"),
    ("pending", 500, 10000, "queries: jobs in the queue"),
    ("query-repeats", 3, 15, "queries: how often each is asked"),
    ("stress-one", 50, 1000, "stress: jobs one by one"),
    ("stress-burst", 20, 100, "stress: jobs at once"),
    ("stress-sustained", 50, 500, "stress: jobs by 50 workers"),
    ("kill-jobs", 60, 500, "kill: jobs acknowledged before it"),
]


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", default=str(ROOT / "build/release/bin"), help="folder of Ares's programs, bench_submit among them")
    parser.add_argument("--only", action="append", choices=WORKLOADS, help="only this workload; may be given several times")
    parser.add_argument("--system", action="append", choices=SCHEDULERS, help="only this system; may be given several times")
    parser.add_argument("--full", action="store_true", help="the sizes that goals are stated for")
    parser.add_argument("--user", default="daemon", help="who submits, and whom jobs run as (daemon)")
    parser.add_argument("--dir", help="where private systems keep their data (a folder in /tmp)")
    parser.add_argument("--out", help="write everything to this file as JSON, after each workload anew")
    sizes = parser.add_argument_group("sizes (quick; with --full)")
    for name, quick, full, text in SIZES:
        sizes.add_argument(f"--{name}", type=int, metavar="N", help=f"{text} ({quick:,}; {full:,})")
    args = parser.parse_args()
    for name, quick, full, _ in SIZES:
        key = name.replace("-", "_")
        if getattr(args, key) is None:
            setattr(args, key, full if args.full else quick)
    return args


def complain_early(args):
    if os.geteuid() != 0:
        sys.exit("run.py: run this as root: slurmd has to become the users, and CPU time is counted by a cgroup")
    if missing := slurm.missing_programs():
        sys.exit(f"run.py: {', '.join(missing)} not installed; run {HERE}/setup.sh")
    missing = [name for name in ("acluster", "asub", "aqueue", "aacct", "acancel", "aresctld", "aresd", "aresstepd")
               if not os.access(f"{args.bin}/{name}", os.X_OK)]
    if missing:
        sys.exit(f"run.py: {', '.join(missing)} not in {args.bin}; build them, and the target benchmarks, or name another --bin")
    try:
        pwd.getpwnam(args.user)
    except KeyError:
        sys.exit(f"run.py: there is no user {args.user}")


def revision():
    done = subprocess.run(["git", "-C", str(ROOT), "describe", "--always", "--dirty"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                          text=True)
    return done.stdout.strip() or "unknown"


def one(name, system_name, number, args, top, group):
    """Runs one workload on one system, which is started before and stopped afterwards."""
    work, _ = WORKLOADS[name]
    row = {"workload": name, "system": system_name, "round": number}
    directory = top / f"{name}-{system_name}-{number}"
    system = systems.MAKERS[system_name](directory, args.user, os.path.abspath(args.bin))
    try:
        if hasattr(system, "start"):
            system.start()
            system.warm_up()
            row["configuration"] = system.configuration()
        begin = time.monotonic()
        with Others(group) as others:
            figures = work(World(system, group, args, number))
        row["others_share"] = others.share
        row["raw"] = figures.pop("raw", {})
        row["figures"] = figures
        row["took_seconds"] = time.monotonic() - begin
    except Exception as error:  # a failure must not lose the other figures
        row["error"] = f"{type(error).__name__}: {error}"
        print(f"{name} on {system_name} failed: {row['error']}", file=sys.stderr)
        traceback.print_exc()
        if hasattr(system, "logs"):
            print(system.logs(), file=sys.stderr)
    finally:
        if hasattr(system, "stop"):
            system.stop()
        shutil.rmtree(directory, ignore_errors=True)
    return row


def in_turn(name, number, args):
    """The systems on which this workload runs. Each round begins with another one."""
    names = [system for system in WORKLOADS[name][1] if not args.system or system not in SCHEDULERS or system in args.system]
    first = number % len(names)
    return names[first:] + names[:first]


def skipped(rows):
    seen = {}
    for row in rows:
        for key, value in row.get("raw", {}).items():
            if isinstance(value, str) and value.startswith("skipped: "):
                seen[f"{row['system']}: {key} {value}"] = True
        if "error" in row:
            seen[f"{row['system']}: {row['workload']} FAILED: {row['error'].splitlines()[0]}"] = True
    return list(seen)


def kept(rows):
    """Keeps one configuration per system, because those of one system differ only in folder and ports."""
    configurations = {}
    for row in rows:
        if "configuration" in row:
            configurations.setdefault(row["system"], row["configuration"])
    return configurations, [{key: value for key, value in row.items() if key != "configuration"} for row in rows]


def main():
    args = arguments()
    complain_early(args)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("run.py: told to stop"))  # runs every finally block
    top = pathlib.Path(tempfile.mkdtemp(prefix="ares-peers-", dir=args.dir))
    top.chmod(0o755)
    group = CpuGroup()
    result = {"date": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()), "ares": revision(), "slurm": systems.slurm_version(),
              "machine": machine(), "sizes": {name: getattr(args, name.replace("-", "_")) for name, *_ in SIZES},
              "fsync_ms": {"before": summary(fsync_latency(top))}, "cpu_counted": bool(group.path), "jobs_run_as": args.user}
    rows = []

    def write():
        result["configuration"], result["rounds"] = kept(rows)
        result["report"] = report.rows(rows)
        result["skipped"] = skipped(rows)
        if args.out:
            pathlib.Path(args.out).write_text(json.dumps(result, indent=1) + "\n")

    try:
        for name in args.only or WORKLOADS:
            for number in range(args.rounds):
                for system_name in in_turn(name, number, args):
                    rows.append(one(name, system_name, number, args, top, group))
                    took = rows[-1].get("took_seconds")
                    print(f"{name} {number + 1}/{args.rounds} {system_name}: {'failed' if took is None else f'{took:.1f} s'}",
                          file=sys.stderr, flush=True)
            write()
        result["fsync_ms"]["after"] = summary(fsync_latency(top))
        write()
    finally:
        group.close()
        shutil.rmtree(top, ignore_errors=True)
    print(f"Ares {result['ares']} beside {result['slurm']}, {result['machine']['cores']} cores, {result['machine']['cpu']}; fsync p50 "
          f"{result['fsync_ms']['before']['p50']:.2f} ms before, {result['fsync_ms']['after']['p50']:.2f} ms after; ratio: above 1 Ares is "
          "better than the better of Slurm's settings\n")
    print(report.table(rows))
    for line in result["skipped"]:
        print(line)
    busiest = max((row.get("others_share") or 0 for row in rows), default=0)
    if busiest > 0.05:
        print(f"Other programs used up to {busiest:.0%} of this machine during a measurement: these figures are no more than a hint.")
    sys.exit(1 if any("error" in row for row in rows) else 0)


if __name__ == "__main__":
    main()
