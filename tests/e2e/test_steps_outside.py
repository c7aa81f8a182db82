# Tests: step_gate, step_client/reach, steps/host, ticket, task_environment
"""Steps that are started from outside of their job: arun --jobid, and who may."""

import os
import re
import signal
import socket
import subprocess

import pytest

from cluster import Cluster, until

CONFIG = """
cluster: outside
controller: {operators: [root]}
policy: {kill_wait: 3, heartbeat: 1, launch_backoff: 1}
nodes:
  - {name: "n[1-2]", cpus: 4, memory: 2000M}
partitions:
  - {name: main, nodes: "n[1-2]", default: true}
"""


@pytest.fixture(scope="module")
def cluster():
    made = Cluster(config=CONFIG)
    yield made
    made.close()


@pytest.fixture
def job(cluster):
    """A job of two nodes that runs until the test ends."""
    made = cluster.wrap("sleep 1000", "-N2", "-n4", "--mem=100M", "-o", "/dev/null")
    cluster.wait_state(made, "RUNNING")
    yield made
    cluster.cancel(made)
    cluster.wait_end(made)


def test_step_runs_on_the_nodes_of_the_job(cluster, job):
    done = cluster.run("arun", f"--jobid={job}", "bash", "-c", "echo $SLURM_JOB_ID $SLURM_PROCID $SLURMD_NODENAME $ARES_STEP_ID $PWD")
    assert sorted(done.stdout.splitlines()) == [f"{job} {rank} n{1 + rank // 2} 0 {cluster.work}" for rank in range(4)]


def test_job_of_one_node_is_reached_too(cluster):
    made = cluster.wrap("sleep 1000", "--mem=100M", "-o", "/dev/null")
    cluster.wait_state(made, "RUNNING")
    assert cluster.run("arun", "--jobid", made, "bash", "-c", "echo $SLURM_JOB_ID").stdout == f"{made}\n"
    cluster.cancel(made)
    cluster.wait_end(made)
    done = cluster.run("arun", f"--jobid={made}", "true", check=False)
    assert done.returncode == 1 and ("CANCELLED" in done.stderr or "Invalid job id" in done.stderr)


def test_codes_input_and_signals_are_as_inside(cluster, job):
    done = cluster.run("arun", f"--jobid={job}", "-n1", "--overlap", "bash", "-c", "cat; exit 7", input="read\n", check=False)
    assert (done.returncode, done.stdout) == (7, "read\n")
    assert "task 0 exited with code 7" in done.stderr
    process = subprocess.Popen([str(cluster.bin / "arun"), f"--jobid={job}", "-n1", "--overlap", "bash", "-c",
                                "trap 'exit 9' TERM; echo ready; while :; do sleep 0.05; done"],
                               env=cluster.environment(), cwd=cluster.work, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True)
    assert process.stdout.readline() == "ready\n"
    process.send_signal(signal.SIGTERM)
    assert process.wait(30) == 9


def test_environment_of_a_job_around_is_replaced(cluster, job):
    """From within another job on the same node: the tasks see their own job."""
    other = cluster.wrap(f"arun --jobid={job} -n1 --overlap bash -c 'echo $SLURM_JOB_ID $ARES_ATTEMPT_DIR'", "--mem=100M")
    cluster.completed(other)
    number, directory = cluster.output(other).split()
    assert number == job and directory.endswith(f"/{job}.1")


def test_steps_survive_a_restart_of_the_node_daemon_and_are_reached_after_it(cluster, job):
    process = subprocess.Popen([str(cluster.bin / "arun"), f"--jobid={job}", "-n1", "--overlap", "bash", "-c", "echo ready; cat"],
                               env=cluster.environment(), cwd=cluster.work, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert process.stdout.readline() == "ready\n"
    before = cluster.pid("aresd@n1")
    os.kill(before, signal.SIGKILL)
    until(lambda: cluster.pid("aresd@n1") != before)
    done = cluster.run("arun", f"--jobid={job}", "-n1", "--overlap", "echo", "again")
    assert done.stdout == "again\n"
    out, _ = process.communicate("still here\n", timeout=30)
    assert out == "still here\n" and process.returncode == 0


@pytest.mark.skipif(os.geteuid() != 0, reason="needs another user")
def test_other_users_are_refused_and_operators_are_not(cluster):
    mine = cluster.wrap("sleep 1000", "--mem=100M", "-o", "/dev/null")
    cluster.wait_state(mine, "RUNNING")
    done = cluster.run("arun", f"--jobid={mine}", "true", user="nobody", check=False, cwd="/")
    assert done.returncode == 1 and "only its owner, operators and administrators may" in done.stderr
    cluster.cancel(mine)
    theirs = cluster.wrap("sleep 1000", "--mem=100M", "-o", "/dev/null", user="nobody", cwd="/tmp")
    cluster.wait_state(theirs, "RUNNING")
    done = cluster.run("arun", f"--jobid={theirs}", "id", "-un")
    assert done.stdout == "nobody\n", "an operator's step runs as the job's user"
    cluster.cancel(theirs)
    cluster.wait_end(theirs)


def test_node_daemon_refuses_forged_and_stale_tickets(cluster, job):
    port = int(next(file for file in cluster.dir.rglob("step_port") if "n1" in str(file)).read_text())
    spec = next(file for file in cluster.dir.rglob("spec") if "n1" in str(file) and file.parent.name == f"{job}.1").read_text()
    fence = int(re.search(r"^fence (\d+)$", spec, re.M).group(1))
    for line in (f"client {job}.1 {fence} {os.getuid()} 99999999999 {'00' * 16} {'00' * 32}\n",  # the proof is wrong
                 f"client {job}.1 {fence - 1} {os.getuid()} 99999999999 {'00' * 16} {'00' * 32}\n",
                 "client nonsense\n", "client ../../etc 1 0 1 00 00\n"):
        with socket.create_connection(("127.0.0.1", port), timeout=10) as connection:
            stream = connection.makefile("rw")
            assert stream.readline().startswith("ares-steps 1 ")
            stream.write(line)
            stream.flush()
            assert stream.readline().startswith("no ")
            assert stream.readline() == ""


def test_array_task_is_named_by_either_of_its_numbers(cluster):
    array = cluster.wrap("sleep 1000", "-a", "0-1", "--mem=100M", "-o", "/dev/null")
    until(lambda: cluster.queue(f"{array}_1") == "RUNNING")
    first = cluster.run("arun", f"--jobid={array}_1", "bash", "-c", "echo $SLURM_ARRAY_TASK_ID $SLURM_JOB_ID").stdout.split()
    assert first[0] == "1"
    assert cluster.run("arun", f"--jobid={first[1]}", "bash", "-c", "echo $SLURM_ARRAY_TASK_ID").stdout == "1\n"
    done = cluster.run("arun", f"--jobid={array}", "true", check=False)
    assert done.returncode == 1 and "is an array" in done.stderr
    cluster.cancel(array)
    cluster.wait_end(array)
