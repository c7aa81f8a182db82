# Tests: acluster/supervisor, process, services
"""The supervisor of acluster starts again whatever ends, and the cluster works on."""

import os
import signal

import pytest

from cluster import until


@pytest.mark.parametrize("role", ["postgres", "munged", "aresctld", "aresd@n1"])
def test_the_supervisor_starts_again_what_was_killed(fresh, role):
    cluster = fresh("--nodes=1")
    before = cluster.pid(role)
    os.kill(before, signal.SIGKILL)
    until(lambda: cluster.acluster("pid", role, check=False).stdout.strip() not in ("", str(before)))
    until(lambda: cluster.acluster("status", check=False).returncode == 0)
    cluster.completed(cluster.wrap("true"), 60)
