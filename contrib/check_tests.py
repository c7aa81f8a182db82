#!/usr/bin/env python3
"""Names the tests of a unit, and checks that every unit has one.

    contrib/check_tests.py                 checks the whole tree
    contrib/check_tests.py --of UNIT...    prints the tests of profile, sched/profile or libcommon/core/sched/time/profile.cc

A unit is NAME.h and NAME.cc. A test belongs to it if

  1. it is called after it:                                 tests/unit/sched/score_test.cc
  2. a line among its first comments names it:              // Tests: releases, sched/profile
  3. it, or a header of its own folder that it includes, includes the unit's header.

A name that several units have is written with a folder of the one that is meant, at any depth above it: sched/profile. So a
unit may move to another folder below that one. Python tests name units as well (# Tests: ...).
"""

import argparse
import collections
import pathlib
import re
import subprocess
import sys

ROOTS = ("libcommon", "daemons", "plugins", "commands")
HOW = ("named after it", "names it", "includes it")


class Tree:
    def __init__(self, root):
        listed = subprocess.run(["git", "-C", root, "ls-files", "-co", "--exclude-standard", *ROOTS, "tests"],
                                capture_output=True, text=True, check=True).stdout.split("\n")
        files = [name for name in listed if name and (root / name).exists()]
        self.units = {pathlib.PurePath(name).with_suffix("") for name in files
                      if name.startswith(ROOTS) and name.endswith((".h", ".cc")) and not name.endswith("/main.cc")}
        self.by_name = collections.defaultdict(set)
        for unit in self.units:
            self.by_name[unit.name].add(unit)
        self.tests = collections.defaultdict(dict)  # unit -> test -> how
        self.mistakes = []
        self.fixtures = {name: (root / name).read_text() for name in files if re.fullmatch(r"tests/.*\.h", name)}
        for name in files:
            if re.fullmatch(r"tests/.*_test\.cc|tests/.*/test_\w+\.py", name):
                self.read_test(name, (root / name).read_text())

    def resolve(self, text, test_folder=None):
        """The units that a name or path means; with a test's folder, those that a test of that name there may be about."""
        path = pathlib.PurePath(re.sub(r"\.(h|cc)$", "", text))
        if path in self.units:
            return {path}
        found = {unit for unit in self.by_name[path.name] if set(path.parts[:-1]) <= set(unit.parts)}
        if test_folder and len(found) > 1:
            found = {unit for unit in found if test_folder in unit.parts} or found
        return found

    def add(self, test, units, how):
        for unit in units:
            self.tests[unit].setdefault(test, how)

    def read_test(self, test, text):
        path = pathlib.PurePath(test)
        if path.suffix == ".cc":
            alike = self.resolve(path.stem[:-len("_test")], path.parent.name)
            self.add(test, alike if len(alike) == 1 else (), 0)
        for names in re.findall(r"^(?://|#) Tests: (.*)$", text, re.MULTILINE):
            for name in filter(None, (word.strip() for word in names.split(","))):
                units = self.resolve(name)
                if len(units) != 1:
                    known = ", ".join(sorted(str(unit) for unit in units)) or "no unit"
                    self.mistakes.append(f'{test}: "Tests: {name}" means {known}; name exactly one')
                self.add(test, units, 1)
        self.read_includes(test, path.parent, text)

    def read_includes(self, test, folder, text):
        for header in re.findall(r'^#include "([^"]+)\.h"$', text, re.MULTILINE):
            self.add(test, {unit for top in ROOTS if (unit := pathlib.PurePath(top, header)) in self.units}, 2)
            for place in (folder, pathlib.PurePath("tests")):
                if fixture := self.fixtures.get(f"{place}/{header}.h"):
                    self.read_includes(test, folder, fixture)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--of", nargs="+", metavar="UNIT", help="print the tests of these units")
    arguments = parser.parse_args()
    tree = Tree(pathlib.Path(__file__).resolve().parents[1])
    if arguments.of:
        for name in arguments.of:
            units = tree.resolve(name)
            if not units:
                sys.exit(f"check_tests: there is no unit {name}")
            for unit in sorted(units):
                print(f"{unit}:")
                for test, how in sorted(tree.tests[unit].items(), key=lambda item: (item[1], item[0])):
                    print(f"  {test}  ({HOW[how]})")
        return
    untested = sorted(unit for unit in tree.units if not tree.tests[unit])
    for mistake in tree.mistakes:
        print(mistake)
    for unit in untested:
        print(f'{unit}: no test; write one or add "// Tests: {unit.name}" to the tests that exercise it')
    if tree.mistakes or untested:
        sys.exit(f"check_tests: {len(untested)} of {len(tree.units)} units without a test, {len(tree.mistakes)} wrong lines")
    print(f"check_tests: {len(tree.units)} units, each with a test")


if __name__ == "__main__":
    main()
