# Tests: aprio/query, ashare/query, query_priorities, ashare/options
"""Accounts and jobs: permissions, limits, charged usage, fair-share ranks, and their state after a controller restart."""

import getpass
import os
import signal

import pytest

from cluster import Cluster, until

CONFIG = """
cluster: test
controller:
  operators: [root]
policy: {kill_wait: 2, heartbeat: 1, launch_backoff: 1}
accounting: {enforce: limits}
fairness: {policy: fair_tree, calc_period: 1, half_life: 7-00:00:00}
nodes:
  - {name: n1, cpus: 2, memory: 4000M}
partitions:
  - {name: main, nodes: n1, default: true, default_memory_per_cpu: 500M, default_time: "10:00"}
"""


@pytest.fixture(scope="module")
def cluster():
    one = Cluster(config=CONFIG)
    me = getpass.getuser()
    for words in (["add", "account", "physics", "chemistry", "fairshare=1"],
                  ["add", "user", me, "account=physics"],
                  ["add", "user", me, "account=chemistry"],
                  ["add", "qos", "high", "priority=10"]):
        one.run("aacctmgr", "-i", *words)
    one.me = me
    yield one
    one.close()


def shares(cluster):
    """Raw usage and fair-share factor of the user in each account, from ashare."""
    text = cluster.run("ashare", "-a", "-U", "-n", "-P", "-o", "Account,User,RawUsage,FairShare").stdout
    rows = [line.split("|") for line in text.splitlines()]
    return {account: (int(used), float(factor)) for account, user, used, factor in rows if user == cluster.me}


def test_usage_lowers_the_fair_share_factor_and_survives_a_restart(cluster):
    assert shares(cluster) == {"physics": (0, 1.0), "chemistry": (0, 1.0)}
    job = cluster.wrap("sleep 2", "-A", "physics", "-n2")
    cluster.wait_state(job, "COMPLETED")
    until(lambda: shares(cluster)["physics"][0] >= 4)
    used = shares(cluster)
    assert used["chemistry"] == (0, 1.0) and used["physics"][1] == 0.5
    os.kill(cluster.pid("aresctld"), signal.SIGKILL)
    until(lambda: shares(cluster)["physics"][0] == used["physics"][0])
    lines = cluster.run("ashare", "-l").stdout.splitlines()
    assert lines[0].split()[:3] == ["Account", "User", "RawShares"] and "LevelFS" in lines[0]
    assert lines[1].startswith("root") and any(line.startswith(" physics") for line in lines)


def test_job_of_the_account_with_less_usage_starts_first(cluster):
    order = cluster.work / "order"
    until(lambda: shares(cluster)["physics"][0] > 0)
    gate = cluster.work / "gate"
    blocker = cluster.wrap(f"until [ -e {gate} ]; do sleep 0.05; done", "-A", "physics", "-n2")
    cluster.wait_state(blocker, "RUNNING")
    jobs = [cluster.wrap(f"echo {name} >> {order}", "-A", name, "-n2") for name in ("physics", "chemistry")]
    gate.touch()
    for job in jobs:
        cluster.wait_state(job, "COMPLETED")
    assert order.read_text().split() == ["chemistry", "physics"], "though it was submitted later"


def test_users_can_only_use_their_own_accounts_and_qos(cluster):
    refused = cluster.run("asub", "-A", "nowhere", "--wrap", "true", check=False)
    assert refused.returncode != 0 and "there is no account nowhere" in refused.stderr
    refused = cluster.run("asub", "-A", "physics", "-q", "high", "--wrap", "true", check=False)
    assert refused.returncode != 0 and "may not use QOS high" in refused.stderr
    job = cluster.wrap("true")
    assert "Account=physics" in cluster.show("job", job), "the default"
    cluster.run("aacctmgr", "-i", "modify", "user", cluster.me, "where", "account=physics", "set", "qos+=high,normal")
    job = cluster.wrap("true", "-A", "physics", "-q", "high")
    cluster.wait_state(job, "COMPLETED")


def test_changed_limit_applies_at_once_and_names_its_account(cluster):
    def limit(value):
        cluster.run("aacctmgr", "-i", "modify", "account", "chemistry", "set", f"MaxTRESPerJob=cpu={value}")
    limit(1)
    job = cluster.wrap("true", "-A", "chemistry", "-n2")
    until(lambda: cluster.queue(job, "%r") == "AssocMaxCpuPerJobLimit")
    why = cluster.run("aqueue", "--why", job).stdout
    assert "MaxTRESPerJob of chemistry is cpu=1, the job asks for 2" in why, why
    small = cluster.wrap("true", "-A", "chemistry", "-n1")
    cluster.wait_state(small, "COMPLETED")
    limit(2)
    cluster.wait_state(job, "COMPLETED")


def test_jobs_of_a_removed_association_do_not_start(cluster):
    gate = cluster.work / "open"
    runs = cluster.wrap(f"until [ -e {gate} ]; do sleep 0.05; done", "-A", "chemistry", "-n2")
    cluster.wait_state(runs, "RUNNING")
    waits = cluster.wrap("true", "-A", "chemistry", "-n2")
    cluster.run("aacctmgr", "-i", "delete", "user", cluster.me, "account=chemistry")
    until(lambda: cluster.queue(waits, "%r") == "InvalidAccount")
    gate.touch()
    cluster.wait_state(runs, "COMPLETED")
    assert cluster.queue(waits) == "PENDING"
    cluster.run("aacctmgr", "-i", "add", "user", cluster.me, "account=chemistry")
    cluster.wait_state(waits, "COMPLETED")
