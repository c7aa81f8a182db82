# Tests: rpc/client/client
"""A controller that is up and does not answer, as one that hangs on a disk."""

import os
import signal
import subprocess
import threading

import pytest
from cluster import Cluster, stop_process


@pytest.fixture(scope="module")
def small():
    made = Cluster("--nodes", "1", "--cpus", "1")
    yield made
    made.close()


@pytest.mark.parametrize("words", [["aqueue"], ["asub", "-H", "--wrap", "true"]], ids=lambda words: words[0])
def test_commands_say_that_the_controller_has_not_answered(small, words):
    controller = small.pid("aresctld")
    stop_process(controller)
    try:
        with subprocess.Popen([str(small.bin / words[0]), *words[1:]], text=True, cwd=small.work, env=small.environment(),
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as command:
            stop = threading.Timer(60, command.kill)  # so that a silent command fails the test
            stop.start()
            said = command.stderr.readline()
            stop.cancel()
            os.kill(controller, signal.SIGCONT)
            rest = command.communicate(timeout=60)[1]
    finally:
        os.kill(controller, signal.SIGCONT)
    assert said.startswith(f"{words[0]}: the controller at unix:") and said.endswith(" has not answered for 5 s, waiting\n"), said
    assert command.returncode == 0 and not rest, rest
