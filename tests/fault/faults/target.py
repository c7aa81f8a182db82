"""The private cluster that is attacked: how its processes are found, its disks filled, its nodes cut off and its controllers started.

Two of its programs are started through scripts of this file, so that acluster's supervisor starts them like any other: aresctld waits while
the file `hold` exists, takes options once from `once` and the offset of its clock from `clock`; aresd reads a configuration of its own.
"""
import contextlib
import glob
import os
import pathlib
import pwd
import re
import shutil
import subprocess
import tempfile
import time

from cluster import BIN, Cluster

from .processes import Process, children, recorded
from .relay import Relay

CONFIG = """
cluster: campaign
controller: {{operators: [{owner}]}}
policy: {{kill_wait: 2, heartbeat: 1, lease: {lease}, kill_allowance: {allowance}, launch_backoff: 1, launch_backoff_max: 2, min_job_age: 3600}}
nodes:
  - {{name: "n[1-{nodes}]", cpus: 8, memory: 8G}}
partitions:
  - {{name: main, nodes: "n[1-{nodes}]", default: true}}
node: {{max_processes_per_cpu: 60, user_namespaces: {namespaces}}}
"""

CONTROLLER = """#!/bin/sh
while [ -e {control}/hold ]; do sleep 0.05; done
if [ -e {control}/clock ]; then
  FAKETIME=$(cat {control}/clock) FAKETIME_DONT_FAKE_MONOTONIC=1 LD_PRELOAD={faketime}
  export FAKETIME FAKETIME_DONT_FAKE_MONOTONIC LD_PRELOAD
fi
if [ -e {control}/once ]; then
  set -- "$@" $(cat {control}/once)
  rm {control}/once
fi
exec {real}/aresctld "$@"
"""

NODE = """#!/bin/sh
if [ -e {control}/$4.yaml ]; then set -- --config {control}/$4.yaml --node "$4"; fi
exec {real}/aresd "$@"
"""

# Megabytes. The folders that are disks of their own where the campaign may mount: spools, the controller's state, the database.
DISKS = {"spool": 24, "state": 2, "database": 700}


def faketime():
    """The library that shifts a process's clock; empty if it is not installed."""
    return next(iter(sorted(glob.glob("/usr/lib/*/faketime/libfaketimeMT.so.1"))), "")


def disks_of(top, nodes):
    """Folders to mount, with sizes in megabytes, before the cluster is made in `top`."""
    found = {top / "c/spool" / f"n{n}": DISKS["spool"] for n in range(1, nodes + 1)}
    return {**found, top / "c/state": DISKS["state"], top / "database": DISKS["database"]}


class Target(Cluster):
    def __init__(self, top=None, nodes=4, lease=20, allowance=2, supervised=True, isolate=False,
                 namespaces=True):
        """`top`: a folder made by the caller, with disks_of() mounted. Without one there are no disks to fill and no nodes to cut."""
        self.owner = None
        self.user = pwd.getpwuid(os.geteuid()).pw_name
        self.top = pathlib.Path(top or tempfile.mkdtemp(prefix="ares-fault-"))
        self.top.chmod(0o755)
        self.dir, self.work, self.control = self.top / "c", self.top / "work", self.top / "control"
        self.work.mkdir()
        self.work.chmod(0o1777)
        self.control.mkdir()
        self.nodes = [f"n{n}" for n in range(1, nodes + 1)]
        self.lease, self.allowance, self.supervised, self.isolate = lease, allowance, supervised, isolate
        self.disks, self.namespaces = top is not None, namespaces
        self.relay = None
        self.clock_ahead = 0  # the furthest that a controller's clock was ever set, seconds
        self._make_programs()
        config = self.top / "given.yaml"
        config.write_text(CONFIG.format(owner=self.user, nodes=nodes, lease=lease, allowance=allowance,
                                        namespaces="true" if namespaces else "false"))
        self.options = ["--config", str(config)]
        self.options += [] if supervised else ["--no-supervise"]
        self.options += ["--isolate"] if isolate else []
        try:
            self.up()
            if self.disks:
                self.acluster("down")
                self._move_database()
                self._make_configurations()
                self.up(*([] if supervised else ["--no-supervise"]))
        except BaseException:
            self.close()
            raise

    # --- how it is made -------------------------------------------------------------------------------------------------
    def _make_programs(self):
        """acluster starts the programs of its own folder, which is a copy's."""
        self.bin = self.top / "bin"
        self.bin.mkdir()
        for program in BIN.iterdir():
            (self.bin / program.name).symlink_to(program)
        (self.bin / "acluster").unlink()
        shutil.copy2(BIN / "acluster", self.bin / "acluster")
        for name, text in (("aresctld", CONTROLLER), ("aresd", NODE)):
            (self.bin / name).unlink()
            self.script(text.format(control=self.control, faketime=faketime(), real=BIN), name, self.bin)

    def _move_database(self):
        subprocess.run(["cp", "-a", self.dir / "pg", self.top / "database/pg"], check=True)
        shutil.rmtree(self.dir / "pg")
        (self.dir / "pg").symlink_to(self.top / "database/pg")
        if os.geteuid() == 0:
            shutil.chown(self.top / "database", "postgres")

    def _make_configurations(self):
        """Commands know both controllers, and so do nodes; each node has its own way to them."""
        text = (self.dir / "ares.yaml").read_text()
        self.socket = re.search(r"unix:([^\"\]\s]+aresctld\.sock)", text).group(1)
        rival = self.top / "rival"
        rival.mkdir()
        self.rival_socket = str(rival / "aresctld.sock")
        mine = text.replace(self.socket, self.rival_socket).replace(str(self.dir / "state"), str(rival / "state"))
        assert mine.count(str(rival / "state")) == 1
        (rival / "ares.yaml").write_text(mine)
        (rival / "state").mkdir()
        both = [f"unix:{self.socket}", f"unix:{self.rival_socket}"]
        (self.control / "commands.yaml").write_text(connecting(text, both))
        if self.isolate:
            return
        self.relay = Relay(self.top / "relay", self.nodes, [self.socket, self.rival_socket])
        for node in self.nodes:
            ways = [f"unix:{self.relay.path(node, number)}" for number in (0, 1)]
            (self.control / f"{node}.yaml").write_text(connecting(text, ways))

    def environment(self, **more):
        env = super().environment(**more)
        own = self.control / "commands.yaml"
        if own.exists():
            env["ARES_CONF"] = str(own)
        return env

    def close(self):
        with contextlib.suppress(FileNotFoundError):
            (self.control / "hold").unlink()
        if (self.dir / "settings").exists():
            self.acluster("down", check=False)
        if self.relay:
            self.relay.close()
        if not self.disks:
            shutil.rmtree(self.top, ignore_errors=True)

    # --- its processes --------------------------------------------------------------------------------------------------
    def process(self, role):
        """LookupError if it does not run now."""
        try:
            return recorded(self.dir / "procs" / role)
        except (OSError, KeyError, ValueError) as error:
            raise LookupError(f"{role} does not run") from error

    def attempts(self, nodes=None):
        """(name, supervisor, init) of every attempt that is past the start of its script; init is None where there is no namespace."""
        found = []
        for node in nodes or self.nodes:
            for go in (self.dir / "spool" / node / "jobs").glob("*/go"):
                try:
                    supervisor = recorded(go.parent / "started")
                except (OSError, KeyError, ValueError, LookupError):
                    continue
                if supervisor.name() != "aresstepd":
                    continue
                try:
                    init = recorded(go.parent / "task")
                except (OSError, KeyError, ValueError, LookupError):
                    init = None
                found.append((go.parent.name, supervisor, init))
        return found

    def database_processes(self):
        postmaster = self.process("postgres")
        return postmaster, children(postmaster)

    def answers(self):
        return self.run("actl", "ping", check=False).returncode == 0

    def wait_answer(self, seconds=60):
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            done = self.run("actl", "ping", check=False)
            if done.returncode == 0 and "acknowledges nothing" not in done.stdout:
                return True
            time.sleep(0.1)
        return False

    # --- its controller -------------------------------------------------------------------------------------------------
    @contextlib.contextmanager
    def held(self):
        """No controller of its own is started in this block."""
        (self.control / "hold").touch()
        try:
            yield
        finally:
            (self.control / "hold").unlink(missing_ok=True)

    def controller_words(self, *options, config=None):
        return [str(BIN / "aresctld"), "--config", str(config or self.dir / "ares.yaml"), *options]

    def say_once(self, option):
        (self.control / "once").write_text(option)

    def set_clock(self, seconds):
        """From the next start on; 0: the machine's clock."""
        file = self.control / "clock"
        if seconds:
            file.write_text(f"{seconds:+d}")
        else:
            file.unlink(missing_ok=True)

    # --- its disks and network ------------------------------------------------------------------------------------------
    @contextlib.contextmanager
    def full(self, folder):
        """The disk of `folder` has no byte left in this block."""
        filler = folder / ".filler"
        try:
            with open(filler, "wb", buffering=0) as file:
                for size in (1 << 20, 1 << 12):
                    with contextlib.suppress(OSError):
                        while True:
                            file.write(bytes(size))
            yield filler
        finally:
            filler.unlink(missing_ok=True)

    def cut(self, node):
        if self.relay:
            self.relay.cut(node)
        else:
            self._link(node, "down")

    def join(self, node, reset=False):
        if self.relay:
            self.relay.join(node, reset)
        else:
            self._link(node, "up")

    def _link(self, node, state):
        hub = self.process("netns@hub")
        subprocess.run(["nsenter", "-t", str(hub.pid), "-n", "ip", "link", "set", f"v{node[1:]}", state], check=True)


def connecting(text, addresses):
    """A configuration with other addresses of controllers to connect to."""
    listed = ", ".join(f'"{address}"' for address in addresses)
    changed, count = re.subn(r"(?m)^  connect:.*\n(?:    ? ?- .*\n)*", f"  connect: [{listed}]\n", text)
    assert count == 1, text
    return changed
