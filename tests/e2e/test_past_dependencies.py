# Tests: aresctld/past_targets, ingress, answers
"""Dependencies on jobs that the controller has forgotten, by what accounting has of them."""
import pytest

from cluster import Cluster, f1, until


@pytest.fixture(scope="module")
def cluster():
    cluster = Cluster(config=f1().replace("policy: {", "policy: {min_job_age: 1, "))
    yield cluster
    cluster.close()


@pytest.fixture(scope="module")
def past(cluster):
    """A job that ended well, one that failed, and an array of which a task failed; all forgotten."""
    jobs = cluster.wrap("true"), cluster.wrap("exit 3"), cluster.wrap("exit $SLURM_ARRAY_TASK_ID", "-a", "0-2")
    for job in jobs:
        until(lambda job=job: "Source=accounting" in cluster.run("actl", "show", "job", job, check=False).stdout, 60, every=0.3)
    return jobs


def test_a_dependency_that_is_met_is_taken(cluster, past):
    good, bad, array = past
    for dependency in (f"afterok:{good}", f"afternotok:{bad}", f"afternotok:{array}", f"afterok:{good},afternotok:{bad}", f"afterok:{array}_0",
                       f"afterok:{bad}?afterok:{good}", f"afterany:{bad}"):
        cluster.completed(cluster.wrap("true", "-d", dependency))


def test_one_that_cannot_be_met_is_refused_with_what_accounting_has(cluster, past):
    good, bad, array = past
    for dependency, why in ((f"afterok:{bad}", f"job {bad} ended FAILED"), (f"afternotok:{good}", f"job {good} ended COMPLETED"),
                            (f"afterok:{array}", f"job {array} ended FAILED"), (f"afterok:{array}_2", f"job {array}_2 ended FAILED")):
        refused = cluster.run("asub", "-d", dependency, "--wrap", "true", check=False)
        assert refused.returncode == 1
        assert f"by accounting {why}" in refused.stderr, dependency
    unknown = cluster.run("asub", "-d", "afterok:99999", "--wrap", "true", check=False)
    assert unknown.returncode == 1 and "accounting" not in unknown.stderr


def test_a_dependency_is_changed_to_a_forgotten_job(cluster, past):
    good, bad, _ = past
    job = cluster.wrap("true", "-H", "--begin=now+1hour")
    cluster.run("actl", "update", f"job={job}", f"dependency=afterok:{good}")
    assert "Dependency=(null)" in cluster.run("actl", "show", "job", job).stdout
    refused = cluster.run("actl", "update", f"job={job}", f"dependency=afterok:{bad}", check=False)
    assert refused.returncode == 1 and f"job {bad} ended FAILED" in refused.stderr
    cluster.run("acancel", job)
