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
import json
import os
import pathlib
import random
import shlex
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
FOLDERS = ["libcommon", "daemons", "commands", "plugins", "bench"]


def git(*arguments):
    return subprocess.run(["git", "-C", ROOT, *arguments], check=True, capture_output=True, text=True).stdout.splitlines()


def changed_since(commit):
    commit = commit or git("rev-list", "--first-parent", "--max-count=11", "HEAD")[-1]
    changed = [line.split("\t") for line in git("diff", "--name-status", "-M", "--diff-filter=AMR", commit)]
    return [fields[-1] for fields in changed if fields[0] != "R100"] + git("ls-files", "--others", "--exclude-standard")


def system_includes(build):
    """The folders of headers that do not belong to the project, as the build gives them: generated ones and those of libraries."""
    folders = {build / "gen"}
    for entry in json.loads((build / "compile_commands.json").read_text()):
        words = shlex.split(entry["command"])
        folders.update(pathlib.Path(words[i + 1]) for i, word in enumerate(words) if word == "-isystem")
    return [word for folder in sorted(folders) for word in ("-isystem", str(folder))]


def errors_of(path, system):
    includes = ["-I" + str(ROOT / folder) for folder in FOLDERS] + system
    command = [os.environ.get("CXX", "c++"), "-std=c++20", "-fsyntax-only", "-pthread", '-DARES_VERSION=""', '-DARES_LIBDIR=""', f'-DARES_SOURCE_DIR="{ROOT}"']
    # A file of one line, so that a header is no main file to the compiler (which warns of "#pragma once" in one).
    done = subprocess.run(command + includes + ["-x", "c++", "-"], input=f'#include "{ROOT / path}"\n', capture_output=True, text=True)
    return "" if done.returncode == 0 else done.stderr


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build_dir", nargs="?", type=pathlib.Path, default=ROOT / "build/release")
    parser.add_argument("--since", metavar="COMMIT")
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--at-most", metavar="N", type=int)
    args = parser.parse_args()
    paths = git("ls-files") if args.all else changed_since(args.since)
    paths = sorted({p for p in paths if p.split("/")[0] in FOLDERS and p.endswith((".h", ".cc"))})
    changed = len(paths)
    if args.at_most and changed > args.at_most:
        paths = random.Random(git("rev-parse", "HEAD")[0]).sample(paths, args.at_most)
    system = system_includes(args.build_dir.resolve())
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
