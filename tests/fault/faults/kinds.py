"""The kinds of faults. Each row of KINDS names one, its share of a campaign, and what makes one of it from a random source.

A fault lists the parts of the cluster that no other fault may touch while it lasts. inject() does the harm and undoes it; it returns a few
words on what was done, or None if there was nothing to harm at that moment.
"""
import contextlib
import dataclasses
import os
import pathlib
import signal
import subprocess
import time
from typing import Callable

from .restore import Restore
from .target import faketime


class Fault:
    parts = frozenset()

    def __init__(self, choose, target):
        self.seed = choose.random()

    def inject(self, campaign):
        raise NotImplementedError


def pause(seconds):
    """How long a fault lasts; not a wait for something to happen."""
    time.sleep(seconds)


@contextlib.contextmanager
def stopped(processes):
    """Yields those that could be stopped."""
    harmed = [process for process in processes if process.send(signal.SIGSTOP)]
    try:
        yield harmed
    finally:
        for process in harmed:
            process.send(signal.SIGCONT)


# --- kills --------------------------------------------------------------------------------------------------------------------
class Kill(Fault):
    def victims(self, target):
        """(name, signal, process) of what can be killed now."""
        raise NotImplementedError

    def inject(self, campaign):
        with contextlib.suppress(LookupError):
            found = sorted(self.victims(campaign.target), key=lambda one: one[2].pid)
            if found:
                name, number, process = found[int(self.seed * len(found))]
                if process.send(number):
                    return f"{name} {process.pid}"
        return None


class KillController(Kill):
    parts = frozenset(["controller"])

    def victims(self, target):
        return [("aresctld", signal.SIGKILL, target.process("aresctld"))]


class KillNode(Kill):
    def __init__(self, choose, target):
        super().__init__(choose, target)
        self.node = choose.choice(target.nodes)
        self.parts = frozenset([self.node])

    def victims(self, target):
        return [(f"aresd@{self.node}", signal.SIGKILL, target.process(f"aresd@{self.node}"))]


class KillSupervisor(Kill):
    def victims(self, target):
        return [("aresstepd", signal.SIGKILL, supervisor) for _, supervisor, _ in target.attempts()]


class KillInit(Kill):
    """The init of a namespace takes the job's processes with it: to its supervisor the job was ended by signal 9."""

    def inject(self, campaign):
        found = sorted((name, init) for name, _, init in campaign.target.attempts() if init)
        if not found:
            return None
        name, init = found[int(self.seed * len(found))]
        campaign.ended_by_kill.add(name)
        return f"init of {name}" if init.send(signal.SIGKILL) else None


class KillBackend(Kill):
    parts = frozenset(["database"])

    def victims(self, target):
        postmaster, backends = target.database_processes()
        return [("backend", signal.SIGKILL, one) for one in backends if b"ares" in command(one)]


class KillPostmaster(Kill):
    parts = frozenset(["database"])

    def victims(self, target):
        postmaster = target.process("postgres")
        return [("postmaster", signal.SIGKILL, postmaster), ("postmaster, immediate stop", signal.SIGQUIT, postmaster)]


class KillMunged(Kill):
    parts = frozenset(["munge"])

    def victims(self, target):
        return [("munged", signal.SIGKILL, target.process("munged"))]


def command(process):
    try:
        return pathlib.Path(f"/proc/{process.pid}/cmdline").read_bytes()
    except OSError:
        return b""


# --- stops --------------------------------------------------------------------------------------------------------------------
class Stop(Fault):
    """One part of the cluster is stopped for 1 to 40 seconds, a tenth of them for more than 6."""

    def __init__(self, choose, target):
        super().__init__(choose, target)
        self.role = choose.choice(["controller", "node", "node", "supervisor", "supervisor", "database", "munge"])
        self.seconds = choose.uniform(1, 6) if choose.random() < 0.9 else choose.uniform(6, 40)
        self.node = choose.choice(target.nodes)
        self.parts = frozenset([self.node if self.role in ("node", "supervisor") else self.role])

    def processes(self, target):
        if self.role == "controller":
            return [target.process("aresctld")]
        if self.role == "node":
            return [target.process(f"aresd@{self.node}")]
        if self.role == "munge":
            return [target.process("munged")]
        if self.role == "database":
            postmaster, others = target.database_processes()
            return [postmaster, *others]
        found = target.attempts([self.node])
        return [found[int(self.seed * len(found))][1]] if found else []

    def inject(self, campaign):
        with contextlib.suppress(LookupError):
            with stopped(self.processes(campaign.target)) as harmed:
                if harmed:
                    pause(self.seconds)
                    return f"{self.role}{' of ' + self.node if self.role == 'supervisor' else ''} for {self.seconds:.1f} s"
        return None


class LongStop(Fault):
    """Daemons of a node are stopped until the controller has given up its attempts. Of supervisor and init only one is stopped: both
    together are outside of what is promised."""

    def __init__(self, choose, target):
        super().__init__(choose, target)
        self.node = choose.choice(target.nodes)
        self.parts = frozenset([self.node])
        self.what = choose.choice(["aresd and supervisors", "aresd and supervisors", "aresd and inits", "aresd", "supervisors"])
        self.seconds = target.lease * 1.05 + target.allowance + choose.uniform(1.5, 8)

    def inject(self, campaign):
        target = campaign.target
        attempts = target.attempts([self.node])
        if not attempts:
            return None
        chosen = []
        with contextlib.suppress(LookupError):
            if "aresd" in self.what:
                chosen.append(target.process(f"aresd@{self.node}"))
            if "supervisors" in self.what:
                chosen += [supervisor for _, supervisor, _ in attempts]
            if "inits" in self.what:
                chosen += [init for _, _, init in attempts if init]
            with stopped(chosen) as harmed:
                pause(self.seconds)
                return f"{self.what} of {self.node}, {len(harmed)} processes, for {self.seconds:.1f} s"
        return None


# --- network, rivals ----------------------------------------------------------------------------------------------------------
class Cut(Fault):
    def __init__(self, choose, target):
        super().__init__(choose, target)
        self.node = choose.choice(target.nodes)
        self.parts = frozenset([self.node + " network"])
        self.beyond = choose.random() < 0.3
        self.seconds = target.lease * 1.05 + target.allowance + choose.uniform(1.5, 8) if self.beyond else choose.uniform(1, 8)
        self.reset = choose.random() < 0.5

    def inject(self, campaign):
        campaign.target.cut(self.node)
        try:
            pause(self.seconds)
        finally:
            campaign.target.join(self.node, self.reset)
        after = ", connections lost" if self.reset and campaign.target.relay else ""
        return f"{self.node} {'beyond its leases, ' if self.beyond else ''}for {self.seconds:.1f} s{after}"


class Rival(Fault):
    """A second controller on the same database, with a state directory of its own."""
    parts = frozenset(["controller", "database"])

    def __init__(self, choose, target):
        super().__init__(choose, target)
        self.how = choose.choice(["beside it", "while it is stopped", "after it was killed"])
        self.seconds = choose.uniform(1.5, 5)

    def inject(self, campaign):
        target = campaign.target
        try:
            first = target.process("aresctld")
        except LookupError:
            return None
        with contextlib.ExitStack() as rival_ends, contextlib.ExitStack() as first_returns:
            first_returns.enter_context(target.held())
            if self.how == "while it is stopped":
                first_returns.enter_context(stopped([first]))
            if self.how == "after it was killed":
                first.send(signal.SIGKILL)
            with open(target.top / "rival/log", "a") as log:
                rival = subprocess.Popen(target.controller_words(config=target.top / "rival/ares.yaml"), stdin=subprocess.DEVNULL,
                                         stdout=log, stderr=log, cwd="/")
            rival_ends.callback(self.end, rival)
            pause(self.seconds)
            if self.seed < 0.5:  # else the first one takes over from a rival that lives
                rival_ends.close()
            first_returns.close()
            target.wait_answer()
            pause(1)
        return f"{self.how}, {self.seconds:.1f} s"

    @staticmethod
    def end(rival):
        rival.kill()
        rival.wait()


# --- disks, sockets, clocks ---------------------------------------------------------------------------------------------------
class FullDisk(Fault):
    def __init__(self, choose, target):
        super().__init__(choose, target)
        self.seconds = choose.uniform(1, 5)

    def folder(self, target):
        raise NotImplementedError

    def inject(self, campaign):
        with campaign.target.full(self.folder(campaign.target)) as filler:
            size = filler.stat().st_size
            pause(self.seconds)
        return f"{size >> 10} KiB for {self.seconds:.1f} s"


class FullSpool(FullDisk):
    def __init__(self, choose, target):
        super().__init__(choose, target)
        self.node = choose.choice(target.nodes)
        self.parts = frozenset([self.node + " disk"])

    def folder(self, target):
        return target.dir / "spool" / self.node


class FullDatabase(FullDisk):
    parts = frozenset(["database"])

    def folder(self, target):
        return target.top / "database"


class FullState(FullDisk):
    parts = frozenset(["controller"])

    def folder(self, target):
        return target.dir / "state"

    def inject(self, campaign):
        target = campaign.target
        with target.full(self.folder(target)):
            if self.seed < 0.5:  # also a start, which writes its file anew
                with contextlib.suppress(LookupError):
                    target.process("aresctld").send(signal.SIGKILL)
            pause(self.seconds)
        return f"for {self.seconds:.1f} s" + (", killed meanwhile" if self.seed < 0.5 else "")


class Socket(Fault):
    """Deleted sockets of the controller; it makes them again by itself."""
    parts = frozenset(["controller"])

    def inject(self, campaign):
        target = campaign.target
        deleted = [path for path in (target.socket, target.socket + ".call") if os.path.exists(path)]
        if self.seed < 0.4:
            deleted = deleted[:1]
        for path in deleted:
            os.unlink(path)
        if not deleted:
            return None
        deadline = time.monotonic() + 60
        while not all(os.path.exists(path) for path in deleted):
            if time.monotonic() > deadline:
                campaign.problem("sockets", f"{deleted} were not made again within 60 s")
                break
            time.sleep(0.1)
        return " and ".join(os.path.basename(path) for path in deleted)


class Clock(Fault):
    """A start of the controller under another clock, and the next one under the right clock."""
    parts = frozenset(["controller"])

    def __init__(self, choose, target):
        super().__init__(choose, target)
        self.by = choose.choice([5, 60, 600, 3600, -5, -60, -600, -3600, 86400, -86400])
        self.seconds = choose.uniform(1, 4)

    def inject(self, campaign):
        target = campaign.target
        # A clock is ahead only if no earlier one was further ahead: what the database has counts.
        offset = target.clock_ahead + self.by if self.by > 0 else self.by
        try:
            for clock in (offset, 0):
                target.set_clock(clock)
                self.restart(target)
                pause(self.seconds)
        except LookupError:
            return None
        finally:
            target.set_clock(0)
        target.clock_ahead = max(target.clock_ahead, offset)
        return f"{offset:+d} s for {self.seconds:.1f} s"

    @staticmethod
    def restart(target):
        target.process("aresctld").send(signal.SIGKILL)
        target.wait_answer(30)


# --- the table ----------------------------------------------------------------------------------------------------------------
@dataclasses.dataclass(frozen=True)
class Kind:
    name: str
    share: int  # of a campaign, in per cent
    make: Callable  # (random source, target) -> Fault
    needs: Callable = lambda target: ""  # why it cannot be had here; empty: it can


def a_disk(target):
    return "" if target.disks else "no disk of its own"


def own_way(target):
    return "" if target.disks else "no way of its own to the controller"


KINDS = [
    Kind("kill controller", 8, KillController),
    Kind("kill node daemon", 9, KillNode),
    Kind("kill supervisor", 12, KillSupervisor),
    Kind("kill init", 4, KillInit, lambda target: "" if target.namespaces else "no namespaces"),
    Kind("kill backend", 5, KillBackend),
    Kind("kill postmaster", 4, KillPostmaster),
    Kind("kill munged", 4, KillMunged),
    Kind("stop", 10, Stop),
    Kind("long stop", 8, LongStop),
    Kind("cut node", 8, Cut, own_way),
    Kind("rival", 4, Rival, own_way),
    Kind("full spool", 4, FullSpool, a_disk),
    Kind("full database", 4, FullDatabase, a_disk),
    Kind("full state", 4, FullState, a_disk),
    Kind("socket", 4, Socket, own_way),
    Kind("clock", 4, Clock, lambda target: "" if faketime() else "faketime is not installed"),
    Kind("restore", 4, Restore, own_way),
]
