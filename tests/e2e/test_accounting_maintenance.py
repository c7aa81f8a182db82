# Tests: archive_fields, archiver, purge_worker, aresctld/accounting/maintenance, aacctmgr/show/maintenance, ingress_accounting
"""Maintenance of accounting: runaway jobs, transactions, archives and the reports replica."""

import json
import os
import re
import signal

import pytest

from cluster import f1, until

def set_archive(cluster, after, folder):
    path = cluster.dir / "ares.yaml"
    text = re.sub(r"(?m)^archive:.*\n(  .*\n)*", "", path.read_text())
    path.write_text(text + f'archive: {{after: {after}, dir: "{folder}"}}\n')


def mgr(cluster, *words, check=True, **more):
    return cluster.run("aacctmgr", *words, check=check, **more)


def utilization(cluster, **more):
    said = cluster.run("areport", "--json", "-T", "cpu,node", "cluster", "AccountUtilizationByUser", "start=now-300days", **more)
    return json.loads(said.stdout)["rows"]


# --- runaway jobs ------------------------------------------------------------------------------------------------------
def make_runaway(cluster, job, number):
    """Adds an attempt to accounting that the controller does not know, as an edited database or a fault would."""
    columns = cluster.psql("SELECT string_agg(attname, ', ') FROM pg_attribute WHERE attrelid = 'attempt_live'::regclass "
                           "AND attnum > 0 AND NOT attisdropped AND attname NOT IN ('job_id', 'own_id', 'allocated', 'started')")
    cluster.psql(f"INSERT INTO attempt_live (job_id, own_id, allocated, started, {columns}) "
                 f"SELECT {number}, {number}, allocated - interval '3 hours', allocated - interval '2 hours', {columns} "
                 f"FROM attempt_live WHERE job_id = {job}")


def test_runaway_jobs_are_found_and_set_ended(fresh, others):
    cluster = fresh(config=f1())
    job = cluster.wrap("sleep 1000", "-c", "2")
    cluster.wait_state(job, "RUNNING")
    assert mgr(cluster, "show", "runawayjobs").stdout.startswith("No runaway jobs")
    make_runaway(cluster, job, 900001)
    make_runaway(cluster, job, 900002)
    cluster.run("areport", "rollup", "now")
    charged = utilization(cluster)
    assert cluster.account("900001", "State") == "RUNNING"

    asked = mgr(cluster, "-P", "-o", "JobID,User,State", "show", "runawayjobs", check=False, input="n\n")
    assert asked.returncode == 1 and "Nothing was changed" in asked.stdout
    assert asked.stdout.splitlines()[:3] == ["JobID|User|State", "900001|root|RUNNING", "900002|root|RUNNING"]
    listed = json.loads(mgr(cluster, "--json", "show", "runawayjobs").stdout)
    assert [row["job"]["job"] for row in listed["rows"]] == [900001, 900002]
    refused = mgr(cluster, "-i", "show", "runaway", check=False, user=others[0])
    assert refused.returncode == 1 and "only operators" in refused.stderr

    done = mgr(cluster, "show", "runawayjobs", input="y\n")
    assert "Done: 2 set ended" in done.stdout
    assert "CANCELLED" in cluster.account("900001", "State")
    assert cluster.state(job) == "RUNNING", "what runs runs on"
    assert mgr(cluster, "show", "runawayjobs").stdout.startswith("No runaway jobs")
    # Each job is charged for the one hour that is certain, in the sums too.
    assert sum(row["used"] for row in utilization(cluster)) < sum(row["used"] for row in charged)
    hours = int(cluster.psql("SELECT sum(extract(epoch FROM released - allocated)) FROM ares_views.job WHERE job_id > 900000").split(".")[0])
    assert hours == 2 * 3600
    [row] = json.loads(mgr(cluster, "--json", "show", "transactions", "where", "action=end runaway jobs").stdout)["rows"]
    assert row["user"] == "root" and row["subject"] == "job 900001,900002" and row["outcome"] == "ok"
    cluster.cancel(job)
    cluster.wait_end(job)


# --- transactions ------------------------------------------------------------------------------------------------------
def test_transactions_list_user_action_subject_and_outcome(fresh, others):
    cluster = fresh(config=f1())
    mgr(cluster, "-i", "add", "account", "physics")
    cluster.run("actl", "drain", "n4", "reason=broken")
    assert cluster.run("actl", "drain", "n3", "reason=fun", check=False, user=others[0]).returncode == 1
    job = cluster.wrap("true", "-o", "/dev/null")
    cluster.completed(job)

    def rows(*words):
        text = mgr(cluster, "-nP", "-o", "User,Action,Subject,Outcome", "show", "transactions", *words).stdout
        return [line.split("|") for line in text.splitlines()]
    found = rows()
    assert [row[:3] for row in found][:3] == [["root", "change accounting", found[0][2]], ["root", "drain node", "node n4"],
                                              [others[0], "drain node", "node n3"]]
    assert "account physics" in found[0][2] and found[0][3] == "ok" and "may not" in found[2][3]
    assert rows("where", f"user={others[0]}") == [found[2]]
    assert rows("action=submit") == [["root", "submit", f"job {job}", "ok"]]
    assert len(rows("action=all")) > len(found)
    assert rows("end=now-1hour") == [] and rows("start=now-1hour") == found
    assert "Time" in mgr(cluster, "show", "transaction").stdout.splitlines()[0]
    bad = mgr(cluster, "show", "transaction", "start=never", check=False)
    assert bad.returncode == 1 and "never" in bad.stderr


# --- archives ----------------------------------------------------------------------------------------------------------
def age(cluster, days):
    """Moves all ended attempts and node history that many days into the past."""
    shift = f"interval '{days} days'"
    cluster.psql("UPDATE attempt_done SET " + ", ".join(f"{column} = {column} - {shift}" for column in
                 ("submitted", "eligible", "allocated", "started", "ended", "released")) +
                 f"; UPDATE node_span SET began = began - {shift}; UPDATE rollup SET from_hour = NULL, to_hour = NULL")
    cluster.run("areport", "rollup", "now", timeout=120)


@pytest.fixture
def aged(fresh):
    cluster = fresh(config=f1())
    folder = cluster.top / "old"
    set_archive(cluster, "0", folder)
    cluster.run("actl", "reconfigure")
    jobs = [cluster.wrap("sleep 2", "-c", "2", "-o", "/dev/null", "-J", f"a{i}") for i in range(3)]
    for job in jobs:
        cluster.completed(job)
    age(cluster, 100)
    cluster.old, cluster.jobs = folder, jobs
    return cluster


def listing(cluster):
    return cluster.run("aacct", "-P", "-S", "now-200days", "-o", "ALL").stdout


def test_archived_month_can_be_loaded_again(aged, others):
    cluster = aged
    before, used = listing(cluster), utilization(cluster)
    assert all(f"|a{i}|" in before for i in range(3)) and used
    month = cluster.psql("SELECT to_char(max(ended) AT TIME ZONE 'UTC' + interval '1 month', 'YYYY-MM') FROM attempt_done")
    assert "archive.after" in mgr(cluster, "-i", "archive", "dump", check=False).stderr
    assert "only administrators" in mgr(cluster, "-i", "archive", "dump", f"before={month}", check=False, user=others[0]).stderr
    no = mgr(cluster, "archive", "dump", f"before={month}", check=False, input="n\n")
    assert no.returncode == 1 and "Nothing was changed" in no.stdout
    said = mgr(cluster, "-i", "archive", "dump", f"before={month}").stdout
    assert "3 attempts moved to attempts-" in said
    [file] = cluster.old.iterdir()
    assert file.stat().st_mode & 0o077 == 0
    assert len(file.read_text().splitlines()) == 3 + 2
    assert "|a0|" not in listing(cluster)
    assert utilization(cluster) == used, "sums stay"
    cluster.run("areport", "rollup", "again", "start=now-300days", "end=now")
    assert utilization(cluster) == used
    assert "nothing is old enough" in mgr(cluster, "-i", "archive", "dump", f"before={month}").stdout

    assert "3 attempts of" in mgr(cluster, "archive", "load", file.name).stdout
    assert listing(cluster) == before
    assert utilization(cluster) == used
    assert "3 were there already" in mgr(cluster, "archive", "load", file).stdout
    [row] = json.loads(mgr(cluster, "--json", "archive", "show").stdout)["files"]
    assert row["rows"] == 3 and row["loaded"] > 0 and row["path"] == str(file)
    # Archived again, into the same file.
    mgr(cluster, "-i", "archive", "dump", f"before={month}")
    assert list(cluster.old.iterdir()) == [file]
    text = mgr(cluster, "-nP", "-o", "Rows,Loaded,File", "archive").stdout
    assert text == f"3|no|{file}\n"

    torn = cluster.old / "torn.json"
    torn.write_text("\n".join(file.read_text().splitlines()[:-1]) + "\n")
    assert "not as it was written" in mgr(cluster, "archive", "load", "torn.json", check=False).stderr
    assert "cannot be read" in mgr(cluster, "archive", "load", "none.json", check=False).stderr


def test_controller_archives_by_itself_also_after_being_killed(aged):
    cluster = aged
    before, used = listing(cluster), utilization(cluster)
    set_archive(cluster, "40-0", cluster.old)
    # The file is written and its rows are still in the database: the state after a crash between the two steps.
    for turn in range(3):
        os.kill(cluster.pid("aresctld"), signal.SIGKILL)
        until(lambda: cluster.acluster("status", check=False).returncode == 0)
        until(lambda: "|a0|" not in listing(cluster))
        [file] = [path for path in cluster.old.iterdir() if not path.name.startswith(".")]
        assert utilization(cluster) == used
        mgr(cluster, "archive", "load", file.name)
        assert listing(cluster) == before, "nothing lost, nothing twice"
        cluster.psql("UPDATE archive_file SET loaded = NULL" if turn else "DELETE FROM archive_file")
    assert cluster.psql("SELECT count(*) - count(DISTINCT (job_id, task, attempt, ended)) FROM attempt_done") == "0"


# --- a replica ---------------------------------------------------------------------------------------------------------
def test_reports_are_read_from_the_replica_while_it_is_available(fresh):
    """The replica is a second database, a copy whose job names differ."""
    cluster = fresh(config=f1())
    job = cluster.wrap("true", "-o", "/dev/null", "-J", "original")
    cluster.completed(job)
    name = cluster.database()[-1]
    where = cluster.database()[:4] + ["-U", "postgres"]
    file = cluster.work / "copy.dump"
    cluster.postgres("pg_dump", *where, "-Fc", "-f", file, name)
    cluster.postgres("createdb", *where, "-O", "ares", "replica")
    cluster.postgres("pg_restore", *where, "--exit-on-error", "-d", "replica", file)
    cluster.psql("UPDATE attempt_done SET name = 'copied'", "replica")

    def restart(reports):
        path = cluster.dir / "ares.yaml"
        text = re.sub(r"\n  reports: .*", "", path.read_text())
        path.write_text(text.replace("\ndatabase:\n", f'\ndatabase:\n  reports: "{reports}"\n'))
        before = cluster.pid("aresctld")
        os.kill(before, signal.SIGTERM)
        until(lambda: cluster.acluster("pid", "aresctld", check=False).stdout.strip() not in ("", str(before)))
        until(lambda: cluster.acluster("status", check=False).returncode == 0)
    restart("dbname=replica")
    assert cluster.account(job, "JobName") == "copied"
    cluster.run("areport", "cluster", "utilization", "start=now-1day")
    # Without the replica, the main database answers, and the log has one message about it.
    cluster.postgres("dropdb", *where, "--force", "replica")
    assert cluster.account(job, "JobName") == "original"
    assert cluster.account(job, "JobName") == "original"
    log = (cluster.dir / "log" / "aresctld.log").read_text()
    assert log.count("reports read from the database itself for now") == 1
    # A database that is not a copy is not used.
    cluster.postgres("createdb", *where, "-O", "ares", "other")
    cluster.postgres("pg_restore", *where, "--exit-on-error", "-d", "other", file)
    cluster.psql("UPDATE controller SET system = gen_random_uuid(); UPDATE attempt_done SET name = 'foreign'", "other")
    restart("dbname=other")
    assert cluster.account(job, "JobName") == "original"
    assert "is no copy of this database" in (cluster.dir / "log" / "aresctld.log").read_text()


# --- retention ---------------------------------------------------------------------------------------------------------
def test_records_past_their_retention_leave_the_database(fresh):
    cluster = fresh(config=f1())
    job = cluster.wrap("true")
    cluster.completed(job)
    cluster.psql("INSERT INTO audit (at, uid, user_name, host, action, subject, outcome) "
                 "VALUES (now() - interval '400 days', 1, 'ada', 'h', 'drain node', 'node n1', 'ok')")
    cluster.psql("SELECT journal_prepare(now() - interval '20 days', 0)")
    cluster.psql("INSERT INTO journal VALUES (0, 1, now() - interval '20 days', 'NodeLost', 1, NULL, NULL, '')")
    cluster.psql("INSERT INTO blob SELECT sha256(n::text::bytea), 'x', now() - interval '2 days' FROM generate_series(1, 1500) n")
    assert "ada" in mgr(cluster, "show", "transactions").stdout
    until(lambda: "removed 1500 unused scripts" in cluster.acluster("logs", "aresctld", "--lines=100").stdout)
    script = cluster.psql("SELECT count(*) FROM blob b JOIN job j ON b.id IN (j.script, j.environment)")
    assert int(script) > 0
    assert "ada" in mgr(cluster, "show", "transactions").stdout, "it is kept for ever by default"
    assert cluster.psql("SELECT count(*) FROM journal WHERE lsn = 0") == "1", "younger than 30 days"

    path = cluster.dir / "ares.yaml"
    path.write_text(re.sub(r"(?m)^retention:.*\n(  .*\n)*", "", path.read_text()) + "retention: {journal: 10-0, audit: 365-0}\n")
    changed = cluster.run("actl", "reconfigure").stdout
    assert "audit" in changed and "restart" not in changed
    until(lambda: "ada" not in mgr(cluster, "show", "transactions").stdout)
    until(lambda: cluster.psql("SELECT count(*) FROM journal WHERE lsn = 0") == "0")
    assert cluster.psql("SELECT count(*) FROM audit WHERE action = 'submit'") == "1", "what is young stays"
    cluster.completed(cluster.wrap("true"))
