# Tests: acluster/supervisor, process, services
"""acluster's supervisor restarts daemons that end, and the cluster keeps working."""

import os
import signal

import pytest

from cluster import until


@pytest.mark.parametrize("role", ["postgres", "munged", "aresctld", "aresd@n1"])
def test_supervisor_restarts_killed_daemons(fresh, role):
    cluster = fresh("--nodes=1")
    before = cluster.pid(role)
    os.kill(before, signal.SIGKILL)
    until(lambda: cluster.acluster("pid", role, check=False).stdout.strip() not in ("", str(before)))
    until(lambda: cluster.acluster("status", check=False).returncode == 0)
    cluster.completed(cluster.wrap("true"), 60)
