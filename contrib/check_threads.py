#!/usr/bin/env python3
"""Checks with clang that what a mutex guards is used only while it is locked, as the attributes of base/mutex.h say.

    contrib/check_threads.py [BUILD_DIR] [--changed-since COMMIT]
    contrib/check_threads.py [BUILD_DIR] --all [FOLDER...]   that clang compiles every source, without any of the builds' warnings
    contrib/check_threads.py --self-test    check the checker on sources made up for it

Parses every source under libcommon, daemons, commands, plugins and bench that includes base/mutex.h or base/shared_mutex.h, itself or by
the header of the same name; --changed-since: those of them that were changed, or whose header was. Several are parsed together
(cmake/unity_groups.py), because most of the time goes into headers of libraries. --all includes the
tests, but those of tests/fuzz, which are built by clang. With FOLDERs: the sources under these.
BUILD_DIR (default build/release) must be configured, and its generated headers built. $CLANG: the compiler, default clang++. Prints its
errors and exits 1 if there is any.
"""

import argparse
import concurrent.futures
import os
import pathlib
import re
import sys
import tempfile

import sources

sys.path.insert(0, str(sources.ROOT / "cmake"))
import unity_groups  # noqa: E402

CLANG = os.environ.get("CLANG", "clang++")
# Everything else is for the builds to warn of.
OPTIONS = ["-Wno-everything", "-Wthread-safety", "-Werror=thread-safety"]
OPTIONS_FOR_ALL = [*sources.WARNINGS, "-Wthread-safety", "-Werror", "-ferror-limit=0"]
LOCKS = re.compile(r'^#include "base/(?:shared_)?mutex\.h"$', re.MULTILINE)

GROUP = 8  # sources that are parsed together
GROUP_OF_ALL = 24

MADE_UP = """
#include "base/mutex.h"
#include "base/shared_mutex.h"
struct Counter {
  ares::Mutex mutex;
  ares::SharedMutex shared;
  ares::Condition changed;
  int count ARES_GUARDED_BY(mutex) = 0;
  int read_often ARES_GUARDED_BY(shared) = 0;
  void add() ARES_REQUIRES(mutex) { ++count; }
  void use();
};
void Counter::use() {
  %s
}
"""
# What stands in use(), and whether it is refused.
CASES = [
    ("count = 1;", True),
    ("add();", True),
    ("const ares::Lock lock(mutex); count = 1; add();", False),
    ("ares::Lock lock(mutex); lock.unlock(); count = 1;", True),
    ("ares::Lock lock(mutex); lock.unlock(); lock.lock(); count = 1;", False),
    ("const ares::Lock lock(mutex); const ares::Lock again(mutex);", True),
    ("ares::Lock lock(mutex); changed.wait(lock, [this] { return count == 1; });", True),
    ("ares::Lock lock(mutex); changed.wait(lock, [this]() ARES_REQUIRES(mutex) { return count == 1; });", False),
    ("const ares::ReadLock lock(shared); (void)(read_often == 1);", False),
    ("const ares::ReadLock lock(shared); read_often = 1;", True),
    ("const ares::WriteLock lock(shared); read_often = 1;", False),
]


def own_header(path):
    return path.removesuffix(".cc") + ".h"


def with_locks():
    """The sources to parse: a header only if there is no source of its name."""
    has_locks = {path: bool(LOCKS.search((sources.ROOT / path).read_text())) for path in sources.tracked() if (sources.ROOT / path).exists()}
    units = [path for path in has_locks if path.endswith(".cc") or path.removesuffix(".h") + ".cc" not in has_locks]
    return [path for path in units if has_locks[path] or has_locks.get(own_header(path))]


def errors_in(group, options):
    """The errors of each of these sources that has any."""
    errors = sources.parse(CLANG, "".join(map(sources.text_of, group)), options)
    # A warning is about one of them.
    if not errors or len(group) == 1 or not re.search(r"error: .*(?<!\])$", errors, re.MULTILINE):
        return [errors] if errors else []
    # By halves, because two of them may only not fit together.
    middle = len(group) // 2
    return errors_in(group[:middle], options) + errors_in(group[middle:], options)


def groups_of_all(folders):
    """Every source; tests of different programs do not fit together."""
    programs = {}
    for path in sources.tracked([*sources.FOLDERS, "tests"]):
        if path.endswith(".cc") and not path.startswith("tests/fuzz/") and (not folders or path.startswith(tuple(folders))):
            folder = "/".join(path.split("/")[:3]) if path.startswith("tests/unit/") else path.split("/")[1] if path.startswith("tests/") else ""
            programs.setdefault(folder, []).append(path)
    return [[source.path for source in group] for paths in programs.values() for group in unity_groups.groups_of(paths, GROUP_OF_ALL)]


def self_test():
    failed = 0
    for body, is_refused in CASES:
        errors = sources.parse(CLANG, MADE_UP % body, OPTIONS)
        if bool(errors) != is_refused or (errors and "[-Werror,-Wthread-safety" not in errors):
            failed += 1
            print(f"{'accepted' if is_refused else 'refused'}: {body}\n{errors}", end="")
    if "-Wunused-variable" not in sources.parse(CLANG, "void use() { int count; }", OPTIONS_FOR_ALL):
        failed += 1
        print("accepted by --all: an unused variable")
    print(f"{len(CASES) + 1} made-up sources, {failed} judged wrongly")
    return failed


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build_dir", nargs="?", type=pathlib.Path, default=sources.ROOT / "build/release")
    parser.add_argument("--changed-since", metavar="COMMIT")
    parser.add_argument("--all", nargs="*", metavar="FOLDER")
    parser.add_argument("--self-test", action="store_true")
    args = parser.parse_args()
    if args.self_test:
        sys.exit(self_test() > 0)
    os.chdir(sources.ROOT)
    options = sources.system_includes(args.build_dir.resolve())
    if args.all is not None:
        options += OPTIONS_FOR_ALL + sources.definitions_for_tests(args.build_dir.resolve())
        groups = groups_of_all(args.all)
    else:
        paths = with_locks()
        if args.changed_since:
            changed = set(sources.changed_since(args.changed_since))
            paths = [path for path in paths if path in changed or own_header(path) in changed]
        options += OPTIONS
        groups = [[source.path for source in group] for group in unity_groups.groups_of(paths, GROUP)]
    failed = 0
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(2) as pool:
        if args.all is not None:
            headers = ["gmock/gmock.h", "gtest/gtest.h", "proto/gen/api.pb.h"]
            options += sources.precompiled(CLANG, sources.options_of_compiler() + options, headers, folder)
        for errors in pool.map(lambda group: errors_in(group, options), groups):
            failed += len(errors)
            print("".join(errors), end="", flush=True)
    print(f"{sum(map(len, groups))} sources{'' if args.all is not None else ' with locks'} parsed in {len(groups)} groups, {failed} refused")
    sys.exit(failed > 0)


if __name__ == "__main__":
    main()
