# Tests: acheckpoint/commit, acheckpoint/look, acheckpoint/options, checkpoint_service, restore, spec_checkpoint, convert_checkpoint, storage_convert_checkpoint
"""Jobs that save their state: committed, kept, restored after each kind of end, by the example in etc/examples."""

import contextlib
import os
import pathlib
import re
import signal

import pytest

from cluster import ROOT, Cluster, stop_process, until

CONFIG = """
cluster: checkpoints
controller: {operators: [root]}
policy: {kill_wait: 4, heartbeat: 1, launch_backoff: 1, suspend_wait: 3, preemption: {min_age: 1, min_gap: 1, grace: 6, per_hour: 100}}
nodes:
  - {name: "n[1-2]", cpus: 2, memory: 2000M}
partitions:
  - {name: low, nodes: "n[1-2]", default: true, preempt_mode: requeue}
  - {name: high, nodes: "n[1-2]", tier: 5}
"""
EXAMPLES = ROOT / "etc/examples"


@pytest.fixture(scope="module")
def cluster():
    made = Cluster(config=CONFIG)
    yield made
    made.close()


class Training:
    """A job that adds up the numbers from 1 to `steps`."""

    def __init__(self, cluster, *options, steps=400, pause=0.02, every=20):
        self.cluster, self.steps = cluster, steps
        self.store = cluster.work / "store"
        self.job = cluster.submit(f"--checkpoint={self.store}", *options, EXAMPLES / "checkpoint.sh", steps, pause, every,
                                  env={"TRAINING": str(EXAMPLES / "checkpoint_training.py")})

    def output(self):
        with contextlib.suppress(FileNotFoundError):
            return (self.cluster.work / f"training-{self.job}.out").read_text()
        return ""

    def begins(self):
        return [int(step) for step in re.findall(r"begins at step (\d+)", self.output())]

    def committed(self):
        """(sequence, attempt, path) of those that the controller knows, newest first."""
        shown = self.cluster.show("job", self.job)
        return [(int(s), int(a), pathlib.Path(p)) for s, a, p in re.findall(
            r"CommittedCheckpoint=(\d+) CheckpointAttempt=(\d+) .*CheckpointPath=(\S+)", shown)]

    def saved(self, more_than=0):
        """Waits until a newer checkpoint than that sequence is committed; returns the list."""
        return until(lambda: [one for one in self.committed() if one[0] > more_than] and self.committed())

    def ends_well(self):
        self.cluster.completed(self.job, 60)
        lines = self.output().splitlines()
        assert lines[-1] == f"sum {self.steps * (self.steps + 1) // 2}", self.output()

    def directory(self):
        return self.store / "checkpoints" / self.job


def test_newest_checkpoints_are_kept_shown_and_intact(cluster):
    job = Training(cluster, "--checkpoint-keep=3", steps=120)
    job.ends_well()
    committed = job.committed()
    assert [one[0] for one in committed] == [6, 5, 4]
    assert sorted(path.name for path in job.directory().iterdir()) == ["000004.1", "000005.1", "000006.1"]
    assert job.directory().stat().st_mode & 0o777 == 0o700
    listed = cluster.run("acheckpoint", "list", job.directory()).stdout.splitlines()
    assert len(listed) == 3 and "sequence=6 attempt=1 files=1" in listed[-1] and listed[-1].endswith("step=120")
    for _, _, path in committed:
        assert "is intact" in cluster.run("acheckpoint", "verify", path).stdout


def test_preempted_job_saves_first_and_goes_on_where_it_was(cluster):
    jobs = [Training(cluster, "-c2") for _ in range(2)]
    for job in jobs:
        job.saved()
    high = cluster.wrap("true", "-p", "high", "-c2", "-t1")
    cluster.completed(high)
    for job in jobs:
        job.ends_well()
    victim, = [job for job in jobs if len(job.begins()) > 1]
    told = int(re.search(r"told to save at step (\d+): PREEMPTED in [3-6] s", victim.output()).group(1))
    assert victim.begins() == [0, told]


def test_requeued_job_goes_on_where_it_was(cluster):
    job = Training(cluster)
    job.saved()
    cluster.run("actl", "requeue", job.job)
    job.ends_well()
    told = int(re.search(r"told to save at step (\d+)", job.output()).group(1))
    assert job.begins() == [0, told]
    assert {attempt for _, attempt, _ in job.committed()} == {2}


def test_job_is_told_before_its_time_limit_and_can_run_again(cluster):
    """Limits are whole minutes, so this takes one."""
    job = Training(cluster, "-t1", "--checkpoint-signal=USR1@50", steps=1500, pause=0.05)
    until(lambda: "TIMEOUT in" in job.output())
    assert re.search(r"told to save at step \d+: TIMEOUT in 5[3-5] s", job.output()), job.output()
    cluster.wait_state(job.job, "TIMEOUT", seconds=90)
    cluster.run("actl", "requeue", job.job)
    job.ends_well()
    first, again = job.begins()
    assert first == 0 and again > 500


def test_suspended_job_saves_first(cluster):
    job = Training(cluster)
    job.saved()
    cluster.run("actl", "suspend", job.job)
    until(lambda: "SUSPENDED in" in job.output())
    cluster.run("actl", "resume", job.job)
    job.ends_well()
    assert job.begins() == [0]


def test_job_goes_on_after_its_supervisor_was_killed(cluster):
    job = Training(cluster)
    newest = job.saved()[0][0]
    [attempt] = cluster.dir.glob(f"**/jobs/{job.job}.1")
    os.kill(int(re.search(r"^pid (\d+)", (attempt / "started").read_text(), re.M).group(1)), signal.SIGKILL)
    until(lambda: len(job.begins()) == 2)
    assert job.begins()[1] >= 20 * newest
    job.ends_well()


def test_damaged_checkpoint_is_passed_over(cluster):
    job = Training(cluster)
    job.saved(more_than=1)
    cluster.run("actl", "requeuehold", job.job)
    cluster.wait_state(job.job, "PENDING")
    newest, older = job.committed()
    state = newest[2] / "state.json"
    state.write_text(state.read_text().replace(":", ";", 1))
    step = int(re.search(r"step=(\d+)", cluster.run("acheckpoint", "list", job.directory()).stdout.splitlines()[0]).group(1))
    cluster.run("actl", "release", job.job)
    job.ends_well()
    assert f"checkpoint {newest[0]} is not used: {state} is damaged" in job.output()
    assert job.begins() == [0, step]
    assert f"RestoredAttempt=2 RestoredCheckpoint={older[0]} DamagedCheckpoints=1" in cluster.show("job", job.job)


def test_many_commits_at_once_lose_none_that_counts(cluster):
    """Each is either refused and left where it was, or published under a number of its own."""
    job = cluster.wrap("""
cd $ARES_CHECKPOINT_PATH
commit() { mkdir new-$1; echo $1 > new-$1/state; acheckpoint commit new-$1 round=$1 && echo ok $1 || echo refused $1; }
for round in 1 2 3 4 5; do
  for i in 0 1 2 3 4 5 6 7 8 9; do commit $round$i & done
  wait
done
acheckpoint list""", "--checkpoint-keep=2", f"--checkpoint={cluster.work}/many")
    cluster.completed(job, 120)
    said = cluster.output(job)
    store = cluster.work / "many" / "checkpoints" / job
    refused = set(re.findall(r"^refused (\d+)$", said, re.M))
    assert len(re.findall(r"^(?:ok|refused) \d+$", said, re.M)) == 50
    assert {path.name for path in store.glob("new-*")} == {f"new-{name}" for name in refused}, said
    for name in refused:
        assert (store / f"new-{name}/state").read_text().strip() == name
    sequences = [int(s) for s in re.findall(r"Committed checkpoint (\d+) ", said)]
    assert len(set(sequences)) == len(sequences)
    shown = re.findall(r"CommittedCheckpoint=(\d+) .*CheckpointPath=(\S+)", cluster.show("job", job))
    assert len(shown) == 2 and int(shown[0][0]) == max(sequences)
    for _, path in shown:
        assert "is intact" in cluster.run("acheckpoint", "verify", path).stdout


def test_checkpoint_is_told_to_the_controller_later(cluster):
    """The commit waits; while the controller is stopped it ends, and says that the controller does not know."""
    script = cluster.script("""#!/bin/bash
mkdir $ARES_CHECKPOINT_PATH/new; echo state > $ARES_CHECKPOINT_PATH/new/file
touch ready; while [ ! -e go ]; do sleep 0.05; done
acheckpoint commit $ARES_CHECKPOINT_PATH/new/ --timeout 1 kind=late; echo exit $?
touch done; while [ ! -e on ]; do sleep 0.05; done
""")
    job = cluster.submit(f"--checkpoint={cluster.work}/late", script)
    until(lambda: (cluster.work / "ready").exists())
    controller = cluster.pid("aresctld")
    stop_process(controller)
    try:
        (cluster.work / "go").touch()
        until(lambda: (cluster.work / "done").exists())
    finally:
        os.kill(controller, signal.SIGCONT)
    said = cluster.output(job)
    assert "is published, but the controller does not know of it yet" in said and "exit 0" in said
    until(lambda: "CommittedCheckpoint=1 " in cluster.show("job", job))
    (cluster.work / "on").touch()
    cluster.completed(job)


def test_commit_is_refused_where_it_has_no_meaning(cluster):
    outside = cluster.run("acheckpoint", "commit", cluster.work, check=False)
    assert outside.returncode == 1 and "asub --checkpoint=DIR" in outside.stderr
    job = cluster.wrap("mkdir d; acheckpoint commit d; echo $?", f"--checkpoint={cluster.work}/refused")
    cluster.completed(job)
    assert "d has no files: nothing was saved" in cluster.output(job) and cluster.output(job).endswith("1\n")
    job = cluster.wrap("arun -N2 -n2 bash -c 'acheckpoint commit d 2>&1 | sed s/^/$ARES_NODEID:/'", "-N2",
                       f"--checkpoint={cluster.work}/refused")
    cluster.completed(job)
    assert "1:acheckpoint: checkpoints are committed on the first node of the job" in cluster.output(job)


def test_only_the_user_of_the_job_reaches_its_supervisor(cluster, others):
    owner, foreigner = others
    script = cluster.script("""#!/bin/bash
mkdir $ARES_CHECKPOINT_PATH/new; echo state > $ARES_CHECKPOINT_PATH/new/file
acheckpoint commit $ARES_CHECKPOINT_PATH/new; touch $ARES_CHECKPOINT_PATH/done
while [ ! -e $ARES_CHECKPOINT_PATH/on ]; do sleep 0.05; done
""", "owned.sh")
    job = cluster.submit(f"--checkpoint={cluster.work}/owned", "-o", f"{cluster.work}/owned.out", script, user=owner)
    store = cluster.work / "owned" / "checkpoints" / job
    until(lambda: (store / "done").exists())
    assert "CommittedCheckpoint=1 " in cluster.show("job", job)
    assert store.owner() == owner and (store / "000001.1/MANIFEST.json").owner() == owner
    [attempt] = cluster.dir.glob(f"**/jobs/{job}.1")
    assert (attempt / "checkpoint").owner() == owner and (attempt / "checkpoints").owner() == "root"
    mine = cluster.work / "foreign"
    mine.mkdir()
    (mine / "file").write_text("x")
    refused = cluster.run("acheckpoint", "commit", mine, check=False, user=foreigner,
                          env={"ARES_ATTEMPT_DIR": str(attempt), "ARES_CHECKPOINT_PATH": str(cluster.work)})
    assert refused.returncode != 0 and "Permission denied" in refused.stderr, refused.stderr
    (store / "on").touch()
    cluster.completed(job)


def test_options_that_contradict_are_refused(cluster):
    for options, why in [(["--checkpoint-keep=2"], "need --checkpoint=DIR"),
                         (["--checkpoint=s3://bucket"], "no prefix behind the bucket"),
                         (["--checkpoint=gs://bucket/x"], "neither a directory nor"),
                         (["--checkpoint=x", "--checkpoint-keep=17"], "from 1 to 16"),
                         (["--checkpoint=x", "--signal=USR1", "--checkpoint-signal=USR2"], "checkpoint-signal")]:
        done = cluster.run("asub", *options, "--wrap", "true", check=False)
        assert done.returncode == 1 and why in done.stderr, (options, done.stderr)


def test_directory_that_cannot_be_made_fails_the_job(cluster):
    job = cluster.wrap("true", "--checkpoint=/proc/none")
    cluster.wait_state(job, "FAILED")
    assert "cannot make the directory of --checkpoint" in cluster.show("job", job)
