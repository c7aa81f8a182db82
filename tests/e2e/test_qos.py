"""The QOS of a partition, and QOS that preempt others by name, through the real commands."""

import getpass
import os
import re
import signal

import pytest

from cluster import Cluster, until

CONFIG = """
cluster: test
controller:
  operators: [root]
policy: {kill_wait: 2, heartbeat: 1, launch_backoff: 1, preemption: {min_age: 600, grace: 600, per_hour: 100}}
accounting: {enforce: limits}
nodes:
  - {name: n1, cpus: 8, memory: 4000M}
partitions:
  - {name: main, nodes: n1, default: true, default_memory_per_cpu: 100M, default_time: "10:00"}
  - {name: night, nodes: n1, default_memory_per_cpu: 100M, default_time: "10:00", qos: dark}
"""
ME = getpass.getuser()


@pytest.fixture(scope="module")
def cluster():
    one = Cluster(config=CONFIG)
    for words in (["add", "account", "physics"], ["add", "user", ME, "account=physics"], ["add", "qos", "scavenger"],
                  ["add", "qos", "high"], ["modify", "account", "root", "set", "qos=normal,high,scavenger"]):
        one.run("aacctmgr", "-i", *words)
    yield one
    one.close()


@pytest.fixture(autouse=True)
def clean(cluster):
    yield
    cluster.run("acancel", "-u", ME, check=False)
    until(lambda: cluster.run("aqueue", "-h").stdout == "")


def why(cluster, job):
    return cluster.run("aqueue", "--why", job).stdout


def qos(cluster, name, *what):
    cluster.run("aacctmgr", "-i", "modify", "qos", name, "set", *what)


VICTIM = """#!/bin/bash
trap 'echo saved >> {mark}; exit 0' TERM
echo run-${{ARES_RESTART_COUNT:-0}} >> {mark}
[ "${{ARES_RESTART_COUNT:-0}}" = 1 ] && exit 0
for i in $(seq 600); do sleep 0.1; done
"""


def test_partition_qos_limits_the_jobs_of_its_partition_only(cluster):
    waits = cluster.wrap("sleep 60", "-p", "night")
    cluster.wait_reason(waits, "InvalidQOS")
    assert "partition night has QOS dark, which does not exist" in why(cluster, waits)
    cluster.run("aacctmgr", "-i", "add", "qos", "dark", "GrpTRES=cpu=2")
    cluster.wait_state(waits, "RUNNING")
    over = cluster.wrap("sleep 60", "-p", "night", "-n2")
    cluster.wait_reason(over, "QOSGrpCpuLimit")
    said = why(cluster, over)
    assert "GrpTRES of QOS dark of partition night is cpu=2, 1 in use, the job asks for 2" in said, said
    elsewhere = cluster.wrap("sleep 60", "-n4")
    cluster.wait_state(elsewhere, "RUNNING")
    assert "QoS=dark" in cluster.show("partition", "night")

    refused = cluster.run("aacctmgr", "-i", "delete", "qos", "dark", check=False)
    assert refused.returncode != 0 and "partition night still has QOS dark" in refused.stderr
    os.kill(cluster.pid("aresctld"), signal.SIGKILL)
    cluster.wait_reason(over, "QOSGrpCpuLimit")
    assert cluster.run("actl", "update", "partition=night", "qos=none", check=False).returncode != 0
    cluster.run("actl", "update", "partition=night", "qos=")
    cluster.wait_state(over, "RUNNING")


def test_one_qos_preempts_another_by_name(cluster, tmp_path):
    qos(cluster, "scavenger", "preemptmode=requeue", "preemptexempttime=00:00:00", "gracetime=5")
    mark = tmp_path / "mark"
    victim = cluster.submit("-n8", "-q", "scavenger", cluster.script(VICTIM.format(mark=mark), name="victim.sh"))
    cluster.wait_state(victim, "RUNNING")
    until(mark.exists)
    high = cluster.wrap("true", "-n8", "-q", "high")
    cluster.wait_reason(high, "Resources")
    assert mark.read_text().split() == ["run-0"], "its QOS preempts no other QOS"
    qos(cluster, "high", "preempt=scavenger")
    cluster.completed(high)
    cluster.completed(victim)
    assert mark.read_text().split() == ["run-0", "saved", "run-1"]
    assert [row[0] for row in cluster.rows(victim, "State", "-D")] == ["PREEMPTED", "COMPLETED"]

    shown = cluster.run("aacctmgr", "-n", "-P", "show", "qos", "format=name,preempt,preemptmode,gracetime").stdout
    assert re.search(r"^high\|scavenger\|cluster\|$", shown, re.M), shown
    assert re.search(r"^scavenger\|\|requeue\|00:00:05$", shown, re.M), shown
    circle = cluster.run("aacctmgr", "-i", "modify", "qos", "scavenger", "set", "preempt=high", check=False)
    assert circle.returncode != 0 and "it would preempt itself" in circle.stderr
    cluster.run("aacctmgr", "-i", "add", "qos", "gone")
    qos(cluster, "high", "preempt+=gone")
    cluster.run("aacctmgr", "-i", "delete", "qos", "gone")
    assert cluster.run("aacctmgr", "-n", "-P", "show", "qos", "high", "format=preempt").stdout == "scavenger\n"
