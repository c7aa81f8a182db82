# Tests: jobs/past_jobs, aqueue/past
"""Jobs that the controller has forgotten, as aqueue, actl and Slurm's wrappers show them from accounting."""
import json
import subprocess

import pytest

from cluster import ROOT, Cluster, f1, until


@pytest.fixture(scope="module")
def cluster():
    cluster = Cluster(config=f1().replace("policy: {", "policy: {min_job_age: 1, "))
    yield cluster
    cluster.close()


@pytest.fixture(scope="module")
def past(cluster):
    """A job that failed, an array that ran, and one that was cancelled before; all forgotten."""
    held = cluster.wrap("true", "-H", "-a", "0-3")
    cluster.cancel(held)
    jobs = cluster.wrap("exit 3", "-J", "failing", "--comment=why not"), cluster.wrap("exit $SLURM_ARRAY_TASK_ID", "-a", "1-3"), held
    for job in jobs:
        until(lambda job=job: "Source=accounting" in cluster.run("actl", "show", "job", job, check=False).stdout, 60, every=0.3)
    return jobs


def test_aqueue_lists_them_as_other_jobs_that_have_ended(cluster, past):
    failed, array, held = past
    show = lambda *words: cluster.run("aqueue", "-h", "-o", "%i %T %j", *words).stdout.splitlines()
    assert show("-t", "all", "-j", failed) == show("-t", "F", "-j", failed) == [f"{failed} FAILED failing"]
    assert show("-j", failed) == show("-j", failed, "-t", "CD") == show("-t", "all", "-n", "other", "-j", failed) == []
    assert cluster.run("aqueue", "-h", "-t", "all", "-j", failed, "-O", "exit_code,NodeList,Comment:10").stdout.split()[0] == "3:0"
    assert show("-t", "all", "-S", "i,K", "-j", array) == [f"{array}_{i} FAILED wrap" for i in (1, 2, 3)]
    assert show("-t", "all", "-j", f"{array}_3") == [f"{array}_3 FAILED wrap"]
    assert set(show("-t", "all", "-j", f"{array}_[1-2],{failed}")) == {f"{failed} FAILED failing", *(f"{array}_{i} FAILED wrap" for i in (1, 2))}
    assert show("-t", "all", "-j", held) == [f"{held}_[0-3] CANCELLED wrap"]
    why = cluster.run("aqueue", "--why", failed).stdout
    assert "does not wait: it ended at" in why.replace("\n", " ") and "exit code 3:0" in why.replace("\n", " ")
    waits = cluster.wrap("true", "-H")
    assert set(show("-t", "all", "-j", f"{failed},{waits}")) == {f"{failed} FAILED failing", f"{waits} PENDING wrap"}
    cluster.cancel(waits)
    rows = json.loads(cluster.run("aqueue", "--json", "-t", "all", "-j", failed).stdout)["jobs"]
    assert [(row["job_id"], row["state"], row["exit_code"]) for row in rows] == [(int(failed), "FAILED", 3)]


def test_aqueue_without_states_says_how_the_job_ended(cluster, past):
    failed, array, _ = past
    done = cluster.run("aqueue", "-j", failed)
    assert len(done.stdout.splitlines()) == 1 and f"job {failed} ended at " in done.stderr and "as FAILED, exit code 3:0" in done.stderr
    assert "3 of the jobs named have ended" in cluster.run("aqueue", "-j", array).stderr


def test_an_id_that_accounting_does_not_have_is_refused_as_before(cluster, past):
    failed, array, _ = past
    for words, said in (("99999999", "Invalid job id specified: 99999999"), (f"{array}_7", f"Invalid job id specified: {array}_7"),
                        ("99999998,99999999", "none of these jobs is known")):
        done = cluster.run("aqueue", "-t", "all", "-j", words, check=False)
        assert done.returncode == 1 and done.stdout == "" and said in done.stderr
    mixed = cluster.run("aqueue", "-h", "-o", "%i", "-t", "all", "-j", f"{failed},99999999")
    assert mixed.stdout.split() == [failed] and "Invalid job id specified: 99999999" in mixed.stderr
    for words in ("99999999", f"{array}_7", f"{failed},99999999"):
        done = cluster.run("actl", "show", "job", words, check=False)
        assert done.returncode == 1 and done.stdout == "" and f"Invalid job id specified: {words.split(',')[-1]}" in done.stderr


def test_ac297_actl_shows_what_accounting_has(cluster, past):
    failed, array, held = past
    shown = dict(word.split("=", 1) for word in cluster.run("actl", "--oneliner", "show", "job", failed).stdout.split() if "=" in word)
    assert (shown["JobId"], shown["JobState"], shown["ExitCode"], shown["Source"]) == (failed, "FAILED", "3:0", "accounting")
    assert shown["NodeList"] == shown["BatchHost"] != "(null)" and shown["NumNodes"] == "1" and shown["JobName"] == "failing"
    for key in ("SubmitTime", "StartTime", "EndTime"):
        assert shown[key].startswith("20"), key
    assert shown["StdOut"].endswith(f"/ares-{failed}.out") and "Dependency" not in shown
    task = cluster.show("job", f"{array}_2")
    assert f"ArrayJobId={array} ArrayTaskId=2" in task and "ExitCode=2:0" in task and task.count("JobId=") == 2
    assert cluster.show("job", array).count("JobState=FAILED") == 3
    assert "ArrayTaskId=0-3" in cluster.show("job", held) and "ArrayTaskId=2 " in cluster.show("job", f"{held}_2")
    answer = json.loads(cluster.run("actl", "--json", "show", "job", failed).stdout)
    assert [job["state"] for job in answer["jobs"]] == ["FAILED"] and [ref["job"] for ref in answer["missing"]] == [int(failed)]


def test_slurms_wrappers_show_them(cluster, past, tmp_path):
    failed, array, _ = past
    subprocess.run([ROOT / "contrib/slurm/install.sh", tmp_path], check=True)
    env = cluster.environment()
    env["PATH"] = f"{tmp_path}/bin:{env['PATH']}"
    run = lambda *words: subprocess.run(words, env=env, text=True, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=60)
    shown = run(f"{tmp_path}/bin/scontrol", "show", "job", failed)
    assert shown.returncode == 0 and "JobState=FAILED" in shown.stdout and "ExitCode=3:0" in shown.stdout and "Source=accounting" in shown.stdout
    listed = run(f"{tmp_path}/bin/squeue", "-h", "-j", failed)
    assert (listed.returncode, listed.stdout, listed.stderr) == (0, "", "")
    assert run(f"{tmp_path}/bin/squeue", "-h", "-t", "all", "-o", "%T", "-j", failed).stdout == "FAILED\n"
    unknown = run(f"{tmp_path}/bin/scontrol", "show", "job", "99999999")
    assert unknown.returncode == 1 and unknown.stderr == "slurm_load_jobs error: Invalid job id specified\n"
