# Tests: aresd/controller_link, ingress_jobs, actl/notify, steps/host
"""actl notify: a line of a user or an operator in the standard error of a job's batch script."""

import pathlib

import pytest

from cluster import until


@pytest.fixture
def job(cluster):
    """Prints the beginning of a line to its output, and another line to its errors when it may end."""
    made = cluster.wrap("printf begun; until [ -e end.$ARES_JOB_ID ]; do sleep 0.05; done; echo end >&2",
                        "-o", "told.%j.out", "-e", "told.%j.err")
    cluster.wait_state(made, "RUNNING")
    until(lambda: (cluster.work / f"told.{made}.err").exists() and (cluster.work / f"told.{made}.out").read_text())
    yield made
    if cluster.state(made) == "RUNNING":
        cluster.cancel(made)
        cluster.wait_end(made)


def text(cluster, job, stream):
    return (cluster.work / f"told.{job}.{stream}").read_text()


def refused(cluster, *words, **more):
    done = cluster.run("actl", "notify", *words, check=False, **more)
    assert done.returncode != 0
    return done.stderr


def test_line_is_in_the_errors_of_the_script_once(cluster, job):
    done = cluster.run("actl", "notify", job, "The disk", "of n1 is full")
    assert done.stdout == done.stderr == ""
    assert text(cluster, job, "err") == "ares: message from root: The disk of n1 is full\n", "when actl has ended"
    cluster.run("actl", "notify", f"jobid={job}", "a\ttabulator")
    (cluster.work / f"end.{job}").touch()
    cluster.completed(job)
    assert text(cluster, job, "err") == ("ares: message from root: The disk of n1 is full\n"
                                         "ares: message from root: a\ttabulator\nend\n")
    assert text(cluster, job, "out") == "begun"


def test_where_both_streams_are_one_file_it_is_a_line_of_its_own(cluster):
    made = cluster.wrap("printf begun; sleep 1000", "-o", "joined.%j")
    cluster.wait_state(made, "RUNNING")
    file = cluster.work / f"joined.{made}"
    until(lambda: file.exists() and file.read_text())
    cluster.run("actl", "notify", made, "hello")
    assert file.read_text() == "begun\nares: message from root: hello\n"
    cluster.cancel(made)
    cluster.wait_end(made)


def test_only_its_owner_and_operators_may(cluster, others):
    alice, bob = others
    made = cluster.wrap("sleep 1000", "-o", "/tmp/told.%j", user=alice, cwd="/tmp")
    cluster.wait_state(made, "RUNNING")
    why = refused(cluster, made, "hello", user=bob, cwd="/tmp")
    assert f"user {bob} may not tell job {made} of {alice} something" in why
    cluster.run("actl", "notify", made, "by itself", user=alice, cwd="/tmp")
    cluster.run("actl", "notify", made, "by an operator")
    file = pathlib.Path(f"/tmp/told.{made}")
    assert file.read_text() == f"ares: message from {alice}: by itself\nares: message from root: by an operator\n"
    cluster.cancel(made)
    cluster.wait_end(made)
    file.unlink()


def test_job_that_does_not_run_is_told_nothing(cluster):
    waits = cluster.wrap("true", "-H")
    assert f"job {waits}: only a job that runs can be told something, and it is PENDING" in refused(cluster, waits, "hello")
    cluster.cancel(waits)
    over = cluster.wrap("true")
    cluster.completed(over)
    assert "it is COMPLETED" in refused(cluster, over, "hello")
    assert "999999999" in refused(cluster, "999999999", "hello")


def test_what_no_terminal_should_show_is_refused(cluster, job):
    assert "control character" in refused(cluster, job, "\x1b[2J")
    assert "control character" in refused(cluster, job, "two\nlines")
    assert "at most 1024" in refused(cluster, job, "x" * 1025)
    assert "is empty" in refused(cluster, job, "")
    assert "say what to tell it" in refused(cluster, job)
    assert text(cluster, job, "err") == ""


def test_script_without_a_file_for_its_errors_says_so(cluster):
    made = cluster.wrap("sleep 1000", "-o", "/dev/null")
    cluster.wait_state(made, "RUNNING")
    assert "/dev/null, is not a file that keeps what is written" in refused(cluster, made, "hello")
    cluster.cancel(made)
    cluster.wait_end(made)


def test_allocation_without_a_script_says_so(cluster):
    made = cluster.run("aalloc", "-n1", "--no-shell").stderr
    number = next(word for word in made.split() if word.isdigit())
    cluster.wait_state(number, "RUNNING")
    assert "it is an allocation of aalloc or arun" in until(
        lambda: (why := refused(cluster, number, "hello")) and "not a file" not in why and why)
    cluster.cancel(number)
    cluster.wait_end(number)
