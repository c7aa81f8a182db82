"""Database and spools of every release, used by the programs of this build: nothing is lost or changed, and no attempt runs twice."""

import collections
import json
import os

import pytest

from restored import Restored, attempts_that_ran, json_names, listings, outcome, releases, views_columns

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="the jobs in the spools are root's, which only root's node daemons take")

# Names of values that depend on the time of the query; all others must be as the release itself showed them.
OF_THE_MOMENT = {
    "now", "lsn", "moved", "last_heard", "expected_start",
    # Usage decays, and ages grow.
    "priority", "value", "normalised", "weighted", "usage", "norm_usage", "effective_usage", "level", "factor", "endless",
}


@pytest.fixture(scope="module", params=releases(), ids=lambda folder: folder.name)
def taken_over(request):
    restored = Restored(request.param)
    restored.expected = json.loads((request.param / "expected.json").read_text())
    cluster = restored.cluster
    (cluster.dir / "runs").write_text("".join(f"{run}\n" for run in restored.expected["runs"]))
    yield restored
    restored.close()


def same(then, now, path, found):
    """Appends a line to `found` for every value that is missing or has changed. Added names are no difference."""
    if isinstance(then, dict) and isinstance(now, dict):
        for name, value in then.items():
            if name in OF_THE_MOMENT:
                continue
            if name not in now:
                found.append(f"{path}.{name} is missing")
            else:
                same(value, now[name], f"{path}.{name}", found)
    elif isinstance(then, list) and isinstance(now, list):
        if len(then) != len(now):
            found.append(f"{path} has {len(now)} items, not {len(then)}")
        for i, (one, other) in enumerate(zip(then, now)):
            same(one, other, f"{path}[{i}]", found)
    elif then != now:
        found.append(f"{path} is {now!r}, not {then!r}")


def test_all_records_are_kept_and_consistent(taken_over):
    """Only the controller has been started: its output is that of the release."""
    assert taken_over.check_state() == taken_over.expected["records"]
    shown = listings(taken_over.cluster, taken_over.expected["dumped_at"])
    found = []
    for name, then in taken_over.expected["listings"].items():
        same(then, shown[name], name, found)
    assert not found, "\n".join(found[:40])
    for name, then in taken_over.expected["listings"].items():
        missing = json_names(then) - json_names(shown[name])
        assert not missing, f"--json of {name} no longer has {sorted(missing)}; names stay (CONTRIBUTING.md, Frozen names)"


def test_views_for_sites_have_the_columns_of_the_release(taken_over):
    released = (taken_over.folder / "columns.txt").read_text().splitlines()
    missing = set(released) - set(views_columns(taken_over.cluster))
    assert len(released) > 50
    assert not missing, f"ares_views no longer has {sorted(missing)}; columns stay where they are (CONTRIBUTING.md, Frozen names)"


def test_journal_of_the_release_has_at_least_forty_kinds(taken_over):
    assert taken_over.journal_kinds == set(taken_over.expected["journal_kinds"])
    assert len(taken_over.journal_kinds) >= 40


def test_attempts_of_the_release_end_and_none_runs_twice(taken_over):
    """Node daemons of this build use the spools. This test must be the last: the others need the state of the dump."""
    cluster, expected = taken_over.cluster, taken_over.expected
    jobs = expected["jobs"]
    taken_over.start_nodes()
    attempts = set(expected["attempts"])
    taken_over.wait_settled(attempts)

    ended = outcome(cluster, attempts)
    assert ended == expected["outcome"]
    for node, code in (("n1", 7), ("n2", 5)):
        # Its record `exit` was on the disk: no second attempt, even if the machine was restarted.
        assert ended[jobs[f"ends-{node}"]] == [[1, "FAILED", f"{code}:0"]]
        # Both attempts are lost; the first job may be requeued and runs once more, the other may not.
        lost, again = ended[jobs[f"requeueable-{node}"]]
        assert lost[:2] != again[:2] and again[:2] == [2, "COMPLETED"]
        assert [state for _, state, _ in ended[jobs[f"once-{node}"]]] == ["NODE_FAIL"]
    # Accepted but not started: started now.
    assert [state for _, state, _ in ended[jobs["accepted"]]][-1] == "COMPLETED"
    assert [state for _, state, _ in ended[jobs["ready"]]][-1] == "COMPLETED"

    runs = collections.Counter(attempts_that_ran(cluster))
    assert [run for run, count in runs.items() if count > 1] == []
    assert set(runs) >= set(expected["runs"])
    assert sorted(runs) == expected["runs_after"]

    new = cluster.wrap("true", "-o", "/dev/null")
    assert int(new) > max(map(int, jobs.values()))
    cluster.completed(new)
    taken_over.check_state()
