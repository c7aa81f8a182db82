# Tests: adiag/options, view_dumps
"""Dumps of the scheduler's view: written by adiag, planned again by asim with the same policy and with another one."""

import json
import os
import re
import stat

import pytest

from cluster import Cluster, f1, until


@pytest.fixture(scope="module")
def cluster():
    made = Cluster(config=f1(gpus=True).replace("policy: {", "policy: {backfill: none, ") + "licenses: {solver: 1}\n")
    yield made
    made.close()


def planned(cluster, *words, check=True):
    return cluster.run("asim", "--view", cluster.top / "now.view", *words, check=check)


def waits(cluster, job):
    return until(lambda: cluster.run("aqueue", "-h", "-j", job, "-o", "%r").stdout.strip() not in ("", "None"))


def test_asim_makes_the_same_plan_as_the_controller(cluster):
    release = cluster.top / "release"
    hold = f"until [ -e {release} ]; do sleep 0.1; done"
    running = cluster.wrap(hold, "-w", "n1", "-c3", "-t10")
    until(lambda: cluster.run("aqueue", "-h", "-j", running, "-o", "%T").stdout.strip() == "RUNNING")
    # The first job waits for all nodes. Without backfill, no later job starts before it, not even the short one, which would not delay it.
    first = cluster.wrap("true", "-N4", "-c4", "-t5", "-J", "whole")
    longer = cluster.wrap("true", "-c4", "-t30", "-J", "longer")
    short = cluster.wrap("true", "-c4", "-t1", "-J", "short")
    for job in (first, longer, short):
        waits(cluster, job)

    done = cluster.run("adiag", "dump-view", cluster.top / "now.view")
    assert re.search(r"\d+ bytes; plan it again with: asim --view", done.stderr) and done.stdout == ""
    assert stat.S_IMODE(os.stat(cluster.top / "now.view").st_mode) == 0o600
    assert not (cluster.top / "now.view.part").exists()

    shown = planned(cluster).stdout
    assert "the same as the controller's" in shown
    rows = {row["job"]: row for row in json.loads(planned(cluster, "--json").stdout)["jobs"]}
    assert rows[first]["plan"] == "Resources" and rows[first]["nodes"] == "n[1-4]" and rows[first]["start"]
    assert rows[short]["plan"] == rows[longer]["plan"] == "Priority"
    assert running not in rows
    other = planned(cluster, "--policy=backfill=easy")
    assert "the controller's was" in other.stdout
    rows = {row["job"]: row for row in json.loads(planned(cluster, "--policy=backfill=easy", "--json").stdout)["jobs"]}
    assert rows[short]["plan"] == "start" and rows[short]["start"] == "now" and rows[longer]["plan"] != "start"

    # The plan of the dump does not depend on the later state of the cluster.
    release.touch()
    for job in (running, first, longer, short):
        cluster.completed(job)
    assert planned(cluster).stdout == shown


def test_refused_dump_leaves_no_file(cluster, others):
    target = cluster.work / "theirs.view"
    refused = cluster.run("adiag", "dump-view", target, user=others[0], check=False)
    assert refused.returncode == 1 and "only operators and administrators" in refused.stderr
    assert list(cluster.work.glob("theirs.view*")) == []
    missing = cluster.top / "missing" / "x"
    nowhere = cluster.run("adiag", "dump-view", missing, check=False)
    assert nowhere.returncode == 1 and f"cannot write {missing}" in nowhere.stderr


def test_invalid_arguments_and_files_are_refused(cluster):
    for words in ([], ["dump-view"], ["dump", "x"], ["dump-view", "x", "y"]):
        done = cluster.run("adiag", *words, check=False)
        assert done.returncode == 1 and "dump-view FILE" in done.stderr
    assert "--reset" in cluster.run("adiag", "--reset", check=False).stderr
    (cluster.top / "now.view").write_text("no dump")
    bad = planned(cluster, check=False)
    assert bad.returncode == 1 and "it is no dump of a view" in bad.stderr
    both = planned(cluster, "--cluster", "x", check=False)
    assert both.returncode == 1 and "--view plans what is in its file" in both.stderr
