#!/usr/bin/env python3
"""Runs the tests that doc/acceptance.md names, and prints for each case its tests and their result.

  contrib/acceptance.py [--bin build/release/bin] [--only AC-019] [--list | --waiting] [FILE]

The table goes to FILE, or else to the standard output. --list runs nothing: it prints which tests show which case. --waiting prints
tests/e2e/WAITING.md, the cases that wait for something that is not built. A test shows a case if it has its id in its name or its description; if none
of a file has, the whole file does. Exits with 1 if a test failed, or if a row names a file that does not exist.
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
ROW = re.compile(r"^\| (AC-\d{3}) \| (.*?) \| (.*?) \| (.*) \|$")


def cases(text):
    """{id: (what the user does, files of tests, what it waits for)}"""
    found = {}
    for line in text.splitlines():
        if match := ROW.match(line):
            shown = match[4]
            waits = re.search(r"waits for: ([^;|]*)", shown)
            found[match[1]] = (match[2], re.findall(r"`(tests/[^`]+\.(?:py|cc))`", shown), waits and waits[1].strip())
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


def tests_of(case, file):
    """The tests of a Python file that show the case; all of them if none names it."""
    number = case[3:]
    tests = list(functions(ROOT / file))
    naming = [name for name, text in tests if f"ac{number}" in name.lower() or case in text]
    return naming or [name for name, _ in tests]


def python_results(files, programs):
    """{(file, test): "passed", "failed" or "skipped"}; of a test with parameters the worst."""
    rank = ["passed", "skipped", "failed"]
    results = {}
    for file in files:
        with tempfile.NamedTemporaryFile(suffix=".xml") as report:
            subprocess.run([sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", f"--junitxml={report.name}", file], cwd=ROOT,
                           env={**os.environ, "ARES_BIN_DIR": str(programs)}, stdout=subprocess.DEVNULL, check=False)
            for case in xml.etree.ElementTree.parse(report.name).getroot().iter("testcase"):
                key = file, case.get("name").partition("[")[0]
                kinds = {child.tag for child in case}
                result = "failed" if kinds & {"failure", "error"} else "skipped" if "skipped" in kinds else "passed"
                results[key] = max(results.get(key, "passed"), result, key=rank.index)
    return results


def unit_results(files, programs):
    """The same for files of unit tests: {(file, suite)}."""
    results = {}
    for file in files:
        program = programs.parent / "tests" / f"test_{pathlib.Path(file).parts[2]}"
        for suite in sorted(set(re.findall(r"^TEST(?:_[FP])?\((\w+),", (ROOT / file).read_text(), re.M))):
            done = subprocess.run([program, f"--gtest_filter={suite}.*:*/{suite}.*"], stdout=subprocess.DEVNULL,
                                  stderr=subprocess.DEVNULL, cwd=ROOT, check=False)
            results[file, suite] = "passed" if done.returncode == 0 else "failed"
    return results


def main():
    words = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    words.add_argument("--bin", type=pathlib.Path, default=ROOT / "build/release/bin")
    words.add_argument("--only", action="append", default=[])
    words.add_argument("--list", action="store_true")
    words.add_argument("--waiting", action="store_true")
    words.add_argument("file", nargs="?")
    given = words.parse_args()

    known = cases((ROOT / "doc/acceptance.md").read_text())
    chosen = {case: row for case, row in known.items() if not given.only or case in given.only}
    if given.waiting:
        return write(waiting(known), given.file)
    files = sorted({file for _, named, _ in chosen.values() for file in named})
    missing = [file for file in files if not (ROOT / file).exists()]
    if missing or not chosen:
        sys.exit(f"acceptance.py: doc/acceptance.md names what does not exist: {', '.join(missing or given.only)}")
    results = {}
    if not given.list:
        results = {**python_results([file for file in files if file.endswith(".py")], given.bin.resolve()),
                   **unit_results([file for file in files if file.endswith(".cc")], given.bin.resolve())}

    lines, counts = ["| id | test | result |", "|---|---|---|"], {}
    for case, (_, named, waits) in chosen.items():
        for file in named:
            tests = tests_of(case, file) if file.endswith(".py") else [suite for other, suite in results if other == file]
            found = [results.get((file, test), "not run") for test in tests] or ["not run"]
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
