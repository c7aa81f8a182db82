"""Programs of MPICH and Open MPI in jobs."""

import re
import shutil
import subprocess
import textwrap

import pytest

from cluster import ROOT

# With two nodes on one machine, Open MPI takes their shared memory for one.
APART = "export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_btl=tcp,self"


def built(cluster, kind):
    compiler = shutil.which(f"mpicc.{kind}")
    if not compiler:
        pytest.skip(f"mpicc.{kind} is not installed")
    program = cluster.work / f"ring.{kind}"
    if not program.exists():
        subprocess.run([compiler, "-o", program, ROOT / "tests/tools/mpi_ring.c"], check=True)
    return program


def run(cluster, text, nodes=2, tasks_per_node=2, settings=APART):
    script = cluster.script(f"#!/bin/bash\n{settings}\n" + textwrap.dedent(text))
    job = cluster.submit(f"-N{nodes}", f"--ntasks-per-node={tasks_per_node}", str(script))
    cluster.completed(job, seconds=120)
    return cluster.output(job)


def check_ring(output, ranks=4, here=2):
    """Each rank has said the sum of 1 to `ranks`, and rank 0 that a token has passed all of them."""
    found = re.findall(r"rank (\d+) of (\d+), (\d+) here, sum (\d+), ring (\d+)", output)
    assert sorted(int(rank) for rank, *_ in found) == list(range(ranks)), output
    for rank, size, local, total, token in found:
        assert (int(size), int(local), int(total)) == (ranks, here, ranks * (ranks + 1) // 2), output
        assert rank != "0" or int(token) == ranks, output
