# Tests: adopt
"""ares-adopt: logins to a node are for users with a job on it, and belong to that job."""
import os
import pathlib
import subprocess

import pytest

from cgroups import groups_of, needs
from cluster import BIN, Cluster, f1, until


@pytest.fixture(scope="module")
def node():
    if os.geteuid() != 0:
        pytest.skip("only root can move processes of others")
    needs("pids")
    made = Cluster(config=f1())
    yield made
    made.close()


class Login:
    """What a login service does with pam_exec: a process of it starts ares-adopt, and becomes the session of the user."""

    def __init__(self, cluster, user, on="n1", **environment):
        adopt = f"{BIN}/ares-adopt --spool {cluster.dir}/spool/{on}"
        self.process = subprocess.Popen(
            ["sh", "-c", f"{adopt} || exit 1; echo in; exec sleep 1000"], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True,
            env={"PATH": "/usr/bin:/bin", "PAM_USER": user, "PAM_TYPE": "account", "ARES_CONF": "/no/such/file", **environment})
        self.said = self.process.stdout.readline().strip()

    def groups(self):
        return groups_of(self.process.pid)

    def close(self):
        self.process.kill()
        self.process.wait()
        self.process.stdout.close()


@pytest.fixture
def login(node):
    made = []

    def make(user, **more):
        made.append(Login(node, user, **more))
        return made[-1]

    yield make
    for one in made:
        one.close()


def test_a_session_is_in_the_groups_of_the_job_and_ends_with_it(node, login, others):
    job = node.wrap("sleep 1000", "-w", "n1", user=others[0])
    node.wait_state(job, "RUNNING")
    session = login(others[0])
    assert session.said == "in"
    record = (node.dir / "spool" / "n1" / "jobs" / f"{job}.1" / "task").read_text()
    task = next(int(line.split()[1]) for line in record.splitlines() if line.startswith("pid "))
    own = groups_of(task)
    assert own["pids"] != groups_of()["pids"]
    assert session.groups() == {controller: own[controller] for controller in session.groups()}
    node.cancel(job, user=others[0])
    node.wait_end(job)
    assert session.process.wait(timeout=20) == -9
    again = login(others[0])
    assert again.process.wait(timeout=20) == 1


def test_a_user_without_a_job_on_the_node_is_refused(node, login, others):
    job = node.wrap("sleep 1000", "-w", "n2", user=others[0])
    node.wait_state(job, "RUNNING")
    for user, where in ((others[0], "n1"), (others[1], "n1"), (others[1], "n2")):
        refused = login(user, on=where)
        assert refused.said == f"access denied by ares-adopt: user {user} has no running job on this node"
        assert refused.process.wait(timeout=20) == 1
    node.cancel(job)
    node.wait_end(job)


def test_it_needs_no_daemon_but_root(node, login, others):
    job = node.wrap("sleep 1000", "-w", "n1", user=others[0])
    node.wait_state(job, "RUNNING")
    os.kill(node.pid("aresd@n1"), 9)
    assert login(others[0]).said == "in"
    assert login("root").said == "in", "without a job"
    as_user = subprocess.run(["su", others[0], "-s", "/bin/sh", "-c", f"PAM_USER={others[0]} {BIN}/ares-adopt --spool {node.dir}/spool/n1"],
                             capture_output=True, text=True, check=False)
    assert as_user.returncode == 1
    no_spool = subprocess.run([str(BIN / "ares-adopt"), "--spool", "/no/such/spool"], env={"PAM_USER": others[0]}, capture_output=True,
                              text=True, check=False)
    assert no_spool.returncode == 1 and "/no/such/spool" in no_spool.stdout
    bare = subprocess.run([str(BIN / "ares-adopt")], env={}, capture_output=True, text=True, check=False)
    assert bare.returncode == 1 and "PAM_USER is not set" in bare.stdout
    closing = subprocess.run([str(BIN / "ares-adopt")], env={"PAM_USER": others[1], "PAM_TYPE": "close_session"}, check=False)
    assert closing.returncode == 0
    node.cancel(job)
    node.wait_end(job)
    assert pathlib.Path(f"{node.dir}/spool/n1/jobs").exists()
