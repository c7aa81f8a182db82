# Tests: topology_json, topology_text
"""actl topology on files and from a pipe, without a controller."""

import json
import subprocess

import pytest

from cluster import BIN, ROOT

MATRIX = (
    "\tGPU0\tGPU1\tGPU2\tGPU3\tCPU Affinity\tNUMA Affinity\n"
    "GPU0\t X \tNV4\tSYS\tSYS\t0-7\t0\n"
    "GPU1\tNV4\t X \tSYS\tSYS\t0-7\t0\n"
    "GPU2\tSYS\tSYS\t X \tNV4\t8-15\t1\n"
    "GPU3\tSYS\tSYS\tNV4\t X \t8-15\t1\n")
RECORDED = ROOT / "tests/data/topologies"


def actl(*words, input=None):
    return subprocess.run([BIN / "actl", "topology", *words], input=input, capture_output=True, text=True, timeout=30)


@pytest.fixture
def matrix(tmp_path):
    path = tmp_path / "matrix.txt"
    path.write_text(MATRIX)
    return str(path)


def test_topology_is_shown_and_gpus_are_chosen(matrix):
    shown = actl(matrix)
    assert shown.returncode == 0, shown.stderr
    assert "4 GPUs, 0 NICs, 2 NUMA domains" in shown.stdout
    chosen = actl(matrix, "--allocate=2", "--busy", "0", "--gpu-topology=nvlink")
    assert "Chosen        GPUs 2-3 of the free 1-3" in chosen.stdout, chosen
    assert "CPUs near     8-15" in chosen.stdout
    assert actl("-", "-Q", "--allocate", "3", input=MATRIX).stdout == "0-2\n"


def test_json_has_links_and_allocation(matrix):
    shown = json.loads(actl(matrix, "--json", "--allocate=4").stdout)
    assert [gpu["cpus"] for gpu in shown["gpus"]] == ["0-7", "0-7", "8-15", "8-15"]
    assert shown["links"][0] == ["X", "NV4", "SYS", "SYS"]
    assert shown["allocation"]["gpus"] == [0, 1, 2, 3] and shown["allocation"]["proven"]
    assert json.loads(actl(matrix, "--json").stdout)["allocation"] is None


@pytest.mark.parametrize("text, message", [
    ("", "is empty"),
    (MATRIX.replace("NV4\t X \t8", "NV5\t X \t8"), "line 5, column 14: GPU3 says NV5 of GPU2, but line 4 says NV4"),
    (MATRIX[:-20], "line 5"),
    (MATRIX.replace("NV4", "OK"), "topo -m"),
])
def test_invalid_files_are_refused_with_line_and_column(tmp_path, text, message):
    path = tmp_path / "bad.txt"
    path.write_text(text)
    done = actl(str(path))
    assert done.returncode == 1 and not done.stdout
    assert done.stderr.startswith("actl: ") and str(path) in done.stderr and message in done.stderr, done.stderr


def test_invalid_requests_are_refused(matrix):
    for words, message in {("--allocate=3", "--gpu-topology=node"): "at most 2",
                           ("--allocate=5",): "the machine has 4",
                           ("--busy=1",): "--allocate"}.items():
        done = actl(matrix, *words)
        assert done.returncode == 1 and message in done.stderr, (words, done)
    assert actl().returncode == 1 and actl("/no/such/file").returncode == 1


def test_recorded_topologies_are_shown_or_refused_with_line_and_column():
    recorded = sorted(RECORDED.glob("*.txt"))
    assert recorded
    for path in recorded:
        done = actl(str(path), "--allocate=1")
        if done.returncode:
            assert "line " in done.stderr and ", column " in done.stderr, (path, done.stderr)
        else:
            assert "Chosen        GPU " in done.stdout, (path, done.stdout)
