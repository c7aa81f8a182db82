# Tests: aqueue/why, output/explanation, query_estimate, query_why
"""aqueue --why, actl show job and asub --test-only: the causes of waiting, and the changes that let a job start now."""

import json
import re

import pytest

from cluster import Cluster, until

CONFIG = """
cluster: test
topology_file: {topology}
controller:
  operators: [root]
policy: {{kill_wait: 2, heartbeat: 1, launch_backoff: 1}}
licenses: {{matlab: 2}}
nodes:
  - {{name: "n[1-2]", cpus: 4, memory: 4000M, gpus: "a100:2"}}
  - {{name: "n[3-4]", cpus: 4, memory: 4000M, gpus: "h100:2"}}
partitions:
  - {{name: main, nodes: "n[1-4]", default: true, default_memory_per_cpu: 500M, topology: racks}}
fairness:
  partitions: {{main: multifactor}}
  weights: {{age: 1000}}
"""

TOPOLOGY = """
topologies:
  - name: racks
    block:
      - {block: r1, nodes: "n[1-2]"}
      - {block: r2, nodes: "n[3-4]"}
"""


@pytest.fixture(scope="module")
def racks(tmp_path_factory):
    file = tmp_path_factory.mktemp("topology") / "topology.yaml"
    file.write_text(TOPOLOGY)
    made = Cluster(config=CONFIG.format(topology=file))
    yield made
    made.close()


@pytest.fixture
def job(racks):
    """Submits jobs that run until the test ends, and then waits until they have ended."""
    made = []
    def submit(*words, runs=False):
        made.append(racks.wrap("sleep 300", *words))
        if runs:
            racks.wait_state(made[-1], "RUNNING")
        return made[-1]
    yield submit
    for number in made:
        racks.run("acancel", number, check=False)
    until(lambda: not racks.run("aqueue", "-h").stdout.strip())


def changes(racks, number):
    told = json.loads(racks.run("aqueue", "--why", number, "--json").stdout)["jobs"][0]
    assert told["waits"] and told["causes"], told
    return [change["text"] for change in told["changes"]]


def test_job_that_does_not_fit_and_job_behind_it(racks, job):
    for node in ("n1", "n2", "n3", "n4"):
        job("-c3", "-t", "60", "-w", node, runs=True)
    first = job("-c4", "-t", "60")
    racks.wait_reason(first, "Resources")
    why = racks.run("aqueue", "--why", first).stdout
    assert "Resources in main: needs 4 CPUs" in why and "4 nodes with too few free CPUs" in why
    assert "free in all: 4 CPUs, at most 1 on one node" in why
    assert re.search(r"Starts now if: +--cpus-per-task=1\n", why), why
    assert re.search(r"Priority: +\d+ \(multifactor\)", why) and "AGE" in why
    shown = racks.run("actl", "show", "job", first).stdout
    assert "WaitsFor=Resources in main: needs 4 CPUs" in shown and "StartsNowIf=--cpus-per-task 1" in shown

    # The second job would delay the planned start of the first.
    behind = job("-n4", "-N4", "-t", "90")
    racks.wait_reason(behind, "Priority")
    why = racks.run("aqueue", "--why", behind).stdout
    assert f"it would delay job {first}" in why, why
    short = re.search(rf"--time=(\S+) \(it would end before job {first} needs the nodes\)", why)
    assert short, why
    racks.run("actl", "update", f"job={behind}", f"TimeLimit={short.group(1)}")
    racks.wait_state(behind, "RUNNING")


def test_suggested_change_starts_the_job(racks, job):
    job("-N2", "-c4", "-w", "n[1-2]", runs=True)
    waits = job("-N4", "-n4", "-c4")
    racks.wait_reason(waits, "Resources")
    assert changes(racks, waits) == ["--nodes=2 --ntasks=2"]
    racks.run("actl", "update", f"job={waits}", "NumNodes=2", "NumTasks=2")
    racks.wait_state(waits, "RUNNING")


def test_other_free_gpu_type_is_suggested(racks, job):
    job("--gres=gpu:a100:2", "-N2", runs=True)
    waits = job("--gres=gpu:a100:2")
    racks.wait_reason(waits, "Resources")
    assert "of other types 4 h100" in racks.run("aqueue", "--why", waits).stdout
    assert changes(racks, waits) == ["--gpus-per-node=h100:2"]


def test_smaller_number_of_licences_is_suggested(racks, job):
    job("-L", "matlab:1", runs=True)
    waits = job("-L", "matlab:2")
    racks.wait_reason(waits, "Licenses")
    assert "Licenses in main: needs 2 matlab: 1 of 2 free" in racks.run("aqueue", "--why", waits).stdout
    assert changes(racks, waits) == ["--licenses=matlab:1"]


def test_more_switches_are_suggested(racks, job):
    job("-c4", "-w", "n1", runs=True)
    job("-c4", "-w", "n3", runs=True)
    waits = job("-N2", "-c4", "--switches=1")
    racks.wait_reason(waits, "Resources")
    assert "under 1 leaf switch at most 1 node has room for a share" in racks.run("aqueue", "--why", waits).stdout
    assert "--switches=2" in changes(racks, waits)


def test_only_prints_the_same_explanation_as_why(racks, job):
    for node in ("n1", "n2", "n3", "n4"):
        job("-c3", "-t", "60", "-w", node, runs=True)
    tried = racks.run("asub", "--test-only", "-c4", "-t", "60", "--wrap", "true").stderr
    waits = job("-c4", "-t", "60")
    racks.wait_reason(waits, "Resources")
    told = racks.run("aqueue", "--why", waits).stdout
    def account(text):
        return re.findall(r"(Resources in main: .*|Jobs ahead: .*|Starts now if: .*)", text)
    assert len(account(tried)) == 3 and account(tried) == account(told)


def test_arrays_and_held_running_and_ended_jobs_are_explained(racks, job):
    array = job("--array=0-3%1", "-c1")
    until(lambda: racks.run("aqueue", "-h", "-j", f"{array}_0", "-o", "%T").stdout.strip() == "RUNNING")
    racks.wait_reason(f"{array}_2", "JobArrayTaskLimit")
    why = racks.run("aqueue", "--why", f"{array}_0,{array}_2").stdout.split("\n\n")
    assert "does not wait: it is RUNNING" in why[0]
    assert "JobArrayTaskLimit in main: as many tasks of the array run" in why[1]
    assert "with 2 tasks of the array at a time" in why[1]
    held = job("-H")
    assert "released" in changes(racks, held)
    done = racks.wrap("true")
    racks.completed(done)
    assert "it ended at" in racks.run("aqueue", "--why", done).stdout
