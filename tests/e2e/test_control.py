# Tests: controller, ingress, node_hub
"""Control of jobs and nodes: cancel, signals, time limits, requeue, drain, priorities, other users' jobs."""

import os
import signal
import time

from cluster import until


def running(cluster, command, *words, **more):
    job = cluster.wrap(command, *words, **more)
    cluster.wait_state(job, "RUNNING")
    return job


def test_cancelling_a_running_job_ends_its_processes(cluster):
    job = running(cluster, "echo $$ > pid.txt; sleep 1000 & wait")
    until(lambda: (cluster.work / "pid.txt").read_text().strip())
    cluster.cancel(job)
    assert set(cluster.wait_end(job).values()) == {"CANCELLED"}
    assert "by" in cluster.account(job, "State")


def test_cancelled_pending_job_never_runs(cluster):
    job = cluster.wrap("touch never.ran", "-H")
    cluster.cancel(job)
    assert cluster.wait_state(job, "CANCELLED")
    assert not (cluster.work / "never.ran").exists()


def test_cancelling_a_job_that_has_ended_succeeds_silently(cluster):
    job = cluster.wrap("true")
    cluster.completed(job)
    done = cluster.cancel(job)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert cluster.account(job, "State") == "COMPLETED"


def test_ac092_cancelling_an_unknown_job_fails(cluster):
    done = cluster.cancel("999999999", check=False)
    assert done.returncode != 0 and "999999999" in done.stderr
    quiet = cluster.cancel("-Q", "999999999", check=False)
    assert quiet.stderr == ""


def test_ac093_jobs_of_other_users_cannot_be_controlled(cluster, others):
    alice, bob = others
    job = running(cluster, "sleep 1000", user=alice)
    for words in (["acancel", job], ["actl", "hold", job], ["actl", "requeue", job]):
        done = cluster.run(*words, user=bob, check=False)
        assert done.returncode != 0, words
        assert done.stderr
    assert cluster.queue(job) == "RUNNING"
    cluster.cancel(job, user=alice)
    cluster.wait_state(job, "CANCELLED")


def test_ac094_hold_by_an_administrator_is_not_released_by_the_user(cluster, others):
    alice = others[0]
    job = cluster.wrap("true", "--begin=now+3600", user=alice)
    cluster.run("actl", "hold", job)
    cluster.wait_reason(job, "JobHeldAdmin")
    cluster.run("actl", "release", job, user=alice, check=False)
    cluster.wait_reason(job, "JobHeldAdmin")
    cluster.run("actl", "release", job)
    cluster.wait_reason(job, "BeginTime")
    cluster.cancel(job)


def test_signal_reaches_the_script(cluster):
    job = cluster.script("#!/bin/bash\ntrap 'echo caught; exit 5' USR1\ntouch ready.sig\nwhile :; do sleep 0.1; done\n", "sig.sh")
    job = cluster.submit(job)
    until(lambda: (cluster.work / "ready.sig").exists())
    cluster.cancel("-s", "USR1", "-b", job)
    assert set(cluster.wait_end(job).values()) == {"FAILED"}
    assert cluster.account(job, "ExitCode") == "5:0"
    assert "caught" in cluster.output(job)


def test_time_limit_ends_a_job(cluster):
    job = running(cluster, "trap 'echo warned' TERM; while :; do sleep 0.1; done", "-t", "1")
    cluster.run("actl", "update", f"jobid={job}", "timelimit=0:02")
    began = time.monotonic()
    assert set(cluster.wait_end(job, 90).values()) == {"TIMEOUT"}
    assert time.monotonic() - began < 85


def test_ac118_requeue_keeps_the_id_and_counts_restarts(cluster):
    job = cluster.wrap('echo "run ${ARES_RESTART_COUNT:-0}"; [ "${ARES_RESTART_COUNT:-0}" -gt 0 ] || sleep 1000',
                       "--requeue", "--open-mode=append", "-o", "requeued.out")
    cluster.wait_state(job, "RUNNING")
    until(lambda: "run 0" in cluster.output(job, "requeued.out"))
    cluster.run("actl", "requeue", job)
    cluster.completed(job)
    assert cluster.output(job, "requeued.out") == "run 0\nrun 1\n"
    assert len(cluster.rows(job, "JobID,State", "-D")) == 2


def test_requeuehold_then_release(cluster):
    job = running(cluster, '[ "${ARES_RESTART_COUNT:-0}" -gt 0 ] || sleep 1000')
    cluster.run("actl", "requeuehold", job)
    until(lambda: cluster.queue(job, "%t %r") in ("PD JobHeldUser", "PD JobHeldAdmin"))
    cluster.run("actl", "release", job)
    cluster.completed(job)


def test_special_exit_is_shown_until_it_is_released(cluster):
    """AC-118"""
    job = running(cluster, '[ "${ARES_RESTART_COUNT:-0}" -gt 0 ] || sleep 1000')
    other = cluster.wrap("true", "-H")
    cluster.run("actl", "requeuehold", "State=SpecialExit", job)
    until(lambda: cluster.queue(job, "%t %T %r %Q") == "SE SPECIAL_EXIT JobHeldUser 0")
    assert "JobState=SPECIAL_EXIT Reason=JobHeldUser" in cluster.show("job", job)
    for state, shown in (("SE", [job]), ("SPECIAL_EXIT", [job]), ("PD", [job, other]), ("R", [])):
        assert cluster.run("aqueue", "-h", "-t", state, "-j", f"{job},{other}", "-o", "%i").stdout.split() == shown, state
    assert "actl release" in cluster.run("aqueue", "--why", job).stdout
    assert cluster.run("actl", "requeue", "State=SpecialExit", job, check=False).returncode == 1
    assert "is SpecialExit" in cluster.run("actl", "requeuehold", "State=Gone", job, check=False).stderr
    cluster.run("actl", "release", job)
    cluster.completed(job)
    assert cluster.account(job, "Restarts") == "1"
    cluster.cancel(other)


def test_drained_nodes_get_no_jobs_and_keep_running_ones(cluster):
    job = running(cluster, "sleep 3", "-w", "n2")
    cluster.run("actl", "drain", "n2", "reason=maintenance")
    try:
        waiting = cluster.wrap("true", "-w", "n2")
        cluster.wait_reason(waiting, "ReqNodeNotAvail")
        cluster.completed(job)
        assert "maintenance" in cluster.run("ainfo", "-R").stdout
    finally:
        cluster.run("actl", "resume", "n2")
    cluster.completed(waiting)


def test_node_daemon_restart_does_not_affect_jobs(cluster):
    job = running(cluster, "sleep 4; echo survived; exit 9", "-w", "n3")
    before = cluster.pid("aresd@n3")
    os.kill(before, signal.SIGKILL)
    until(lambda: cluster.pid("aresd@n3") != before)
    assert set(cluster.wait_end(job).values()) == {"FAILED"}
    assert cluster.account(job, "ExitCode") == "9:0"
    assert cluster.output(job) == "survived\n"


def test_job_that_ends_while_the_controller_is_down_is_recorded(cluster):
    job = running(cluster, "sleep 1; exit 4")
    for _ in range(3):
        os.kill(cluster.pid("aresctld"), signal.SIGKILL)
        until(lambda: cluster.acluster("pid", "aresctld", check=False).returncode == 0)
    assert set(cluster.wait_end(job, 60).values()) == {"FAILED"}
    assert cluster.account(job, "ExitCode") == "4:0"
