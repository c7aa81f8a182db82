"""Control groups as a process sees them. Copied beside jobs, which import it as well."""

import os


def mounts():
    """(mount point, whether it may be written to) by controller; that of version 2 has the key ""."""
    found = {}
    for line in open("/proc/self/mountinfo"):
        left, right = line.split(" - ")
        kind, _, options = right.split()
        words = left.split()
        for controller in {"cgroup": options.split(","), "cgroup2": [""]}.get(kind, []):
            found[controller] = (words[4], words[5].startswith("rw"))
    return found


def writable_controllers():
    """Those of version 1 that this test and the node's daemon may use."""
    return {controller for controller, (_, writable) in mounts().items() if controller and writable}


def needs(controller):
    import pytest
    if controller not in writable_controllers():
        pytest.skip(f"needs the controller {controller} of cgroup version 1")


def groups_of(pid="self"):
    """Directory of the process's group by controller."""
    points, found = mounts(), {}
    for line in open(f"/proc/{pid}/cgroup"):
        _, controllers, path = line.rstrip("\n").split(":", 2)
        for controller in controllers.split(","):
            if controller in points and os.path.isdir(points[controller][0] + path):
                found[controller] = points[controller][0] + path.rstrip("/")
    return found
