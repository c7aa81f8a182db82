# Tests: namespace
"""`node.private_ipc: false`: jobs share memory with the machine. A spool that jobs cannot see is refused."""

import os
import pathlib
import subprocess

from cluster import BIN, Cluster

SHARED = """
cluster: shared
policy: {heartbeat: 1}
node: {private_ipc: false}
nodes:
  - {name: "n1", cpus: 4, memory: 400M}
partitions:
  - {name: main, nodes: "n1", default: true}
"""


def test_a_job_sees_the_shared_memory_of_the_machine():
    path = pathlib.Path(f"/dev/shm/ares-shared-{os.getpid()}")
    cluster = Cluster(config=SHARED)
    try:
        job = cluster.wrap(f"echo met > {path}; readlink /proc/self/ns/ipc")
        cluster.completed(job, 60)
        assert cluster.output(job).strip() == os.readlink("/proc/self/ns/ipc")
        assert path.read_text() == "met\n"
    finally:
        cluster.close()
        path.unlink(missing_ok=True)


def test_a_spool_below_dev_shm_is_refused(tmp_path):
    config = tmp_path / "ares.yaml"
    config.write_text("""
cluster: hidden
node: {spool: /dev/shm/ares-spool/%n}
nodes: [{name: n1, cpus: 1, memory: 100M}]
partitions: [{name: main, nodes: n1, default: true}]
""")
    result = subprocess.run([BIN / "aresd", "--config", config, "--node", "n1"], capture_output=True, text=True, timeout=60)
    if "jobs on this node run without pid namespaces" in result.stderr:
        return
    assert result.returncode != 0
    assert "node.spool is /dev/shm/ares-spool/n1, which jobs cannot see" in result.stderr
    assert "set node.private_ipc: false" in result.stderr
    assert not pathlib.Path("/dev/shm/ares-spool").exists()
