#!/usr/bin/env python3
"""Harms a private cluster in many ways at once during a workload, and compares what ran with the guarantees of the scheduler.

    tests/fault/campaign.py --faults 1000 [--seed N] [--user NAME | --without-root] [--isolate | --no-namespaces] [--kinds A,B] [--bin DIR] [--keep DIR]

It prints each fault with its time, then the number of faults of each kind, the fates of acknowledged jobs for each accepted roll-back, and
the verdict; it exits with 1 if a guarantee was broken. A run is repeated with the seed that it prints, though not to the microsecond.
Faults are described in faults/kinds.py and faults/aimed.py, which has those of "--kinds matrix", and results in README.md.

As root jobs run as root and as daemon. With --user, or called by another user, everything runs as that user. Disks that can be filled are
small file systems in memory, in a mount namespace (without root: in an unprivileged user namespace, which is left before anything starts).
"""
import argparse
import os
import pathlib
import pwd
import random
import shutil
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "e2e")]

KILLS = ["kill supervisor", "kill node daemon", "kill controller", "kill postmaster"]
LEASE, ALLOWANCE, NODES = 8, 4, 6


def kills(count, seed, supervised):
    """A short campaign of kills alone. Returns a summary and the problems. Without acluster's supervisor `acluster up` starts what is
    missing after every second kill."""
    from faults import schedule, target, verdict, workload
    cluster = target.Target(supervised=supervised)
    try:
        jobs = workload.Workload(cluster, seed)
        choose = random.Random(seed)
        after = None if supervised else lambda: choose.random() < 0.5 and cluster.acluster("up", check=False)
        campaign = schedule.Campaign(cluster, jobs, seed, schedule.kinds_named(KILLS), count, pause=(0.0, 0.5), after=after)
        return judged(campaign, verdict.Verdict(campaign))
    finally:
        cluster.close()


def judged(campaign, verdict):
    target, workload = campaign.target, campaign.workload
    workload.start()
    try:
        campaign.run()
    finally:
        if not target.supervised:
            target.acluster("up", check=False)
        workload.stop()
    verdict.settle()
    campaign.follower.stop()
    verdict.compare()
    verdict.problems += campaign.problems
    injected = ", ".join(f"{number} {kind}" for kind, number in sorted(campaign.injected.items()))
    return (f"{sum(campaign.injected.values())} faults ({injected}); {verdict.summary()}",
            [f"{count}: {text}" for count, text in verdict.problems])


# --- by hand --------------------------------------------------------------------------------------------------------------------
def inside(args):
    """The campaign itself, in a folder whose disks are mounted."""
    from cluster import processes_naming
    from faults import schedule, target, verdict, workload
    top = pathlib.Path(args.inside)
    begin = time.monotonic()
    cluster = target.Target(top, nodes=NODES, lease=LEASE, allowance=ALLOWANCE, isolate=args.isolate,
                            namespaces=not args.no_namespaces)
    try:
        jobs = workload.Workload(cluster, args.seed, submitters=3, pause=(0.2, 0.9), long_jobs=True)
        campaign = schedule.Campaign(cluster, jobs, args.seed, schedule.kinds_named(args.kinds), args.faults,
                                     say=lambda line: print(line, flush=True))
        for kind, why in campaign.missing.items():
            print(f"left out: {kind} ({why})")
        found = verdict.Verdict(campaign)
        summary, problems = judged(campaign, found)
        report(campaign, found, summary, problems, time.monotonic() - begin, args.keep)
        if args.keep and problems:
            keep(cluster, pathlib.Path(args.keep))
    finally:
        cluster.close()
    left = [line for line in processes_naming(str(top)) if "--inside" not in line]
    for line in left:
        print("PROBLEM: left after the cluster was ended:", line)
    return 1 if problems or left else 0


def report(campaign, verdict, summary, problems, seconds, kept):
    width = campaign.width + 2
    print(f"\n{'kind':{width}} injected")
    for kind in campaign.kinds:
        note = campaign.missing.get(kind.name, "")
        print(f"{kind.name:{width}} {campaign.injected[kind.name]:8}  {note}")
    print(f"{'all':{width}} {sum(campaign.injected.values()):8}  in {seconds / 60:.1f} min\n")
    for rollback, fates in verdict.fates():
        print(f"roll-back {rollback.number}: " + ", ".join(f"{len(names)} {fate}" for fate, names in sorted(fates.items())))
        if kept:
            pathlib.Path(kept).mkdir(exist_ok=True)
            with open(pathlib.Path(kept) / f"fates-{rollback.number}.txt", "w") as file:
                print(rollback.refusal, file=file)
                for fate, names in sorted(fates.items()):
                    print(f"{fate}: {' '.join(names)}", file=file)
    print("\n" + summary)
    for problem in problems:
        print("PROBLEM:", problem)


def keep(cluster, folder):
    """What is needed to look for the cause of a problem, and would end with the mounts."""
    folder.mkdir(exist_ok=True)
    words = cluster.database()
    cluster.postgres("pg_dump", *words[:-2], words[-1], "-Fc", "-f", folder / "ares.dump")
    for name in ("c/log", "c/spool", "c/state", "rival/log", "work/out"):
        source, to = cluster.top / name, folder / name
        to.parent.mkdir(parents=True, exist_ok=True)
        subprocess.run(["cp", "-a", source, to], stderr=subprocess.DEVNULL)
    print(f"logs, spools and database are in {folder}")


def outside(args, words):
    """Makes the folder, mounts its disks in a namespace and runs the campaign there, as the user."""
    from faults.target import disks_of
    user = args.user or pwd.getpwuid(os.geteuid()).pw_name
    who = pwd.getpwnam(user)
    top = pathlib.Path(tempfile.mkdtemp(prefix="ares-fault-"))
    os.chown(top, who.pw_uid, who.pw_gid)
    become = []
    if who.pw_uid != os.geteuid():
        become = ["setpriv", f"--reuid={who.pw_uid}", f"--regid={who.pw_gid}", "--init-groups", "--reset-env"]
    root = who.pw_uid == 0
    namespace = ["unshare", "--mount"] + ([] if root else ["--user", "--map-current-user", "--keep-caps"])
    mounts = "".join(f"mkdir -p '{folder}' && mount -t tmpfs -o size={size}m,mode=755 ares '{folder}' && "
                     for folder, size in disks_of(top, NODES).items())
    drop = "" if root else "setpriv --ambient-caps=-all --inh-caps=-all --bounding-set=-all "
    # The caller's own Python may be in a folder that the user cannot enter.
    python = "/usr/bin/python3" if become and os.path.exists("/usr/bin/python3") else sys.executable
    own = [python, str(pathlib.Path(__file__).resolve()), "--inside", str(top), *words]
    environment = [f"{name}={os.environ[name]}" for name in ("ARES_BIN_DIR", "PATH") if name in os.environ]
    try:
        return subprocess.run([*become, "env", *environment, "PYTHONDONTWRITEBYTECODE=1", *namespace, "sh", "-c",
                               f'{mounts}exec {drop}"$@"', "sh", *own], cwd=top).returncode
    finally:
        shutil.rmtree(top, ignore_errors=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--faults", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=None, help="default: a random one, which is printed")
    parser.add_argument("--user", help="run as this user")
    parser.add_argument("--without-root", action="store_const", dest="user", const="daemon", help="the same as --user daemon")
    parser.add_argument("--isolate", action="store_true", help="each node in a network namespace; root only")
    parser.add_argument("--no-namespaces", action="store_true", help="without root: jobs in no namespaces of their own")
    parser.add_argument("--kinds", type=lambda text: [word.strip() for word in text.split(",") if word], default=[], help="only these")
    parser.add_argument("--bin", help="folder of the programs; default: build/release/bin")
    parser.add_argument("--keep", type=os.path.abspath, help="folder for fates of jobs and, after problems, for logs and records")
    parser.add_argument("--add-up", nargs="+", metavar="FILE", help="print the sum of parts from what they have printed")
    parser.add_argument("--inside", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.bin:
        os.environ["ARES_BIN_DIR"] = os.path.abspath(args.bin)
    if args.inside:
        sys.exit(inside(args))
    if args.add_up:
        from faults import sums
        print(sums.added_up(args.add_up))
        return
    seed = random.randrange(1 << 30) if args.seed is None else args.seed
    words = ["--faults", str(args.faults), "--seed", str(seed), "--kinds", ",".join(args.kinds)]
    if args.keep:
        pathlib.Path(args.keep).mkdir(exist_ok=True)
        shutil.chown(args.keep, args.user or os.geteuid())
        words += ["--keep", args.keep]
    words += ["--isolate"] if args.isolate else []
    words += ["--no-namespaces"] if args.no_namespaces else []
    print(f"seed {seed}, {args.faults} faults, as {args.user or pwd.getpwuid(os.geteuid()).pw_name}", flush=True)
    sys.exit(outside(args, words))


if __name__ == "__main__":
    main()
