# Tests: spec_gang
"""Gangs: the jobs of a --gang start together or not at all, and pending gangs keep no other job from starting."""

import json
import os
import signal

import pytest

from cluster import Cluster, f1, until

# Writes its start time, then waits for the files of the other members: a gang that started in part would fail.
MEET = """#!/bin/sh
date +%s.%N > $1/$ARES_JOB_ID
for i in $(seq 300); do
  [ $(ls $1 | wc -l) -ge $2 ] && { echo "$ARES_GANG_NAME $ARES_GANG_SIZE"; exit 0; }
  sleep 0.1
done
exit 1
"""


@pytest.fixture
def pool():
    made = Cluster(config=f1())
    (made.work / "meet.sh").write_text(MEET)
    yield made
    made.close()


def field(cluster, job, key):
    shown = cluster.run("actl", "show", "job", job).stdout
    return next(word.partition("=")[2] for word in shown.split() if word.startswith(key + "="))


def states(cluster, *jobs):
    return [field(cluster, job, "JobState") for job in jobs]


def ended(cluster, job, reason):
    until(lambda: states(cluster, job) == ["CANCELLED"])
    assert field(cluster, job, "Reason") == reason


def in_words(cluster, job):
    return " ".join(cluster.run("aqueue", "--why", job).stdout.split())


def sleeper(cluster, *words):
    return cluster.submit(*words, "--wrap", "sleep 600")


def member(cluster, size, *words, name="team"):
    return sleeper(cluster, f"--gang={name}", f"--gang-size={size}", *words)


def refused(cluster, *words):
    done = cluster.run("asub", *words, "--wrap", "true", check=False)
    assert done.returncode != 0, f"{words} was accepted"
    return done.stderr


def test_gang_starts_together_when_all_members_are_submitted(pool):
    """The nodes are free all the time, but no member starts before the last one is submitted."""
    stamps = pool.work / "stamps"
    stamps.mkdir()
    stamps.chmod(0o777)
    meet = ["--gang=team", "--gang-size=3", "-c3", "meet.sh", str(stamps), "3"]
    first, second = pool.submit(*meet), pool.submit(*meet)
    until(lambda: field(pool, first, "Reason") == "WaitingForGang")
    assert "2 of 3 members of gang team are here" in in_words(pool, first)
    assert field(pool, first, "GangMembers") == "2/3"
    other = pool.submit("-N4", "-c4", "--wrap", "true")  # needs all CPUs, also those that the two members would use
    until(lambda: states(pool, other) == ["COMPLETED"])
    assert list(stamps.iterdir()) == []
    # Members are kept when the controller restarts.
    controller = pool.pid("aresctld")
    os.kill(controller, signal.SIGKILL)
    until(lambda: pool.pid("aresctld") != controller)
    third = pool.submit(*meet)
    jobs = [first, second, third]
    until(lambda: states(pool, *jobs) == ["COMPLETED"] * 3, 60)
    begun = [float((stamps / job).read_text()) for job in jobs]
    assert max(begun) - min(begun) < 5
    assert (pool.work / f"ares-{first}.out").read_text() == "team 3\n"
    assert pool.run("aqueue", "-h", "-t", "all", "-j", second, "-O", "Gang").stdout.strip() == "team:0/3"


def test_gang_from_a_file_of_jobs_is_shown_in_json(pool):
    lines = "".join(json.dumps({"wrap": "sleep 600", "gang": "team", "gang-size": 2, "cpus-per-task": c}) + "\n"
                    for c in (4, 2))
    jobs = pool.run("asub", "--parsable", "--from=-", input=lines).stdout.split()
    until(lambda: states(pool, *jobs) == ["RUNNING"] * 2)
    rows = json.loads(pool.run("aqueue", "--json").stdout)["jobs"]
    assert [(row["gang"], row["gang_members"], row["gang_size"]) for row in rows] == [("team", 2, 2)] * 2
    assert "has started and takes no more members" in refused(pool, "--gang=team", "--gang-size=2")
    # Once the gang has started, its members end independently.
    pool.run("acancel", jobs[0])
    until(lambda: states(pool, jobs[0]) == ["CANCELLED"])
    assert states(pool, jobs[1]) == ["RUNNING"]


def test_gang_that_does_not_fit_uses_no_nodes_until_it_starts(pool):
    busy = sleeper(pool, "-c4", "-t", "2:00:00")
    until(lambda: states(pool, busy) == ["RUNNING"])
    gang = [member(pool, 4, "-c4", "-t", "60") for _ in range(4)]
    until(lambda: field(pool, gang[0], "Reason") in ("Resources", "Priority"))
    assert "starts together with the 3 others of gang team" in in_words(pool, gang[0])
    quick = pool.submit("-c4", "-t", "30", "--wrap", "true")
    until(lambda: states(pool, quick) == ["COMPLETED"])
    slow = sleeper(pool, "-c4", "-t", "3:00:00")  # would delay the gang
    until(lambda: field(pool, slow, "Reason") == "Priority")
    expected = {pool.run("aqueue", "-h", "--start", "-j", job, "-o", "%S").stdout.strip() for job in gang}
    assert len(expected) == 1 and "N/A" not in expected
    pool.run("acancel", busy)
    until(lambda: states(pool, *gang) == ["RUNNING"] * 4)
    assert states(pool, slow) == ["PENDING"]


def test_two_gangs_that_do_not_fit_together_start_one_after_the_other(pool):
    """Their members are submitted alternately; neither gang keeps a part of the nodes while it waits."""
    a, b = [], []
    for _ in range(3):
        a.append(member(pool, 3, "-c4", name="a"))
        b.append(member(pool, 3, "-c4", name="b"))
    until(lambda: states(pool, *a) == ["RUNNING"] * 3)
    assert states(pool, *b) == ["PENDING"] * 3
    assert "1" == pool.run("ainfo", "-h", "-t", "idle", "-o", "%D").stdout.strip()
    pool.run("acancel", *a)
    until(lambda: states(pool, *b) == ["RUNNING"] * 3)


def test_cancelled_member_ends_the_gang_unless_gang_min_allows_it(pool):
    strict = [member(pool, 3) for _ in range(2)]
    pool.run("acancel", strict[0])
    ended(pool, strict[1], "GangMemberLost")
    # The name can be used again, now with a minimum of two members.
    busy = sleeper(pool, "-N4", "-c4")
    until(lambda: states(pool, busy) == ["RUNNING"])
    lenient = [member(pool, 3, "--gang-min=2") for _ in range(3)]
    assert "other terms" in refused(pool, "--gang=team", "--gang-size=3")
    assert "has all of its 3 members" in refused(pool, "--gang=team", "--gang-size=3", "--gang-min=2")
    pool.run("acancel", lenient[1])
    assert field(pool, lenient[0], "GangMembers") == "2/2"
    pool.run("acancel", busy)
    until(lambda: states(pool, lenient[0], lenient[2]) == ["RUNNING"] * 2)


def test_incomplete_gang_is_cancelled_after_its_timeout(pool):
    early = member(pool, 2, "--gang-timeout=0:02")
    ended(pool, early, "GangTimeout")
    assert "CANCELLED" in pool.run("aacct", "-n", "-j", early, "-o", "State%20").stdout


def test_gang_waits_for_a_held_member(pool):
    held = member(pool, 2, "-H")
    ready = member(pool, 2)
    until(lambda: field(pool, ready, "Reason") == "WaitingForGang")
    assert f"it waits for job {held} (JobHeldUser)" in in_words(pool, ready)
    pool.run("actl", "release", held)
    until(lambda: states(pool, held, ready) == ["RUNNING"] * 2)


def test_invalid_gang_options_are_refused(pool):
    assert "--gang-size says how many" in refused(pool, "--gang=x")
    assert "need --gang" in refused(pool, "--gang-size=2")
    assert "room for 2 members, and the array has 3 tasks" in refused(pool, "--gang=x", "--gang-size=2", "-a", "0-2")
    assert "leave out %1" in refused(pool, "--gang=x", "-a", "0-2%1")
    assert "at least 3 members" in refused(pool, "--gang=x", "--gang-size=2", "--gang-min=3")
    assert "1 to 1000" in refused(pool, "--gang=x", "--gang-size=1001")
    tried = pool.run("asub", "--test-only", "--gang=x", "--gang-size=2", "--wrap", "true")
    assert "1 of 2 members of gang x is here" in " ".join((tried.stdout + tried.stderr).split())


def test_array_is_a_gang_whose_tasks_start_together(pool):
    """Each task waits for the others' files; a fifth job that belongs to the gang lets all of them start."""
    stamps = pool.work / "stamps"
    stamps.mkdir()
    stamps.chmod(0o777)
    array = pool.submit("--gang=team", "--gang-size=4", "-a", "0-2", "-c3", "meet.sh", str(stamps), "4")
    until(lambda: "3 of 4 members of gang team are here" in in_words(pool, array))
    assert list(stamps.iterdir()) == []
    job = pool.submit("--gang=team", "--gang-size=4", "-c3", "meet.sh", str(stamps), "4")
    tasks = [f"{array}_{i}" for i in range(3)]
    until(lambda: states(pool, *tasks, job) == ["COMPLETED"] * 4, 60)
    assert len(list(stamps.iterdir())) == 4
    # Without a size the array is all of the gang. It does not start in part.
    busy = sleeper(pool, "-c4", "-w", "n1")
    until(lambda: states(pool, busy) == ["RUNNING"])
    alone = sleeper(pool, "--gang=all", "-a", "0-3", "-c4")
    until(lambda: field(pool, alone, "Reason") in ("Resources", "Priority"))
    assert pool.run("aqueue", "-h", "-t", "R", "-j", alone, "-o", "%i").stdout == ""
    pool.run("acancel", busy)
    until(lambda: sorted(pool.run("aqueue", "-h", "-t", "R", "-j", alone, "-o", "%i").stdout.split()) ==
          [f"{alone}_{i}" for i in range(4)])
    # A cancelled task ends alone once all have started.
    pool.run("acancel", f"{alone}_2")
    until(lambda: states(pool, f"{alone}_2") == ["CANCELLED"])
    assert states(pool, f"{alone}_1") == ["RUNNING"]


@pytest.fixture(params=["controller stays", "controller restarts"])
def tiers(request):
    config = f1(gpus=True).replace("default: true", "default: true, preempt_mode: requeue")
    config = config.replace("policy: {", "policy: {preemption: {min_age: 1, grace: 1}, ").rstrip()
    config += '\n  - {name: high, nodes: "n[1-4]", tier: 5, default_memory_per_cpu: 500M}\n'
    made = Cluster(config=config)
    made.restarts = request.param == "controller restarts"
    yield made
    made.close()


def restart_if_asked(cluster):
    if not cluster.restarts:
        return
    controller = cluster.pid("aresctld")
    os.kill(controller, signal.SIGKILL)
    until(lambda: cluster.pid("aresctld") != controller)


def test_gang_preempts_for_all_its_members_and_is_preempted_as_a_whole(tiers):
    jobs = [sleeper(tiers, "-c4") for _ in range(4)]
    until(lambda: states(tiers, *jobs) == ["RUNNING"] * 4)
    first = sleeper(tiers, "-p", "high", "--gang=team", "--gang-size=2", "-c4")
    assert states(tiers, *jobs) == ["RUNNING"] * 4  # an incomplete gang preempts nothing
    gang = [first, sleeper(tiers, "-p", "high", "--gang=team", "--gang-size=2", "-c4")]
    until(lambda: states(tiers, *jobs).count("RUNNING") == 2)
    restart_if_asked(tiers)
    until(lambda: states(tiers, *gang) == ["RUNNING"] * 2)
    assert states(tiers, *jobs).count("RUNNING") == 2
    tiers.run("acancel", *gang, *jobs)
    until(lambda: tiers.run("aqueue", "-h", "-o", "%i").stdout == "")

    low = tiers.submit("--gang=low", "-a", "0-3", "-c4", "--wrap", "sleep 600")
    running = lambda: tiers.run("aqueue", "-h", "-t", "R", "-j", low, "-o", "%i").stdout.split()
    until(lambda: len(running()) == 4)
    one = sleeper(tiers, "-p", "high", "-c4", "-w", "n2")
    until(lambda: states(tiers, one) == ["RUNNING"])
    rows = tiers.run("aacct", "-n", "-P", "-D", "-j", low, "-o", "JobID,State").stdout.split()
    assert sorted(row for row in rows if "PREEMPTED" in row) == [f"{low}_{i}|PREEMPTED" for i in range(4)]
    tiers.run("acancel", low, one)


def test_gang_members_take_alternative_gpus(tiers):
    both = ["--gang=team", "--gang-size=2", "--gres=gpu:a100:4|gpu:h100:4"]
    gang = [sleeper(tiers, *both) for _ in range(2)]
    until(lambda: states(tiers, *gang) == ["RUNNING"] * 2)
    assert len({field(tiers, job, "NodeList") for job in gang}) == 2
