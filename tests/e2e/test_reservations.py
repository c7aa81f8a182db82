# Tests: actl/reservation, query_reservations, reservation_commands, reservation_keys
"""Reservations through the real commands: where and when jobs of which users run, refused requests, and a controller restart."""

import os
import re
import signal

import pytest

from cluster import Cluster, f1, until


@pytest.fixture(scope="module")
def shared():
    made = Cluster(config=f1())
    yield made
    made.close()


@pytest.fixture
def cluster(others, shared):
    yield shared
    for name in re.findall(r"ReservationName=(\S+)", shared.run("actl", "show", "reservation").stdout):
        shared.run("actl", "delete", "reservation", name)


def reserve(cluster, name, *words, check=True):
    return cluster.run("actl", "create", "reservation", name, *words, check=check)


def nodes_of(cluster, job):
    return cluster.account(job, "NodeList")


def test_reserved_nodes_run_only_jobs_of_the_reservation(cluster, others):
    inside, outside = others
    reserve(cluster, "course", "Nodes=n1", "Duration=60", f"Users={inside}")
    shown = cluster.show("reservation", "course")
    assert re.search(r"Nodes=n1 NodeCnt=1", shown) and f"Users={inside}" in shown and "State=ACTIVE" in shown
    assert "resv" in cluster.run("ainfo", "-h", "-N", "-n", "n1").stdout

    denied = cluster.run("asub", "--reservation=course", "--wrap", "true", user=outside, check=False)
    assert denied.returncode != 0 and f"reservation course is not for user {outside}" in denied.stderr
    missing = cluster.run("asub", "--reservation=none", "--wrap", "true", check=False)
    assert "none does not exist" in missing.stderr

    own = cluster.wrap('[ "$ARES_JOB_RESERVATION" = course ]', "--reservation=course", "-t1", user=inside)
    cluster.completed(own)
    assert nodes_of(cluster, own) == "n1"
    # Other users never get all four nodes.
    all_four = cluster.wrap("true", "-N4", "-c4", "-t1", user=outside)
    cluster.wait_reason(all_four, "Reservation")
    assert "1 node in course" in cluster.run("aqueue", "--why", all_four).stdout
    three = cluster.wrap("true", "-N3", "-c4", "-t1", user=outside)
    cluster.completed(three)
    assert nodes_of(cluster, three) == "n[2-4]"
    assert cluster.run("aqueue", "-h", "-R", "course", "-o", "%i").stdout == ""

    cluster.run("actl", "delete", "reservation", "course")
    cluster.completed(all_four)
    assert "No reservations" in cluster.run("actl", "show", "reservation").stdout


def test_job_that_would_overlap_maintenance_waits(cluster):
    reserve(cluster, "repair", "StartTime=now+1hour", "Duration=2:00:00", "Nodes=ALL", "Flags=MAINT")
    long = cluster.wrap("true", "-t90")
    cluster.wait_reason(long, "Reservation")
    short = cluster.wrap("true", "-t30")
    cluster.completed(short)
    start = cluster.run("aqueue", "-h", "--start", "-j", long, "-o", "%S").stdout.strip()
    end = re.search(r"EndTime=(\S+)", cluster.show("reservation", "repair")).group(1)
    assert start == end, "it is promised its start when the maintenance is over"
    refused = cluster.run("asub", "--reservation=repair", "--wrap", "true", check=False)
    assert "is for maintenance" in refused.stderr
    cluster.run("actl", "update", "reservationname=repair", "StartTime=now+3hours", "EndTime=now+4hours")
    cluster.completed(long)


def test_jobs_of_a_deleted_reservation_wait_until_they_are_updated(cluster, others):
    reserve(cluster, "later", "StartTime=now+1hour", "Duration=60", "NodeCnt=2", f"Users={others[0]}")
    job = cluster.wrap("true", "--reservation=later", user=others[0])
    assert "has not begun" in until(lambda: re.search(r"its reservation.*", cluster.run("aqueue", "--why", job).stdout)).group()
    cluster.run("actl", "delete", "reservation", "later")
    cluster.wait_reason(job, "ReservationDeleted")
    cluster.run("actl", "update", f"jobid={job}", "ReservationName=", user=others[0])
    cluster.completed(job)


def test_reservation_is_kept_after_a_controller_restart(cluster):
    reserve(cluster, "kept", "StartTime=now+1hour", "Duration=60", "Nodes=n[2-3]", "Users=root", "Flags=FLEX,DAILY",
            "Comment=for the course")
    before = cluster.show("reservation", "kept")
    assert "Flags=DAILY,FLEX" in before and "Comment=for the course" in before
    os.kill(cluster.pid("aresctld"), signal.SIGKILL)
    until(lambda: cluster.run("actl", "ping", check=False).returncode == 0)
    assert cluster.show("reservation", "kept") == before
    job = cluster.wrap("true", "--reservation=kept")
    cluster.completed(job)  # FLEX: may start before the reservation


def test_a_node_that_is_drained_is_replaced_in_the_reservation(cluster):
    reserve(cluster, "course", "StartTime=now+1hour", "Duration=60", "NodeCnt=2", "Users=root")
    reserve(cluster, "fixed", "StartTime=now+3hours", "Duration=60", "NodeCnt=1", "Users=root", "Flags=STATIC_ALLOC")
    shown = cluster.show("reservation", "course")
    assert "Nodes=n[1-2]" in shown and "Flags=REPLACE_DOWN" in shown
    assert "Flags=(null)" in cluster.show("reservation", "fixed")
    cluster.run("actl", "update", "nodename=n1", "state=drain", "reason=disk")
    try:
        until(lambda: "Nodes=n[2-3]" in cluster.show("reservation", "course"))
        assert "Nodes=n1" in cluster.show("reservation", "fixed")
        history = until(lambda: re.search(r".*REPLACED.*", cluster.run("actl", "show", "node", "n1", "--history").stdout)).group()
        assert "in reservation course by n3" in history
    finally:
        cluster.run("actl", "update", "nodename=n1", "state=resume")


@pytest.mark.parametrize("words, said", [
    (["Nodes=n1", "Duration=10"], "users or accounts"),
    (["Nodes=n1", "Duration=10", "Users=root", "Flags=REPLACE"], "not supported yet"),
    (["Nodes=n1", "Duration=10", "Users=root", "Flags=REPLACE_DOWN,STATIC_ALLOC"], "only one of REPLACE_DOWN and STATIC_ALLOC"),
    (["Nodes=n1", "Duration=10", "Flags=MAINT,REPLACE_DOWN"], "leave out REPLACE_DOWN"),
    (["Nodes=n9", "Duration=10", "Users=root"], "Invalid node name specified: n9"),
    (["Nodes=n1", "Users=root"], "how long it lasts"),
    (["Nodes=n1", "Duration=10", "Users=nobody-such"], 'no user is named "nobody-such"'),
    (["Nodes=n1", "Duration=10", "Users=root", "Flags=MAGNETIC"], "not supported yet"),
    (["Nodes=n1", "Duration=10", "Users=root", "Flags=SPLENDID"], "there is no flag"),
    (["Nodes=n1", "Duration=10", "Users=root", "Licenses=matlab:2"], "not supported yet"),
    (["NodeCnt=9", "Duration=10", "Users=root"], "9 nodes are asked for"),
])
def test_invalid_reservations_are_refused(cluster, words, said):
    done = reserve(cluster, "bad", *words, check=False)
    assert done.returncode != 0 and said in done.stderr
    assert "No reservations" in cluster.run("actl", "show", "reservation").stdout
