# Tests: doctor, doctor_checks
"""actl doctor: what it finds on a good cluster, and on one where something is wrong."""

import os
import re
import signal

import pytest
from cluster import Cluster, stop_process, until


@pytest.fixture(scope="module")
def pair():
    made = Cluster("--nodes", "2", "--cpus", "1")
    yield made
    made.close()


def doctor(cluster, *words, **more):
    done = cluster.run("actl", "doctor", *words, check=False, **more)
    return done.returncode, done.stdout + done.stderr


def test_good_cluster(pair):
    code, text = doctor(pair)
    assert code == 0 and "FAILED" not in text, text
    for subject in ("munge", "port", "controller", "clocks", "database", "versions", "nodes"):
        assert f"ok      {subject:<11} " in text
    assert "all 2 answer" in text
    assert "FAILED" not in doctor(pair, "-Q")[1]


def test_node_that_does_not_answer_is_named(pair):
    pid = pair.pid("aresd@n2")
    stop_process(pid)
    try:
        code, text = until(lambda: (found := doctor(pair, "-Q"))[0] == 1 and found, seconds=90)
        assert "node n2: no answer since" in text and "What to do: see whether the machine is up and aresd runs there" in text
    finally:
        os.kill(pid, signal.SIGCONT)
    until(lambda: doctor(pair)[0] == 0, seconds=60)


def test_hung_controller_and_dead_munge(pair):
    pid = pair.pid("aresctld")
    stop_process(pid)
    try:
        code, text = doctor(pair, timeout=30)
        assert code == 1 and "FAILED  controller" in text and "systemctl status aresctld" in text
    finally:
        os.kill(pid, signal.SIGCONT)
    config = (pair.dir / "ares.yaml").read_text()
    lines = [f"  munge_socket: {pair.top}/nowhere" if "munge_socket" in line else line for line in config.splitlines()]
    broken = pair.top / "broken.yaml"
    broken.write_text("\n".join(lines) + "\n")
    code, text = doctor(pair, env={"ARES_CONF": str(broken)})
    assert code == 0 and "warning munge" in text and "local socket" in text, "its commands need no munge\n" + text
    broken.write_text(re.sub(r"(?m)^  connect:.*$", '  connect: ["tcp:127.0.0.1:1"]', "\n".join(lines)) + "\n")
    code, text = doctor(pair, env={"ARES_CONF": str(broken)})
    assert code == 1 and "FAILED  munge" in text and "start munged" in text, text


def test_an_ordinary_user_finds_nothing_wrong(pair):
    code, text = doctor(pair, user="nobody", cwd="/")
    assert code == 0 and "warning port" not in text, text
