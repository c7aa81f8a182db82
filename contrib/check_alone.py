#!/usr/bin/env python3
"""Checks that sources include what they use: each is parsed alone, without the precompiled headers that the builds give it.

    contrib/check_alone.py [BUILD_DIR] [--since COMMIT] [--all] [--at-most N]

Only the sources under libcommon, daemons, commands, plugins and bench that were added or changed since COMMIT (default: ten commits ago,
or as far back as the clone goes), the working tree included; --all: every one. A file that was moved without a change counts as
unchanged. --at-most: of more than N sources, N that are drawn by chance, the same ones for the same commit.
BUILD_DIR (default build/release) must be configured, and its generated headers built. Prints the compiler's errors and exits 1 if
there is any.
"""

import argparse
import concurrent.futures
import os
import pathlib
import random
import sys

import sources


def errors_of(path, system):
    return sources.parse(os.environ.get("CXX", "c++"), sources.including(path), system)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build_dir", nargs="?", type=pathlib.Path, default=sources.ROOT / "build/release")
    parser.add_argument("--since", metavar="COMMIT")
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--at-most", metavar="N", type=int)
    args = parser.parse_args()
    paths = sources.tracked() if args.all else sources.changed_since(args.since)
    changed = len(paths)
    if args.at_most and changed > args.at_most:
        paths = random.Random(sources.git("rev-parse", "HEAD")[0]).sample(paths, args.at_most)
    system = sources.system_includes(args.build_dir.resolve())
    failed = 0
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        for errors in pool.map(lambda path: errors_of(path, system), paths):
            if errors:
                failed += 1
                print(errors, end="")
    print(f"{len(paths)} of {changed} sources parsed alone, {failed} do not parse")
    sys.exit(failed > 0)


if __name__ == "__main__":
    main()
