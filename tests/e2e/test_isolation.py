# Tests: limit_groups
"""A job cannot leave what it was given: its CPUs, its memory, its number of processes, its files on the node."""

import re
import subprocess

import pytest

from cgroups import needs
from cluster import Cluster

CONFIG = """
cluster: held
controller: {operators: [root]}
policy: {kill_wait: 2, heartbeat: 1, launch_backoff: 1}
node: {max_processes_per_cpu: 40}
nodes:
  - {name: "n1", cpus: 2, memory: 300M, gpus: "a100:2", gpu_devices: [/dev/full, /dev/random]}
partitions:
  - {name: main, nodes: "n1", default: true}
"""


@pytest.fixture(scope="module")
def held(others):
    made = Cluster(config=CONFIG)
    yield made
    made.close()


def held_to(cluster, node="n1"):
    """What the node's log says that its jobs are held to."""
    log = cluster.acluster("logs", "--lines=1000", f"aresd@{node}").stdout
    return re.search(rf"{node}: jobs are held to: ([a-z,-]+);", log).group(1)


def test_the_log_and_the_commands_say_what_is_enforced(held):
    for controller in ("cpuset", "memory", "pids", "devices"):
        needs(controller)
    assert held_to(held) == "cpus,memory,processes,devices"
    assert "Enforced=cpus,memory,processes,devices" in held.show("node", "n1")
    assert held.run("ainfo", "-h", "-n", "n1", "-o", "%y").stdout.strip() == "cpus,memory,processes,devices"


def test_gpus_without_device_files_are_not_called_enforced(gpu_cluster):
    assert "devices" not in held_to(gpu_cluster)
    assert "device files of its GPUs are not known" in gpu_cluster.acluster("logs", "--lines=1000", "aresd@n1").stdout


def test_without_root_nothing_is_enforced_and_the_log_says_so(fresh, others):
    cluster = fresh(owner=others[0], config=CONFIG.replace("[root]", f"[{others[0]}]"))
    assert held_to(cluster) == "none"
    assert "Enforced=none" in cluster.show("node", "n1")
    cluster.completed(cluster.wrap("true"))


def test_the_batch_script_cannot_be_changed(held, others):
    job = held.wrap('s=$ARES_ATTEMPT_DIR/script; chmod u+w $s && echo changed; head -c 1000 /dev/zero >> $s && echo grown; echo end',
                    user=others[0])
    held.completed(job)
    words = held.output(job).splitlines()
    assert "end" in words and "changed" not in words and "grown" not in words, words


def test_a_job_stays_on_its_cpus(held, others):
    needs("cpuset")
    job = held.wrap("taskset -pc 0-63 $$; nproc", "-c1", user=others[0])
    held.completed(job)
    assert held.output(job).splitlines()[-1] == "1"


def test_a_fork_bomb_ends_at_the_limit(held, others):
    needs("pids")
    bomb = held.script("#!/bin/bash\nfork() { fork | fork & }; fork\nsleep 1\n", name="bomb.sh")
    job = held.submit("-t", "1", "-o", "/dev/null", str(bomb), user=others[0])
    held.wait_end(job, 90)
    held.completed(held.wrap("true", user=others[1]))


@pytest.mark.parametrize("gpus", [0, 1, 2])
def test_a_job_can_open_its_own_gpus_only(held, others, gpus):
    needs("devices")
    job = held.wrap("for f in full random; do (exec </dev/$f) && echo $f; done; true", *([f"--gres=gpu:{gpus}"] if gpus else []),
                    "-e", "/dev/null", user=others[0])
    held.completed(job)
    assert len(held.output(job).split()) == gpus


def test_a_job_that_asked_for_no_memory_cannot_have_more_than_the_node(held, others):
    needs("memory")
    job = held.wrap("head -c 900000000 /dev/zero | tail >/dev/null", user=others[0])
    assert held.wait_end(job) == {job: "OUT_OF_MEMORY"}
    assert held.account(job, "Reason") == "OutOfMemory"


def test_what_it_wrote_to_storage_is_accounted(held, others):
    if subprocess.run(["stat", "-fc", "%T", "/var/tmp"], capture_output=True, text=True, check=True).stdout.strip() == "tmpfs":
        pytest.skip("needs /var/tmp on storage")
    write = "(dd if=/dev/zero of=$file bs=1M count=6 conv=fsync && rm $file) &"
    job = held.wrap(f"set -e; file=$(mktemp -p /var/tmp); {write} wait $!", user=others[0])
    held.completed(job)
    written = held.account(job, "MaxDiskWrite", "--units=M")
    assert 6 <= float(written.rstrip("M")) < 8, written
    assert held.account(job, "DiskWrite", "--units=M") == written


def test_memory_of_all_processes_is_accounted(held, others):
    needs("memory")
    job = held.wrap("for i in 1 2 3; do python3 -c 'import time; x = b\"x\" * 40000000; time.sleep(1)' & done; wait", user=others[0])
    held.completed(job)
    megabytes = held.account(job, "MaxRSS", "--units=M")
    assert 110 < float(megabytes.rstrip("M")) <= 300, megabytes
