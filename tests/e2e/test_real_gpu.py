# Tests: nvml/discover, gpu_look, gpu_watch
"""On a machine with GPUs of NVIDIA and their driver: what is found, what jobs see, who has a GPU when, and what is left on it."""

import csv
import json
import pathlib
import re
import shutil
import subprocess

import pytest

from cluster import BIN, ROOT, Cluster, until

FIELDS = "index,name,uuid,pci.bus_id,memory.total"


def installed():
    """What nvidia-smi says of the machine's GPUs; none without a driver."""
    if not shutil.which("nvidia-smi"):
        return []
    done = subprocess.run(["nvidia-smi", f"--query-gpu={FIELDS}", "--format=csv,noheader,nounits"], text=True, capture_output=True,
                          timeout=120, check=False)
    if done.returncode:
        return []
    return [dict(zip(FIELDS.split(","), row)) for row in csv.reader(done.stdout.splitlines(), skipinitialspace=True)]


GPUS = installed()
pytestmark = pytest.mark.skipif(not GPUS, reason="skipped: no GPU of NVIDIA")
PYTHON = "/usr/bin/python3"

CONFIG = """
cluster: test
controller: {operators: [root]}
policy: {kill_wait: 2, heartbeat: 1, launch_backoff: 1}
nodes:
  - {name: n1, cpus: 4, memory: 8000M, gpu_discovery: auto}
partitions:
  - {name: main, nodes: n1, default: true, default_memory_per_cpu: 2000M}
"""


@pytest.fixture(scope="module")
def machine():
    made = Cluster(config=CONFIG)
    made.program = made.work / "cuda_job.py"
    shutil.copy(ROOT / "tests/e2e/cuda_job.py", made.program)
    until(lambda: "gpu:" in made.show("node", "n1"), seconds=90)  # without a persistence daemon the driver takes its time
    yield made
    made.close()


def cuda(cluster, words, *options, **more):
    """A job that runs cuda_job.py."""
    return cluster.wrap(f"exec {PYTHON} {cluster.program} {words}", *options, **more)


def held_by(cluster):
    """Devices are kept from jobs of others on this machine."""
    enforced = re.search(r"Enforced=(\S+)", cluster.show("node", "n1"))
    return bool(enforced) and "devices" in enforced[1].split(",")


def end(cluster, job):
    """The state in which the job ends."""
    (one,) = cluster.wait_end(job, seconds=60).values()
    return one


def state(cluster):
    return cluster.run("ainfo", "-h", "-n", "n1", "-o", "%T").stdout.strip()


def test_discovery_finds_what_nvidia_smi_finds():
    done = subprocess.run([BIN / "aresd", "--discover=nvml"], text=True, capture_output=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert [str(gpu["index"]) for gpu in found["gpus"]] == [gpu["index"] for gpu in GPUS]
    for gpu, known in zip(found["gpus"], GPUS):
        assert (gpu["name"], gpu["uuid"]) == (known["name"], known["uuid"])
        assert known["pci.bus_id"].lower().endswith(gpu["bus_id"].lower())
        assert gpu["memory_bytes"] >> 20 == int(known["memory.total"])
        assert "problem" not in gpu
        for device in gpu["devices"]:
            assert pathlib.Path(device).is_char_device()


def test_the_nodes_gpus_have_the_type_of_the_product(machine):
    shown = machine.show("node", "n1")
    kind = re.search(r"gpu:([a-z0-9._]+):(\d+)", shown)
    assert kind and int(kind[2]) == len(GPUS)
    assert kind[1] in GPUS[0]["name"].lower().replace(" ", "")


def test_a_job_computes_on_its_gpu(machine, others):
    job = cuda(machine, "add", "--gres=gpu:1", user=others[0])
    machine.completed(job)
    assert machine.output(job).strip() == str(2 * sum(range(256)))


def test_a_job_sees_its_gpus_and_no_others(machine, others):
    job = cuda(machine, "look", f"--gres=gpu:{len(GPUS)}", user=others[0])
    machine.completed(job)
    assert [gpu["uuid"] for gpu in json.loads(machine.output(job))] == [gpu["uuid"] for gpu in GPUS]
    job = cuda(machine, "look", user=others[0])
    machine.completed(job)
    assert json.loads(machine.output(job)) == []


def test_a_job_without_gpus_cannot_open_one_whatever_it_sets(machine, others):
    if not held_by(machine):
        pytest.skip("devices are not enforced on this machine")
    job = machine.wrap(f"unset CUDA_VISIBLE_DEVICES; {PYTHON} {machine.program} look; : </dev/nvidia0", user=others[0])
    assert end(machine, job) == "FAILED"
    lines = machine.output(job).splitlines()
    assert lines[0] == "[]" and "Operation not permitted" in lines[-1], lines


def test_a_gpu_has_one_job_at_a_time(machine, others):
    jobs = [machine.wrap(f"date +%s.%N; {PYTHON} {machine.program} add; sleep 0.5; date +%s.%N", "--gres=gpu:1", user=others[0])
            for _ in range(2 * len(GPUS) + 1)]
    spans = []
    for job in jobs:
        machine.completed(job)
        lines = machine.output(job).split()
        spans.append((float(lines[0]), float(lines[2])))
    for begin, _ in spans:
        assert sum(a <= begin < b for a, b in spans) <= len(GPUS), sorted(spans)


def test_parts_of_a_gpu_are_used_together(machine, others):
    jobs = [cuda(machine, "hold 500 30", "--gres=gpu:0.5", user=others[0]) for _ in range(2)]
    try:
        for job in jobs:
            until(lambda job=job: "holding" in machine.output(job), seconds=60)
        assert {machine.state(job) for job in jobs} == {"RUNNING"}
        users = subprocess.run(["nvidia-smi", "--query-compute-apps=pid", "--format=csv,noheader"], text=True, capture_output=True,
                               timeout=60, check=True).stdout.split()
        assert len(users) == 2
    finally:
        machine.run("acancel", *map(str, jobs))
        for job in jobs:
            machine.wait_end(job)


def test_a_cancelled_job_leaves_a_clean_gpu(machine, others):
    job = cuda(machine, "hold 4000 300", "--gres=gpu:1", user=others[0])
    until(lambda: "holding" in machine.output(job), seconds=60)
    machine.run("acancel", str(job))
    assert end(machine, job) == "CANCELLED"
    following = cuda(machine, "add", "--gres=gpu:1", user=others[0])
    machine.completed(following)
    assert "DRAIN" not in state(machine)


def test_a_fault_of_a_program_is_logged_and_leaves_the_node(machine, others):
    job = cuda(machine, "fault", "--gres=gpu:1", user=others[0])
    assert end(machine, job) == "FAILED"
    assert "CUDA_ERROR_ILLEGAL_ADDRESS" in machine.output(job)
    until(lambda: re.search(r"XID (13|31)\b", machine.acluster("logs", "--lines=1000", "aresd@n1").stdout))
    machine.completed(cuda(machine, "add", "--gres=gpu:1", user=others[0]))
    assert "DRAIN" not in state(machine)


def test_a_gpu_that_another_process_uses_drains_the_node_until_it_is_clean(machine, others):
    with subprocess.Popen([PYTHON, str(machine.program), "hold", "2000", "600"], text=True,
                          stdout=subprocess.PIPE) as outside:
        try:
            assert outside.stdout.readline() == "holding\n"
            # The look after this job finds it. The job itself starts, if the last look is younger than a minute.
            job = cuda(machine, "add", "--gres=gpu:1", user=others[0])
            shown = until(lambda: (text := machine.show("node", "n1")) and "is not clean" in text and text, seconds=60)
            assert f"process {outside.pid} (python3" in shown, shown
        finally:
            outside.kill()
    until(lambda: "is not clean" not in machine.show("node", "n1"), seconds=60)
    machine.completed(job, seconds=60)
    machine.completed(cuda(machine, "add", "--gres=gpu:1", user=others[0]))
