# Tests: mpi_service, pmi1_service, pmix_service, dialer, step_gate, acluster/network
"""Programs of MPI on eight nodes that are hosts for them: each has a network, a host name and processes of its own. Needs root, which alone
can make such nodes.

They share memory, by which MPICH then communicates. Over TCP, MPICH 4.0.2 with UCX always hangs in MPI_Finalize with 64 ranks, and
sometimes with 4; with its own mpiexec and without Ares, too."""

import os
import pathlib
import re

import pytest

from cluster import Cluster
from mpi_programs import built, check_ring, run

CONFIG = """
cluster: mpi
controller: {operators: [root]}
policy: {kill_wait: 2, heartbeat: 1, launch_backoff: 1}
node: {private_ipc: false}
nodes:
  - {name: "n[1-8]", cpus: 8, memory: 1000M}
partitions:
  - {name: main, nodes: "n[1-8]", default: true}
"""
SETTINGS = "export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1"
STARTERS = {"arun-mpich": ("mpich", "arun"), "mpirun-mpich": ("mpich", "mpirun.mpich"),
            "arun-openmpi": ("openmpi", "arun --mpi=pmix"), "mpirun-openmpi": ("openmpi", "mpirun.openmpi")}


@pytest.fixture(scope="module")
def cluster():
    if os.geteuid() != 0:
        pytest.skip("only root can give each node a network of its own")
    made = Cluster("--isolate", config=CONFIG)
    yield made
    made.close()


def command(cluster, starter, tasks):
    kind, words = STARTERS[starter]
    if "pmix" in words and not pathlib.Path("/usr/lib/x86_64-linux-gnu/libpmix.so.2").exists():
        pytest.skip("libpmix2 is not installed")
    return f"{words} -n {tasks} {built(cluster, kind)}"


@pytest.mark.parametrize("starter", STARTERS)
def test_four_ranks_compute_on_two_hosts(cluster, starter):
    check_ring(run(cluster, command(cluster, starter, 4), settings=SETTINGS))


@pytest.mark.parametrize("starter", ["arun-mpich", "mpirun-mpich", "arun-openmpi"])
def test_64_ranks_compute_on_eight_hosts(cluster, starter):
    output = run(cluster, command(cluster, starter, 64), nodes=8, tasks_per_node=8, settings=SETTINGS)
    check_ring(output, ranks=64, here=8)


@pytest.mark.parametrize("starter", STARTERS)
def test_rank_that_is_killed_ends_the_others(cluster, starter):
    output = run(cluster, f"""
        timeout 60 {command(cluster, starter, 4)} kill; code=$?; echo; echo code $code
        sleep 0.1
        arun --ntasks-per-node=1 -N2 bash -c 'pgrep "^ring[.]" || echo none left on $(hostname)'
        """, settings=SETTINGS)
    code = int(re.search(r"^code (\d+)$", output, re.M).group(1))
    # mpirun of MPICH says 9, the number of the signal, or what ranks say that have lost the killed one.
    assert code != 0 if starter == "mpirun-mpich" else code == 137, output
    assert sorted(re.findall(r"none left on (\w+)", output)) == ["n1", "n2"], output
