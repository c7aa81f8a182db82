#!/usr/bin/env python3
"""Measures first come first served, EASY and conservative backfill on logs of the Parallel Workloads Archive.

    report_backfill.py run --logs DIR --results DIR [--jobs N] [--within SECONDS] [--bin DIR] [--only WORD]...
    report_backfill.py print --results DIR

`run` replays each log with each rule and both kinds of estimates with asim, and keeps a summary of each run in DIR. What is
there already is not run again, so it may be stopped and called again; with --within no run begins after that time.
`print` writes the tables of bench/reports/backfill.md. The folder of --logs holds the logs of the archive
(https://www.cs.huji.ac.il/labs/parallel/workload/), compressed and under their own names.
"""

import argparse
import json
import pathlib
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
LOGS = {
    "KTH-SP2": "KTH-SP2-1996-2.1-cln.swf.gz",
    "CTC-SP2": "CTC-SP2-1996-3.1-cln.swf.gz",
    "HPC2N": "HPC2N-2002-2.2-cln.swf.gz",
}
RULES = ["none", "easy", "easy:4", "conservative"]
ESTIMATES = ["logged", "exact"]
# Expected starts are computed only for the rules under which they are promises, because each computation costs a full plan.
FORETOLD = {"easy", "conservative"}


def cases():
    """All cases, the most important first, in case the time does not suffice for all."""
    order = [(estimates, rule) for rules in (("none", "easy"), ("conservative",), ("easy:4",))
             for estimates in ESTIMATES for rule in rules]
    return [(log, estimates, rule) for estimates, rule in order for log in LOGS]


def result_file(results, case):
    return results / ("-".join(case).replace(":", "") + ".json")


def run(arguments):
    begin = time.monotonic()
    arguments.results.mkdir(parents=True, exist_ok=True)
    for case in cases():
        log, estimates, rule = case
        target = result_file(arguments.results, case)
        if target.exists() or any(word not in "-".join(case) for word in arguments.only):
            continue
        if arguments.within and time.monotonic() - begin > arguments.within:
            print("time is up; call again")
            return 0
        command = [str(arguments.bin / "asim"), "run", str(arguments.logs / LOGS[log]), "--cluster=swf",
                   f"--policy=backfill={rule}", f"--estimates={estimates}", "--json"]
        if arguments.jobs:
            command.append(f"--jobs={arguments.jobs}")
        if rule in FORETOLD:
            command.append(f"--predict={arguments.predict}")
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode != 0:
            print(" ".join(command), done.stderr, sep="\n", file=sys.stderr)
            return 1
        target.write_text(done.stdout)
        summary = json.loads(done.stdout)
        print(*case, "slowdown", summary["slowdown_mean"], "cpu", summary["cpu_all"], flush=True)
    return 0


def number(value, digits=0):
    return "–" if value is None else f"{value:,.{digits}f}"


def table(head, rows):
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    return "\n".join(lines + ["| " + " | ".join(row) + " |" for row in rows])


def print_tables(arguments):
    found = {case: json.loads(result_file(arguments.results, case).read_text())
             for case in cases() if result_file(arguments.results, case).exists()}
    for estimates in ESTIMATES:
        rows = []
        for log in LOGS:
            base = found.get((log, estimates, "none"))
            for rule in RULES:
                s = found.get((log, estimates, rule))
                if not s:
                    continue
                share = s["slowdown_mean"] / base["slowdown_mean"] if base and base["jobs"] == s["jobs"] else None
                rows.append([log, number(s["jobs"]), rule, number(s["wait_mean"]), number(s["wait_median"]),
                             number(s["wait_p90"]), number(s["wait_p99"]), number(s["slowdown_mean"], 1),
                             number(s["slowdown_p90"], 1), number(share, 3), number(s["utilisation"], 3),
                             number(s.get("pass_mean", s.get("pass_cpu_mean"))), number(s["cpu_all"], 1)])
        print(f"### Requested times {'as logged' if estimates == 'logged' else 'exact'}\n")
        print(table(["log", "jobs", "rule", "wait mean s", "median", "p90", "p99", "slowdown mean", "p90",
                     "of FCFS", "utilisation", "a pass µs", "CPU s"], rows) + "\n")
    rows = [[log, estimates, rule, number(s["predicted"]), number(s["prediction_error_median"]),
             number(s["prediction_error_p90"])]
            for (log, estimates, rule), s in found.items() if s.get("predicted")]
    print("### Expected start an hour ahead\n")
    print(table(["log", "estimates", "rule", "starts", "error median s", "error p90 s"], rows))
    return 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("action", choices=["run", "print"])
    parser.add_argument("--logs", type=pathlib.Path, help="folder of the logs that run replays")
    parser.add_argument("--results", type=pathlib.Path, required=True)
    parser.add_argument("--jobs", type=int, help="only the first N jobs of each log")
    parser.add_argument("--predict", type=int, default=1800, help="seconds between questions for expected starts")
    parser.add_argument("--within", type=float, help="begin no run after so many seconds")
    parser.add_argument("--bin", type=pathlib.Path, default=ROOT / "build" / "release" / "bin")
    parser.add_argument("--only", action="append", default=[], help="runs whose names hold this")
    arguments = parser.parse_args()
    if arguments.action == "run" and not arguments.logs:
        parser.error("run needs --logs")
    return {"run": run, "print": print_tables}[arguments.action](arguments)


if __name__ == "__main__":
    sys.exit(main())
