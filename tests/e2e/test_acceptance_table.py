"""The table of acceptance cases: what it names exists, and the list of those that wait is of the same state."""

import subprocess

from cluster import ROOT


def acceptance(*words):
    return subprocess.run([str(ROOT / "contrib/acceptance.py"), *words], text=True, capture_output=True, timeout=60, check=True).stdout


def test_each_case_names_tests_that_exist_or_what_it_waits_for():
    table = acceptance("--list")
    shown = {line.split("|")[1].strip() for line in table.splitlines() if line.startswith("| AC-")}
    rows = [line for line in (ROOT / "doc/acceptance.md").read_text().splitlines() if line.startswith("| AC-")]
    assert len(rows) == len({row.split("|")[1] for row in rows}) > 100
    assert {row.split("|")[1].strip() for row in rows} == shown


def test_the_list_of_waiting_cases_is_that_of_the_table():
    assert (ROOT / "tests/e2e/WAITING.md").read_text() == acceptance("--waiting")
