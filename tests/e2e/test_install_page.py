"""The commands of ares-install(7), THREE NODES ON ONE MACHINE, as an administrator types them."""

import os
import re
import subprocess

import pytest

from cluster import BIN, ROOT

PAGE = ROOT / "man/man7/ares-install.7"


def commands():
    """The text of the section's blocks of commands, one after the other."""
    section = PAGE.read_text().split(".SH THREE NODES ON ONE MACHINE\n")[1].split("\n.SH ")[0]
    blocks = re.findall(r"^\.nf\n(.*?)^\.fi$", section, re.MULTILINE | re.DOTALL)
    return [block.replace(r"\-", "-").replace("\\\\\n", "\\\n") for block in blocks]


def test_three_nodes_on_one_machine_run_a_job():
    if os.geteuid() != 0:
        pytest.skip("only root can make network namespaces")
    *blocks, clean_up = commands()
    script = ("set -eu\nclean_up() {\ntrap - EXIT\nset +e\n" + clean_up + "}\ntrap clean_up EXIT\n" + "".join(blocks))
    environment = {"PATH": f"{BIN}:{os.environ['PATH']}", "HOME": "/root", "LANG": "C.UTF-8"}
    done = subprocess.run(["bash", "-c", script], env=environment, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=120,
                          stdin=subprocess.DEVNULL)
    said = done.stdout
    assert done.returncode == 0, said
    assert "FAILED" not in said, said
    assert re.search(r"^main\* +up +infinite +3 +idle n\[1-3\]$", said, re.MULTILINE), said
    assert re.search(r"^job 1 on n\[1-3\]$", said, re.MULTILINE), said
    assert sorted(re.findall(r"^task (\d) on (n\d)$", said, re.MULTILINE)) == [("0", "n1"), ("1", "n2"), ("2", "n3")], said
    assert re.search(r"^1 +three +main +3 +COMPLETED +0:0 *$", said, re.MULTILINE), said
    assert not os.path.exists("/tmp/three") and not os.path.exists("/run/netns/three-n1")
