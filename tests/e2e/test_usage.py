# Tests: aacctmgr/usage, usage_rebuild, usage_records
"""Usage: wckeys of jobs, resets of usage, and usage recomputed from the records."""

import getpass
import json
import os
import re
import signal

import pytest

from cluster import Cluster, until

CONFIG = """
cluster: test
controller:
  operators: [root]
policy: {kill_wait: 2, heartbeat: 1, launch_backoff: 1}
accounting: {enforce: associations}
fairness: {policy: fair_tree, half_life: 7-00, billing_weights: {cpu: 2, gres/gpu: 10}}
nodes:
  - {name: n1, cpus: 8, memory: 4000M, gpus: "a100:4"}
licenses: {matlab: 2}
partitions:
  - {name: main, nodes: n1, default: true, default_memory_per_cpu: 100M, default_time: "10:00"}
"""
ME = getpass.getuser()


@pytest.fixture
def cluster():
    one = Cluster(config=CONFIG)
    for words in ("add account science", "add account physics parent=science", f"add user {ME} account=physics",
                  f"add wckey sun,moon user={ME}", f"modify user {ME} set defaultwckey=sun"):
        mgr(one, *words.split())
    yield one
    one.close()


def mgr(cluster, *words, check=True):
    return cluster.run("aacctmgr", "-i", *words, check=check)


def done(cluster, script, *options):
    job = cluster.wrap(script, *options)
    cluster.wait_state(job, "COMPLETED")
    return job


def usage(cluster):
    """RawUsage of the account physics."""
    lines = json.loads(cluster.run("ashare", "-a", "--json").stdout)["lines"]
    return next(line["usage"] for line in lines if line["account"] == "physics" and not line.get("user"))


def restart(cluster, meanwhile=lambda: None):
    """Calls `meanwhile`, kills the controller, and waits until the supervisor has restarted it."""
    meanwhile()
    os.kill(cluster.pid("aresctld"), signal.SIGKILL)
    until(lambda: cluster.acluster("status", check=False).returncode == 0)


def check(cluster):
    return mgr(cluster, "rebuild-usage", "--check", check=False)


def test_wckey_of_a_job_is_in_queue_accounting_and_reports(cluster):
    default = done(cluster, "sleep 1", "-c", "2")
    named = done(cluster, "sleep 2", "--wckey=moon")
    script = cluster.dir / "job.sh"
    script.write_text("#!/bin/sh\n#SBATCH --wckey=moon\nsleep 60\n")
    running = cluster.run("asub", "--parsable", str(script)).stdout.strip()
    cluster.wait_state(running, "RUNNING")
    assert cluster.run("aqueue", "-h", "-o", "%i %w").stdout.split() == [running, "moon"]
    assert cluster.run("aqueue", "-h", "--wckey=sun").stdout == ""
    assert "WCKey=moon" in cluster.run("actl", "show", "job", running).stdout

    rows = cluster.run("aacct", "-n", "-P", "-X", "-o", "JobID,WCKey").stdout.split()
    assert rows == [f"{default}|sun", f"{named}|moon", f"{running}|moon"]
    assert cluster.run("aacct", "-n", "-P", "-X", "-W", "sun", "-o", "JobID").stdout.split() == [default]

    waiting = cluster.wrap("true", "--hold")
    cluster.run("actl", "update", f"job={waiting}", "wckey=other")
    assert cluster.run("aacct", "-n", "-P", "-X", "-o", "WCKey", "-j", waiting).stdout.strip() == "other"
    cluster.run("acancel", "--wckey=moon")
    cluster.wait_state(running, "CANCELLED")
    assert cluster.state(waiting) == "PENDING"

    def report(*words):
        said = cluster.run("areport", "-n", "-P", "-t", "seconds", *words, "start=now-1hours", "end=now+1hours").stdout
        return [line.split("|")[1:] for line in said.splitlines()]

    by_user = report("cluster", "UserUtilizationByWckey")
    assert [line[:2] for line in by_user] == [[ME, "moon"], [ME, "sun"]]
    by_wckey = report("cluster", "WCKeyUtilizationByUser")
    assert [line[:2] for line in by_wckey] == [["moon", ""], ["moon", ME], ["sun", ""], ["sun", ME]]
    assert by_wckey[0][2] == by_wckey[1][2] == by_user[0][2] and int(by_user[0][2]) > 0
    assert [line[0] for line in report("job", "SizesByWckey")] == ["moon", "sun"]
    assert [line[:2] for line in report("job", "SizesByAccountAndWckey")] == [["physics", "moon"], ["physics", "sun"]]
    cluster.run("areport", "rollup", "now")
    assert cluster.psql("SELECT DISTINCT wckey FROM ares_views.job ORDER BY 1").split() == ["moon", "sun"]


def test_require_wckey_accepts_only_wckeys_of_the_user(cluster):
    path = cluster.dir / "ares.yaml"
    path.write_text(path.read_text().replace("require_wckey: false", "require_wckey: true"))
    cluster.run("actl", "reconfigure")
    refused = cluster.run("asub", "--wckey=mars", "--wrap=true", check=False)
    assert refused.returncode == 1
    assert f"Invalid wckey specification: user {ME} has no wckey mars; the user's wckeys are moon, sun" in refused.stderr
    done(cluster, "true", "--wckey=moon")
    mgr(cluster, "modify", "user", ME, "set", "defaultwckey=")
    refused = cluster.run("asub", "--wrap=true", check=False)
    assert "has no default wckey; name one with --wckey" in refused.stderr


def test_rebuild_usage_finds_and_corrects_differences_from_the_records(cluster):
    done(cluster, "sleep 1", "-c", "2", "--gpus=1")
    done(cluster, "sleep 1", "-L", "matlab:1", "--wckey=moon")
    again = cluster.wrap("sleep 1000", "--gpus=a100:1")
    cluster.wait_state(again, "RUNNING")
    cluster.run("actl", "suspend", again)
    cluster.wait_state(again, "SUSPENDED")
    cluster.run("actl", "resume", again)
    cluster.run("actl", "requeuehold", again)
    cluster.wait_state(again, "PENDING")
    cluster.completed(cluster.wrap("true", "--array=0-3"))
    said = check(cluster)
    assert said.returncode == 0, said.stdout
    assert re.fullmatch(r"\d+ sums recomputed from 7 attempts: all stored sums are correct\.\n", said.stdout)

    before = usage(cluster)
    assert before > 0
    restart(cluster, meanwhile=lambda: cluster.psql("DELETE FROM association_usage"))
    assert usage(cluster) == 0
    said = check(cluster)
    assert said.returncode == 1 and f"user {ME} in account physics, cpu: 0.000 stored" in said.stdout
    assert "wckey moon of user" in said.stdout and "license/matlab" in said.stdout
    assert usage(cluster) == 0, "it only looked"
    said = mgr(cluster, "rebuild-usage")
    assert said.stdout.endswith("Corrected.\n")
    assert usage(cluster) == pytest.approx(before, rel=0.01)
    assert check(cluster).returncode == 0
    assert "rebuild usage" in mgr(cluster, "show", "transactions").stdout


def test_usage_is_reset_and_stays_with_the_account_of_a_removed_user(cluster):
    done(cluster, "sleep 1")
    refused = cluster.run("aacctmgr", "reset", "usage", check=False, input="n\n")
    assert refused.returncode == 1 and "Nothing was changed" in refused.stdout
    assert usage(cluster) > 0
    assert "the recorded usage of\n  " in mgr(cluster, "reset", "usage", "wckey", "sun").stdout
    assert check(cluster).returncode == 0
    used = usage(cluster)
    assert used > 0, "that of the wckey alone was reset"

    mgr(cluster, "delete", "user", ME, "account=physics")
    assert usage(cluster) == pytest.approx(used, rel=0.01)
    mgr(cluster, "add", "user", ME, "account=physics")
    assert usage(cluster) == pytest.approx(used, rel=0.01)
    assert check(cluster).returncode == 0, check(cluster).stdout

    mgr(cluster, "reset", "usage", "account", "science")
    assert usage(cluster) == 0
    done(cluster, "sleep 1")
    assert usage(cluster) > 0
    mgr(cluster, "reset", "usage")
    assert usage(cluster) == 0
    assert check(cluster).returncode == 0
    restart(cluster)
    assert usage(cluster) == 0
    assert "reset usage" in mgr(cluster, "show", "transactions").stdout
