#!/usr/bin/env python3
"""Runs the tests that doc/acceptance.md names, and prints for each case its tests and their result.

  contrib/acceptance.py [--table doc/acceptance.md] [--bin build/release/bin] [--units build/asan/tests] [--only AC-019] [--list | --waiting] [FILE]

The table goes to FILE, or else to the standard output. --table: another of the kind, as doc/findings.md. --list runs nothing: it prints which
tests show which case. --waiting prints tests/e2e/WAITING.md, the cases that wait for something that is not built. --units: the folder of the
programs of unit tests, if it is not beside --bin.

A row names a file of tests, or a test of it: FILE::NAME, of unit tests FILE::SUITE.CASE. Of a file without a name, a test shows a case if it has
its id in its name or its description; if none has, the whole file does. Exits with 1 if a test failed, or if a row names what does not exist.
"""
import argparse
import ast
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import xml.etree.ElementTree

ROOT = pathlib.Path(__file__).resolve().parent.parent
ROW = re.compile(r"^\| ([A-Z]+-\d{3}) \| (.*?) \| (.*?) \| (.*) \|$")
TEST = re.compile(r"`(tests/[^`]+\.(?:py|cc)(?:::[^`]+)?)`")
CASE_OF_UNITS = re.compile(r"^TEST(?:_[FP])?\(\s*(\w+),\s*(\w+)\)", re.M)


def cases(text):
    """{id: (what the user does, files of tests, what it waits for)}"""
    found = {}
    for line in text.splitlines():
        if match := ROW.match(line):
            shown = match[4]
            waits = re.search(r"waits for: ([^;|]*)", shown)
            found[match[1]] = (match[2], TEST.findall(shown), waits and waits[1].strip())
    return found


def waiting(known):
    """The text of tests/e2e/WAITING.md."""
    rows = [f"| {case} | {what} | {waits} |" for case, (what, _, waits) in sorted(known.items()) if waits]
    return ("# Cases that wait\n\nThose of doc/acceptance.md that are not shown yet, or not wholly, and what they wait for. Written by\n"
            "`contrib/acceptance.py --waiting`.\n\n| id | a user … | waits for |\n|---|---|---|\n" + "\n".join(rows) + "\n")


def write(text, file):
    if file:
        pathlib.Path(file).write_text(text)
    else:
        print(text, end="")


def functions(path):
    """Names of the tests in a Python file, each with its description."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.FunctionDef) and node.name.startswith("test_"):
            yield node.name, ast.get_docstring(node) or ""


def cases_of_units(path):
    """"Suite.Case" of each unit test in a file."""
    return [".".join(names) for names in CASE_OF_UNITS.findall(path.read_text())]


def tests_of(case, named):
    """The file that a row names, and the names of the tests in it that show the case; none if there is no such test."""
    file, _, wanted = named.partition("::")
    path = ROOT / file
    if not path.exists():
        return file, []
    if file.endswith(".cc"):
        pattern = re.escape(wanted or "*").replace(r"\*", ".*")
        return file, [name for name in cases_of_units(path) if re.fullmatch(pattern, name)]
    tests = list(functions(path))
    if wanted:
        return file, [name for name, _ in tests if name == wanted]
    naming = [name for name, text in tests if f"ac{case[3:]}" in name.lower() or case in text]
    return file, naming or [name for name, _ in tests]


def python_results(tests, programs):
    """{(file, test): "passed", "failed" or "skipped"} of {file: tests}; of a test with parameters the worst."""
    rank = ["passed", "skipped", "failed"]
    results = {}
    for file, names in sorted(tests.items()):
        with tempfile.NamedTemporaryFile(suffix=".xml") as report:
            subprocess.run([sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", f"--junitxml={report.name}",
                            *(f"{file}::{name}" for name in sorted(names))], cwd=ROOT,
                           env={**os.environ, "ARES_BIN_DIR": str(programs)}, stdout=subprocess.DEVNULL, check=False)
            if not os.path.getsize(report.name):
                sys.exit(f"acceptance.py: {sys.executable} ran no test of {file}: is pytest (Debian: python3-pytest) there?")
            for case in xml.etree.ElementTree.parse(report.name).getroot().iter("testcase"):
                key = file, case.get("name").partition("[")[0]
                kinds = {child.tag for child in case}
                result = "failed" if kinds & {"failure", "error"} else "skipped" if "skipped" in kinds else "passed"
                results[key] = max(results.get(key, "passed"), result, key=rank.index)
    return results


def unit_results(tests, programs):
    """The same for files of unit tests: {(file, "Suite.Case")}."""
    results = {}
    for file, names in sorted(tests.items()):
        for name in sorted(names):
            suite, _, case = name.partition(".")
            filters = ":".join((name, f"{name}/*", f"*/{suite}.{case}/*", f"*/{name}"))
            done = subprocess.run([programs / f"test_{pathlib.Path(file).parts[2]}", f"--gtest_filter={filters}"], stdout=subprocess.PIPE,
                                  stderr=subprocess.DEVNULL, text=True, cwd=ROOT, check=False)
            results[file, name] = ("failed" if done.returncode != 0 else "not run" if " 0 tests" in done.stdout
                                   else "skipped" if "[  SKIPPED ]" in done.stdout else "passed")
    return results


def main():
    words = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    words.add_argument("--table", type=pathlib.Path, default=ROOT / "doc/acceptance.md")
    words.add_argument("--units", type=pathlib.Path)
    words.add_argument("--bin", type=pathlib.Path, default=ROOT / "build/release/bin")
    words.add_argument("--only", action="append", default=[])
    words.add_argument("--list", action="store_true")
    words.add_argument("--waiting", action="store_true")
    words.add_argument("file", nargs="?")
    given = words.parse_args()

    known = cases(given.table.read_text())
    chosen = {case: row for case, row in known.items() if not given.only or case in given.only}
    if given.waiting:
        return write(waiting(known), given.file)
    shown = {(case, named): tests_of(case, named) for case, (_, names, _) in chosen.items() for named in names}
    missing = sorted({named for (_, named), (_, tests) in shown.items() if not tests})
    if missing or not chosen:
        sys.exit(f"acceptance.py: {given.table} names what does not exist: {', '.join(missing or given.only)}")
    results = {}
    if not given.list:
        wanted = {".py": {}, ".cc": {}}
        for file, tests in shown.values():
            wanted[pathlib.Path(file).suffix].setdefault(file, set()).update(tests)
        programs = given.bin.resolve()
        results = {**python_results(wanted[".py"], programs), **unit_results(wanted[".cc"], given.units.resolve() if given.units else programs.parent / "tests")}

    lines, counts = ["| id | test | result |", "|---|---|---|"], {}
    for case, (_, names, waits) in chosen.items():
        for named in names:
            file, tests = shown[case, named]
            found = [results.get((file, test), "not run") for test in tests]
            result = next(kind for kind in ("failed", "not run", "skipped", "passed") if kind in found)
            counts[result] = counts.get(result, 0) + 1
            what = f"{len(tests)} tests" if len(tests) > 2 else ", ".join(f"`{test}`" for test in tests)
            lines.append(f"| {case} | `{file}` {what} | {result} |")
        if waits:
            lines.append(f"| {case} | | waits for: {waits} |")
    lines.append("")
    lines.append(f"{len(chosen)} cases: " + ", ".join(f"{count} {kind}" for kind, count in sorted(counts.items())))
    write("\n".join(lines) + "\n", given.file)
    return 1 if "failed" in counts else 0


if __name__ == "__main__":
    sys.exit(main())
