# Tests: discovery, nvml/discover, nvml/library
"""Discovery of GPUs by aresd, with a stand-in for the library of NVIDIA's driver: what `aresd --discover` prints, what a
node registers, and what a job sees."""

import json
import os
import pathlib
import re
import signal
import subprocess

import pytest

import nvml
from cluster import BIN, Cluster, processes_naming, until


def discover(folder, machine, source="nvml", library="nvml", check=True):
    done = subprocess.run([BIN / "aresd", f"--discover={source}"], env=nvml.environment(folder, machine, library),
                          capture_output=True, text=True, timeout=120, check=False)
    if check:
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)
    return done


def gpu(index, **more):
    return {"index": index, "name": "NVIDIA A100-SXM4-40GB", "uuid": f"GPU-{index}", "minor": index, **more}


# --- recorded machines ---------------------------------------------------------------------------------------------


def recorded(kind, pattern):
    folder = nvml.data(kind)
    return sorted(folder.glob(pattern)) if folder else [None]


@pytest.mark.parametrize("file", recorded("topo", "*.txt"), ids=lambda file: file and file.stem)
def test_recorded_matrix_is_found_by_nvml(file, tmp_path):
    if file is None:
        pytest.skip("skipped: no ARES_DATA")
    if "p2p-read" in file.name:
        pytest.skip("no matrix of links")
    machine = nvml.machine_of_matrix(file.read_text(errors="replace"))
    if machine is None:
        pytest.skip("rows of GPUs are missing in the recording")
    switched = any(word in file.name for word in ("h100x8", "h200x8", "a100x8-nv12", "dgx2"))
    found = discover(tmp_path, {**machine, "stub": {"nvswitch": switched}})
    assert found["links"] == machine["links"]
    assert [one.get("cpus", "") for one in found["gpus"]] == [one.get("cpus", "") for one in machine["gpus"]]
    assert [one.get("numa", "") for one in found["gpus"]] == [one.get("numa", "") for one in machine["gpus"]]
    assert [one["minor"] for one in found["gpus"]] == [one["minor"] for one in machine["gpus"]]
    assert {one["type"] for one in found["gpus"]} == {"a100"}
    # What was printed is a file for the next start.
    saved = tmp_path / "saved.json"
    saved.write_text(json.dumps(found))
    assert discover(tmp_path, machine, source=saved)["links"] == machine["links"]


@pytest.mark.parametrize("file", recorded("gpu_info/xml", "*.xml"), ids=lambda file: file and file.stem)
def test_recorded_query_is_found_by_nvml(file, tmp_path):
    if file is None:
        pytest.skip("skipped: no ARES_DATA")
    machine = nvml.machine_of_query(file.read_text(errors="replace"))
    found = discover(tmp_path, machine)
    assert len(found["gpus"]) == len(machine["gpus"]) > 0
    for one, known in zip(found["gpus"], machine["gpus"]):
        for key in ("name", "uuid", "bus_id", "minor", "memory_bytes", "instances"):
            assert one.get(key) == known.get(key), key
        assert one.get("devices") == ([f"/dev/nvidia{known['minor']}"] if "minor" in known else None)
        assert "problem" not in one


# --- the library of the driver misbehaves --------------------------------------------------------------------------


@pytest.mark.parametrize("stub, said", [
    ({"results": {"nvmlInit": 9}}, "Driver Not Loaded (9)"),
    ({"results": {"nvmlInit": 18}}, "Driver/library version mismatch (18)"),
    ({"crash": "nvmlDeviceGetHandleByIndex"}, "it was ended by a signal: Aborted"),
])
def test_a_failing_library_is_a_reason(stub, said, tmp_path):
    done = discover(tmp_path, {"format": 1, "gpus": [gpu(0)], "stub": stub}, check=False)
    assert done.returncode == 1 and said in done.stderr and not done.stdout
    found = discover(tmp_path, {"format": 1, "gpus": [gpu(0)], "stub": stub}, source="nvml", check=False)
    assert found.returncode == 1


def test_a_missing_or_useless_library_is_a_reason(tmp_path):
    machine = {"format": 1, "gpus": [gpu(0)]}
    missing = discover(tmp_path, machine, library="no-such-folder", check=False)
    assert missing.returncode == 1 and "cannot load libnvidia-ml.so.1" in missing.stderr
    useless = discover(tmp_path, machine, library="nvml_nothing", check=False)
    assert useless.returncode == 1 and "the library has no nvmlInit_v2" in useless.stderr
    auto = discover(tmp_path, machine, source="auto", library="nvml_nothing")
    assert auto["source"] == "none" and "the library has no nvmlInit_v2" in auto["notes"][0]


def test_what_the_library_prints_is_kept_out_of_the_answer(tmp_path):
    found = discover(tmp_path, {"format": 1, "gpus": [gpu(0)], "stub": {"prints": "{ hello"}})
    assert len(found["gpus"]) == 1


# --- a node --------------------------------------------------------------------------------------------------------

CONFIG = """
cluster: test
policy: {{kill_wait: 2, heartbeat: 1, launch_backoff: 1}}
node: {{gpu_discovery_timeout: {timeout}}}
nodes:
  - {{name: n1, cpus: 4, memory: 4000M, gpu_discovery: {source}{more}}}
partitions:
  - {{name: main, nodes: n1, default: true, default_memory_per_cpu: 500M}}
"""

PAIR = {"format": 1, "gpus": [gpu(0, cpus="0-1", numa="0"), gpu(1, cpus="2-3", numa="0")],
        "links": [["X", "NV12"], ["NV12", "X"]]}


@pytest.fixture
def cluster_on(tmp_path, monkeypatch):
    """Starts a cluster of one node on a machine with those GPUs."""
    made = []

    def start(machine, source="nvml", more="", timeout=60):
        for key, value in nvml.environment(tmp_path, machine).items():
            monkeypatch.setenv(key, value)
        made.append(Cluster(config=CONFIG.format(source=source, more=more, timeout=timeout)))
        return made[-1]

    yield start
    monkeypatch.undo()
    for cluster in made:
        top = str(cluster.top)
        cluster.close()
        until(lambda: processes_naming(top) == [])


def node(cluster):
    return until(lambda: cluster.run("actl", "show", "node", "n1").stdout)


def seen(cluster, *indices):
    """What a job with these GPUs has in CUDA_VISIBLE_DEVICES."""
    enforced = re.search(r"Enforced=(\S+)", node(cluster))
    by_name = enforced and "devices" in enforced[1].split(",")
    return ",".join(f"GPU-{index}" if by_name else str(index) for index in indices)


def test_a_job_gets_the_found_gpus(cluster_on):
    cluster = cluster_on(PAIR, source="auto")
    text = until(lambda: (shown := node(cluster)) and "gpu:a100:2" in shown and shown)
    assert "NVLink 0-1 (12 each)" in text
    job = cluster.wrap('echo "$CUDA_VISIBLE_DEVICES"', "--gres=gpu:a100:2")
    cluster.completed(job)
    assert cluster.output(job).strip() == seen(cluster, 0, 1)


def test_jobs_see_instances_of_mig_by_their_uuid(cluster_on):
    instances = [{"uuid": f"MIG-{i}", "profile": profile, "gpu_instance": i + 1, "compute_instance": 0}
                 for i, profile in enumerate(["3g.20gb", "1g.5gb"])]
    cluster = cluster_on({"format": 1, "gpus": [gpu(0, instances=instances), gpu(1)],
                          "links": [["X", "SYS"], ["SYS", "X"]]})
    job = cluster.wrap('echo "$CUDA_VISIBLE_DEVICES $ARES_JOB_GPUS"', "--gres=gpu:a100_1g.5gb:1")
    cluster.completed(job)
    assert cluster.output(job).strip() == "MIG-1 1"
    job = cluster.wrap('echo "$CUDA_VISIBLE_DEVICES"', "--gres=gpu:a100:1")
    cluster.completed(job)
    assert cluster.output(job).strip() == "GPU-1"


def test_a_node_that_lacks_listed_gpus_is_drained(cluster_on):
    cluster = cluster_on(PAIR, more=', gpus: "a100:3"')
    text = until(lambda: (shown := node(cluster)) and "gres/gpu count" in shown and shown)
    assert "Low gres/gpu count (2 < 3)" in text
    assert "ares.yaml lists GPUs that were not found: 2" in logs(cluster)


def logs(cluster):
    return "".join(file.read_text(errors="replace") for file in pathlib.Path(cluster.dir).rglob("*.log"))


def test_a_hanging_driver_leaves_a_node_without_gpus(cluster_on):
    cluster = cluster_on({**PAIR, "stub": {"hang": "nvmlInit"}}, timeout=2)
    job = cluster.wrap("true")
    cluster.completed(job)
    assert "discovery of GPUs by nvml failed: no answer within 2 s; does the driver hang?" in logs(cluster)
    assert "gpu:" not in node(cluster)


def test_an_error_of_a_gpu_drains_the_node_and_leaves_its_jobs(cluster_on, tmp_path):
    cluster = cluster_on(PAIR, more=', gpus: "a100:2"')
    until(lambda: "NVLink 0-1" in node(cluster))
    daemon = cluster.pid("aresd@n1")
    job = cluster.wrap("while [ ! -e go ]; do sleep 0.1; done; echo $CUDA_VISIBLE_DEVICES", "--gres=gpu:2")
    cluster.wait_state(job, "RUNNING")
    nvml.environment(tmp_path, {**PAIR, "stub": {"results": {"nvmlDeviceGetHandleByIndex 1": 15}}})
    (tmp_path / "machine.json.error").write_text("1 79")
    text = until(lambda: (shown := node(cluster)) and "gres/gpu count" in shown and shown, seconds=60)
    assert "Low gres/gpu count (1 < 2)" in text
    assert "GPU 0000:11:00.0: XID 79; its state is looked at again" in logs(cluster)
    assert "GPU 1 is not offered: the driver cannot use it: GPU is lost (15)" in logs(cluster)
    assert cluster.pid("aresd@n1") == daemon and cluster.state(job) == "RUNNING"
    # It was reset: HUP lets aresd look again, and the controller resumes the node.
    nvml.environment(tmp_path, PAIR)
    os.kill(daemon, signal.SIGHUP)
    until(lambda: "gres/gpu count" not in node(cluster), seconds=60)
    (cluster.work / "go").write_text("")
    cluster.completed(job)
    assert cluster.output(job).strip() == seen(cluster, 0, 1)
    cluster.completed(cluster.wrap("true", "--gres=gpu:2"))
