"""Preemption through the real commands: jobs of a higher tier end jobs of a lower tier, within limits and only where that helps."""

import os
import re
import signal
import time

import pytest

from cluster import Cluster, until

CONFIG = """
cluster: test
controller:
  operators: [root]
policy: {{kill_wait: 2, heartbeat: 1, launch_backoff: 1, preemption: {{min_age: 3, grace: 4, per_hour: {per_hour}}}}}
nodes:
  - {{name: "n[1-2]", cpus: 4, memory: 4000M}}
partitions:
  - {{name: low, nodes: "n[1-2]", default: true, default_memory_per_cpu: 500M, preempt_mode: requeue}}
  - {{name: once, nodes: "n[1-2]", default_memory_per_cpu: 500M, preempt_mode: cancel}}
  - {{name: high, nodes: "n[1-2]", default_memory_per_cpu: 500M, tier: 5}}
"""


def made(per_hour=100):
    return Cluster(config=CONFIG.format(per_hour=per_hour))


@pytest.fixture(scope="module")
def cluster():
    one = made()
    yield one
    one.close()


@pytest.fixture(autouse=True)
def clean(cluster):
    yield
    for job in cluster.run("aqueue", "-h", "-o", "%i").stdout.split():
        cluster.cancel(job, check=False)
    until(lambda: cluster.run("aqueue", "-h", "-o", "%i").stdout == "")


VICTIM = """#!/bin/bash
trap 'echo saved-${{ARES_RESTART_COUNT:-0}} >> {mark}; exit 0' TERM
echo run-${{ARES_RESTART_COUNT:-0}} >> {mark}
[ "${{ARES_RESTART_COUNT:-0}}" = 1 ] && exit 0
for i in $(seq 600); do sleep 0.1; done
"""


def low(cluster, tmp_path, *words, name="mark"):
    """Submits a job that fills a node, logs its starts and its end, and completes in its second run."""
    mark = tmp_path / name
    script = cluster.script(VICTIM.format(mark=mark), name=f"{name}.sh")
    job = cluster.submit("-c4", "-t10", *words, script)
    cluster.wait_state(job, "RUNNING")
    return job, mark


def old_enough():
    """Sleeps until all running jobs have run for min_age: the rule is about elapsed time, so there is nothing to poll."""
    time.sleep(3.5)


def restarts(cluster, job):
    return int(re.search(r"Restarts=(\d+)", cluster.show("job", job)).group(1))


def test_higher_tier_preempts_one_job_which_runs_again(cluster, tmp_path):
    victims = [low(cluster, tmp_path, name=f"mark{i}") for i in (1, 2)]
    old_enough()
    high = cluster.wrap("sleep 2", "-p", "high", "-c4", "-t1")
    cluster.wait_state(high, "RUNNING")
    ended = [(job, mark) for job, mark in victims if "saved-" in mark.read_text()]
    assert len(ended) == 1, "one node is enough"
    job, mark = ended[0]
    shown = cluster.show("job", job)
    assert f"PreemptedBy={high}" in shown and "PreemptTime=" in shown
    cluster.completed(high)
    cluster.completed(job)
    assert mark.read_text().split() == ["run-0", "saved-0", "run-1"]
    assert restarts(cluster, job) == 1
    states = [row[0] for row in cluster.rows(job, "State", "-D")]
    assert states == ["PREEMPTED", "COMPLETED"], states


def test_preemptor_names_the_jobs_that_it_waits_for(cluster, tmp_path):
    jobs = [cluster.wrap("trap '' TERM; sleep 60 & wait; sleep 60", "-c4", "-t10") for _ in range(2)]
    for job in jobs:
        cluster.wait_state(job, "RUNNING")
    old_enough()
    high = cluster.wrap("sleep 3", "-p", "high", "-N2", "-c4", "-t1")
    cluster.wait_reason(high, "Preempting")
    until(lambda: "2 jobs that it preempts" in cluster.run("aqueue", "--why", high).stdout)
    shown = cluster.show("job", high)
    assert f"Preempting={jobs[0]},{jobs[1]}" in shown, shown
    cluster.wait_state(high, "RUNNING")
    assert {cluster.show("job", j).split("PreemptedBy=")[1].split()[0] for j in jobs} == {high}


def test_preempted_jobs_get_the_grace_time_instead_of_kill_wait(cluster, tmp_path):
    told, alive = tmp_path / "told", tmp_path / "alive"
    script = cluster.script(f"#!/bin/bash\ntrap 'date +%s.%N > {told}' TERM\n"
                            f"while :; do sleep 0.1; date +%s.%N > {alive}.new; mv {alive}.new {alive}; done\n", name="stays.sh")
    victim = cluster.submit("-N2", "-c4", "-t10", script)
    cluster.wait_state(victim, "RUNNING")
    old_enough()
    high = cluster.wrap("true", "-p", "high", "-N2", "-c4", "-t1")
    cluster.completed(high)
    # SIGKILL is sent 4 s after SIGTERM; with kill_wait alone it would be 2 s.
    assert float(alive.read_text()) - float(told.read_text()) > 3


def test_mode_cancel_ends_the_victim_without_a_requeue(cluster, tmp_path):
    bystander, _ = low(cluster, tmp_path, "-p", "high", name="other")
    victim, mark = low(cluster, tmp_path, "-p", "once", name="once")
    old_enough()
    high = cluster.wrap("true", "-p", "high", "-c4", "-t1")
    cluster.completed(high)
    cluster.wait_state(victim, "PREEMPTED")
    assert cluster.account(victim, "State") == "PREEMPTED"
    assert mark.read_text().split() == ["run-0", "saved-0"]
    assert cluster.state(bystander) == "RUNNING"


def test_two_small_jobs_are_preempted_and_a_third_keeps_running(cluster, tmp_path):
    small = [cluster.wrap("sleep 60", "-c2", "-t10", "-w", "n1") for _ in range(2)]
    third = cluster.wrap("sleep 60", "-c2", "-t10", "-w", "n2")
    for job in small + [third]:
        cluster.wait_state(job, "RUNNING")
    keeper = cluster.wrap("sleep 60", "-p", "high", "-c2", "-t10", "-w", "n2")
    cluster.wait_state(keeper, "RUNNING")
    old_enough()
    high = cluster.wrap("sleep 1", "-p", "high", "-c4", "-t1")
    cluster.completed(high)
    assert {restarts(cluster, job) for job in small} == {1}
    assert cluster.state(third) == "RUNNING" and restarts(cluster, third) == 0


def test_no_job_is_preempted_without_effect_or_before_min_age(cluster, tmp_path):
    keeper = cluster.wrap("sleep 60", "-p", "high", "-c1", "-t10", "-w", "n1")
    cluster.wait_state(keeper, "RUNNING")
    job, mark = low(cluster, tmp_path, "-w", "n2", name="safe")
    wide = cluster.wrap("true", "-p", "high", "-N2", "-c4", "-t1")
    cluster.wait_reason(wide, "Resources")
    old_enough()
    assert cluster.state(job) == "RUNNING" and "saved" not in mark.read_text()
    cluster.cancel(wide)

    cluster.cancel(job)
    cluster.wait_end(job)
    young, mark = low(cluster, tmp_path, "-w", "n2", name="young")
    began = time.monotonic()
    high = cluster.wrap("true", "-p", "high", "-c4", "-t1")
    cluster.completed(high)
    assert time.monotonic() - began > 2, "a victim has run for three seconds"
    assert "saved-0" in mark.read_text()


def test_preemptions_per_hour_are_limited_across_a_restart(tmp_path):
    with_limit = made(per_hour=1)
    try:
        first, _ = low(with_limit, tmp_path, name="first")
        second, mark = low(with_limit, tmp_path, name="second")
        old_enough()
        high = with_limit.wrap("sleep 60", "-p", "high", "-c4", "-t10")
        with_limit.wait_state(high, "RUNNING")
        os.kill(with_limit.pid("aresctld"), signal.SIGKILL)
        with_limit.up()
        more = with_limit.wrap("true", "-p", "high", "-c4", "-t1")
        with_limit.wait_reason(more, "Resources")
        old_enough()
        assert [with_limit.state(job) for job in (first, second)].count("RUNNING") == 1
        assert with_limit.state(more) == "PENDING"
    finally:
        with_limit.close()


def test_preempt_mode_of_a_partition_is_shown_and_updated(cluster, tmp_path):
    assert "PreemptMode=REQUEUE" in cluster.show("partition", "low")
    assert "PreemptMode=OFF" in cluster.show("partition", "high")
    cluster.run("actl", "update", "partition", "low", "PreemptMode=cancel")
    assert "PreemptMode=CANCEL" in cluster.show("partition", "low")
    cluster.run("actl", "update", "partition", "low", "PreemptMode=requeue")
    refused = cluster.run("actl", "update", "partition", "low", "PreemptMode=stop", check=False)
    assert refused.returncode != 0 and "off, requeue, cancel or suspend" in refused.stderr
