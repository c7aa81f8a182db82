"""Suspend and resume through the real commands: suspended jobs do not run, their time limit does not advance, and their CPUs are free."""

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
policy: {kill_wait: 2, heartbeat: 1, launch_backoff: 1, preemption: {min_age: 3, grace: 4, per_hour: 100}}
nodes:
  - {name: "n[1-2]", cpus: 4, memory: 4000M, gpus: "a100:2"}
partitions:
  - {name: low, nodes: "n[1-2]", default: true, default_memory_per_cpu: 500M, preempt_mode: suspend}
  - {name: high, nodes: "n[1-2]", default_memory_per_cpu: 500M, tier: 5}
"""

# Appends a number to a file five times a second, and prints a line at the end.
COUNTER = """#!/bin/bash
for i in $(seq {steps}); do echo $i >> {mark}; sleep 0.2; done
echo last line
"""


@pytest.fixture(scope="module")
def cluster():
    one = Cluster(config=CONFIG)
    yield one
    one.close()


@pytest.fixture(autouse=True)
def clean(cluster):
    yield
    for job in cluster.run("aqueue", "-h", "-o", "%i").stdout.split():
        cluster.cancel(job, check=False)
    until(lambda: cluster.run("aqueue", "-h", "-o", "%i").stdout == "")


def counter(cluster, tmp_path, *words, name="count", steps=600):
    mark = tmp_path / name
    mark.touch()
    script = cluster.script(COUNTER.format(mark=mark, steps=steps), name=f"{name}.sh")
    return cluster.submit("-c4", "-t10", *words, script), mark


def count(mark):
    return len(mark.read_text().split())


def counts_on(mark):
    had = count(mark)
    until(lambda: count(mark) > had)


def stands_still(mark):
    """Waits until the file stops growing, and checks that it does not grow for some time."""
    until(lambda: no_growth(mark, 0.6))
    assert no_growth(mark, 1.5)


def no_growth(mark, seconds):
    had = count(mark)
    time.sleep(seconds)
    return count(mark) == had


def actl(cluster, *words, check=True):
    return cluster.run("actl", *words, check=check)


def state_in_queue(cluster, job):
    return cluster.queue(job, "%t")


def test_two_jobs_use_the_same_cpus_in_turn_and_both_complete(cluster, tmp_path):
    """AC-121."""
    first, mark1 = counter(cluster, tmp_path, "-w", "n1", name="one", steps=40)
    cluster.wait_state(first, "RUNNING")
    second, mark2 = counter(cluster, tmp_path, "-w", "n1", name="two", steps=40)
    cluster.wait_reason(second, "Resources")
    counts_on(mark1)

    actl(cluster, "suspend", first)
    until(lambda: state_in_queue(cluster, first) == "S")
    cluster.wait_state(second, "RUNNING")
    stands_still(mark1)
    counts_on(mark2)
    why = cluster.run("aqueue", "--why", first).stdout
    assert "root suspended it" in why and f"held by job {second}" in " ".join(why.split()), why
    used = cluster.queue(first, "%M")
    time.sleep(1.5)
    assert cluster.queue(first, "%M") == used, "its run time does not go on"

    refused = actl(cluster, "resume", first, check=False)
    assert refused.returncode != 0
    assert "0 of the 4 CPUs" in refused.stderr and second in refused.stderr, refused.stderr
    assert state_in_queue(cluster, first) == "S"

    actl(cluster, "suspend", second)
    actl(cluster, "resume", first)
    until(lambda: (state_in_queue(cluster, first), state_in_queue(cluster, second)) == ("R", "S"))
    counts_on(mark1)
    stands_still(mark2)
    cluster.completed(first)
    actl(cluster, "resume", second)
    cluster.completed(second)
    for job, mark in ((first, mark1), (second, mark2)):
        assert "last line" in cluster.output(job)
        assert mark.read_text().split() == [str(i) for i in range(1, 41)]
        elapsed, still = cluster.account(job, "ElapsedRaw,Suspended").split("|")
        assert still != "00:00:00" and 7 <= int(elapsed) <= 12, (elapsed, still)


def test_time_limit_does_not_advance_during_suspension(cluster, tmp_path):
    job, mark = counter(cluster, tmp_path, name="limit")
    cluster.wait_state(job, "RUNNING")
    actl(cluster, "update", f"jobid={job}", "TimeLimit=0:06")
    counts_on(mark)
    actl(cluster, "suspend", job)
    stands_still(mark)
    time.sleep(6)
    assert cluster.state(job) == "SUSPENDED", "its limit would be over by now"
    actl(cluster, "resume", job)
    counts_on(mark)
    cluster.wait_state(job, "TIMEOUT", seconds=20)
    assert int(cluster.account(job, "ElapsedRaw")) <= 10


def test_cancelled_suspended_job_handles_sigterm(cluster, tmp_path):
    told, ready = tmp_path / "told", tmp_path / "ready"
    script = cluster.script(f"#!/bin/bash\ntrap 'echo told > {told}; exit 0' TERM\n: > {ready}\nwhile :; do sleep 0.1; done\n", name="trap.sh")
    job = cluster.submit("-c4", "-t10", script)
    until(ready.exists)
    actl(cluster, "suspend", job)
    until(lambda: state_in_queue(cluster, job) == "S")
    cluster.cancel(job)
    cluster.wait_state(job, "CANCELLED")
    assert told.read_text() == "told\n"


def test_signals_to_a_suspended_job_are_delivered_on_resume(cluster, tmp_path):
    got = tmp_path / "got"
    ready = tmp_path / "ready"
    script = cluster.script(f"#!/bin/bash\ntrap 'echo usr1 > {got}' USR1\n> {ready}\nwhile :; do sleep 0.1; done\n",
                            name="usr1.sh")
    job = cluster.submit("-c1", "-t10", script)
    cluster.wait_state(job, "RUNNING")
    until(ready.exists)
    actl(cluster, "suspend", job)
    until(lambda: state_in_queue(cluster, job) == "S")
    for name in ("USR1", "CONT"):
        cluster.cancel("-s", name, job)
    time.sleep(1.5)
    assert not got.exists() and state_in_queue(cluster, job) == "S"
    actl(cluster, "resume", job)
    until(got.exists)


def test_suspension_survives_restarts_of_controller_and_node_daemon(cluster, tmp_path):
    job, mark = counter(cluster, tmp_path, "-w", "n1", name="restarts")
    cluster.wait_state(job, "RUNNING")
    counts_on(mark)
    actl(cluster, "suspend", job)
    stands_still(mark)
    os.kill(cluster.pid("aresctld"), signal.SIGKILL)
    os.kill(cluster.pid("aresd@n1"), signal.SIGKILL)
    cluster.up()
    assert state_in_queue(cluster, job) == "S"
    assert no_growth(mark, 3)
    actl(cluster, "resume", job)
    until(lambda: state_in_queue(cluster, job) == "R")
    counts_on(mark)


def test_suspend_needs_an_operator_and_a_running_job(cluster, tmp_path):
    job, mark = counter(cluster, tmp_path, name="mine")
    cluster.wait_state(job, "RUNNING")
    held = cluster.wrap("true", "-H")
    refused = actl(cluster, "suspend", held, check=False)
    assert refused.returncode != 0 and "does not run yet" in refused.stderr
    refused = actl(cluster, "resume", job, check=False)
    assert refused.returncode != 0 and "not suspended" in refused.stderr
    refused = cluster.run("actl", "suspend", job, user="nobody", check=False)
    assert refused.returncode != 0 and "only operators and administrators may" in refused.stderr
    counts_on(mark)
    actl(cluster, "resume", "n1")


def test_suspended_job_keeps_its_memory_and_gpus(cluster, tmp_path):
    job = cluster.submit("-c4", "-t10", "-w", "n1", "--gres=gpu:a100:2", "--mem=3000M", "--wrap", "sleep 60")
    cluster.wait_state(job, "RUNNING")
    actl(cluster, "suspend", job)
    until(lambda: state_in_queue(cluster, job) == "S")
    large = cluster.wrap("true", "-w", "n1", "-c1", "-t1", "--mem=1500M")
    cards = cluster.wrap("true", "-w", "n1", "-c1", "-t1", "--mem=100M", "--gres=gpu:a100:1")
    small = cluster.wrap("true", "-w", "n1", "-c1", "-t1", "--mem=100M")
    cluster.completed(small)
    for waits in (large, cards):
        assert cluster.state(waits) == "PENDING"
    shown = cluster.show("node", "n1")
    assert re.search(r"CPUAlloc=0\b", shown), shown
    cluster.cancel(job)
    cluster.completed(large)
    cluster.completed(cards)


def test_preempted_job_is_suspended_and_resumed_by_the_scheduler(cluster, tmp_path):
    """AC-128, mode SUSPEND."""
    jobs = [counter(cluster, tmp_path, name=f"low{i}", steps=60) for i in (1, 2)]
    for job, _ in jobs:
        cluster.wait_state(job, "RUNNING")
    began = time.monotonic()
    high = cluster.wrap("sleep 4", "-p", "high", "-c4", "-t1")
    cluster.wait_state(high, "RUNNING")
    assert time.monotonic() - began > 1.5, "a victim has run for three seconds"
    victims = [(job, mark) for job, mark in jobs if state_in_queue(cluster, job) == "S"]
    assert len(victims) == 1, "one node is enough"
    victim, mark = victims[0]
    stands_still(mark)
    why = " ".join(cluster.run("aqueue", "--why", victim).stdout.split())
    assert f"made room for job {high}" in why and "resumes automatically" in why, why
    assert f"SuspendedFor={high}" in cluster.show("job", victim)
    equal = cluster.wrap("sleep 60", "-c4", "-t10", "-N1")  # same tier as the suspended job, which is resumed first
    cluster.completed(high)
    until(lambda: state_in_queue(cluster, victim) == "R")
    assert cluster.state(equal) == "PENDING"
    counts_on(mark)
    for job, _ in jobs:
        cluster.completed(job, seconds=60)
        assert "last line" in cluster.output(job)
    assert mark.read_text().split() == [str(i) for i in range(1, 61)], "it ran once, whole"
    assert cluster.account(victim, "Suspended") != "00:00:00"


def test_job_suspended_by_an_operator_is_not_resumed_by_the_scheduler(cluster, tmp_path):
    job, mark = counter(cluster, tmp_path, "-w", "n1", name="taken")
    cluster.wait_state(job, "RUNNING")
    time.sleep(3.5)  # until the job has run for min_age
    high = cluster.wrap("sleep 3", "-p", "high", "-w", "n1", "-c4", "-t1")
    until(lambda: state_in_queue(cluster, job) == "S")
    actl(cluster, "suspend", job)
    cluster.completed(high)
    assert no_growth(mark, 2) and state_in_queue(cluster, job) == "S"
    actl(cluster, "resume", job)
    counts_on(mark)
