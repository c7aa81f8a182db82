# Tests: private_tmp, task_prolog, chosen_plugin
"""`node.private_tmp`: each job has a /tmp of its own. `node.task_prolog`: what runs as the user before its script."""

import os
import pathlib
import shutil
import subprocess
import tempfile

import pytest

from cluster import BIN, Cluster, until

PLACE = "/var/lib"  # jobs do not see a cluster below /tmp

CONFIG = """
cluster: private
policy: {{heartbeat: 1, kill_wait: 2}}
node:
  private_tmp: {folder}/jobs
  task_prolog: {folder}/task_prolog
nodes: [{{name: n1, cpus: 4, memory: 400M}}]
partitions: [{{name: main, nodes: n1, default: true}}]
"""

PROLOG = """#!/bin/sh
[ -z "$FAIL_PROLOG" ] || exit 4
echo "print prolog of $(id -un)"
echo "export FROM_PROLOG=a value=$ARES_JOB_ID"
echo "unset UNWANTED"
echo "some other line"
"""


@pytest.fixture(scope="module")
def private():
    if os.geteuid() != 0:
        pytest.skip(f"only root can make a cluster in {PLACE}")
    folder = pathlib.Path(tempfile.mkdtemp(prefix="ares-private-", dir=PLACE))
    folder.chmod(0o755)
    (folder / "task_prolog").write_text(PROLOG)
    (folder / "task_prolog").chmod(0o755)
    made = Cluster(config=CONFIG.format(folder=folder), within=PLACE)
    made.jobs = folder / "jobs"
    yield made
    made.close()
    shutil.rmtree(folder)


def left(cluster):
    return list(cluster.jobs.iterdir()) if cluster.jobs.exists() else []


def test_a_job_sees_an_empty_tmp_which_is_removed_with_it(private):
    marker = pathlib.Path(tempfile.mkstemp(prefix="ares-marker-", dir="/tmp")[1])
    try:
        job = private.wrap("ls -A /tmp /var/tmp; stat -c %a /tmp; touch /tmp/mine /var/tmp/mine; mktemp >&2")
        private.completed(job)
        assert private.output(job).splitlines()[1:4] == ["/tmp:", "", "/var/tmp:"]
        assert "1777" in private.output(job) and marker.name not in private.output(job)
        assert not pathlib.Path("/tmp/mine").exists() and not pathlib.Path("/var/tmp/mine").exists()
        until(lambda: left(private) == [])
    finally:
        marker.unlink()


def test_another_user_cannot_enter_it_from_outside(private, others):
    job = private.wrap("touch /tmp/secret; sleep 30", user=others[0])
    private.wait_state(job, "RUNNING")
    until(lambda: list(private.jobs.glob("*/tmp/secret")))
    assert subprocess.run(["su", others[1], "-s", "/bin/sh", "-c", f"ls {private.jobs}"], capture_output=True).returncode != 0
    private.cancel(job)
    private.wait_end(job)
    until(lambda: left(private) == [])


def test_what_a_killed_supervisor_left_is_removed(private):
    job = private.wrap("touch /tmp/left; sleep 1000", "--no-requeue")
    until(lambda: list(private.jobs.glob("*/tmp/left")))
    os.kill(supervisor(private, job), 9)
    private.wait_end(job, 60)
    until(lambda: left(private) == [])


def supervisor(cluster, job):
    text = (cluster.dir / "spool" / "n1" / "jobs" / f"{job}.1" / "started").read_text()
    return next(int(line.split()[1]) for line in text.splitlines() if line.startswith("pid "))


def test_the_task_prolog_changes_the_environment(private, others):
    job = private.wrap('echo "$FROM_PROLOG|$UNWANTED|"', "--export=ALL,UNWANTED=x", user=others[0])
    private.completed(job)
    assert private.output(job).splitlines() == [f"prolog of {others[0]}", f"a value={job}||"]


def test_a_failed_task_prolog_fails_the_job(private):
    job = private.wrap("echo ran", "--export=ALL,FAIL_PROLOG=1")
    private.wait_end(job)
    assert private.account(job, "State").startswith("FAILED")
    assert "ran" not in private.output(job)
    assert "the task prolog exited with 4" in private.show("job", job)


def test_a_spool_below_tmp_is_refused(tmp_path):
    config = tmp_path / "ares.yaml"
    config.write_text("""
cluster: hidden
node: {spool: /tmp/ares-spool/%n, private_tmp: /var/lib/ares-jobs}
nodes: [{name: n1, cpus: 1, memory: 100M}]
partitions: [{name: main, nodes: n1, default: true}]
""")
    result = subprocess.run([BIN / "aresd", "--config", config, "--node", "n1"], capture_output=True, text=True, timeout=60)
    assert result.returncode != 0
    assert "node.private_tmp" in result.stderr
    config.write_text(config.read_text().replace("/var/lib/ares-jobs", "/tmp/jobs"))
    result = subprocess.run([BIN / "aresd", "--config", config, "--node", "n1"], capture_output=True, text=True, timeout=60)
    assert result.returncode != 0 and "would be hidden by the /tmp" in result.stderr
