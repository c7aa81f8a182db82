#!/usr/bin/env python3
"""Compares two builds: instructions of benchmarks, start-up of programs, and what the simulation needs to find planted bugs.

  bench/house/measure.py BEFORE AFTER [--only plan,fairness,submit,startup,mutants] [--out FILE]

BEFORE and AFTER are build folders (release), or the JSON of an earlier run, of which the first of its two builds is taken. In both
trees build the programs first, and

  cmake --build --preset release --target bench_plan bench_fairness bench_submit test_sim

Prints a table in Markdown; writes all that was counted to --out.

Instructions are counted by valgrind, so they do not depend on what else the machine does. Of one build they are equal every time, but
for bench_fairness, which prints times (some hundred instructions), and bench_submit, which talks to a private cluster of its own build and
is woken a little more or less often: the median of several runs is taken, and all are in the JSON. Wall times are only worth reading of
two builds in one run, on a quiet machine.
"""
import argparse
import json
import os
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "bench"))

from lib.ares import Cluster  # noqa: E402
from lib.measure import machine  # noqa: E402
from lib.process import CommandFailed  # noqa: E402

KINDS = ("plan", "fairness", "submit", "startup", "mutants")
PROGRAMS = ("aacct", "aacctmgr", "acancel", "acluster", "actl", "adiag", "ainfo", "aprio", "aqueue", "areport", "aresctld", "aresd",
            "aresstepd", "ashare", "asim", "asub")
STARTS = [(program, word) for program in PROGRAMS for word in ("--version", "--help") if (program, word) != ("aresstepd", "--help")]
RUNS = 20
SUBMIT_RUNS = 3

# Each size takes less than two minutes under callgrind.
PLAN = {
    "easy": ["--passes", "3", "--ends", "100", "1000", "10000", "500"],
    "conservative": ["--backfill", "conservative", "--passes", "1", "--ends", "10", "100", "600", "60"],
    "easy with estimates": ["--passes", "2", "--ends", "50", "--estimates", "16", "1000", "5000", "500"],
}
FAIRNESS = [
    "look_again/multifactor/1000/10000/1000",
    "look_again/multifactor_of_records/100000/10000/0",
    "look_again/fair_tree/100000/10000/0",
    "between_looks",
    "fair_tree_alone/10000",
    "read_tree",
    "draw_turns/10000",
]


class Failed(Exception):
    pass


def run(words, env=None, timeout=900):
    done = subprocess.run(words, env=env or clean_environment(), stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=timeout)
    if done.returncode:
        raise Failed(f"{' '.join(map(str, words))}: exit {done.returncode}\n{(done.stdout + done.stderr)[-2000:]}")
    return done


def clean_environment():
    return {"PATH": "/usr/bin:/bin", "LC_ALL": "C", "HOME": "/"}


class Build:
    """A build folder, reached through a path of equal length for both builds, because programs read their own paths."""

    def __init__(self, folder, link):
        self.folder = os.path.abspath(folder)
        os.symlink(self.folder, link)
        self.bin = f"{link}/bin"
        self.tests = f"{link}/tests"


def instructions_within(words, functions, env=None):
    """Instructions executed within functions whose name matches, in all threads."""
    with tempfile.TemporaryDirectory() as scratch:
        out = f"{scratch}/callgrind"
        run(["valgrind", "--tool=callgrind", f"--toggle-collect={functions}", f"--callgrind-out-file={out}", *words], env)
        total = sum(int(found.group(1)) for name in os.listdir(scratch)
                    for found in [re.search(r"^(?:totals|summary): (\d+)", pathlib.Path(scratch, name).read_text(), re.M)] if found)
    return total


def instructions(words, env=None, timeout=900):
    done = run(["valgrind", "--tool=cachegrind", "--cache-sim=no", "--cachegrind-out-file=/dev/null", *words], env, timeout)
    return int(re.search(r"I\s+refs:\s+([\d,]+)", done.stderr).group(1).replace(",", ""))


def plan(build):
    return {name: [instructions_within([f"{build.bin}/bench_plan", *words], "*measured*")] for name, words in PLAN.items()}


def fairness(build):
    """Each benchmark including its set-up and, if the program has the symbol `measured`, without it."""
    out = {}
    for name in FAIRNESS:
        # With a minimum time of 0 each benchmark runs one iteration.
        words = [f"{build.bin}/bench_fairness", "--benchmark_min_time=0", f"--benchmark_filter=^{name}$"]
        out[f"{name} with set-up"] = [instructions(words)]
        within = instructions_within(words, "*measured*")
        if within:
            out[name] = [within]
    return out


def submit(build):
    """Instructions of the client per submission: the difference between many and few submissions, so without start-up."""
    few, many = 100, 600
    with tempfile.TemporaryDirectory(prefix="ares-house-") as scratch:
        os.chmod(scratch, 0o755)
        cluster = Cluster(build.bin, scratch + "/cluster", nodes=1, cpus=4, memory="4G")
        try:
            def of(count, in_flight, batch):
                words = [f"{build.bin}/bench_submit", cluster.env["ARES_CONF"], str(count), str(in_flight), str(batch)]
                return instructions(words, cluster.env)

            out = {}
            for name, in_flight, batch in (("one at a time", 1, 1), ("50 in a request", 1, 50)):
                out[name] = [round((of(many * batch, in_flight, batch) - of(few * batch, in_flight, batch)) / ((many - few) * batch))
                             for _ in range(SUBMIT_RUNS)]
            return out
        finally:
            cluster.down()


def startup_instructions(build):
    return {f"{program} {word}": [instructions([f"{build.bin}/{program}", word])] for program, word in STARTS}


def startup_times(builds):
    """Milliseconds. The builds take turns, so that other load of the machine affects both."""
    times = [{f"{program} {word}": [] for program, word in STARTS} for _ in builds]
    turns = list(zip(builds, times))
    for _ in range(RUNS):
        turns.reverse()
        for program, word in STARTS:
            for build, out in turns:
                begin = time.perf_counter()
                run([f"{build.bin}/{program}", word])
                out[f"{program} {word}"].append((time.perf_counter() - begin) * 1e3)
    return times


def mutants(build):
    """For each planted bug the number of schedules until one finds it."""
    text = run([f"{build.tests}/test_sim", "--gtest_filter=*Mutants*"], timeout=3600).stdout
    found = {name: [int(count)] for name, count in re.findall(r"^(\S+) found by schedule (\d+):", text, re.M)}
    if not found:
        raise Failed(f"test_sim of {build.folder} tells of no planted bugs")
    return found


FIGURES = {
    "plan": ("instructions of bench_plan", plan),
    "fairness": ("instructions of bench_fairness", fairness),
    "submit": ("instructions of bench_submit a job", submit),
    "startup": ("instructions of", startup_instructions),
    "mutants": ("schedules to find", mutants),
}


def measure(folders, kinds, scratch):
    builds = [Build(folder, f"{scratch}/{name}") for folder, name in zip(folders, "ab")]
    results = [{"folder": build.folder, "figures": {}, "left_out": []} for build in builds]
    for kind in kinds:
        title, count = FIGURES[kind]
        for build, result in zip(builds, results):
            print(f"{kind} of {build.folder}", file=sys.stderr)
            try:
                counted = count(build)
            except (Failed, CommandFailed) as error:
                print(f"measure.py: left out: {error}", file=sys.stderr)
                result["left_out"].append(kind)
                continue
            for name, samples in counted.items():
                result["figures"][f"{title} {name}" if kind == "startup" else f"{title}: {name}"] = samples
        if kind == "startup":
            for times, result in zip(startup_times(builds), results):
                for name, samples in times.items():
                    result["figures"][f"milliseconds of {name}"] = samples
    return results


def table(before, after):
    rows = ["| figure | before | after | ratio |", "|---|---:|---:|---:|"]
    for name, samples in before["figures"].items():
        if name not in after["figures"]:
            rows.append(f"| {name} | {show(statistics.median(samples))} | - | - |")
            continue
        was, now = statistics.median(samples), statistics.median(after["figures"][name])
        rows.append(f"| {name} | {show(was)} | {show(now)} | {now / was:.4f} |")
    rows += [f"| {name} | - | {show(statistics.median(samples))} | - |"
             for name, samples in after["figures"].items() if name not in before["figures"]]
    return "\n".join(rows)


def show(value):
    return f"{value:,}" if isinstance(value, int) else f"{value:,.0f}" if value >= 1000 or value == int(value) else f"{value:.2f}"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("before")
    parser.add_argument("after")
    parser.add_argument("--only", default=",".join(KINDS), help="some of " + ", ".join(KINDS))
    parser.add_argument("--out")
    args = parser.parse_args()
    kinds = args.only.split(",")
    if unknown := set(kinds) - set(KINDS):
        parser.error(f"unknown: {', '.join(sorted(unknown))}; there are {', '.join(KINDS)}")
    given = [args.before, args.after]
    stored = [json.loads(pathlib.Path(name).read_text())["builds"][0] if name.endswith(".json") else None for name in given]
    with tempfile.TemporaryDirectory(prefix="ares-house-") as scratch:
        os.chmod(scratch, 0o755)
        measured = iter(measure([name for name, old in zip(given, stored) if old is None], kinds, scratch))
        builds = [old if old is not None else next(measured) for old in stored]
    for build in builds:
        build["folder"] = os.path.relpath(build["folder"], ROOT) if build["folder"].startswith(str(ROOT)) else os.path.basename(build["folder"])
    if args.out:
        pathlib.Path(args.out).write_text(json.dumps({"machine": machine(), "builds": builds}, indent=1) + "\n")
    print(table(*builds))
    if any(build["left_out"] for build in builds):
        sys.exit(1)


if __name__ == "__main__":
    main()
