"""One job through a real cluster, whose checkpoints are in S3: committed, kept, one damaged, begun from again."""

import pathlib
import tempfile

from cluster import Cluster, until

CONFIG = """
cluster: s3
controller: {{operators: [root]}}
policy: {{kill_wait: 2, heartbeat: 1, launch_backoff: 1}}
checkpoint: {{s3: {{endpoint: "{endpoint}", region: "{region}", retries: 1}}}}
nodes:
  - {{name: n1, cpus: 2, memory: 2000M}}
partitions:
  - {{name: main, nodes: n1, default: true}}
"""

SCRIPT = """#!/bin/bash
state=0
if [ -n "$ARES_CHECKPOINT_RESTORE" ]; then state=$(cat "$ARES_CHECKPOINT_RESTORE/state"); echo "begins with $state from $ARES_CHECKPOINT_RESTORE"; fi
for i in 1 2; do
  new=$(mktemp -d); state=$((state + 1)); echo $state > $new/state
  acheckpoint commit $new --step $state || exit 1
done
touch committed.$state
until [ -e go.$state ]; do sleep 0.05; done
"""


def job_goes_on_from_the_newest_intact_one(endpoint, region, key, secret, damage):
    """`damage` changes the object of that URI."""
    cluster = Cluster(config=CONFIG.format(endpoint=endpoint, region=region))
    try:
        env = {"AWS_ACCESS_KEY_ID": key, "AWS_SECRET_ACCESS_KEY": secret}
        place = "s3://checkpoints/through-a-job"
        job = cluster.submit("--requeue", "--open-mode=append", "-o", "job.out", f"--checkpoint={place}", cluster.script(SCRIPT), env=env)
        output = cluster.work / "job.out"
        until(lambda: (cluster.work / "committed.2").exists())
        assert f"Committed checkpoint 2 of job {job}: {place}/s3/{job}/000002.1" in output.read_text(), output.read_text()
        assert f"CheckpointPath={place}/s3/{job}/000002.1" in cluster.show("job", job)
        listed = cluster.run("acheckpoint", "list", f"{place}/s3/{job}", env=env).stdout.splitlines()
        assert [line.split(" ")[0].rsplit("/", 1)[1] for line in listed] == ["000001.1", "000002.1"]
        assert "is intact" in cluster.run("acheckpoint", "verify", f"{place}/s3/{job}/000002.1", env=env).stdout

        cluster.run("actl", "requeuehold", job)
        cluster.wait_state(job, "PENDING")
        damage(f"{place}/s3/{job}/000002.1/state")
        cluster.run("actl", "release", job)
        until(lambda: (cluster.work / "committed.3").exists())
        said = output.read_text()
        assert "checkpoint 2 is not used: " in said and "is damaged: its SHA-256 is another one" in said
        assert "begins with 1 from " in said
        copy = pathlib.Path(said.split("begins with 1 from ")[1].split("\n")[0])
        assert copy.name == "000001.1" and copy.parent.parent == pathlib.Path(tempfile.gettempdir())
        (cluster.work / "go.3").touch()
        cluster.completed(job)
        until(lambda: not copy.parent.exists())
    finally:
        cluster.close()
