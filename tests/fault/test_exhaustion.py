# Tests: aresctld/controller, descriptors, event_loop, gate, admission
"""The attacks of attacker.py: the controller's memory stays bounded, and commands of other users succeed meanwhile."""

import math
import os
import resource

import pytest

from exhaustion import ATTACKS, Target, attackers, commands, until

# Megabytes that the controller may take more than before. Half of it is what unauthenticated callers may send in all.
MORE_MEMORY = 600


@pytest.fixture(scope="module")
def target():
    if os.geteuid() != 0:
        pytest.skip("only root can attack as another user")
    made = Target()
    yield made
    made.close()


@pytest.mark.parametrize("attack", ATTACKS)
def test_an_attack_harms_no_other_user(target, attack):
    before = target.memory()
    words = ATTACKS[attack](target)
    with attackers(*words) as running:
        # Until it has done what it can: each line that it prints is a second of attack.
        for _ in range(4):
            assert running[0].stdout.readline()
        for user in ("daemon", None):
            assert math.inf not in commands(target, 10, user=user)
    assert target.memory("VmHWM") < before + MORE_MEMORY, target.log()
    until(lambda: len(os.listdir(f"/proc/{target.controller.pid}/fd")) < 200)
    target.completed(target.wrap("true", user="daemon"))


def test_the_limit_of_descriptors_is_raised_and_reported(target):
    hard = min(resource.getrlimit(resource.RLIMIT_NOFILE)[1], 1 << 20)
    assert f"{hard} descriptors may be open (the limit was 1024)" in target.log()
    assert resource.prlimit(target.controller.pid, resource.RLIMIT_NOFILE)[0] == hard


def test_used_up_descriptors_are_reported(target):
    """The log says which limit to raise, and the controller goes on when descriptors are free again."""
    pid = target.controller.pid
    before = resource.prlimit(pid, resource.RLIMIT_NOFILE)
    resource.prlimit(pid, resource.RLIMIT_NOFILE, (100, before[1]))
    try:
        with attackers("connections", f"unix:{target.local_socket()}.call", "--connections", 300):
            until(lambda: "descriptors" in target.log().split("listening on", 1)[1])
    finally:
        resource.prlimit(pid, resource.RLIMIT_NOFILE, before)
    until(lambda: target.run("aqueue", "-h", check=False).returncode == 0)


def test_a_log_that_was_moved_is_opened_again(target):
    moved = target.logfile.with_suffix(".1")
    target.logfile.rename(moved)
    target.controller.send_signal(10)  # SIGUSR1
    until(target.logfile.exists)
    target.controller.send_signal(1)  # SIGHUP: a reconfiguration, which is logged
    until(lambda: "reconfigured" in target.logfile.read_text())
    assert "reconfigured" not in moved.read_text()
