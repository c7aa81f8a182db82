#!/usr/bin/env python3
"""Runs clang-tidy, with the checks of .clang-tidy and the builds' warnings, over sources that were changed since they were last found clean.

    contrib/check_tidy.py [BUILD_DIR] [--since COMMIT] [--minutes N]
    contrib/check_tidy.py [BUILD_DIR] --all            every source
    contrib/check_tidy.py [BUILD_DIR] --of PATH...     these sources, and those in these folders
    contrib/check_tidy.py --self-test                  check the checker on sources made up for it

The sources under libcommon, daemons, commands, plugins and bench that differ from COMMIT (default: the commit in contrib/tidy.base, at
which all were clean), the working tree included. Of a header that was changed: the source of its name. --minutes: begins no further
group of sources after that time, and says how many sources it has read; the same ones first for the same commit. After a run with --all
that finds nothing, write the commit into contrib/tidy.base.

Several sources are read as one file (cmake/unity_groups.py), because most of the time goes into headers of libraries; findings are shown with
the lines of the sources. contrib/tidy_plugin.cc keeps the checks out of those headers. BUILD_DIR (default build/release) must be configured,
and its generated headers built. $CLANG_TIDY and $CLANG: the programs. Prints the findings and exits 1 if there is any.
"""

import argparse
import concurrent.futures
import os
import pathlib
import random
import re
import subprocess
import sys
import tempfile
import time

import sources

sys.path.insert(0, str(sources.ROOT / "cmake"))
import unity_groups  # noqa: E402

CLANG_TIDY = os.environ.get("CLANG_TIDY", "clang-tidy")
CLANG = os.environ.get("CLANG", "clang++")
BASE = sources.ROOT / "contrib/tidy.base"
PLUGIN = sources.ROOT / "contrib/tidy_plugin.cc"
# The analyzer gives a function up after so many steps: bugs within a few calls are found early, and the rest of the default of 225000 takes
# hours for the whole tree.
OPTIONS = [*sources.options_of_compiler(), *sources.WARNINGS, "-Xclang", "-analyzer-config", "-Xclang", "max-nodes=3000"]
GROUP = 24  # sources that are read together
# Sources that are read together, and where which check finds something in them.
MADE_UP = {
    "clean.cc": "#include <memory>\n#include <vector>\nint size(const std::vector<int>& of) { return static_cast<int>(of.size()); }\n",
    "moved.cc": "#include <string>\n#include <utility>\nstd::size_t use(std::string a) {\n  const std::string b = std::move(a);\n"
                "  return a.size() + b.size();\n}\n",
    "null.cc": "int read(bool is_there) {\n  int* at = nullptr;\n  if (is_there) return 1;\n  return *at;\n}\n",
    "library.cc": "#include <memory>\n#include <benchmark/benchmark.h>\nvoid add() {\n"
                  "  benchmark::RegisterBenchmark(\"a\", [](benchmark::State&) {});\n}\n",
    "shadow.cc": "int twice(int a) {\n  { int a = 2; (void)a; }\n  return 2 * a;\n}\n",
}
EXPECTED = {("moved.cc", 5, "bugprone-use-after-move"), ("moved.cc", 5, "clang-analyzer-cplusplus.Move"),
            ("null.cc", 4, "clang-analyzer-core.NullDereference"),
            ("shadow.cc", 2, "clang-diagnostic-shadow")}
FINDING = re.compile(r"^(?P<file>[^\s:]+):(?P<line>\d+):(?P<rest>\d+: (?P<kind>error|warning|note): .*)$")


def sources_of(paths):
    """The sources to read: a header only if there is no source of its name."""
    known = set(sources.tracked()) | set(paths)
    chosen = {path if path.endswith(".cc") or path.removesuffix(".h") + ".cc" not in known else path.removesuffix(".h") + ".cc"
              for path in paths}
    return sorted(path for path in chosen if (sources.ROOT / path).exists())


def changed_since(commit):
    """The paths that differ from the commit; ends the program if this clone does not have it."""
    try:
        return sources.changed_since(commit)
    except subprocess.CalledProcessError:
        sys.exit(f"clang-tidy: commit {commit} of contrib/tidy.base is not in this clone, so which sources were changed since then is unknown; "
                 "fetch it (git fetch --unshallow), or give another by --since")


def tidy_command(folder, checks=""):
    """How to run clang-tidy, with the plugin, which is built in the folder."""
    llvm = subprocess.run(["llvm-config-14", "--includedir"], capture_output=True, text=True, check=True).stdout.strip()
    plugin = pathlib.Path(folder) / "tidy_plugin.so"
    subprocess.run([CLANG, "-std=c++17", "-fno-rtti", "-fPIC", "-shared", "-isystem", llvm, str(PLUGIN), "-o", str(plugin)], check=True)
    return [CLANG_TIDY, "--quiet", f"--config-file={sources.ROOT / '.clang-tidy'}", f"--load={plugin}", f"--checks=ares-own-sources,{checks}"]


def joined(group):
    """The text of the group, and for each of its lines the source and the line there."""
    text, origin = [], [None]
    for path in group:
        lines = (sources.ROOT / path).read_text().split("\n") if path.endswith(".cc") else [f'#include "{sources.ROOT / path}"']
        text += lines
        origin += [(path, number) for number in range(1, len(lines) + 1)]
    return "\n".join(text) + "\n", origin


def findings_in(group, tidy, options):
    text, origin = joined(group)
    with tempfile.TemporaryDirectory() as folder:
        source = pathlib.Path(folder) / "joined.cc"
        source.write_text(text)
        done = subprocess.run([*tidy, str(source), "--", *options], capture_output=True, text=True)
    if "[clang-diagnostic-error" in done.stdout and len(group) > 1:
        # Two of them may only not fit together.
        middle = len(group) // 2
        return findings_in(group[:middle], tidy, options) + findings_in(group[middle:], tidy, options)
    lines = []
    for line in done.stdout.splitlines():
        found = FINDING.match(line)
        if found and found["file"] == str(source):
            path, number = origin[min(int(found["line"]), len(origin) - 1)]
            line = f"{path}:{number}:{found['rest']}"
        lines.append(line.replace(f"{sources.ROOT}/", ""))
    if done.returncode == 0:
        return []
    if not lines:
        return [done.stderr]
    lines = without_libraries(lines)
    return ["\n".join(lines) + "\n"] if lines else []


def without_libraries(lines):
    """Leaves out what the analyzer found in a header of a library, with the notes that follow: it does not see what the library does with a
    pointer that it takes over."""
    kept, is_kept = [], True
    for line in lines:
        found = FINDING.match(line)
        if found and found["kind"] != "note":
            is_kept = not (line.startswith("/usr/") and "[clang-analyzer-" in line)
        if is_kept:
            kept.append(line)
    return kept


def self_test():
    with tempfile.TemporaryDirectory() as folder:
        for name, text in MADE_UP.items():
            (pathlib.Path(folder) / name).write_text(text)
        output = "".join(findings_in([f"{folder}/{name}" for name in MADE_UP], tidy_command(folder), OPTIONS))
    found = {(pathlib.Path(m[1]).name, int(m[2]), m[3].split(",")[0])
             for m in re.finditer(r"^(\S+):(\d+):\d+: error: .*\[(\S+)\]$", output, re.MULTILINE)}
    for wrong in sorted(found ^ EXPECTED):
        print("found" if wrong in found else "not found", *wrong)
    print(f"{len(MADE_UP)} made-up sources, {len(found ^ EXPECTED)} findings judged wrongly")
    return found != EXPECTED


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build_dir", nargs="?", type=pathlib.Path, default=sources.ROOT / "build/release")
    parser.add_argument("--since", metavar="COMMIT")
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--of", nargs="+", metavar="PATH")
    parser.add_argument("--minutes", type=float)
    parser.add_argument("--jobs", "-j", type=int, default=2)
    parser.add_argument("--checks", default="", help="in addition to those of .clang-tidy, or with a dash less")
    parser.add_argument("--self-test", action="store_true")
    args = parser.parse_args()
    if args.self_test:
        sys.exit(self_test())
    os.chdir(sources.ROOT)
    if args.all or args.of:
        within = tuple(path if path.endswith((".cc", ".h")) else path.rstrip("/") + "/" for path in args.of or sources.FOLDERS)
        # Headers are read with the sources that include them.
        paths = [path for path in sources.tracked() if path.startswith(within) and (path.endswith(".cc") or path in within)]
    else:
        paths = changed_since(args.since or BASE.read_text().split()[0])
    paths = sources_of(paths)
    options = OPTIONS + sources.system_includes(args.build_dir.resolve())
    groups = [[source.path for source in group] for group in unity_groups.groups_of(paths, GROUP)]
    random.Random(sources.git("rev-parse", "HEAD")[0]).shuffle(groups)

    failed = left_out = 0
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        if groups:
            tidy = tidy_command(folder, args.checks)
        if len(groups) > 4:
            options += sources.precompiled(CLANG, options, ["proto/gen/api.pb.h"], folder)

        began = time.monotonic()

        def run(group):
            if args.minutes and group is not groups[0] and time.monotonic() - began > args.minutes * 60:
                return None
            return findings_in(group, tidy, options)

        for group, findings in zip(groups, pool.map(run, groups)):
            if findings is None:
                left_out += len(group)
                continue
            failed += len(findings)
            print("".join(findings), end="", flush=True)
    print(f"{len(paths) - left_out} of {len(paths)} sources read in {len(groups)} groups, {failed} groups with findings")
    sys.exit(failed > 0)


if __name__ == "__main__":
    main()
