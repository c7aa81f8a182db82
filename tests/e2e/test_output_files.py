"""Names of output files that are too long: the job fails with a cause, and its node keeps working."""

import pytest

LONG = {
    "a name of 1000 bytes, five times": ("-J", "x" * 1000, "-o", "%x%x%x%x%x"),
    "a name that may not be cut anywhere": ("-J", "ä" * 500, "-o", "_%x%x%x%x%x"),
    "a path of 4090 bytes": ("-o", "/" + "d" * 4089),
    "two megabytes": ("-J", "x" * 1000, "-o", "%x" * 2000),
    "of the errors": ("-J", "x" * 1000, "-o", "fine", "-e", "%x" * 2000),
}


def cause_of(cluster, job):
    found = [line.strip() for line in cluster.show("job", job).splitlines() if line.strip().startswith("Cause=")]
    assert len(found) == 1, cluster.show("job", job)
    return found[0].removeprefix("Cause=")


@pytest.mark.parametrize("case", LONG)
def test_too_long_file_name_fails_only_its_job(cluster, case):
    job = cluster.wrap("true", "-w", "n1", *LONG[case])
    assert cluster.wait_end(job) == {job: "FAILED"}
    cause = cause_of(cluster, job)
    assert cause.startswith("n1: cannot open output file "), cause
    assert cause.endswith("...: File name too long"), cause
    assert len(cause.encode()) <= 500
    cluster.completed(cluster.wrap("true", "-w", "n1"))


def test_a_script_that_could_not_be_started_is_a_launch_failure(cluster):
    job = cluster.wrap("true", "-o", "nodir/x")
    assert cluster.wait_end(job) == {job: "FAILED"}
    assert cluster.account(job, "State,Reason,ExitCode") == "FAILED|JobLaunchFailure|0:53"
    assert {"Reason=JobLaunchFailure", "ExitCode=0:53"} <= set(cluster.show("job", job).split())
    other = cluster.wrap("exit 1")
    assert cluster.wait_end(other) == {other: "FAILED"}
    assert cluster.account(other, "Reason") == "NonZeroExitCode"
