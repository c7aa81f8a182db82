# Tests: accounting_fields
"""Aggregate limits on every level, through the real commands: the reasons of pending jobs, and their start when a limit allows it."""

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
policy: {kill_wait: 2, heartbeat: 1, launch_backoff: 1}
accounting: {enforce: limits}
fairness: {billing_weights: {cpu: 2}, calc_period: 1}
nodes:
  - {name: n1, cpus: 8, memory: 4000M, gpus: "a100:4"}
partitions:
  - {name: main, nodes: n1, default: true, default_memory_per_cpu: 100M, default_time: "10:00"}
  - {name: dear, nodes: n1, default_memory_per_cpu: 100M, default_time: "10:00", billing_weights: {cpu: 10}}
"""
ME = getpass.getuser()


@pytest.fixture(scope="module")
def shared():
    one = Cluster(config=CONFIG)
    for words in (["add", "account", "physics"], ["add", "user", ME, "account=physics"], ["add", "qos", "short"],
                  ["modify", "account", "root", "set", "qos=normal,short"]):
        one.run("aacctmgr", "-i", *words)
    yield one
    one.close()


@pytest.fixture
def cluster(shared):
    yield shared
    shared.run("acancel", "-u", ME, check=False)
    until(lambda: shared.run("aqueue", "-h").stdout == "")
    for entity in ("account physics", "account root", "qos short", "qos normal", f"user {ME}"):
        kind, name = entity.split()
        words = [name, "account=physics"] if kind == "user" else [name]
        limits = shared.run("aacctmgr", "-n", "-P", "--json", "show", "association" if kind == "user" else kind).stdout
        for limit in set(re.findall(r'"((?:Grp|Max)\w+)":', limits)):
            shared.run("aacctmgr", "-i", "modify", kind, *words, "set", f"{limit}=-1", check=False)
        if kind == "qos":
            shared.run("aacctmgr", "-i", "modify", "qos", name, "set", "flags=", check=False)


def limit(cluster, entity, *limits):
    cluster.run("aacctmgr", "-i", "modify", *entity.split(), "set", *limits)


def why(cluster, job):
    return cluster.run("aqueue", "--why", job).stdout


def test_ac076_limits_on_gpus(cluster):
    limit(cluster, "account physics", "GrpTRES=gres/gpu=2")
    three = cluster.wrap("sleep 60", "--gpus=3")
    two = cluster.wrap("sleep 60", "--gpus=2")
    cluster.wait_reason(three, "AssocGrpGRES")
    cluster.wait_state(two, "RUNNING")
    assert "GrpTRES of physics is gres/gpu=2, 2 in use, the job asks for 3" in why(cluster, three)
    limit(cluster, "qos normal", "flags=DenyOnLimit")
    refused = cluster.run("asub", "--gpus=3", "--wrap=true", check=False)
    assert refused.returncode != 0 and "AssocGrpGRES" in refused.stderr
    limit(cluster, "account physics", "GrpTRES=gres/gpu=-1")
    limit(cluster, "account physics", "GrpTRES=gres/gpu:a100=2")
    untyped = cluster.wrap("sleep 60", "--gpus=1")
    cluster.wait_reason(untyped, "AssocGrpGRES")  # the GPU would be an a100


# AC-130: limit, options of the first job, options of the second job, reason of the second job.
QOS_LIMITS = [
    ("GrpTRES=cpu=3", ["-n2"], ["-n2"], "QOSGrpCpuLimit"),
    ("GrpJobs=1", [], [], "QOSGrpJobsLimit"),
    ("MaxTRESPerJob=cpu=2", ["-n2"], ["-n3"], "QOSMaxCpuPerJobLimit"),
    ("MaxJobsPerUser=1", [], [], "QOSMaxJobsPerUserLimit"),
    ("GrpTRESRunMins=cpu=15", [], [], "QOSGrpCPURunMinutesLimit"),
    ("MaxWall=10", [], ["-t11"], "QOSMaxWallDurationPerJobLimit"),
    ("MaxTRESPerUser=cpu=3", ["-n2"], ["-n2"], "QOSMaxCpuPerUserLimit"),
    ("GrpTRES=billing=7", ["-n2"], ["-n2"], "QOSGrpBilling"),
    ("MaxTRESPerUser=billing=7", ["-n2"], ["-n2"], "QOSMaxBillingPerUser"),
    ("MaxTRESPerJob=billing=4", ["-n2"], ["-n3"], "QOSMaxBillingPerJob"),
    ("GrpTRESRunMins=billing=39", [], [], "QOSGrpBillingRunMinutes"),
]


@pytest.mark.parametrize("given,first,second,reason", QOS_LIMITS, ids=[row[0] for row in QOS_LIMITS])
def test_ac130_limits_of_a_qos(cluster, given, first, second, reason):
    limit(cluster, "qos short", given)
    one = cluster.wrap("sleep 60", "-q", "short", *first)
    cluster.wait_state(one, "RUNNING")
    two = cluster.wrap("sleep 60", "-q", "short", *second)
    other = cluster.wrap("sleep 60", *second)
    cluster.wait_reason(two, reason)
    cluster.wait_state(other, "RUNNING")  # the limit does not apply to other QOS
    limit(cluster, "qos short", given.rsplit("=", 1)[0] + "=-1")
    cluster.wait_state(two, "RUNNING")


@pytest.mark.parametrize("given,reason", [("GrpSubmitJobs=2", "QOSGrpSubmitJobsLimit"),
                                          ("MaxSubmitJobsPerUser=2", "QOSMaxSubmitJobPerUserLimit")])
def test_ac130_submission_limits(cluster, given, reason):
    limit(cluster, "qos short", given)
    array = cluster.wrap("sleep 60", "-q", "short", "--array=1-2", "-n8", "-H")
    refused = cluster.run("asub", "-q", "short", "--wrap=true", check=False)
    assert refused.returncode != 0 and reason in refused.stderr and "is 2, 2 submitted" in refused.stderr
    cluster.cancel(f"{array}_1")
    cluster.wrap("true", "-q", "short")


@pytest.mark.parametrize("given, words, reason", [
    ("MaxTRESPerJob=cpu=2", ("--exclusive", "-N1"), "QOSMaxCpuPerJobLimit"),
    ("MaxTRESPerUser=gres/gpu=1", ("--exclusive", "-N1"), "QOSMaxGRESPerUser"),
])
def test_limit_that_only_a_whole_node_exceeds_is_what_the_job_waits_for(cluster, given, words, reason):
    limit(cluster, "qos short", given)
    job = cluster.wrap("true", "-q", "short", "-t5", *words)
    cluster.wait_reason(job, reason)
    text = why(cluster, job)
    assert "Waits for:" in text and given.split("=", 1)[1].split("=")[0] in text, text
    assert "nothing stands in its way" not in text, text
    assert "at once" not in cluster.show("job", job), cluster.show("job", job)


def test_ac130_limit_on_used_minutes(cluster):
    limit(cluster, "qos short", "GrpTRESMins=cpu=0")
    job = cluster.wrap("true", "-q", "short")
    cluster.wait_reason(job, "QOSGrpCPUMinutesLimit")
    assert re.search(r"GrpTRESMins of QOS short is cpu=0, \d+ used", why(cluster, job))
    limit(cluster, "qos short", "GrpTRESMins=cpu=100")
    cluster.completed(job)


def test_billing_limit_uses_the_weights_of_the_partition(cluster):
    limit(cluster, "account physics", "GrpTRES=billing=10")
    cluster.wait_reason(cluster.wrap("sleep 60", "-p", "dear", "-n2"), "AssocGrpBilling")
    cluster.wait_state(cluster.wrap("sleep 60", "-p", "dear"), "RUNNING")
    cluster.wait_reason(cluster.wrap("sleep 60"), "AssocGrpBilling")


def test_lowered_limit_keeps_running_jobs_and_survives_a_restart(cluster):
    limit(cluster, f"user {ME} account=physics", "MaxJobs=2")
    running = [cluster.wrap("sleep 60") for _ in range(2)]
    for job in running:
        cluster.wait_state(job, "RUNNING")
    waiting = cluster.wrap("sleep 60")
    cluster.wait_reason(waiting, "AssocMaxJobsLimit")
    limit(cluster, f"user {ME} account=physics", "MaxJobs=1")
    os.kill(cluster.pid("aresctld"), signal.SIGKILL)
    cluster.wait_reason(waiting, "AssocMaxJobsLimit")
    assert [cluster.state(job) for job in running] == ["RUNNING", "RUNNING"], "who runs is left alone"
    assert f"MaxJobs of {ME} is 1, 2 running by {ME}" in why(cluster, waiting)
    cluster.cancel(running[0])
    cluster.wait_state(running[0], "CANCELLED")
    cluster.wait_reason(waiting, "AssocMaxJobsLimit")
    cluster.cancel(running[1])
    cluster.wait_state(waiting, "RUNNING")


def accrue_time(cluster, job):
    return re.search(r"AccrueTime=(\S+)", cluster.run("actl", "show", "job", job).stdout).group(1)


def test_grp_jobs_accrue_limits_the_jobs_that_gain_age(cluster):
    limit(cluster, "account physics", "GrpJobsAccrue=1")
    busy = cluster.wrap("sleep 60", "-n8")
    cluster.wait_state(busy, "RUNNING")
    first = cluster.wrap("sleep 60", "-n8")
    second = cluster.wrap("sleep 60", "-n8")
    until(lambda: accrue_time(cluster, first) != "Unknown")
    assert accrue_time(cluster, second) == "Unknown"
    cluster.run("acancel", first)
    until(lambda: accrue_time(cluster, second) != "Unknown")


def test_qos_flags_no_reserve_and_partition_time_limit(cluster):
    cluster.run("actl", "update", "partition=main", "MaxTime=20:00")
    assert cluster.run("asub", "-q", "short", "-t", "30", "--wrap=true", check=False).returncode != 0
    limit(cluster, "qos short", "flags=NoReserve,PartitionTimeLimit")
    shown = cluster.run("aacctmgr", "-n", "-P", "show", "qos", "short").stdout
    assert "NoReserve,PartitionTimeLimit" in shown
    busy = cluster.wrap("sleep 60", "-n4")
    cluster.wait_state(busy, "RUNNING")
    large = cluster.wrap("sleep 60", "-n8", "-q", "short", "-t", "30")
    small = cluster.wrap("sleep 60", "-n4")
    cluster.wait_state(small, "RUNNING")  # although the large job was submitted first
    assert "NoReserve" in why(cluster, large) + cluster.run("actl", "show", "job", large).stdout
    cluster.run("actl", "update", "partition=main", "MaxTime=UNLIMITED")
