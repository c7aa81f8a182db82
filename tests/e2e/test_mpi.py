# Tests: mpi_service, pmi1_service, pmix_service
"""Programs of MPICH and Open MPI, started by arun and by mpirun, on two nodes that are namespaces with host names of their own."""

import pathlib
import re
import shutil
import subprocess
import textwrap

import pytest

from cluster import ROOT, Cluster

CONFIG = """
cluster: mpi
controller: {operators: [root]}
policy: {kill_wait: 2, heartbeat: 1, launch_backoff: 1}
nodes:
  - {name: "n[1-2]", cpus: 4, memory: 2000M}
partitions:
  - {name: main, nodes: "n[1-2]", default: true}
"""

# With two nodes on one machine, Open MPI takes their shared memory for one.
APART = "export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_btl=tcp,self"


@pytest.fixture(scope="module")
def cluster():
    made = Cluster(config=CONFIG)
    yield made
    made.close()


def built(cluster, kind):
    compiler = shutil.which(f"mpicc.{kind}")
    if not compiler:
        pytest.skip(f"mpicc.{kind} is not installed")
    program = cluster.work / f"ring.{kind}"
    if not program.exists():
        subprocess.run([compiler, "-o", program, ROOT / "tests/tools/mpi_ring.c"], check=True)
    return program


# MPICH 4.0.2 sometimes hangs in MPI_Finalize between two pid namespaces of one machine, without Ares as well: its programs get three
# attempts. Each must give the right results to count.
RETRY = """
again() {
  for attempt in 1 2 3; do
    timeout 15 "$@" > said 2>&1; code=$?
    [ $code = 124 ] || break
  done
  cat said
  return $code
}
"""


def run(cluster, text):
    script = cluster.script(f"#!/bin/bash\n{APART}\n{RETRY}" + textwrap.dedent(text))
    job = cluster.submit("-N2", "--ntasks-per-node=2", str(script))
    cluster.completed(job, seconds=120)
    return cluster.output(job)


def check_ring(output):
    found = re.findall(r"rank (\d) of 4, (\d) here, sum (\d+), ring (\d)", output)
    assert sorted(rank for rank, _, _, _ in found) == list("0123"), output
    assert {total for _, _, total, _ in found} == {"10"} and {token for rank, _, _, token in found if rank == "0"} == {"4"}, output


def test_mpich_computes_over_two_nodes_by_arun(cluster):
    check_ring(run(cluster, f"again arun {built(cluster, 'mpich')}"))


def test_open_mpi_computes_over_two_nodes_by_arun(cluster):
    if not pathlib.Path("/usr/lib/x86_64-linux-gnu/libpmix.so.2").exists():
        pytest.skip("libpmix2 is not installed")
    check_ring(run(cluster, f"arun --mpi=pmix {built(cluster, 'openmpi')}"))


@pytest.mark.parametrize("kind", ["mpich", "openmpi"])
def test_mpirun_finds_the_nodes_of_its_job(cluster, kind):
    program = built(cluster, kind)
    # mpirun passes its own environment on, so a node is told by the namespace of its processes.
    output = run(cluster, f"again mpirun.{kind} -n 4 bash -c 'readlink /proc/self/ns/pid; exec {program}'")
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
