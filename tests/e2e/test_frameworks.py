"""The examples for PyTorch, Ray and DeepSpeed on two nodes with networks of their own. PyTorch is the real one where Debian's
python3-torch is installed (skipped elsewhere); Ray and DeepSpeed are stand-ins that use the addresses, ports and host files as those do."""

import os
import re
import shutil
import subprocess
import textwrap

import pytest

from cluster import ROOT, Cluster

CONFIG = """
cluster: frameworks
controller: {operators: [root]}
policy: {kill_wait: 2, heartbeat: 1, launch_backoff: 1}
nodes:
  - {name: "n[1-2]", cpus: 4, memory: 4000M}
partitions:
  - {name: main, nodes: "n[1-2]", default: true}
"""
EXAMPLES = ROOT / "etc/examples"
PATH = "/usr/bin:/bin"


@pytest.fixture(scope="module")
def cluster():
    if os.geteuid() != 0:
        pytest.skip("only root can give each node a network of its own")
    made = Cluster("--isolate", config=CONFIG)
    yield made
    made.close()


def program(cluster, name, text):
    folder = cluster.work / "bin"
    folder.mkdir(exist_ok=True)
    (folder / name).write_text(textwrap.dedent(text))
    (folder / name).chmod(0o755)


def run(cluster, example, *files, **variables):
    for file in files:
        shutil.copy(EXAMPLES / file, cluster.work)
    job = cluster.submit(str(EXAMPLES / example), env={"PATH": f"{cluster.work}/bin:{cluster.bin}:{PATH}", **variables})
    ended = cluster.wait_end(job, 120)
    output = (cluster.work / f"{example.removesuffix('.sh')}-{job}.out").read_text()
    assert set(ended.values()) == {"COMPLETED"}, output
    return output


def torch():
    if subprocess.run(["/usr/bin/python3", "-c", "import torch"], capture_output=True).returncode != 0:
        pytest.skip("python3-torch is not installed")


@pytest.mark.parametrize("example", ["ddp.sh", "torchrun.sh"])
def test_pytorch_trains_one_model_on_two_nodes(cluster, example):
    torch()
    # Debian's torch 1.13 under Python 3.11 reads "no redirection", its default, as nothing.
    program(cluster, "torchrun", """#!/bin/sh
        exec /usr/bin/torchrun --redirects=1 --tee=1 "$@"
        """)
    output = run(cluster, example, "ddp.py", GLOO_SOCKET_IFNAME="eth0")
    found = re.findall(r"rank (\d) of 4 on (\w+): y = ([\d.]+) x \+ ([\d.]+)", output)
    assert sorted((rank, node) for rank, node, _, _ in found) == [("0", "n1"), ("1", "n1"), ("2", "n2"), ("3", "n2")], output
    assert {(slope, offset) for _, _, slope, offset in found} == {("3.00", "1.00")}, output


RAY = """#!/usr/bin/python3
import os, socket, sys, threading, time
options = dict(word[2:].partition("=")[::2] for word in sys.argv[2:])
def connect(address):
    host, port = address.rsplit(":", 1)
    return socket.create_connection((host, int(port)), 5).makefile("rw")
def ask(address, line):
    stream = connect(address)
    print(line, file=stream, flush=True)
    return stream.readline(), stream
if sys.argv[1] == "status":
    sys.exit(0 if ask(os.environ["RAY_ADDRESS"], "nodes")[0] else 1)
# Into a file: what a worker prints last may be lost, because the job ends with its script.
with open("ray-starts", "a") as starts:
    print(os.uname().nodename, sys.argv[2], file=starts)
if "head" in options:
    nodes = [os.uname().nodename]
    listener = socket.create_server((options["node-ip-address"], int(options["port"])))
    def serve(stream):
        for line in stream:
            words = line.split()
            nodes.extend(words[1:])
            print(*nodes, file=stream, flush=True)
    while True:
        threading.Thread(target=serve, args=(listener.accept()[0].makefile("rw"),), daemon=True).start()
else:
    answer, stream = ask(options["address"], "join " + os.uname().nodename)
    while "block" in options and stream.readline(): pass
"""
RAY_MODULE = """
import socket
def init(address):
    global _stream
    host, port = address.rsplit(":", 1)
    _stream = socket.create_connection((host, int(port))).makefile("rw")
def nodes():
    print("nodes", file=_stream, flush=True)
    return _stream.readline().split()
class remote:
    def __init__(self, function): self.remote = function
def get(values): return values
"""


def test_ray_has_its_head_on_the_first_node_and_workers_on_the_others(cluster):
    program(cluster, "ray", RAY)
    (cluster.work / "ray.py").write_text(RAY_MODULE)
    output = run(cluster, "ray.sh", "squares.py")
    assert (cluster.work / "ray-starts").read_text() == "n1 --head\nn2 --block\n", output
    assert "sum 328350" in output


def test_deepspeed_starts_a_process_for_each_task_of_the_host_file(cluster):
    if not shutil.which("mpirun.openmpi"):
        pytest.skip("openmpi-bin is not installed")
    # As the launcher of that name does: the sum of the slots, the host file, the variables by name.
    program(cluster, "deepspeed", """#!/bin/bash
        for word; do case $word in
          --hostfile=*) file=${word#*=};; --master_addr=*) export MASTER_ADDR=${word#*=};; --master_port=*) export MASTER_PORT=${word#*=};;
          --*) ;; *) script=$word;;
        esac; done
        total=$(awk -F= '{ n += $2 } END { print n }' "$file")
        exec mpirun.openmpi --allow-run-as-root -n "$total" -hostfile "$file" --mca btl_tcp_if_include eth0 -x MASTER_ADDR -x MASTER_PORT \\
          /usr/bin/python3 -u "$script"
        """)
    (cluster.work / "ddp.py").write_text(textwrap.dedent("""
        import os
        rank, size = os.environ["OMPI_COMM_WORLD_RANK"], os.environ["OMPI_COMM_WORLD_SIZE"]
        where = os.environ["MASTER_ADDR"] + " " + os.environ["MASTER_PORT"]
        # One call, so that the lines of two processes do not mix.
        os.write(1, f"rank {rank} of {size} on {os.uname().nodename} meets at {where}\\n".encode())
        """))
    output = run(cluster, "deepspeed.sh")
    found = re.findall(r"rank (\d) of 4 on (n\d) meets at (10\.77\.0\.2) (\d+)", output)
    assert sorted((rank, node) for rank, node, _, _ in found) == [("0", "n1"), ("1", "n1"), ("2", "n2"), ("3", "n2")], output
    assert len({port for _, _, _, port in found}) == 1
