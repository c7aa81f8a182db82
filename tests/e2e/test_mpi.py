# Tests: arun/remote_shell, mpi_service, pmi1_service, pmix_service
"""Programs of MPICH and Open MPI, started by arun and by mpirun, on nodes that share the network and the host name. Those of MPICH on
several nodes are in test_mpi_networks.py: it takes such nodes for one host."""

import pathlib
import re

import pytest

from cluster import Cluster
from mpi_programs import built, check_ring, run

CONFIG = """
cluster: mpi
controller: {operators: [root]}
policy: {kill_wait: 2, heartbeat: 1, launch_backoff: 1}
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


def test_mpich_computes_on_one_node_by_arun(cluster):
    check_ring(run(cluster, f"arun {built(cluster, 'mpich')}", nodes=1, tasks_per_node=4), here=4)


def test_open_mpi_computes_over_two_nodes_by_arun(cluster):
    if not pathlib.Path("/usr/lib/x86_64-linux-gnu/libpmix.so.2").exists():
        pytest.skip("libpmix2 is not installed")
    check_ring(run(cluster, f"arun --mpi=pmix {built(cluster, 'openmpi')}"))


def test_mpirun_finds_the_nodes_of_its_job(cluster):
    program = built(cluster, "openmpi")
    # mpirun passes its own environment on, so a node is told by the namespace of its processes.
    output = run(cluster, f"mpirun.openmpi -n 4 bash -c 'readlink /proc/self/ns/pid; exec {program}'")
    check_ring(output)
    spaces = re.findall(r"^pid:.*", output, re.M)
    assert len(spaces) == 4 and sorted(spaces.count(space) for space in set(spaces)) == [2, 2], output


def test_mpi_abort_ends_all_ranks_with_its_code(cluster):
    output = run(cluster, f"arun {built(cluster, 'mpich')} abort; echo code $?")
    assert re.search(r"^code (7|137)$", output, re.M), output
    assert "arun: task 1" in output


def test_rank_that_is_killed_ends_the_others(cluster):
    # Once all ranks have begun, those that wait for it would wait for ever.
    output = run(cluster, f"arun {built(cluster, 'mpich')} leave; echo code $?")
    assert re.search(r"^code 137$", output, re.M), output


def test_host_file_names_the_nodes(cluster):
    assert run(cluster, "cat $ARES_HOSTFILE") == "n1 slots=2\nn2 slots=2\n"


def test_remote_shell_is_called_like_ssh(cluster):
    lines = run(cluster, """
        ares-rsh -x n2 echo '$SLURMD_NODENAME' '"a  b"'
        echo in | ares-rsh n2 cat
        echo in | ares-rsh -n n2 cat
        ares-rsh n2 exit 5; echo $?
        ares-rsh n9 true; echo $?
        """).splitlines()
    assert lines[:3] == ["n2 a  b", "in", "5"] and lines[-1] == "1"
