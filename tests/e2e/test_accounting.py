# Tests: aacct/fields, field_table, aacct/values
"""aacct: pending, running and ended jobs by time window, state and field."""

import json
import os
import pwd
import subprocess
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from cluster import BIN, until


def states(cluster, job, *words):
    return dict(cluster.rows(job, "JobID,State", *words))


def test_pending_job_is_listed(cluster):
    job = cluster.wrap("true", "-H", "-c", "3", "-t", "30", "--comment=later", "-J", "waits")
    fields = "State,Reason,ReqCPUS,AllocCPUS,Timelimit,Comment,Start,End,NodeList,JobName"
    assert cluster.rows(job, fields) == [["PENDING", "JobHeldUser", "3", "0", "00:30:00", "later", "Unknown", "Unknown",
                                          "None assigned", "waits"]]
    assert job in cluster.run("aacct", "-nPo", "JobID").stdout.split()
    assert job in cluster.run("aacct", "-nPo", "JobID", "-s", "PD").stdout.split()
    assert job not in cluster.run("aacct", "-nPo", "JobID", "-s", "R").stdout.split()
    cluster.cancel(job)
    assert states(cluster, job) == {job: f"CANCELLED by {os.getuid()}"}


def test_command_line_of_a_submission_is_kept(cluster):
    script = cluster.script("#!/bin/sh\n", "the job.sh")
    waits = cluster.submit("-H", "--comment", "it's $HOME", script, "a\nb")
    line = rf"asub --parsable -H --comment 'it'\''s $HOME' '{script}' $'a\nb'"
    assert cluster.rows(waits, "SubmitLine") == [[line]]
    assert f"SubmitLine={line}\n" in cluster.run("actl", "show", "job", waits).stdout
    cluster.cancel(waits)
    assert cluster.rows(waits, "SubmitLine") == [[line]]
    cluster.run("arun", "-n1", "true")
    cluster.run("aalloc", "-n1", "true")
    lines = cluster.run("aacct", "-XnPo", "SubmitLine").stdout.splitlines()
    assert {"arun -n1 true", "aalloc -n1 true"} <= set(lines)
    cluster.script("#!/bin/sh\n")
    many = cluster.run("asub", "--parsable", "-H", "--from", "-", input="job.sh\njob.sh\n").stdout.split()
    assert {row[0] for job in many for row in cluster.rows(job, "SubmitLine")} == {"asub --parsable -H --from -"}
    cluster.cancel(*many)


def test_pending_tasks_share_a_row(cluster):
    job = cluster.wrap("true", "-H", "--array=0-9%2")
    assert states(cluster, job) == {f"{job}_[0-9%2]": "PENDING"}
    assert states(cluster, f"{job}_4") == {f"{job}_[4%2]": "PENDING"}
    assert len(states(cluster, job, "--array")) == 10
    cluster.cancel(f"{job}_3")
    assert states(cluster, job) == {f"{job}_[0-2,4-9%2]": "PENDING", f"{job}_3": f"CANCELLED by {os.getuid()}"}
    cluster.cancel(job)
    assert states(cluster, job) == {f"{job}_[0-2,4-9]": f"CANCELLED by {os.getuid()}",
                                    f"{job}_3": f"CANCELLED by {os.getuid()}"}
    assert states(cluster, f"{job}_5") == {f"{job}_[5]": f"CANCELLED by {os.getuid()}"}


def test_cancelled_tasks_are_shown_at_once_while_others_run(cluster):
    job = cluster.wrap("sleep 1000", "--array=0-3%1")
    until(lambda: states(cluster, job).get(f"{job}_0") == "RUNNING")
    cluster.cancel(f"{job}_[1-3]")
    found = states(cluster, job)
    assert found.pop(f"{job}_0") == "RUNNING"
    assert found and set(found.values()) == {f"CANCELLED by {os.getuid()}"}
    other = cluster.wrap("sleep 1000", "--array=0-3%1")
    until(lambda: states(cluster, other).get(f"{other}_0") == "RUNNING")
    cluster.cancel(other)
    assert states(cluster, other)[f"{other}_[1-3]"] == f"CANCELLED by {os.getuid()}"
    cluster.cancel(job)
    cluster.wait_end(job)
    cluster.wait_end(other)


def test_state_names_the_user_who_cancelled(cluster, others):
    alice, bob = others
    uid = pwd.getpwnam(alice).pw_uid
    for words in (["-H"], []):
        mine = cluster.wrap("sleep 1000", *words, user=alice)
        by_root = cluster.wrap("sleep 1000", *words, user=alice)
        if not words:
            cluster.wait_state(mine, "RUNNING")
            cluster.wait_state(by_root, "RUNNING")
        cluster.cancel(mine, user=alice)
        cluster.cancel(by_root)
        cluster.wait_end(mine)
        cluster.wait_end(by_root)
        assert states(cluster, mine) == {mine: f"CANCELLED by {uid}"}
        assert states(cluster, by_root) == {by_root: "CANCELLED by 0"}
    assert mine not in cluster.run("aacct", "-nPo", "JobID", user=bob).stdout.split()
    assert mine in cluster.run("aacct", "-nPo", "JobID", user=alice).stdout.split()
    assert mine in cluster.run("aacct", "-nPo", "JobID", "-u", alice, user=bob).stdout.split()
    assert mine in cluster.run("aacct", "-nPo", "JobID", "-a", "-u", bob, user=bob).stdout.split()


def test_attempts_of_a_requeued_and_cancelled_job(cluster, others):
    alice = others[0]
    uid = pwd.getpwnam(alice).pw_uid
    job = cluster.wrap("sleep 1000", "--requeue", user=alice)
    cluster.wait_state(job, "RUNNING")
    cluster.run("actl", "requeuehold", job)
    until(lambda: cluster.queue(job) == "PENDING")
    assert cluster.rows(job, "JobID,State,Attempt") == [[job, "PENDING", "2"]]
    assert [row[1] for row in cluster.rows(job, "JobID,State", "-D")] == ["REQUEUED", "PENDING"]
    cluster.cancel(job, user=alice)
    assert states(cluster, job) == {job: f"CANCELLED by {uid}"}
    assert [row[1] for row in cluster.rows(job, "JobID,State", "-D")] == ["REQUEUED", f"CANCELLED by {uid}"]
    cluster.run("actl", "requeue", job)
    cluster.wait_state(job, "RUNNING")
    assert [row[1] for row in cluster.rows(job, "JobID,State", "-D")] == ["REQUEUED", f"CANCELLED by {uid}", "RUNNING"]
    cluster.cancel(job)
    cluster.wait_end(job)
    assert [row[1] for row in cluster.rows(job, "JobID,State", "-D")] == ["REQUEUED", f"CANCELLED by {uid}",
                                                                          "CANCELLED by 0"]
    assert len(cluster.rows(job, "State", "-D", "-s", "RQ")) == 1


def test_final_state_is_recorded_when_the_job_has_ended(cluster):
    script = cluster.script("#!/bin/sh\nexit $1\n", "ends.sh")
    def one(code):
        done = cluster.run("asub", "--parsable", "-W", "-o", "/dev/null", script, code, check=False)
        return done.stdout.strip(), code
    for job, code in [one(n % 3) for n in range(12)]:
        assert cluster.rows(job, "State,ExitCode") == [["FAILED" if code else "COMPLETED", f"{code}:0"]]
    # Every query on the way finds the job.
    job = cluster.wrap("true", "-o", "/dev/null")
    deadline = time.monotonic() + 30
    seen = []
    while not seen or seen[-1] not in ("COMPLETED", "FAILED"):
        assert time.monotonic() < deadline
        seen.append(cluster.account(job, "State"))
    assert "" not in seen and seen[-1] == "COMPLETED"


def test_time_window_and_state_filters(cluster):
    first = cluster.wrap("exit 3", "-o", "/dev/null")
    cluster.wait_end(first)
    running = cluster.wrap("sleep 1000")
    cluster.wait_state(running, "RUNNING")
    def ids(*words):
        return cluster.run("aacct", "-nPo", "JobID", *words).stdout.split()
    assert first in ids() and running in ids()
    assert first in ids("-s", "F", "-S", "now-1hour") and running not in ids("-s", "F", "-S", "now-1hour")
    assert running in ids("-s", "R") and first not in ids("-s", "R")
    assert first in ids("-s", "R", "-S", "now-1hour"), "it ran within the last hour"
    assert first not in ids("-S", "now-2days", "-E", "now-1day")
    assert first in ids("-j", first, "-s", "F") and ids("-j", first, "-s", "CD") == []
    alone = cluster.run("aacct", "-n", "-s", "NF")
    assert alone.stdout == "" and "add -S" in alone.stderr
    refused = cluster.run("aacct", "-S", "now", "-E", "now-1day", check=False)
    assert refused.returncode == 1 and "after its end" in refused.stderr
    cluster.cancel(running)
    cluster.wait_end(running)


def test_filters(cluster):
    name = "filtered-by-name"
    job = cluster.wrap("true", "-J", name, "-N", "2", "-t", "17", "-w", "n[1-2]", "-o", "/dev/null")
    cluster.wait_end(job)
    def found(*words):
        return cluster.run("aacct", "-nPXo", "JobID", "--name", name, *words).stdout.split() == [job]
    assert found()
    assert found("-i", "2") and found("-i", "1-3") and not found("-i", "3-9")
    assert found("-I", "2-9") and not found("-I", "500")
    assert found("-k", "17") and found("-k", "5", "-K", "20") and found("-K", "17") and not found("-k", "16")
    assert found("-N", "n1") and found("-N", "n[2,4]") and not found("-N", "n[3-4]")
    assert found("-r", "main") and not found("-r", "other")
    assert found("-g", str(os.getgid())) and not found("-g", "54321")
    assert not found("-q", "no-such-qos") and not found("-A", "no-such-account")
    done = cluster.run("aacct", "-g", "no-such-group-at-all", check=False)
    assert done.returncode == 1 and "no-such-group-at-all" in done.stderr


def test_every_field_and_json(cluster):
    job = cluster.wrap("true", "-o", "%x.out", "-J", "allfields")
    cluster.completed(job)
    header, line = cluster.run("aacct", "-X", "-P", "-j", job, "-o", "all").stdout.splitlines()
    row = dict(zip(header.split("|"), line.split("|"), strict=True))
    assert row["JobID"] == row["JobIDRaw"] == job
    assert row["StdOut"] == f"{cluster.work}/%x.out"
    assert row["WorkDir"] == str(cluster.work)
    assert row["AllocTRES"] == "billing=1,cpu=1,mem=500M,node=1"
    assert row["Group"] and row["User"] == pwd.getpwuid(os.getuid()).pw_name
    assert row["Submit"] <= row["Eligible"] <= row["Start"] <= row["End"]
    assert row["Cluster"] == "test" and row["MaxRSSNode"] in ("", row["NodeList"])
    told = json.loads(cluster.run("aacct", "--json", "-j", job).stdout)
    assert [r["key"]["job"] for r in told["rows"]] == [r["job_id"] for r in told["rows"]] == [int(job)]
    assert told["meta"]["plugin"]["name"] == "aacct"
    assert told["rows"][0]["state"] == "COMPLETED" and told["cluster"] == "test"
    listed = cluster.run("aacct", "-e").stdout
    assert all(name in listed for name in row)


def test_gpus_are_counted_in_total_and_by_type(gpu_cluster):
    job = gpu_cluster.wrap("true", "--gpus-per-node=a100:2", "-o", "/dev/null")
    gpu_cluster.completed(job)
    for field in ("AllocTRES", "ReqTRES"):
        assert "gres/gpu=2,gres/gpu:a100=2" in gpu_cluster.account(job, field)
    assert gpu_cluster.rows(job, "AllocGPUS,ReqGPUS") == [["2", "2"]]


@pytest.mark.parametrize("words, expected", [
    (["-o", "Wibble"], "Wibble"), (["-o", "AveVMSize"], "AveVMSize"), (["-s", "SLEEPING"], "SLEEPING"),
    (["-S", "whenever"], "whenever"), (["-j", "12x"], "12x"), (["--units=Z"], "Z"), (["-i", "9-1"], "9-1"),
    (["--clusters=x"], "clusters"), (["12"], "-j 12")])
def test_invalid_options_are_named_in_the_error(cluster, words, expected):
    done = cluster.run("aacct", *words, check=False)
    assert done.returncode == 1 and done.stdout == ""
    assert done.stderr.startswith("aacct: ") and expected in done.stderr


def test_unknown_users_are_named(cluster):
    refused = cluster.run("aacct", "-u", "root,nosuch", check=False)
    assert (refused.returncode, refused.stdout) == (1, "") and "Invalid user name specified: nosuch" in refused.stderr
    # A user of accounting who has no login here.
    cluster.run("aacctmgr", "-i", "add", "account", "past")
    cluster.run("aacctmgr", "-i", "add", "user", "nosuch", "account=past")
    assert cluster.run("aacct", "-n", "-u", "nosuch").stdout == ""


def test_concurrent_queries_are_all_answered(cluster):
    job = cluster.wrap("true", "-o", "/dev/null")
    cluster.completed(job)
    def ask(_):
        return subprocess.run([BIN / "aacct", "-nPX", "-j", job, "-o", "State"], text=True, capture_output=True,
                              env=cluster.environment(), timeout=120)
    with ThreadPoolExecutor(48) as pool:
        answers = list(pool.map(ask, range(96)))
    assert {answer.stdout for answer in answers} == {"COMPLETED\n"}
    assert {answer.returncode for answer in answers} == {0}
