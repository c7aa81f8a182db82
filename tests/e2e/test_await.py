# Tests: jobs/wait
"""await and aeff through the real commands."""
import os
import signal
import subprocess

import pytest

from cluster import BIN, Cluster, f1, until


@pytest.fixture(scope="module")
def cluster():
    cluster = Cluster(config=f1().replace("policy: {", "policy: {min_job_age: 1, "))
    yield cluster
    cluster.close()


def test_the_highest_exit_code_of_all_jobs(cluster):
    good = cluster.wrap("true")
    bad = cluster.wrap("exit 7")
    worse = cluster.wrap("exit 3", "--array=0-2")
    done = cluster.run("await", good, f"{bad},{worse}", check=False)
    assert done.returncode == 7
    assert done.stderr.splitlines() == [f"await: job {bad} ended with exit code 7", f"await: job {worse} ended with exit code 3"]
    assert cluster.run("await", good).stderr == ""
    assert cluster.run("await", "-q", bad, check=False).stderr == ""


def test_it_waits_until_then_and_through_a_restart_of_the_controller(cluster):
    job = cluster.wrap(f"until [ -e {cluster.work}/go ]; do sleep 0.05; done; exit 5")
    cluster.wait_state(job, "RUNNING")
    waiting = subprocess.Popen([str(BIN / "await"), job], env=cluster.environment(), stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    try:
        with pytest.raises(subprocess.TimeoutExpired):
            waiting.wait(1)
        os.kill(cluster.pid("aresctld"), signal.SIGKILL)
        cluster.up()
        assert waiting.poll() is None
        (cluster.work / "go").touch()
        assert waiting.wait(60) == 5
    finally:
        waiting.kill()
        waiting.wait()
        waiting.stderr.close()


def test_a_task_a_cancelled_job_and_one_that_is_killed(cluster):
    array = cluster.wrap('exit $ARES_ARRAY_TASK_ID', "--array=0,4")
    assert cluster.run("await", f"{array}_0").returncode == 0
    assert cluster.run("await", f"{array}_4", check=False).returncode == 4
    held = cluster.wrap("true", "-H")
    cluster.cancel(held)
    assert cluster.run("await", held, check=False).returncode == 1
    array = cluster.wrap("true", "-H", "--array=0-3")
    cluster.cancel(array)
    assert cluster.run("await", array, check=False).returncode == 1, "its tasks never ran"
    killed = cluster.wrap("kill -9 $$")
    assert cluster.run("await", killed, check=False).returncode == 128 + 9


def test_a_job_that_ended_long_ago_is_known_from_accounting(cluster):
    job = cluster.wrap("exit 6")
    cluster.run("await", job, check=False)
    until(lambda: "Source=accounting" in cluster.run("actl", "show", "job", job, check=False).stdout)
    assert cluster.run("await", job, check=False).returncode == 6
    unknown = cluster.run("await", "999999", check=False)
    assert unknown.returncode == 1 and "Invalid job id specified: 999999" in unknown.stderr
    assert "name the jobs" in cluster.run("await", check=False).stderr


def test_aeff_compares_what_a_job_used_with_what_it_had(cluster):
    job = cluster.wrap("timeout 2 sh -c 'while :; do :; done'; true", "-c2", "--mem=200")
    cluster.run("await", job, check=False)
    lines = dict(line.split(": ", 1) for line in cluster.run("aeff", job).stdout.splitlines())
    assert lines["Job ID"] == job and lines["State"] == "COMPLETED (exit code 0)" and lines["Cores per node"] == "2"
    assert 10 < float(lines["CPU Efficiency"].split("%")[0]) <= 100
    assert lines["Memory Efficiency"].endswith("% of 200M")
    assert "none of these jobs" in cluster.run("aeff", "999999", check=False).stderr
