#!/usr/bin/env python3
"""Prints where the time of a build went, from Ninja's log.

    contrib/build_times.py BUILD_DIR [--top N]

One row a kind (precompiled headers, generated code, production code, tests, measurements, links, other), one a target, and the
N slowest steps (default 15). Ninja's log has only when a step began and ended. The column "share" corrects for steps that ran side by
side: each moment is divided by the number of steps that ran in it, so that the column adds up to the wall clock time during
which Ninja was at work. Other processes on the machine are not corrected for; measure on an idle machine.
"""

import argparse
import collections
import pathlib
import re
import signal
import sys

KINDS = [
    ("precompiled headers", r"\.gch$|ares_pch_"),
    ("generated code", r"_gen\.dir/|_grpc\.dir/|(^|/)gen/"),
    ("tests", r"^tests/.*\.o$"),
    ("measurements", r"^bench/(?!CMakeFiles/(ares_)?asim\.dir).*\.o$"),
    ("production code", r"\.o$"),
    ("links and archives", r"\.(a|so)$|^bin/|^tests/test_[a-z_0-9]+$|^bench/[a-z_]+$|^man/make_pages$"),
]


def read_log(path):
    """The last build of every output, as (output, begin, end) in seconds; a step with several outputs counts once."""
    steps = {}
    offset = 0.0  # Ninja counts from its own start, so a later run of it is put behind the earlier ones
    last = 0.0
    with open(path, encoding="utf-8") as log:
        if not log.readline().startswith("# ninja log v"):
            sys.exit(f"{path} is not a log of Ninja")
        for line in log:
            fields = line.rstrip("\n").split("\t")
            if len(fields) != 5:
                continue
            begin, end = int(fields[0]) / 1000, int(fields[1]) / 1000
            if offset + end < last:
                offset = last
            last = max(last, offset + end)
            steps[fields[3]] = (offset + begin, offset + end, fields[4])
    once = {}
    for output, (begin, end, command) in steps.items():
        once.setdefault((command, begin, end), (output, begin, end))
    return list(once.values())


def shares(steps):
    """Seconds of wall clock time for each step: every moment is divided among the steps that ran in it."""
    moments = sorted([(begin, 1, n) for n, (_, begin, _) in enumerate(steps)] + [(end, 0, n) for n, (_, _, end) in enumerate(steps)])
    result = [0.0] * len(steps)
    running = set()
    last = 0.0
    for time, begins, step in moments:
        for other in running:
            result[other] += (time - last) / len(running)
        last = time
        if begins:
            running.add(step)
        else:
            running.discard(step)
    return result


def kind_of(output):
    return next((kind for kind, pattern in KINDS if re.search(pattern, output)), "other")


def target_of(output):
    found = re.search(r"CMakeFiles/([^/]+)\.dir/", output)
    return found.group(1) if found else kind_of(output)


def print_table(title, rows):
    print(f"| {title} | steps | seconds | share |\n|---|---:|---:|---:|")
    for name, (count, seconds, share) in rows:
        print(f"| {name} | {count} | {seconds:.0f} | {share:.0f} |")
    print()


def sum_by(key, steps, share):
    sums = collections.defaultdict(lambda: (0, 0.0, 0.0))
    for (output, begin, end), part in zip(steps, share):
        count, seconds, parts = sums[key(output)]
        sums[key(output)] = (count + 1, seconds + end - begin, parts + part)
    return sorted(sums.items(), key=lambda row: -row[1][2])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build_dir", type=pathlib.Path)
    parser.add_argument("--top", type=int, default=15, metavar="N")
    args = parser.parse_args()
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    absolute = str(args.build_dir.resolve()) + "/"
    steps = [(o.removeprefix(absolute), b, e) for o, b, e in read_log(args.build_dir / ".ninja_log")]
    steps = [step for step in steps if not step[0].endswith("verify_globs")]
    share = shares(steps)
    total = [("total", (len(steps), sum(e - b for _, b, e in steps), sum(share)))]
    print_table("kind", sum_by(kind_of, steps, share) + total)
    print_table("target", sum_by(target_of, steps, share))
    slowest = sorted(zip(steps, share), key=lambda row: row[0][1] - row[0][2])[: args.top]
    print_table("slowest", [(o, (1, e - b, part)) for (o, b, e), part in slowest])


if __name__ == "__main__":
    main()
