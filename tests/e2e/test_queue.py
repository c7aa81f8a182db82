# Tests: aqueue/columns, aqueue/why, cells, columns_identity, columns_places, columns_resources
# Tests: options/frame, query_estimate, query_rows, repeat
"""aqueue and acancel as users and scripts call them."""

import getpass
import json
import re
import os
import pty
import signal
import subprocess
import time

import pytest

from cluster import BIN, f1, until

USER = getpass.getuser()


@pytest.fixture
def jobs(cluster):
    """Submits jobs that are cancelled when the test ends."""
    made = []

    def submit(*words, **more):
        made.append(cluster.wrap(more.pop("command", "true"), *words, **more))
        return made[-1]
    yield submit
    for job in made:
        cluster.cancel("-Q", job, check=False)
    until(lambda: not cluster.run("aqueue", "-h").stdout)


def lines(cluster, *words, **more):
    return cluster.run("aqueue", "-h", *words, **more).stdout.splitlines()


def test_ac079_default_columns(cluster, jobs):
    job = jobs("-H", "-J", "a-name-that-is-longer-than-eight")
    header, row = cluster.run("aqueue").stdout.splitlines()
    assert header.split() == ["JOBID", "PARTITION", "NAME", "USER", "ST", "TIME", "NODES", "NODELIST(REASON)"]
    assert row.split() == [job, "main", "a-name-that-is-longer-than-eight", USER, "PD", "0:00", "1", "(JobHeldUser)"]
    assert header.index("NODELIST") == row.index("(JobHeldUser)"), "columns are aligned"
    assert "TIME_LIMIT" in cluster.run("aqueue", "-l").stdout


def test_output_fits_the_width_of_the_terminal(cluster, jobs):
    jobs("-H", "-J", "n" * 100)
    leader, follower = pty.openpty()
    done = subprocess.Popen(["sh", "-c", f"stty cols 78; exec {BIN}/aqueue"], stdin=follower, stdout=follower,
                            env=cluster.environment(NO_COLOR="1"))
    os.close(follower)
    assert done.wait(30) == 0
    text = os.read(leader, 65536).decode()
    os.close(leader)
    rows = [line for line in text.splitlines() if line]
    assert len(rows) == 2 and all(len(line) <= 78 for line in rows), text
    assert "nnn+ " in rows[1]


def test_filters(cluster, jobs, others):
    a = jobs("-H", "-J", "fa", "-t", "5")
    b = jobs("-H", "-J", "fb", user=others[0])
    c = jobs("-w", "n3", command="sleep 1000")
    cluster.wait_state(c, "RUNNING")
    show = lambda *words, **more: sorted(lines(cluster, "-o", "%i", *words, **more))
    assert show() == sorted([a, b, c])
    assert show("-u", others[0]) == show("--me", user=others[0]) == show("-n", "fb") == [b]
    assert show("--notme") == [b]
    assert show("-t", "R") == show("-w", "n[3-4]") == [c]
    assert show("-w", "n4") == []
    assert show("-t", "pending", "-p", "main") == sorted([a, b])
    assert show("-j", f"{a},{c}") == sorted([a, c])
    assert show("-q", "none-has-this") == show("-A", "none-has-this") == []
    assert show("--running-over", "1000") == [] and show("--running-under", "1000") == [c]
    for words, word in (("-u", "no-such-user"), ("-p", "no-such-partition"), ("-w", "n99"), ("-j", "99999999")):
        done = cluster.run("aqueue", words, word, check=False)
        assert done.returncode == 1 and word in done.stderr, done.stderr


def test_priority_option_lists_a_job_once_for_each_partition(fresh):
    cluster = fresh(config=f1() + '  - {name: express, nodes: "n[3-4]", tier: 5}\n')
    both = cluster.wrap("true", "-H", "-p", "main,express")
    one = cluster.wrap("true", "-H")
    show = lambda *words: lines(cluster, "-o", "%A %P", *words)
    assert show("-S", "i") == [f"{both} main,express", f"{one} main"]
    assert show("-P", "-S", "i,P") == [f"{both} express", f"{both} main", f"{one} main"]
    assert show("-P", "-S", "-p,i")[0] == f"{both} express", "the higher tier first"
    assert show("-P", "-p", "express") == [f"{both} express"]
    assert lines(cluster, "--only-job-state", "-j", one)[0].split() == [one, "PENDING"]
    cluster.cancel(both, one)


def test_unknown_ids_do_not_hide_existing_jobs(cluster, jobs):
    job = jobs("-H")
    done = cluster.run("aqueue", "-h", "-j", f"{job},99999999", "-o", "%i")
    assert done.stdout.split() == [job] and "99999999" in done.stderr
    done = cluster.run("aqueue", "-h", "-j", "99999998,99999999", check=False)
    assert done.returncode == 1 and done.stdout == ""


def test_formats_field_names_and_sort_orders(cluster, jobs):
    low = jobs("-H", "-J", "low", "--comment", "hello world", "--mem", "100M")
    high = jobs("-H", "-J", "high", "-t", "1:00:00", "-c", "2")
    assert lines(cluster, "-S", "j", "-o", "%j|%l|%C|%m|%k") == ["high|1:00:00|2|500M|N/A", "low|UNLIMITED|1|100M|hello world"]
    assert lines(cluster, "-S", "-i", "-O", "jobid:1000|,name:.6") == [high.ljust(1000) + "|  high", low.ljust(1000) + "|   low"]
    assert lines(cluster, "-S", "i", "-o", "%i", env={"AQUEUE_FORMAT": "%j"}) == [low, high]
    assert lines(cluster, env={"AQUEUE_FORMAT": "%j", "AQUEUE_SORT": "-j"}) == ["low", "high"]
    for words in (["-o", "%s"], ["-O", "burstbuffer"], ["-O", "nmae"], ["-S", "?"]):
        done = cluster.run("aqueue", *words, check=False)
        assert done.returncode == 1 and done.stderr.startswith("aqueue: "), words
    assert 'did you mean "Name"' in cluster.run("aqueue", "-O", "nmae", check=False).stderr


def test_jobs_of_equal_priority_are_listed_in_the_order_of_nice(cluster, jobs):
    blocker = jobs("-N4", "--exclusive", command="sleep 1000")
    cluster.wait_state(blocker, "RUNNING")
    worse = jobs("-N4", "--exclusive", "--nice=1000")
    best, better = jobs("-N4", "--exclusive", "--nice=-5", command="sleep 1000"), jobs("-N4", "--exclusive")
    assert lines(cluster, "-t", "PD", "-o", "%i") == [best, better, worse]
    cluster.cancel(blocker)
    cluster.wait_state(best, "RUNNING")
    assert lines(cluster, "-o", "%i %t") == [f"{better} PD", f"{worse} PD", f"{best} R"]


def test_arrays_fold_and_unfold(cluster, jobs):
    job = jobs("-H", "--array=0-4%2")
    assert lines(cluster, "-o", "%i %K") == [f"{job}_[0-4%2] [0-4%2]"]
    unfolded = lines(cluster, "-r", "-o", "%i %A")
    assert unfolded == [f"{job}_{task} {int(job) + 1 + task}" for task in range(5)]
    assert lines(cluster, "-j", f"{job}_3", "-o", "%i") == [f"{job}_3"]
    assert lines(cluster, "-j", str(int(job) + 4), "-o", "%i") == [f"{job}_3"], "by the task's own number"
    cluster.cancel(f"{job}_[0-2]")
    until(lambda: lines(cluster, "-o", "%i") == [f"{job}_[3-4%2]"])


def test_all_columns_and_wide_letters(cluster, jobs):
    job = jobs("-H", "-J", "日本")
    header, line = cluster.run("aqueue", "-j", job, "-o", "%all").stdout.splitlines()
    assert header.count("|") == line.count("|") > 50 and "|日本|" in line
    assert "JOBID" in header.split("|") and "REASON" in header.split("|")
    assert cluster.run("ainfo", "-h", "-o", "%all").stdout.count("|") > 20
    assert cluster.run("aqueue", "-h", "-j", job, "-o", "%6j|").stdout == "日本  |\n"


def test_json(cluster, jobs):
    job = jobs("-H", "-J", 'quote " and \\', "--comment", "ä")
    answer = json.loads(cluster.run("aqueue", "--json").stdout)
    assert answer["cluster"] == "test" and answer["moved"] is False and answer["lsn"] > 0
    one = next(one for one in answer["jobs"] if one["own_id"] == int(job))
    assert one["name"] == 'quote " and \\' and one["state"] == "PENDING" and one["reason"] == "JobHeldUser"
    assert one["spec"]["comment"] == "ä" and one["spec"]["work_dir"] == str(cluster.work)
    assert one["key"] == {"job": int(job), "task": None} and one["job_id"] == int(job)
    assert answer["meta"]["plugin"] == {"type": "ares", "name": "aqueue"} and answer["meta"]["Ares"]["release"]
    assert json.loads(cluster.run("aqueue", "--json", "-n", "no-such-name").stdout)["jobs"] == []


def test_expected_start_and_explanation_of_pending_jobs(cluster, jobs):
    blocker = jobs("-N", "4", "--exclusive", "-t", "10", command="sleep 1000")
    cluster.wait_state(blocker, "RUNNING")
    first = jobs("-N", "4", "-J", "first")
    second = jobs("-N", "1", "-J", "second")
    cluster.wait_reason(first, "Resources")

    def expected():
        rows = dict(line.split("|") for line in lines(cluster, "--start", "-o", "%i|%S,%Y"))
        assert blocker not in rows
        assert rows[first].startswith("20") and rows[first].endswith("n[1-4]"), rows
        return rows[first]
    until(expected)
    why = cluster.run("aqueue", "--why", f"{first},{second},{blocker}").stdout.split("\n\n")
    assert len(why) == 3
    assert f"Job {blocker} " in why[0] and "does not wait: it is RUNNING on n[1-4]" in why[0]
    assert "waits for resources (Resources)" in why[1]
    assert "Resources in main: needs 4 CPUs" in why[1] and "4 nodes" in why[1]
    assert re.search(r"Would start: +20\S+ on n\[1-4\]", why[1]), why[1]
    assert "waits its turn (Priority)" in why[2] and re.search(r"Jobs ahead: +1\n", why[2]), why[2]
    held = jobs("-H")
    assert "is held by its user" in cluster.run("aqueue", "--why", held).stdout


def test_iterate_prints_until_stopped(cluster):
    running = subprocess.Popen([str(BIN / "aqueue"), "-i", "1"], env=cluster.environment(), text=True,
                               stdout=subprocess.PIPE)
    try:
        seen = [running.stdout.readline() for _ in range(6)]
    finally:
        running.send_signal(signal.SIGTERM)
        running.wait(10)
    assert sum("JOBID" in line for line in seen) == 2, seen


def test_queue_of_many_pages_is_complete(cluster, jobs):
    array = jobs("-H", "--array=0-1000", "-J", "x" * 200)
    done = cluster.run("aqueue", "-v", "-r", "-h", "-S", "i", "-o", "%i")
    assert done.stdout.split() == [f"{array}_{task}" for task in range(1001)]
    assert "of one state" in done.stderr
    answer = json.loads(cluster.run("aqueue", "--json", "-r").stdout)
    assert [one["key"]["task"] for one in answer["jobs"]] == list(range(1001))


def test_ac087_cancel_filters(cluster, jobs, others):
    named = jobs("-H", "-J", "cn")
    other = jobs("-H", "-J", "co", user=others[0])
    running = jobs("-w", "n4", command="sleep 1000")
    cluster.wait_state(running, "RUNNING")
    left = lambda: sorted(lines(cluster, "-o", "%i"))
    cluster.cancel("-u", others[0])
    until(lambda: left() == sorted([named, running]))
    cluster.cancel("-n", "cn,none", "-t", "PENDING")
    until(lambda: left() == [running])
    cluster.cancel("-p", "main", "-w", "n[3-4]", "-t", "RUNNING", "-v")
    cluster.wait_state(running, "CANCELLED")
    assert cluster.wait_state(other, "CANCELLED") and cluster.wait_state(named, "CANCELLED")


def test_cancel_asks_about_every_job(cluster, jobs):
    first, second = jobs("-H", "-J", "ask1"), jobs("-H", "-J", "ask2")
    array = jobs("-H", "--array=0-2", "-J", "ask3")
    done = cluster.cancel("-i", "--me", input="n\nwhat\ny\ny\n")
    assert f"Cancel job {second} (ask2 of {USER}, partition main, PENDING)? [y/n]" in done.stdout
    assert f"job {array}_[0-2] " in done.stdout
    until(lambda: lines(cluster, "-o", "%i") == [first])


def test_cancelling_a_list_with_an_unknown_id_cancels_the_others(cluster, jobs):
    first, second = jobs("-H"), jobs("-H")
    done = cluster.cancel(first, "99999999", second, check=False)
    assert done.returncode == 1 and done.stderr.count("\n") == 1 and "99999999" in done.stderr, done.stderr
    until(lambda: not lines(cluster))


def test_concurrent_readers_see_all_jobs(cluster, jobs):
    """AC-098."""
    wanted = sorted(jobs("-H") for _ in range(5))
    running = [subprocess.Popen([str(BIN / "aqueue"), "-h", "-o", "%i"], env=cluster.environment(), text=True,
                                stdout=subprocess.PIPE) for _ in range(50)]
    for one in running:
        text, _ = one.communicate(timeout=60)
        assert one.returncode == 0 and sorted(text.split()) == wanted
