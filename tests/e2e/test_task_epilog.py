# Tests: task_epilog
"""`node.task_epilog`: what runs as the user after the script of a job."""
import os
import pathlib
import shutil
import tempfile

import pytest

from cluster import Cluster, until

CONFIG = """
cluster: after
policy: {{heartbeat: 1, kill_wait: 5}}
node:
  task_epilog: {folder}/task_epilog
  task_epilog_timeout: 2
nodes: [{{name: n1, cpus: 4, memory: 400M}}]
partitions: [{{name: main, nodes: n1, default: true}}]
"""
EPILOG = """#!/bin/sh
echo "epilog of $(id -un) in $PWD: $ARES_SCRIPT_CONTEXT $ARES_JOB_ID $GIVEN"
[ -z "$HANGS" ] || sleep 1000
exit ${FAILS:-0}
"""


@pytest.fixture(scope="module")
def after():
    folder = pathlib.Path(tempfile.mkdtemp(prefix="ares-epilog-"))
    folder.chmod(0o755)
    (folder / "task_epilog").write_text(EPILOG)
    (folder / "task_epilog").chmod(0o755)
    made = Cluster(config=CONFIG.format(folder=folder))
    yield made
    made.close()
    shutil.rmtree(folder)


def ended(cluster, job):
    cluster.wait_end(job)
    return cluster.account(job, "State,ExitCode"), cluster.output(job).splitlines()


def test_it_runs_as_the_user_in_the_environment_of_the_job(after, others):
    job = after.wrap("echo script", "--export=ALL,GIVEN=word", user=others[0])
    assert ended(after, job) == ("COMPLETED|0:0", ["script", f"epilog of {others[0]} in {after.work}: epilog_task {job} word"])


def test_the_job_ends_as_its_script_did(after):
    state, lines = ended(after, after.wrap("exit 3", "--export=ALL,FAILS=4"))
    assert state == "FAILED|3:0" and lines[-1] == "aresstepd: the task epilog exited with 4"
    state, lines = ended(after, after.wrap("kill -USR1 $$"))
    assert state == "FAILED|0:10" and lines[0].startswith("epilog of")


def test_a_script_that_cannot_be_executed_has_its_reason(after):
    job = after.submit(after.script("#!/no/such/interpreter\n", "none.sh"))
    after.wait_end(job)
    assert after.account(job, "State,ExitCode") == "FAILED|127:0"
    assert "is the interpreter of its first line on this node?" in after.show("job", job)


def test_one_that_takes_too_long_is_killed(after):
    state, lines = ended(after, after.wrap("true", "--export=ALL,HANGS=1"))
    assert state == "COMPLETED|0:0" and lines[-1] == "aresstepd: the task epilog did not end within 2 s"


SIGNALLED = """#!/bin/bash
trap 'echo script >> log.$ARES_JOB_ID' USR1
(trap 'echo other >> log.$ARES_JOB_ID' USR1; echo other-ready >> log.$ARES_JOB_ID; while [ ! -e go.$ARES_JOB_ID ]; do sleep 0.05; done) &
echo script-ready >> log.$ARES_JOB_ID
while [ ! -e go.$ARES_JOB_ID ]; do sleep 0.05; done
wait
"""


def test_signals_reach_the_script(after):
    """Those for the script alone and those for all: each process that is meant gets one."""
    job = after.submit(after.script(SIGNALLED, "traps.sh"))
    log = after.work / f"log.{job}"

    def have(*words):
        until(lambda: log.exists() and sorted(log.read_text().split()) == sorted(words))
    ready = ["other-ready", "script-ready"]
    have(*ready)
    after.cancel("--signal=USR1", "--batch", job)
    have(*ready, "script")
    after.cancel("--signal=USR1", job)
    have(*ready, "script", "script", "other")
    (after.work / f"go.{job}").touch()
    after.completed(job)
    assert "epilog of" in after.output(job)


def test_the_warning_reaches_all_but_the_script(after):
    job = after.submit("-t", "1", "--signal=USR1@56", after.script(SIGNALLED, "traps.sh"))
    log = after.work / f"log.{job}"
    until(lambda: log.exists() and "other" in log.read_text().split())
    (after.work / f"go.{job}").touch()
    after.completed(job)
    assert sorted(log.read_text().split()) == ["other", "other-ready", "script-ready"]


def test_a_cancelled_job_has_an_epilog(after):
    job = after.wrap("echo began; trap 'exit 0' TERM; while :; do sleep 0.05; done")
    until(lambda: (after.work / f"ares-{job}.out").exists() and "began" in after.output(job))
    after.cancel(job)
    after.wait_end(job)
    assert after.account(job, "State").startswith("CANCELLED")
    assert "epilog of" in after.output(job)


def test_killing_the_script_alone_leaves_no_process(after):
    job = after.wrap("echo began; exec sleep 1000")
    until(lambda: (after.work / f"ares-{job}.out").exists() and "began" in after.output(job))
    after.cancel("--signal=KILL", "--batch", job)
    state, lines = ended(after, job)
    assert state == "FAILED|0:9" and lines[1].startswith("epilog of")
