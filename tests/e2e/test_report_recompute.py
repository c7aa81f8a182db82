"""areport compared with a computation from asim's jobs.csv alone (recompute.py), in several time zones, from records and from sums.

Two workloads of a week, each around a clock change in Berlin and across the end of a month, are run through asim and inserted
into the accounting tables as the controller would do it.
"""
import datetime
import json
import random
import subprocess
import time
from zoneinfo import ZoneInfo

import pytest

import recompute
from cluster import BIN, Cluster, f1
from test_reports import psql, rows

NODES, CPUS = 4, 8
BERLIN = ZoneInfo("Europe/Berlin")
DAY = 86400


def clock_changes():
    """(midnight in Berlin, length in seconds) of the last two days with a clock change there that are at least a month ago."""
    found = []
    day = datetime.datetime.now(BERLIN).replace(hour=0, minute=0, second=0, microsecond=0, tzinfo=None) - datetime.timedelta(days=30)
    while len(found) < 2:
        day -= datetime.timedelta(days=1)
        length = midnight(day + datetime.timedelta(days=1)) - midnight(day)
        if length != DAY:
            found.append((day, length))
    return found[::-1]


def midnight(day):
    return int(day.replace(tzinfo=BERLIN).timestamp())


def log(path, origin, seed):
    """Writes a random log: a few users, run times from zero to a day, a load near the capacity of the nodes."""
    dice = random.Random(seed)
    lines = [f"; UnixStartTime: {origin}", f"; MaxNodes: {NODES}", f"; MaxProcs: {NODES * CPUS}"]
    at = 0
    for job in range(1, 400):
        at += int(dice.expovariate(1 / 1500))
        run = dice.choice((0, 1, int(dice.expovariate(1 / 300)), int(dice.expovariate(1 / 9000)), min(DAY, int(dice.expovariate(1 / 40000)))))
        cpus = dice.choice((1, 1, 2, 3, 4, 8, 11, 20))
        lines.append(f"{job} {at} -1 {run} {cpus} -1 -1 {cpus} {run + 60} -1 1 {1 + int(dice.betavariate(1, 3) * 12)} 1 -1 -1 -1 -1 -1")
    path.write_text("\n".join(lines) + "\n")


class Week:
    def __init__(self, folder, day, length, number):
        self.day, self.length = day, length
        self.lo = midnight(day) - 2 * DAY - 4321
        self.hi = self.lo + 9 * DAY
        log(folder / f"{number}.swf", self.lo + 1234, number)
        subprocess.run([BIN / "asim", "run", folder / f"{number}.swf", "--cluster=swf", f"--out={folder / str(number)}"], check=True,
                       stdout=subprocess.DEVNULL)
        self.attempts = recompute.attempts_of(folder / str(number) / "jobs.csv", self.lo + 1234)
        assert len(self.attempts) == 399
        self.hi = max(self.hi, max(one.end for one in self.attempts) + DAY)
        assert self.hi < time.time() - DAY
        recompute.place(self.attempts, NODES, CPUS)
        # One node is drained and one is down for a time, with jobs on them; in the end all nodes are removed.
        self.spans = [(node, self.lo, "up") for node in range(NODES)]
        self.spans += [(1, self.lo + 100_000, "drained"), (1, self.lo + 288_123, "up"), (2, self.lo + 99_999, "down"),
                       (2, self.lo + 180_001, "drained"), (2, self.lo + 270_000, "up")]
        self.spans.sort()
        self.capacity = recompute.Capacity(self.attempts, self.spans, CPUS, self.hi)
        self.first_job, self.first_node = 100_000 * (number + 1), 1000 * (number + 1)

    def load(self, cluster):
        lines = "".join(recompute.copy_lines(self.attempts, self.first_job, self.first_node))
        psql(cluster, f"SELECT attempt_prepare('{recompute.stamp(self.lo)}', 2)")
        psql(cluster, f"COPY attempt_done ({', '.join(recompute.COLUMNS)}) FROM STDIN", lines)
        psql(cluster, "INSERT INTO node_span (node_id, began, state, name, tres_ids, tres_counts) VALUES "
                      + recompute.node_rows(self.spans, self.first_node, CPUS))
        psql(cluster, "INSERT INTO node_span (node_id, began, state, name, tres_ids, tres_counts) SELECT node_id, "
                      f"'{recompute.stamp(self.hi)}', 'gone', min(name), '{{}}', '{{}}' FROM node_span "
                      f"WHERE node_id BETWEEN {self.first_node} AND {self.first_node + NODES - 1} GROUP BY node_id")


@pytest.fixture(scope="module")
def replayed():
    """The cluster and the two weeks, before any rollup."""
    made = Cluster(config=f1())
    try:
        made.run("aacctmgr", "-i", "add", "account", "science")
        for number in range(3):
            made.run("aacctmgr", "-i", "add", "account", f"project{number}", "parent=science")
        weeks = [Week(made.work, day, length, number) for number, (day, length) in enumerate(clock_changes())]
        for week in weeks:
            week.load(made)
        psql(made, "ANALYZE attempt_done")
        yield made, weeks
    finally:
        made.close()


def windows(week):
    """(zone, start, end) as typed by a user, followed by both ends in seconds: days, among them the one with the clock change, hours
    around the change, weeks, ends within an hour, and a zone whose days begin between hours of UTC."""
    text = lambda at: at.isoformat()
    day = lambda more: week.day + datetime.timedelta(days=more)
    hours = lambda at, zone: int(at.replace(tzinfo=zone).timestamp())
    kolkata, utc = ZoneInfo("Asia/Kolkata"), ZoneInfo("UTC")
    found = [("Europe/Berlin", BERLIN, day(more), day(more + 1)) for more in (-3, -1, 0, 1)]
    found += [("Europe/Berlin", BERLIN, day(0), day(0) + datetime.timedelta(hours=1)),
              ("Europe/Berlin", BERLIN, day(0) + datetime.timedelta(hours=1), day(0) + datetime.timedelta(hours=4)),
              ("Europe/Berlin", BERLIN, day(-5), day(20)),
              ("Asia/Kolkata", kolkata, day(0), day(1)), ("Asia/Kolkata", kolkata, day(-1), day(3)),
              ("UTC", utc, day(0), day(1)), ("UTC", utc, day(-40).replace(day=1), day(25).replace(day=1)),
              ("UTC", utc, day(-1) + datetime.timedelta(seconds=34567), day(2) + datetime.timedelta(seconds=7)),
              ("UTC", utc, day(0) + datetime.timedelta(seconds=3599), day(0) + datetime.timedelta(seconds=3601))]
    return [(zone, text(start), text(end), hours(start, info), hours(end, info)) for zone, info, start, end in found]


def capacity_between(weeks, lo, hi, tres):
    sums = [week.capacity.between(lo, hi, tres) for week in weeks]
    return {name: sum(one[name] for one in sums) for name in sums[0]}


def compare(cluster, weeks, week):
    """Compares all reports of all windows with the computation; returns the number of equal values."""
    attempts = [one for some in weeks for one in some.attempts]
    same = 0
    for zone, start, end, lo, hi in windows(week):
        said = dict(env={"TZ": zone})
        words = [f"start={start}", f"end={end}"]
        answer = json.loads(cluster.run("areport", "--json", "-T", "cpu,mem,node", "cluster", "utilization",
                                        "format=tres,allocated,down,planneddown,reserved,idle,overcommitted,reported", *words, **said).stdout)
        assert (answer["start"], answer["end"]) == (lo * 10**6, hi * 10**6)
        for row in answer["rows"]:
            expected = capacity_between(weeks, lo, hi, row["tres"])
            assert {name: row[name] for name in expected} == expected, (zone, start, end, row["tres"])
            same += len(expected)
        assert len(answer["rows"]) == 3
        for tres in ("cpu", "node"):
            used = recompute.usage(attempts, lo, hi, tres, lambda one: (one.account, one.user))
            found = rows(cluster, "-T", tres, "cluster", "AccountUtilizationByUser", *words, **said)
            assert {(row["account"], row["user"]): row["used"] for row in found if row["user"]} == used
            # Accounts, including the accounts below them.
            accounts = recompute.usage(attempts, lo, hi, tres, lambda one: one.account)
            accounts["science"] = sum(accounts.get(f"project{number}", 0) for number in range(3))
            accounts["root"] = sum(used.values())
            accounts = {account: amount for account, amount in accounts.items() if amount}
            assert {row["account"]: row["used"] for row in found if not row["user"]} == accounts
            same += len(used) + len(accounts)
        found = rows(cluster, "-T", "cpu", "cluster", "UserUtilizationByAccount", *words, **said)
        assert {(row["account"], row["user"]): row["used"] for row in found} == recompute.usage(
            attempts, lo, hi, "cpu", lambda one: (one.account, one.user))
        qos = recompute.usage(attempts, lo, hi, "mem", lambda one: (one.account, one.qos))
        found = rows(cluster, "-T", "mem", "cluster", "AccountUtilizationByQOS", *words, **said)
        assert {(row["account"], row["qos"]): row["used"] for row in found if row["qos"]} == qos
        by_user = sorted(recompute.usage(attempts, lo, hi, "cpu", lambda one: one.user).values(), reverse=True)
        assert [row["used"] for row in rows(cluster, "user", "top", "topcount=100", *words, **said)] == by_user
        same += len(qos) + 2 * len(by_user)
        counted = recompute.sizes(attempts, lo, hi, (2, 8))
        for index, more in enumerate(([], ["printjobcount"])):
            lines = cluster.run("areport", "-nP", "-t", "sec", "job", "sizes", "grouping=2,8", *words, *more, **said).stdout.splitlines()
            assert {line.split("|")[1]: [int(cell) for cell in line.split("|")[2:]] for line in lines} == {
                account: both[index] for account, both in counted.items()}
            same += 3 * len(lines)
    return same


def test_reports_from_records_match_the_computation(replayed):
    cluster, weeks = replayed
    assert {week.length for week in weeks} == {23 * 3600, 25 * 3600}
    assert "0" == psql(cluster, "SELECT count(*) FROM capacity_hour") == psql(cluster, "SELECT count(*) FROM usage_hour")
    for week in weeks:
        assert compare(cluster, weeks, week) > 500


def test_reports_from_sums_match_the_computation(replayed):
    cluster, weeks = replayed
    cluster.run("areport", "rollup", "now", timeout=300)
    assert psql(cluster, "SELECT from_hour <= '%s' AND to_hour > '%s' FROM rollup" % (
        recompute.stamp(weeks[0].lo), recompute.stamp(weeks[1].hi))) == "t"
    for week in weeks:
        assert compare(cluster, weeks, week) > 500


def test_views_match_the_computation(replayed):
    """The views for dashboards, by hour, day and month of UTC."""
    cluster, weeks = replayed
    cluster.run("areport", "rollup", "now", timeout=300)
    attempts = [one for week in weeks for one in week.attempts]
    units = {"hour": 3600, "day": DAY}
    for week in weeks:
        for unit, length in units.items():
            lo, hi = (week.lo - DAY) // length * length, week.hi
            within = f"began >= to_timestamp({lo}) AND began < to_timestamp({hi})"
            found = {}
            for line in psql(cluster, f"SELECT extract(epoch FROM began)::bigint, account, user_name, seconds::bigint FROM "
                                      f"ares_views.usage_{unit} WHERE tres = 'cpu' AND {within}").splitlines():
                at, account, user, amount = line.split("|")
                found[int(at), account, user] = found.get((int(at), account, user), 0) + int(amount)
            expected = {}
            for at in range(lo, hi, length):
                for (account, user), amount in recompute.usage(week.attempts, at, at + length, "cpu",
                                                               lambda one: (one.account, one.user)).items():
                    expected[at, account, user] = amount
            assert found == expected
            found = {int(line.split("|")[0]): [int(cell) for cell in line.split("|")[1:]] for line in psql(
                cluster, "SELECT extract(epoch FROM began)::bigint, allocated::bigint, down::bigint, drained::bigint, idle::bigint FROM "
                         f"ares_views.capacity_{unit} WHERE tres = 'cpu' AND {within}").splitlines()}
            for at in range(lo, hi, length):
                expected = week.capacity.between(at, at + length, "cpu")
                assert found.get(at, [0] * 4) == [expected[name] for name in ("allocated", "down", "planned_down", "idle")]
    told = {line.split("|")[0]: int(line.split("|")[1]) for line in psql(
        cluster, "SELECT to_char(began AT TIME ZONE 'UTC', 'YYYY-MM'), sum(seconds)::bigint FROM ares_views.usage_month "
                 "WHERE tres = 'cpu' GROUP BY began").splitlines()}
    this = datetime.datetime.now(datetime.timezone.utc).replace(day=1, hour=0, minute=0, second=0, microsecond=0)
    expected = {}
    for week in weeks:
        month = datetime.datetime.fromtimestamp(week.lo, datetime.timezone.utc).replace(day=1, hour=0, minute=0, second=0)
        while month < this and month.timestamp() < week.hi:
            following = (month + datetime.timedelta(days=31)).replace(day=1)
            used = recompute.usage(attempts, int(month.timestamp()), int(following.timestamp()), "cpu", lambda one: "")
            expected[f"{month:%Y-%m}"] = used.get("", 0)
            month = following
    assert told == {month: amount for month, amount in expected.items() if amount} and len(told) >= 3
