# Tests: jobs/progress
"""The line that asub --wait and await show on a terminal."""
import contextlib
import os
import pty
import re
import subprocess
import threading

import pytest

from cluster import BIN, until


@contextlib.contextmanager
def on_terminal(cluster, *words, **environment):
    """Yields the process, whose standard error is a terminal, and a function that returns what it has written there."""
    leader, follower = pty.openpty()
    written = []

    def read():
        with contextlib.suppress(OSError):  # the other end is closed
            while data := os.read(leader, 65536):
                written.append(data.decode())

    process = subprocess.Popen([str(BIN / words[0]), *words[1:]], env=cluster.environment(**(environment or {"NO_COLOR": "1"})), cwd=cluster.work, stdin=subprocess.DEVNULL,
                               stdout=subprocess.PIPE, stderr=follower, text=True)
    os.close(follower)
    reader = threading.Thread(target=read)
    reader.start()
    try:
        yield process, lambda: "".join(written)
    finally:
        process.kill()
        process.wait()
        process.stdout.close()
        reader.join()
        os.close(leader)


def go(cluster, name):
    (cluster.work / name).touch()


def held_until(cluster, name):
    return f"until [ -e {cluster.work}/{name} ]; do sleep 0.05; done"


def is_cleared(text):
    """The last thing written is a line of blanks, and the cursor is at its begin."""
    return re.search(r"\r *\r$", text) is not None and "\x1b" not in text and "\n" not in text


def test_states_are_coloured_on_a_terminal(cluster):
    job = cluster.wrap("true", "-H")
    for words, environment, coloured in ((["await"], {"TERM": "xterm", "NO_COLOR": ""}, True), (["await"], {"TERM": "xterm", "NO_COLOR": "1"}, False),
                                         (["await", "--color=never"], {"TERM": "xterm", "NO_COLOR": ""}, False), (["await", "--color"], {"NO_COLOR": "1"}, True)):
        with on_terminal(cluster, *words, job, **environment) as (process, shown):
            until(lambda: "pending" in shown() and shown().endswith("\r"))
            assert ("\x1b[33mpending\x1b[0m (JobHeldUser)" in shown()) == coloured, shown()
    assert "\x1b" not in cluster.run("actl", "show", "job", job).stdout, "it is no terminal"
    assert " JobState=\x1b[33mPENDING\x1b[0m " in cluster.run("actl", "--color", "show", "job", job).stdout
    assert " State=\x1b[32mIDLE\x1b[0m\n" in cluster.run("actl", "--color", "show", "node", "n1").stdout
    assert "\x1b" not in cluster.run("actl", "--color", "--json", "show", "node", "n1").stdout
    cluster.cancel(job)


def test_await_shows_how_the_job_is_and_clears_the_line(cluster):
    job = cluster.wrap(held_until(cluster, "p1"), "-H")
    with on_terminal(cluster, "await", job) as (process, shown):
        until(lambda: f"\rjob {job}: pending (JobHeldUser)" in shown())
        cluster.run("actl", "release", job)
        until(lambda: re.search(rf"\rjob {job}: running 00:00:0[1-9] *\r", shown()))
        go(cluster, "p1")
        assert process.wait(30) == 0
        until(lambda: is_cleared(shown()))


def test_asub_wait_counts_the_tasks_of_an_array(cluster):
    command = f'[ $ARES_ARRAY_TASK_ID = 1 ] || {held_until(cluster, "p2")}'
    with on_terminal(cluster, "asub", "--wait", "--array=1-3", "--wrap", command) as (process, shown):
        until(lambda: re.search(r"\rarray \d+: 1 of 3 ended, 2 running *\r", shown()))
        go(cluster, "p2")
        assert process.wait(30) == 0
        assert process.stdout.read().startswith("Submitted batch job ")
        until(lambda: is_cleared(shown()))


@pytest.mark.parametrize("words", (("-q",), ("--quiet",)))
def test_quiet_shows_nothing(cluster, words):
    job = cluster.wrap("sleep 1.5")
    with on_terminal(cluster, "await", *words, job) as (process, shown):
        assert process.wait(30) == 0
        assert shown() == ""


def test_a_pipe_gets_no_line(cluster):
    done = cluster.run("asub", "--wait", "--wrap", "sleep 1.5")
    assert done.stderr == "" and done.stdout.startswith("Submitted batch job ")
