# Tests: aresstepd/bind_task, machine_layout
"""Jobs on whole cores and near memory. The node's machine is synthetic, so that two CPUs are threads of one core."""

import os
import re

import pytest

from cgroups import needs
from cluster import Cluster

CONFIG = """
cluster: bound
controller: {operators: [root]}
policy: {kill_wait: 2, heartbeat: 1, launch_backoff: 1}
nodes:
  - {name: "n1", cpus: 2, memory: 300M}
partitions:
  - {name: main, nodes: "n1", default: true}
"""
AFFINITY = "grep Cpus_allowed_list /proc/self/status | tr -d '\\t' | cut -d: -f2"


def cluster_on(machine, patch):
    if os.cpu_count() < 2 or not {0, 1} <= os.sched_getaffinity(0):
        pytest.skip("needs the CPUs 0 and 1")
    patch.setenv("HWLOC_SYNTHETIC", machine)
    return Cluster(config=CONFIG)


@pytest.fixture(scope="module")
def patch():
    with pytest.MonkeyPatch.context() as context:
        yield context


@pytest.fixture(scope="module")
def threads(patch):
    """CPUs 0 and 1 are the threads of one core."""
    made = cluster_on("pack:1 core:1 pu:2", patch)
    yield made
    made.close()


def said(cluster, *options, command=AFFINITY):
    job = cluster.wrap(command, *options)
    cluster.completed(job)
    return cluster.output(job).splitlines()


def test_the_node_shows_its_layout_and_the_log_warns_of_a_replaced_machine(threads):
    assert "CpuLayout=1 socket, 1 NUMA node, 1 core, 2 CPUs" in threads.show("node", "n1")
    log = threads.acluster("logs", "--lines=1000", "aresd@n1").stdout
    assert "the machine has 1 socket, 1 NUMA node, 1 core, 2 CPUs, by HWLOC_SYNTHETIC=pack:1 core:1 pu:2" in log


@pytest.mark.parametrize("option", ["--hint=nomultithread", "--hint=compute_bound", "--threads-per-core=1", "--ntasks-per-core=1"])
def test_ac140_one_thread_of_each_core_is_used_and_the_whole_core_is_charged(threads, option):
    needs("cpuset")
    lines = said(threads, "-c1", option, command=f"{AFFINITY}; taskset -pc 0-1 $$ >/dev/null; nproc; echo $ARES_CPUS_ON_NODE")
    assert lines == ["0", "1", "2"]


def test_without_a_hint_all_threads_are_used(threads):
    assert said(threads, "-c2") == ["0-1"]
    assert said(threads, "-c1") == ["0"]


def test_directives_of_slurm_are_understood(threads):
    script = threads.script("#!/bin/bash\n#SBATCH --hint=nomultithread\n#SBATCH -m cyclic:block\n"
                            f"{AFFINITY}\necho $ARES_HINT $ARES_DISTRIBUTION\n", name="hint.sh")
    job = threads.submit(str(script))
    threads.completed(job)
    assert threads.output(job).splitlines() == ["0", "nomultithread cyclic:block"]
    shown = threads.show("job", job)
    assert "Hint=nomultithread" in shown and "Distribution=cyclic:block" in shown


def test_a_job_of_more_cores_than_the_node_has_is_refused(threads):
    refused = threads.run("asub", "-c2", "--hint=nomultithread", "--wrap", "true", check=False)
    assert refused.returncode != 0
    assert "needs 2 CPUs on one node with 1 of the hardware threads of each core; the most a node of partition main " \
           "has is 1" in refused.stderr


def test_ac141_the_script_is_bound_as_cpu_bind_says(threads):
    assert said(threads, "-c2", "--cpu-bind=map_cpu:1,0") == ["1"]
    assert said(threads, "-c2", "--cpu-bind=verbose,mask_cpu:0x2") == ["aresstepd: bound: CPUs 1", "1"]
    assert said(threads, "-c2", "--cpu-bind=cores") == ["0-1"]
    lines = said(threads, "-c1", "--cpu-bind=map_cpu:7")
    assert lines == ["aresstepd: --cpu-bind has no effect, because the job has none of the CPUs that it names; it has 0", "0"]


def test_without_affinity_the_cpuset_keeps_the_job(threads):
    needs("cpuset")
    assert said(threads, "-c1", "--cpu-bind=none") == ["0"]


def test_what_is_kept_for_tasks_is_handed_to_the_job(threads):
    lines = said(threads, "--gpu-bind=closest", "--mem-bind=rank", "-m", "plane=4", "--cpu-bind=threads",
                 command="echo $ARES_GPU_BIND $ARES_MEM_BIND $ARES_DISTRIBUTION $ARES_DIST_PLANESIZE $ARES_CPU_BIND")
    assert lines == ["closest rank plane=4 4 threads"]


@pytest.mark.parametrize("option, why", [
    ("--hint=fast", '"fast" is not a hint; use compute_bound, memory_bound, multithread, nomultithread'),
    ("--cpu-bind=core", '"core" is not a way to bind tasks to CPUs; use none, cores'),
    ("--mem-bind=near", '"near" is not a way to bind memory; use none, local'),
    ("--gpu-bind=near", '"near" is not a way to bind tasks to GPUs; use none, closest'),
    ("--distribution=random", '"random" is not a distribution over nodes; use block, cyclic'),
    ("--threads-per-core=0", "is not a number of hardware threads from 1 to 64"),
])
def test_wrong_words_are_refused_by_name(threads, option, why):
    refused = threads.run("asub", option, "--wrap", "true", check=False)
    assert refused.returncode != 0 and option.split("=")[0] in refused.stderr and why in refused.stderr, refused.stderr


def test_steps_limit_the_tasks_of_a_core_and_of_a_socket(threads):
    affinity = f'bash -c "{AFFINITY}"'
    lines = said(threads, "-n2", command=f"""
        arun -n1 {affinity}; arun -n1 --ntasks-per-core=1 {affinity}; arun -n2 --ntasks-per-core=2 {affinity} | sort
        for option in --ntasks-per-core=1 --ntasks-per-socket=1; do arun -n2 $option true 2>&1; echo code $?; done
        arun -n1 --ntasks-per-core=1 --cpu-bind=none true 2>&1
        :""")
    assert lines[:4] == ["0-1", "0", "0", "1"]
    assert "--ntasks-per-core=1: the CPUs of the step here, on 1 socket, hold 1 of its 2 tasks" in lines[4] and lines[5] == "code 1"
    assert "--ntasks-per-socket=1" in lines[6] and lines[7] == "code 1"
    assert "--cpu-bind=none contradicts" in lines[8] and len(lines) == 9


def test_memory_policy_of_a_machine_with_two_nodes(patch):
    """The synthetic second NUMA node does not exist, and the kernel of a machine with one refuses it: the job is told."""
    policies = "grep -oE '(bind|prefer)[^:]*:[0-9]+' /proc/self/numa_maps | sort -u"
    if not os.path.exists("/proc/self/numa_maps"):
        pytest.skip("needs a kernel with NUMA")
    cluster = cluster_on("pack:2 numa:1 core:1 pu:1", patch)
    try:
        told, bound = said(cluster, "-c1", "--mem-bind=verbose,local", command=policies)
        assert told == "aresstepd: bound: CPUs 0, memory from NUMA node 0 only"
        assert re.fullmatch(r"bind(=[a-z]*)?:0", bound)
        [preferred] = said(cluster, "-c1", command=policies)
        assert re.fullmatch(r"prefer( \(many\))?(=[a-z]*)?:0", preferred)
        assert said(cluster, "-c1", "--mem-bind=none", command=policies) == []
        if not os.path.exists("/sys/devices/system/node/node1"):
            assert said(cluster, "-c1", "--mem-bind=map_mem:1", command=policies) == [
                "aresstepd: cannot take memory from NUMA node 1: Invalid argument; --mem-bind has no effect"]

        def tasks(arun, *options):
            return said(cluster, "-c1", *options, command=arun.replace("POLICIES", f'bash -c "{policies}"'))

        told, bound = tasks("arun -n1 --mem-bind=verbose,local POLICIES 2>&1")
        assert told == "mem-bind: task 0 on n1: NUMA node 0 only"
        assert re.fullmatch(r"bind(=[a-z]*)?:0", bound)
        [preferred] = tasks("arun -n1 --mem-bind=prefer,map_mem:0 POLICIES")
        assert re.fullmatch(r"prefer( \(many\))?(=[a-z]*)?:0", preferred)
        assert tasks("arun -n1 POLICIES") == []
        [of_job] = tasks("arun -n1 POLICIES", "--mem-bind=local")
        assert re.fullmatch(r"bind(=[a-z]*)?:0", of_job)
        assert tasks("arun -n1 --mem-bind=none POLICIES", "--mem-bind=local") == []
        [told] = tasks("arun -n1 --mem-bind=map_mem:7 POLICIES 2>&1")
        assert told == "aresstepd: --mem-bind has no effect, because this node has none of the NUMA nodes that it names; it has 0-1"
        told = "\n".join(tasks("arun -n1 --mem-bind=near true 2>&1 || :"))
        assert '--mem-bind: "near" is not a way to bind memory' in told
    finally:
        cluster.close()
