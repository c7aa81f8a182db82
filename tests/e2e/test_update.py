# Tests: act, job_keys, node_keys, partition_keys
"""Changes of jobs, nodes and partitions with `actl update`."""

import time

from cluster import until


def update(cluster, *words, **more):
    return cluster.run("actl", "update", *words, **more)


def refused(cluster, *words, **more):
    done = update(cluster, *words, check=False, **more)
    assert done.returncode == 1, done.stdout
    return done.stderr


def field(cluster, job, name, **more):
    """One value of `actl show job`."""
    for word in cluster.show("job", job, **more).split():
        key, _, value = word.partition("=")
        if key == name:
            return value
    raise LookupError(f"no {name} in {cluster.show('job', job)}")


def test_updated_pending_job_runs_with_its_new_properties(cluster):
    job = cluster.wrap("echo $ARES_JOB_NAME $ARES_JOB_NUM_NODES $ARES_CPUS_PER_TASK", "-H", "-J", "first", "-o", "a.out")
    update(cluster, f"jobid={job}", "JobName=second", "NumNodes=2", "CPUsPerTask=2", "StdOut=changed-%j.out",
           "Comment=two", "words", "TimeLimit=5", "Nice=3")
    assert field(cluster, job, "JobName") == "second"
    assert field(cluster, job, "NumNodes") == "2"
    assert field(cluster, job, "Nice") == "3"
    assert "Comment=two words\n" in cluster.show("job", job)
    cluster.run("actl", "release", job)
    cluster.completed(job)
    assert cluster.output(job, f"changed-{job}.out").split() == ["second", "2", "2"]
    assert cluster.account(job, "JobName,NNodes") == "second|2"


def test_users_may_only_lower_limits_and_priority_of_their_own_jobs(cluster, others):
    alice, bob = others
    job = cluster.wrap("true", "-H", "-t", "60", user=alice)
    update(cluster, f"job={job}", "timelimit=30", "nice=10", user=alice)
    assert "raise the time limit" in refused(cluster, f"job={job}", "timelimit=31", user=alice)
    assert "lower the nice value below 10" in refused(cluster, f"job={job}", "nice=9", user=alice)
    assert "priority" in refused(cluster, f"job={job}", "priority=5", user=alice)
    assert "may not update job" in refused(cluster, f"job={job}", "comment=mine", user=bob)
    update(cluster, f"job={job}", "timelimit=90", "priority=5", "nice=-1")
    assert field(cluster, job, "TimeLimit") == "01:30:00"
    cluster.cancel(job)


def test_priority_zero_holds_and_a_higher_one_releases(cluster, others):
    alice, _ = others
    job = cluster.wrap("true", "--begin=now+1hour", user=alice)
    assert "priority" in refused(cluster, f"job={job}", "priority=0", user=alice)
    update(cluster, f"job={job}", "priority=0")
    assert cluster.queue(job, "%r %Q") == "JobHeldAdmin 0"
    update(cluster, f"job={job}", "starttime=now")
    assert cluster.queue(job, "%T") == "PENDING"
    update(cluster, f"job={job}", "priority=7")
    cluster.completed(job)


def test_refused_update_names_the_property_and_the_cause(cluster):
    job = cluster.wrap("true", "-H")
    assert "Invalid partition name specified: nowhere" in refused(cluster, f"jobid={job}", "partition=nowhere")
    assert "5 CPUs on one node" in refused(cluster, f"jobid={job}", "CPUsPerTask=5")
    assert 'did you mean "timelimit"?' in refused(cluster, f"jobid={job}", "timelimt=5")
    assert "TimeLimit: " in refused(cluster, f"jobid={job}", "timelimit=soon")
    assert "999999" in refused(cluster, "jobid=999999", "comment=x")
    cluster.cancel(job)


def test_lowered_time_limit_ends_a_running_job(cluster):
    job = cluster.wrap("while :; do sleep 0.1; done", "-t", "60")
    cluster.wait_state(job, "RUNNING")
    began = time.monotonic()
    update(cluster, f"jobid={job}", "timelimit=0:03")
    assert set(cluster.wait_end(job, 60).values()) == {"TIMEOUT"}
    assert time.monotonic() - began < 45


def test_running_job_keeps_its_partition(cluster):
    job = cluster.wrap("sleep 1000")
    cluster.wait_state(job, "RUNNING")
    assert "can only be changed while it is pending (RUNNING)" in refused(cluster, f"jobid={job}", "partition=main")
    update(cluster, f"jobid={job}", "comment=half-way")
    assert field(cluster, job, "Comment") == "half-way"
    cluster.cancel(job)
    cluster.wait_end(job)


def test_dependencies_can_be_set_and_cleared(cluster):
    first = cluster.wrap("exit 1", "-H")
    second = cluster.wrap("true", "-H")
    update(cluster, f"jobid={second}", f"dependency=afterok:{first}")
    assert "would wait" in refused(cluster, f"jobid={second}", f"dependency=afterok:{second}")
    assert "waits for this job" in refused(cluster, f"jobid={first}", f"dependency=afterany:{second}")
    cluster.run("actl", "release", f"{first},{second}")
    cluster.wait_reason(second, "DependencyNeverSatisfied")
    update(cluster, f"jobid={second}", "dependency=")
    cluster.completed(second)


def test_begin_time_can_be_changed(cluster):
    job = cluster.wrap("true", "--begin=now+1hour")
    cluster.wait_reason(job, "BeginTime")
    update(cluster, f"jobid={job}", "StartTime=now")
    cluster.completed(job)


def test_updates_apply_to_tasks_and_whole_arrays(cluster):
    job = cluster.wrap("echo $ARES_JOB_NAME", "--array=0-3", "-H", "-J", "all")
    update(cluster, f"jobid={job}_[1-2]", "name=some")
    update(cluster, f"jobid={job}_3", "name=last")
    update(cluster, f"jobid={job}", "comment=everywhere")
    cluster.run("actl", "release", job)
    cluster.completed(job)
    names = [cluster.output(job, f"ares-{job}_{i}.out").strip() for i in range(4)]
    assert names == ["all", "some", "some", "last"]


def test_array_throttle_can_change_while_the_array_runs(cluster):
    job = cluster.wrap("while [ ! -e go.throttle ]; do sleep 0.1; done", "--array=0-5%1")
    running = lambda: cluster.queue(job, "%T").split().count("RUNNING")
    until(lambda: running() == 1)
    update(cluster, f"jobid={job}", "ArrayTaskThrottle=3")
    until(lambda: running() == 3)
    assert "whole array" in refused(cluster, f"jobid={job}_1", "ArrayTaskThrottle=2")
    (cluster.work / "go.throttle").touch()
    cluster.completed(job, 60)


def test_uhold_can_be_released_by_the_owner(cluster, others):
    alice = others[0]
    job = cluster.wrap("true", "--begin=now+1hour", user=alice)
    cluster.run("actl", "uhold", job)
    cluster.wait_reason(job, "JobHeldUser")
    cluster.run("actl", "release", job, user=alice)
    cluster.wait_reason(job, "BeginTime")
    cluster.cancel(job)


def test_requeue_incomplete_runs_only_the_failed_tasks(cluster):
    job = cluster.wrap("echo run >> tasks.$ARES_ARRAY_TASK_ID; [ $ARES_ARRAY_TASK_ID != 1 -o -e second ]", "--array=0-2")
    until(lambda: sorted(s.split(" ")[0] for _, s in cluster.rows(job, "JobID,State")) == ["COMPLETED", "COMPLETED", "FAILED"])
    (cluster.work / "second").touch()
    cluster.run("actl", "requeue", "incomplete", job)
    cluster.completed(job)
    assert [(cluster.work / f"tasks.{i}").read_text().count("run") for i in range(3)] == [1, 2, 1]


def test_partition_states_drain_and_down(cluster):
    waiting = cluster.wrap("true", "-H")
    update(cluster, "partition=main", "state=drain")
    try:
        done = cluster.run("asub", "--wrap", "true", check=False)
        assert done.returncode == 1 and "takes no new jobs now (DRAIN)" in done.stderr
        cluster.run("actl", "release", waiting)
        cluster.completed(waiting)
        update(cluster, "partition=main", "state=down")
        job = cluster.wrap("true")
        cluster.wait_reason(job, "PartitionDown")
        assert "State=DOWN" in cluster.show("partition", "main")
    finally:
        update(cluster, "partition=main", "state=up")
    cluster.completed(job)


def test_only_administrators_update_partition_limits(cluster, others):
    assert "only administrators may" in refused(cluster, "partition=main", "maxtime=10", user=others[0])
    assert "default" in refused(cluster, "partition=main", "default=no")
    update(cluster, "partition=main", "MaxTime=10", "MaxNodes=2")
    try:
        done = cluster.run("asub", "-t", "11", "--wrap", "true", check=False)
        assert "allows at most 00:10:00" in done.stderr
        assert cluster.run("asub", "-N", "3", "--wrap", "true", check=False).returncode == 1
        assert "MaxTime=00:10:00" in cluster.show("partition", "main")
    finally:
        update(cluster, "partition=main", "MaxTime=UNLIMITED", "MaxNodes=UNLIMITED")


def test_node_states_and_reasons_can_be_updated(cluster):
    update(cluster, "nodename=n[3-4]", "state=drain", "reason=new", "fans")
    update(cluster, "nodename=n3", "reason=newer fans")
    assert "newer fans" in cluster.show("node", "n3") and "new fans" in cluster.show("node", "n4")
    update(cluster, "nodename=n3", "state=undrain")
    update(cluster, "nodename=n4", "state=resume")
    until(lambda: cluster.show("node", "n3").count("State=IDLE") == 1)
    assert "in service" in refused(cluster, "nodename=n3", "reason=none")
    assert "say why" in refused(cluster, "nodename=n3", "state=drain")
