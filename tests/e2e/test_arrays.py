"""Arrays and dependencies."""

import itertools

from cluster import until


def test_ac099_environment_of_tasks(cluster):
    job = cluster.wrap("echo $ARES_ARRAY_JOB_ID $ARES_ARRAY_TASK_ID $ARES_ARRAY_TASK_COUNT $ARES_ARRAY_TASK_MIN "
                       "$ARES_ARRAY_TASK_MAX $ARES_ARRAY_TASK_STEP", "--array=0-9:3")
    assert set(cluster.completed(job)) == {f"{job}_{i}" for i in (0, 3, 6, 9)}
    for i in (0, 3, 6, 9):
        assert cluster.output(job, f"ares-{job}_{i}.out").split() == [job, str(i), "4", "0", "9", "3"]


def test_ac100_cancel_one_task(cluster):
    job = cluster.wrap("true", "--array=0-4", "-H")
    cluster.cancel(f"{job}_2")
    until(lambda: cluster.queue(job, "%K").replace("[", "").replace("]", "").startswith("0-1,3-4"))
    cluster.cancel(job)
    until(lambda: not cluster.queue(job, "%i"))


def test_ac101_throttle(cluster):
    job = cluster.wrap("echo b$ARES_ARRAY_TASK_ID >> log.101; sleep 0.5; echo e$ARES_ARRAY_TASK_ID >> log.101",
                       "--array=1-8%2")
    until(lambda: "JobArrayTaskLimit" in cluster.queue(job, "%r").split())
    cluster.completed(job)
    steps = [1 if line[0] == "b" else -1 for line in cluster.output(job, "log.101").split()]
    assert len(steps) == 16
    assert max(itertools.accumulate(steps)) <= 2


def test_afterok_and_afternotok(cluster):
    good = cluster.wrap("sleep 1; true")
    bad = cluster.wrap("sleep 1; false")
    after_good = cluster.wrap("true", "-d", f"afterok:{good}")
    after_bad = cluster.wrap("true", "-d", f"afterok:{bad}")
    any_bad = cluster.wrap("true", "-d", f"afterany:{bad}")
    cluster.completed(after_good)
    cluster.completed(any_bad)
    cluster.wait_reason(after_bad, "DependencyNeverSatisfied")
    cluster.cancel(after_bad)


def test_dependent_job_starts_after_the_job_it_depends_on(cluster):
    first = cluster.wrap("echo 1 >> order.dep; sleep 1; echo 2 >> order.dep")
    second = cluster.wrap("echo 3 >> order.dep", "-d", f"afterok:{first}")
    cluster.wait_reason(second, "Dependency")
    cluster.completed(second)
    assert cluster.output(second, "order.dep").split() == ["1", "2", "3"]


def test_ac109_after_a_whole_array(cluster):
    array = cluster.wrap("sleep 0.5; echo t >> whole.arr; exit $ARES_ARRAY_TASK_ID", "--array=0-3")
    after = cluster.wrap("wc -l < whole.arr", "-d", f"afterany:{array}")
    cluster.completed(after)
    assert cluster.output(after).strip() == "4"
    states = cluster.wait_end(array)
    assert states[f"{array}_0"] == "COMPLETED" and states[f"{array}_3"] == "FAILED"


def test_array_that_runs_is_shown_as_its_tasks(cluster):
    array = cluster.wrap("sleep 1000", "--array=1-3")
    until(lambda: cluster.queue(array, "%T").split() == ["RUNNING"] * 3)
    shown = cluster.show("job", array)
    assert shown.count("JobState=RUNNING") == 3 and "JobState=PENDING" not in shown, shown
    cluster.cancel(array)
    until(lambda: not cluster.queue(array, "%i"))


def test_ragged_array_is_cut_in_listings(cluster):
    indices = ",".join(str(i * i) for i in range(1, 200))
    array = cluster.wrap("true", "-H", "-a", indices)
    shown = cluster.queue(array, "%i")
    assert shown.startswith(f"{array}_[1,4,9,") and shown.endswith(",...]") and len(shown) < 64 + len(array) + 5
    assert cluster.queue(array, "%i", env={"ARES_BITSTR_LEN": "0"}) == f"{array}_[{indices}]"
    assert f'"array_tasks": "{indices}"' in cluster.run("aqueue", "--json", "-j", array).stdout.replace('":"', '": "')
    assert cluster.run("aacct", "-n", "-j", array, "-o", "JobID").stdout.strip() == shown
    assert cluster.account(array, "JobID") == f"{array}_[{indices}]"
    cluster.cancel(array)


def test_ac298_indices_have_no_bound_but_their_type(cluster):
    for first, last in (1000000, 1000001), (4294967293, 4294967294):
        array = cluster.wrap("echo $ARES_ARRAY_TASK_ID $SLURM_ARRAY_TASK_MAX", f"--array={first}-{last}")
        assert set(cluster.completed(array)) == {f"{array}_{first}", f"{array}_{last}"}
        assert cluster.output(array, f"ares-{array}_{first}.out").split() == [str(first), str(last)]
        assert f"ArrayTaskId={last}" in cluster.show("job", f"{array}_{last}")
    held = cluster.wrap("true", "-H", "--array=1000000-1000009%2")
    assert cluster.queue(held, "%i") == f"{held}_[1000000-1000009%2]"
    cluster.cancel(f"{held}_1000003")
    until(lambda: cluster.queue(held, "%i") == f"{held}_[1000000-1000002,1000004-1000009%2]")
    cluster.cancel(held)
    above = cluster.run("asub", "--array=4294967295", "--wrap", "true", check=False)
    assert above.returncode == 1 and "above the limit of 4294967294" in above.stderr


def test_unknown_dependency_is_refused(cluster):
    done = cluster.run("asub", "-d", "afterok:987654", "--wrap", "true", check=False)
    assert done.returncode != 0 and "987654" in done.stderr
