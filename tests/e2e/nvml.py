"""Machines with NVIDIA's GPUs for tests: the stand-in for the library of the driver (tests/nvml/stub.cc) answers for a
machine that a JSON file describes. And recordings of nvidia-smi, read independently of the code of Ares."""

import json
import os
import pathlib
import re
import xml.etree.ElementTree

from cluster import BIN, ROOT

STUBS = pathlib.Path(os.environ.get("ARES_TEST_PROGRAMS") or BIN.parent / "tests")


def data(kind):
    """The folder of recorded data, or None where there is none."""
    path = pathlib.Path(os.environ.get("ARES_DATA") or ROOT.parent / "shared/data") / kind
    return path if path.is_dir() else None


def environment(folder, machine, library="nvml"):
    """For a program that loads libnvidia-ml.so.1 on that machine."""
    file = pathlib.Path(folder) / "machine.json"
    new = file.with_suffix(".new")
    new.write_text(json.dumps(machine))
    new.rename(file)
    return {**os.environ, "LD_LIBRARY_PATH": str(STUBS / library), "ARES_NVML_STUB": str(file)}


def cpu_set(text):
    """{0, 1, 2, 7} for "0-2,7"."""
    out = set()
    for part in filter(None, text.replace("N/A", "").split(",")):
        first, _, last = part.partition("-")
        out |= set(range(int(first), int(last or first) + 1))
    return out


def ranges(numbers):
    """The inverse."""
    out, numbers = [], sorted(numbers)
    for number in numbers:
        if out and out[-1][1] == number - 1:
            out[-1][1] = number
        else:
            out.append([number, number])
    return ",".join(str(a) if a == b else f"{a}-{b}" for a, b in out)


def read_matrix(text):
    """What `nvidia-smi topo -m` says: (links between GPUs, CPUs and NUMA nodes of each); None if rows are missing."""
    lines = [re.sub(r"\x1b\[[0-9;]*m", "", line) for line in text.splitlines()]
    head = next(line for line in lines if line.split()[:1] == ["GPU0"] and not re.match(r"\s*GPU0\s+X\b", line))
    devices = re.findall(r"\b(?:GPU\d+|NIC\d+|mlx\d_\d+)\b", head)
    gpus = [name for name in devices if name.startswith("GPU")]
    links, cpus, numa = [], [], []
    for gpu in gpus:
        row = next((line.split() for line in lines if line.split()[:1] == [gpu] and "X" in line.split()), None)
        if row is None:
            return None
        cells, rest = row[1:1 + len(devices)], row[1 + len(devices):]
        if len(cells) < len(devices):
            return None
        links.append([cells[i].replace("SOC", "SYS") for i, name in enumerate(devices) if name in gpus])
        cpus.append(cpu_set(rest[0]) if rest else set())
        numa.append(cpu_set(rest[1]) if len(rest) > 1 else set())
    return links, cpus, numa


def machine_of_matrix(text, name="NVIDIA A100-SXM4-80GB"):
    """A machine for the stand-in with that matrix; None as above."""
    read = read_matrix(text)
    if read is None:
        return None
    links, cpus, numa = read
    gpus = []
    for i, near in enumerate(cpus):
        gpu = {"index": i, "name": name, "uuid": f"GPU-{i:04d}", "minor": len(cpus) - 1 - i}
        if near:
            gpu["cpus"] = ranges(near)
        if numa[i]:
            gpu["numa"] = ranges(numa[i])
        gpus.append(gpu)
    return {"format": 1, "gpus": gpus, "links": links}


def _bytes(text):
    return int(text.split()[0]) << 20 if text and text.split()[0].isdigit() else 0


def machine_of_query(text):
    """A machine for the stand-in from what `nvidia-smi -q -x` says."""
    gpus, ecc, links = [], [], []
    for index, gpu in enumerate(xml.etree.ElementTree.fromstring(text).findall("gpu")):
        one = {"index": index, "name": gpu.findtext("product_name"), "uuid": gpu.findtext("uuid"),
               "bus_id": gpu.get("id")[-12:].lower()}
        if (gpu.findtext("minor_number") or "N/A").isdigit():
            one["minor"] = int(gpu.findtext("minor_number"))
        if _bytes(gpu.findtext("fb_memory_usage/total")):
            one["memory_bytes"] = _bytes(gpu.findtext("fb_memory_usage/total"))
        if gpu.findtext("mig_mode/current_mig") == "Enabled":
            one["instances"] = [
                {"uuid": f"MIG-{index}-{mig.findtext('index')}",
                 "profile": _profile(mig),
                 "memory_bytes": _bytes(mig.findtext("fb_memory_usage/total")),
                 "gpu_instance": int(mig.findtext("gpu_instance_id")),
                 "compute_instance": int(mig.findtext("compute_instance_id"))}
                for mig in gpu.findall("mig_devices/mig_device")]
        errors = [gpu.findtext(f"ecc_errors/volatile/{path}") or "N/A"
                  for path in ("double_bit/total", "sram_uncorrectable", "dram_uncorrectable")]
        ecc.append(sum(int(count) for count in errors if count.isdigit()))
        gpus.append(one)
    for a in range(len(gpus)):
        links.append(["X" if a == b else "SYS" for b in range(len(gpus))])
    return {"format": 1, "gpus": gpus, "links": links, "stub": {"ecc": ecc}}


def _profile(mig):
    """Of the A100 and H100: a slice has 14 to 18 multiprocessors."""
    slices = int(mig.findtext("device_attributes/shared/multiprocessor_count")) // 14
    return f"{slices}g.{round(_bytes(mig.findtext('fb_memory_usage/total')) / 2**30)}gb"
