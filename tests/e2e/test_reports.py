# Tests: rollup_worker
"""areport and the views of the database: how the cluster was used."""

import csv
import io
import json
import re

from cluster import f1, until


def report(cluster, *words, **more):
    return cluster.run("areport", *words, **more).stdout


def rows(cluster, *words, **more):
    """Rows of a report as dictionaries, amounts in TRES-seconds."""
    return json.loads(report(cluster, "--json", *words, **more))["rows"]


def seconds(cluster, tres="cpu", **more):
    found = rows(cluster, "-T", tres, "cluster", "utilization", "start=now-1day", "end=now", **more)
    return found[0] if found else None


def psql(cluster, statement, given=None):
    """What a statement prints; `given` is read by COPY … FROM STDIN."""
    return cluster.psql(statement, given=given)


def test_ac136_job_is_charged_for_its_cpus_while_they_are_allocated(fresh):
    cluster = fresh(config=f1())
    job = cluster.wrap("sleep 6", "-c", "4", "-o", "/dev/null")
    cluster.completed(job)
    held = int(psql(cluster, "SELECT floor(extract(epoch FROM released))::bigint - floor(extract(epoch FROM allocated))::bigint "
                             f"FROM ares_views.job WHERE job_id = {job}"))
    assert 6 <= held <= 12
    assert seconds(cluster)["allocated"] == 4 * held
    assert seconds(cluster, "node")["allocated"] == held
    # All reports by user, account and QOS agree.
    for name in ("AccountUtilizationByUser", "AccountUtilizationByQOS", "UserUtilizationByAccount"):
        found = rows(cluster, "cluster", name, "start=now-1day")
        assert max(row["used"] for row in found) == 4 * held, found
    top = rows(cluster, "user", "top", "start=now-1day")
    assert [(row["user"], row["used"]) for row in top] == [("root", 4 * held)]
    sizes = report(cluster, "-nP", "-t", "sec", "job", "sizes", "start=now-1day", "grouping=2,8")
    assert sizes.strip().split("|")[-3:] == ["0", str(4 * held), "0"]
    counts = report(cluster, "-nP", "job", "sizes", "start=now-1day", "grouping=2,8", "printjobcount")
    assert counts.strip().split("|")[-3:] == ["0", "1", "0"]
    efficiency = rows(cluster, "job", "EfficiencyByUser", "start=now-1day")
    assert {row["tres"] for row in efficiency} >= {"cpu"}
    assert all(row["consumed"] <= row["used"] and row["jobs"] == 1 for row in efficiency if row["tres"] == "cpu")


def test_utilization_columns_add_up_to_the_capacity(fresh):
    cluster = fresh(config=f1(gpus=True))
    job = cluster.wrap("sleep 1000", "-c", "2", "-w", "n1")
    cluster.wait_state(job, "RUNNING")
    cluster.run("actl", "drain", "n1", "reason=broken")
    cluster.run("actl", "update", "nodename=n2", "state=down", "reason=broken")
    cluster.run("actl", "create", "reservation", "keep", "nodes=n3", "users=root", "start=now", "duration=60")
    cluster.run("actl", "create", "reservation", "fix", "nodes=n4", "flags=maint", "start=now", "duration=60")
    until(lambda: (now := seconds(cluster)) and now["idle"] >= 0 and now["down"] > 8 and now["reserved"] > 8)
    since = psql(cluster, "SELECT floor(extract(epoch FROM min(began)))::bigint FROM ares_views.node_history")
    for tres, capacity in (("cpu", 16), ("mem", 16000), ("node", 4), ("gres/gpu", 8), ("gres/gpu:a100", 4)):
        answer = json.loads(report(cluster, "--json", "-T", tres, "cluster", "utilization", "start=now-1day", "end=now"))
        [row] = answer["rows"]
        assert row["reported"] == sum(row[key] for key in ("allocated", "down", "planned_down", "reserved", "idle"))
        # Since the second in which the nodes became known.
        assert row["reported"] == capacity * (answer["end"] // 10**6 - int(since)), (tres, row)
    now = seconds(cluster)
    assert now["allocated"] > 0 and now["planned_down"] > 0 and now["down"] > 0 and now["reserved"] > 0
    [kept] = [row for row in rows(cluster, "reservation", "util", "start=now-1day", "names=keep") if row["tres"] == "cpu"]
    assert kept["idle"] > 0 and kept["allocated"] == 0 and kept["nodes"] == "n3"
    cluster.cancel(job)
    cluster.wait_end(job)


def test_reports_from_sums_match_those_from_records(fresh):
    cluster = fresh(config=f1())
    job = cluster.wrap("sleep 2", "-c", "2", "-o", "/dev/null")
    cluster.completed(job)
    assert "summed up" in report(cluster, "rollup", "show")
    # Moves everything three days into the past.
    shift = "interval '75 hours'"
    psql(cluster, f"UPDATE attempt_done SET submitted = submitted - {shift}, eligible = eligible - {shift}, allocated = allocated - {shift}, "
                  f"started = started - {shift}, ended = ended - {shift}, released = released - {shift};"
                  f"UPDATE node_span SET began = began - {shift}")
    words = ["cluster", "utilization", "start=now-10days"]
    before = rows(cluster, "-T", "cpu,node", *words, "end=now-1day")
    users = rows(cluster, "cluster", "AccountUtilizationByUser", "start=now-10days")
    assert [row["allocated"] for row in before if row["tres"] == "node"][0] >= 2
    said = report(cluster, "rollup", "now")
    assert re.fullmatch(r"summed up from \S+ to \S+\n", said), said
    days = int(psql(cluster, "SELECT count(DISTINCT began) FROM ares_views.capacity_day"))
    assert days >= 2
    whole = json.loads(report(cluster, "--json", "-T", "cpu,node", *words, "end=now-1day"))["rows"]
    # The end of the window has moved with the clock: only idle time may have grown.
    assert [(row["tres"], row["allocated"]) for row in whole] == [(row["tres"], row["allocated"]) for row in before]
    assert rows(cluster, "cluster", "AccountUtilizationByUser", "start=now-10days") == users
    # The sums are computed again after they were overwritten.
    good = psql(cluster, "SELECT * FROM ares_views.capacity_hour ORDER BY 1, 2")
    psql(cluster, "UPDATE capacity_hour SET idle = 0; DELETE FROM usage_hour")
    report(cluster, "rollup", "again", "start=now-10days", "end=now")
    assert psql(cluster, "SELECT * FROM ares_views.capacity_hour ORDER BY 1, 2") == good
    assert rows(cluster, "cluster", "AccountUtilizationByUser", "start=now-10days") == users


def test_only_operators_run_rollups(cluster, others):
    done = cluster.run("areport", "rollup", "now", check=False, user=others[0])
    assert done.returncode == 1 and "only operators" in done.stderr
    assert cluster.run("areport", "rollup", "show", user=others[0]).returncode == 0


def test_table_csv_and_parsable_layouts(cluster):
    cluster.completed(cluster.wrap("sleep 1", "-o", "/dev/null"))
    words = ["cluster", "util", "start=now-1hour"]
    text = report(cluster, *words)
    assert "Cluster Utilization" in text and "TRES Minutes" in text and "Allocated" in text
    assert report(cluster, "-n", *words).splitlines()[0].startswith("test")
    assert report(cluster, "-P", *words).splitlines()[0] == "Cluster|Allocated|Down|PlannedDown|Idle|Reserved|Reported"
    assert report(cluster, "-p", *words).splitlines()[0].endswith("Reported|")
    table = list(csv.DictReader(io.StringIO(report(cluster, "--csv", "-t", "sec", "-T", "cpu,mem", *words))))
    assert [row["TRESName"] for row in table] == ["cpu", "mem"]
    assert all(re.fullmatch(r"\d+\(\d+\.\d\d%\)", row["Idle"]) for row in csv.DictReader(
        io.StringIO(report(cluster, "--csv", "-t", "secper", *words))))
    assert report(cluster, "-nP", *words, "format=cluster,tres") == "test|cpu\n"


def test_invalid_arguments_are_refused(cluster):
    for words, complaint in ((["cluster"], "name a report"), (["cluster", "usage"], "there is Utilization"),
                             (["-T", "gres/tpu", "cluster", "util"], 'unknown TRES "gres/tpu"'),
                             (["-t", "fortnights", "cluster", "util"], "unknown unit"),
                             (["cluster", "util", "format=colour"], "unknown field"),
                             (["cluster", "util", "start=tomorrow", "end=today"], "ends before it begins")):
        done = cluster.run("areport", *words, check=False)
        assert done.returncode == 1 and complaint in done.stderr, (words, done.stderr)


def test_dates_are_in_the_time_zone_of_the_caller(cluster):
    for zone, day, hours in (("Europe/Berlin", "2026-03-29", 23), ("Europe/Berlin", "2025-10-26", 25), ("UTC", "2026-03-29", 24)):
        following = f"{day[:-2]}{int(day[-2:]) + 1}"
        answer = json.loads(report(cluster, "--json", "cluster", "util", f"start={day}", f"end={following}", env={"TZ": zone}))
        assert (answer["end"] - answer["start"]) == hours * 3600 * 10**6


def test_views_can_be_queried(cluster):
    cluster.completed(cluster.wrap("true", "-o", "/dev/null"))
    assert int(psql(cluster, "SELECT count(*) FROM ares_views.job WHERE state = 'COMPLETED'")) >= 1
    assert psql(cluster, "SELECT state FROM ares_views.node_history WHERE ended IS NULL AND name = 'n1'") == "up"
