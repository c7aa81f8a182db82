"""Faults that are aimed at one phase of one attempt, each kind at each phase: the rows of MATRIX.

Each submits a job of its own to one node, waits until its attempt is in the phase, and does the harm then. What the job leaves on disk and
how it ended is compared like that of any other job; the follower looks for processes of it as soon as it counts as over.
"""
import contextlib
import functools
import os
import pathlib
import random
import signal
import subprocess
import threading
import time

import cgroups

from .kinds import Fault, Kind, a_disk, own_way, pause
from .processes import children, descendants, of_job, recorded, texts
from .workload import Submission

BEFORE, RUNNING, ENDING = PHASES = ("before commit", "running", "ending")
CODE = 3  # of jobs that end by themselves

# Files in $OUT that a job's script reads first or last.
HOOKS = {
    "stubborn": "trap '' TERM INT HUP\n",
    # Tells that it is about to end.
    "leaving": ': > "$OUT/ending/$start"\n',
    # Waits for a word before it does.
    "waiting": ': > "$OUT/ending/$start"\nuntil [ -e "$OUT/ending/$start.go" ]; do read -t 0.02 -u $idle; done\n',
    "bomb": 'python3 "$OUT/bomb.py" &\n',
    "stubborn-bomb": "trap '' TERM INT HUP\npython3 \"$OUT/bomb.py\" &\n",
    "leaving-bomb": 'python3 "$OUT/bomb.py" &\n: > "$OUT/ending/$start"\n',
    "hog": "head -c 200000000 /dev/zero | tail > /dev/null\n",
    "hog-at-term": "trap 'head -c 200000000 /dev/zero | tail > /dev/null' TERM\n",
    "leaving-hog": '(head -c 200000000 /dev/zero | tail > /dev/null) &\n: > "$OUT/ending/$start"\n',
    "bomb.py": """import os, signal, time
for number in set(signal.Signals) - {signal.SIGKILL, signal.SIGSTOP}: signal.signal(number, signal.SIG_IGN)
end = time.monotonic() + 60
while time.monotonic() < end:
    try:
        if os.fork() == 0: os.setsid()
    except OSError: time.sleep(0.05)
""",
}


def reached(condition, seconds, every=0.01):
    """Whether the condition became true in this time."""
    deadline = time.monotonic() + seconds
    while True:
        with contextlib.suppress(OSError, LookupError, ValueError):
            if condition():
                return True
        if time.monotonic() > deadline:
            return False
        time.sleep(every)


class Victim:
    """A job of one node, submitted for a fault."""

    def __init__(self, target, submission, node):
        self.target, self.submission, self.job = target, submission, submission.job
        self.jobs = target.dir / "spool" / node / "jobs"

    def folder(self):
        """LookupError if it has no attempt there now."""
        found = sorted(self.jobs.glob(f"{self.job}.*"), key=lambda path: int(path.suffix[1:]))
        if not found:
            raise LookupError(f"job {self.job} has no attempt")
        return found[-1]

    def has(self, record):
        return (self.folder() / record).exists()

    def process(self, record):
        """LookupError if it does not run, or has not been recorded yet."""
        try:
            return recorded(self.folder() / record)
        except (OSError, KeyError, ValueError) as error:
            raise LookupError(f"job {self.job} has no process in {record}") from error

    def supervisor(self):
        return self.process("started")

    def init(self):
        return self.process("task")

    def marks(self, kind):
        """Files that its script has made: of `starts` or `ending`."""
        return [path for path in (self.target.work / "out" / kind).glob(f"{self.job}.*") if path.suffix != ".go"]


class Aimed(Fault):
    first = last = ""  # hooks of the job
    words = ()  # options of the job
    beats = 25  # of 0.02 s, before it ends by itself
    ends = frozenset()  # states that are right if it is not cancelled
    escapes = False

    def __init__(self, choose, target, phase):
        super().__init__(choose, target)
        self.phase, self.node = phase, choose.choice(target.nodes)
        self.requeue = choose.random() < 0.75
        self.cancels = phase == ENDING and choose.random() < 0.5
        self.delay = choose.uniform(0, 1.5 if self.cancels else 0.4)
        self.choose = random.Random(choose.random())
        self.parts = frozenset([self.node] + (["controller"] if phase == BEFORE else []))

    # --- what kinds define --------------------------------------------------------------------------------------------
    def harm(self, campaign, victim):
        """Returns a few words, or None if there was nothing to harm."""
        raise NotImplementedError

    def prepare(self, campaign):
        """Before the job is submitted; what it returns is left when the fault is over."""
        return contextlib.nullcontext()

    def resume(self, campaign):
        """Lets the controller go on that was stopped to keep the attempt before its commit."""
        if self.held:
            self.held.send(signal.SIGCONT)

    # --- the phases ---------------------------------------------------------------------------------------------------
    def inject(self, campaign):
        write_hooks(campaign.workload.out)
        self.held = None
        with self.prepare(campaign):
            victim = self.submit(campaign)
            if not victim:
                return None
            campaign.follower.add(victim.job)
            try:
                with contextlib.suppress(LookupError):  # what it was aimed at is over
                    there = {BEFORE: self.before_commit, RUNNING: self.running, ENDING: self.ending}[self.phase](campaign, victim)
                    done = self.harm(campaign, victim) if there else None
                    return done and f"{done}, job {victim.job} on {self.node}{', cancelled' if self.cancels else ''}"
            finally:
                self.resume(campaign)
                if "CANCELLED" in victim.submission.ends:  # also where its phase was missed
                    campaign.target.run("acancel", "-Q", victim.job, check=False)
        return None

    def submit(self, campaign):
        workload = campaign.workload
        ends = frozenset(["CANCELLED"]) if self.cancels else self.ends
        submission = Submission(workload.next_number(), CODE, self.requeue, 0, ends)
        first = self.first or ("stubborn" if self.cancels else "")
        last = self.last or ("leaving" if self.phase == ENDING else "")
        words = ["-N1", "-w", self.node, *self.words, *(["-H"] if self.phase == BEFORE else [])]
        user = self.choose.choice(workload.users())
        variables = {"BEATS": 1000 if self.cancels else self.beats, "PAUSE": 0.02, "FIRST": first, "LAST": last, "ESCAPE": int(self.escapes)}
        if not workload.submit(submission, user, words, variables):
            return None
        return Victim(campaign.target, submission, self.node)

    def before_commit(self, campaign, victim):
        """The node has prepared the attempt, and the controller is stopped, which would commit its start."""
        target = campaign.target
        release = subprocess.Popen([str(target.bin / "actl"), "release", victim.job], env=target.environment(), stdin=subprocess.DEVNULL,
                                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        threading.Thread(target=release.wait).start()
        if not reached(victim.folder, 20, every=0.0005):
            return False
        self.held = target.process("aresctld")
        if not self.held.send(signal.SIGSTOP):
            return False
        record = self.choose.choice(["intent", "started", "task", "task"])
        reached(lambda: victim.has(record), 3, every=0.0005)
        if record == "task":
            pause(self.choose.uniform(0, 0.3))
        return not victim.has("go")

    def running(self, campaign, victim):
        if not reached(lambda: victim.has("go") and victim.marks("starts"), 40):
            return False
        pause(self.delay)
        return not victim.has("exit")

    def ending(self, campaign, victim):
        """Its script has come to its end, or it ignores the signal of acancel until it is killed."""
        if self.cancels:
            if not reached(lambda: victim.marks("starts"), 40):
                return False
            campaign.target.run("acancel", victim.job)
            pause(self.delay)
            return victim.has("go")
        return reached(lambda: victim.marks("ending"), 40, every=0.001)


def write_hooks(out):
    for name, text in HOOKS.items():
        path = out / name
        if not path.exists():
            new = out / f"{name}.{threading.get_ident()}"
            new.write_text(text)
            new.rename(path)


# --- kills --------------------------------------------------------------------------------------------------------------------
class Kill(Aimed):
    def process(self, target, victim):
        raise NotImplementedError

    def harm(self, campaign, victim):
        process = self.process(campaign.target, victim)
        return f"killed {process.pid}" if process.send(signal.SIGKILL) else None


class NodeDaemon(Kill):
    def process(self, target, victim):
        return target.process(f"aresd@{self.node}")


class Supervisor(Kill):
    def process(self, target, victim):
        reached(victim.supervisor, 3, every=0.001)
        return victim.supervisor()


class Init(Kill):
    """With it the job's processes end: to its supervisor the job was ended by signal 9."""

    def process(self, target, victim):
        reached(victim.init, 3, every=0.001)
        return victim.init()

    def harm(self, campaign, victim):
        if self.phase != BEFORE:
            campaign.ended_by_kill.add(victim.folder().name)
            return super().harm(campaign, victim)
        # The start is not committed before it is dead, so that the job starts anew.
        init = self.process(campaign.target, victim)
        done = super().harm(campaign, victim)
        return done if reached(lambda: not init.alive(), 3) else None


class Controller(Kill):
    parts = frozenset(["controller"])

    def __init__(self, choose, target, phase):
        super().__init__(choose, target, phase)
        self.parts |= {"controller"}

    def process(self, target, victim):
        return target.process("aresctld")


def fork_servers(target, nodes):
    """`aresstepd --serve` of these nodes."""
    found = []
    for node in nodes:
        with contextlib.suppress(LookupError):
            found += [child for child in children(target.process(f"aresd@{node}")) if " --serve" in texts(child)[0]]
    return found


class ForkServer(Kill):
    def process(self, target, victim):
        found = fork_servers(target, [self.node])
        if not found:
            raise LookupError("no fork server")
        return found[0]


# --- network, disk ------------------------------------------------------------------------------------------------------------
class CutOff(Aimed):
    def __init__(self, choose, target, phase):
        super().__init__(choose, target, phase)
        self.parts |= {self.node + " network"}
        beyond = choose.random() < 0.2
        self.seconds = target.lease * 1.05 + target.allowance + choose.uniform(1.5, 4) if beyond else choose.uniform(0.5, 5)
        self.reset = choose.random() < 0.5

    def harm(self, campaign, victim):
        campaign.target.cut(self.node)
        try:
            self.resume(campaign)
            pause(self.seconds)
        finally:
            campaign.target.join(self.node, self.reset)
        return f"for {self.seconds:.1f} s"


class FullDisk(Aimed):
    """Before the commit: from before the launch on, which the node then refuses."""

    def __init__(self, choose, target, phase):
        super().__init__(choose, target, phase)
        self.seconds = choose.uniform(0.5, 4)
        self.parts = frozenset([self.node, self.node + " disk"])

    def before_commit(self, campaign, victim):
        return True

    def harm(self, campaign, victim):
        with campaign.target.full(campaign.target.dir / "spool" / self.node) as filler:
            size = filler.stat().st_size
            if self.phase == BEFORE:
                campaign.target.run("actl", "release", victim.job)
            pause(self.seconds)
        return f"{size >> 10} KiB for {self.seconds:.1f} s"


# --- processes that cannot be killed ------------------------------------------------------------------------------------------
class Frozen:
    """A group of the version 1 freezer. What is frozen there sleeps uninterruptibly: it dies only once it is thawed."""

    def __init__(self, processes):
        self.point = pathlib.Path(cgroups.mounts()["freezer"][0])
        self.group = self.point / f"ares-fault-{os.getpid()}-{threading.get_ident()}"
        self.processes = processes

    def __enter__(self):
        self.group.mkdir()
        for process in self.processes:
            with contextlib.suppress(OSError):
                (self.group / "cgroup.procs").write_text(str(process.pid))
        self.say("FROZEN")
        if not reached(lambda: (self.group / "freezer.state").read_text().strip() == "FROZEN", 5):
            self.__exit__()
            raise LookupError("could not be frozen")
        return self

    def say(self, word):
        (self.group / "freezer.state").write_text(word)

    def __exit__(self, *_):
        self.say("THAWED")

        def empty():
            for pid in (self.group / "cgroup.procs").read_text().split():
                with contextlib.suppress(OSError):
                    (self.point / "cgroup.procs").write_text(pid)
            self.group.rmdir()
            return True
        if not reached(empty, 10):
            raise RuntimeError(f"{self.group} cannot be removed")


class Uninterruptible(Aimed):
    """Before the commit supervisor or init sleep, later on processes of the job: the job cannot be over before they are gone."""
    beats = 100
    escapes = True

    def __init__(self, choose, target, phase):
        super().__init__(choose, target, phase)
        self.seconds = choose.uniform(1, 4)
        self.is_cancelled_while_frozen = phase == RUNNING and choose.random() < 0.6
        if self.is_cancelled_while_frozen:
            self.first, self.beats, self.ends = "stubborn", 1000, frozenset(["CANCELLED"])
        if phase == ENDING and not self.cancels:
            self.last = "waiting"

    def harm(self, campaign, victim):
        if self.phase == BEFORE:
            one = victim.supervisor() if self.seed < 0.5 or not victim.has("task") else victim.init()
            with Frozen([one]):
                self.resume(campaign)
                pause(self.seconds)
            return f"{'supervisor' if self.seed < 0.5 else 'init'} for {self.seconds:.1f} s"
        processes = descendants(victim.init())
        if self.phase == ENDING and not self.cancels:
            processes = [process for process in processes if "escaped.sh" in texts(process)[0]]
        if not processes:
            return None
        with Frozen(processes):
            for mark in victim.marks("ending"):
                mark.with_name(mark.name + ".go").touch()
            if self.is_cancelled_while_frozen:
                campaign.target.run("acancel", victim.job)
            pause(self.seconds)
        return f"{len(processes)} processes for {self.seconds:.1f} s{', cancelled meanwhile' if self.is_cancelled_while_frozen else ''}"


# --- jobs that harm -----------------------------------------------------------------------------------------------------------
class Bomb(Aimed):
    """Before the commit of one job another one forks without end on the same node; else it is the job itself."""

    def __init__(self, choose, target, phase):
        super().__init__(choose, target, phase)
        if phase == RUNNING:
            self.first, self.beats, self.ends = "bomb", 1000, frozenset(["CANCELLED"])
        if phase == ENDING:
            self.first, self.last = ("stubborn-bomb", "") if self.cancels else ("", "leaving-bomb")

    @contextlib.contextmanager
    def prepare(self, campaign):
        if self.phase != BEFORE:
            yield
            return
        workload, target = campaign.workload, campaign.target
        bomb = Submission(workload.next_number(), CODE, False, 0, frozenset(["CANCELLED"]))
        variables = {"BEATS": 1000, "PAUSE": 0.02, "FIRST": "bomb"}
        if workload.submit(bomb, self.choose.choice(workload.users()), ["-N1", "-w", self.node], variables):
            campaign.follower.add(bomb.job)
            reached(lambda: len(of_job(target.top, bomb.job)) > 40, 20, every=0.1)
        try:
            yield
        finally:
            if bomb.job:
                target.run("acancel", bomb.job)

    def harm(self, campaign, victim):
        if self.phase == RUNNING:
            reached(lambda: len(of_job(campaign.target.top, victim.job)) > 40, 20, every=0.1)
            campaign.target.run("acancel", victim.job)
        return "forking"


class OutOfMemory(Aimed):
    """Before the commit: a limit that is hardly enough for a shell."""
    words = ("--mem=64M",)
    ends = frozenset(["OUT_OF_MEMORY"])

    def __init__(self, choose, target, phase):
        super().__init__(choose, target, phase)
        self.parts = frozenset([self.node])
        if phase == BEFORE:
            self.words, self.ends = ("--mem=1M",), frozenset(["OUT_OF_MEMORY", "FAILED"])
        if phase == RUNNING:
            self.first = "hog"
        if phase == ENDING:
            self.first, self.last = ("hog-at-term", "") if self.cancels else ("", "leaving-hog")
            # The script may be over before the kernel kills.
            self.ends = frozenset(["OUT_OF_MEMORY", "FAILED"])

    def running(self, campaign, victim):
        return reached(lambda: victim.marks("starts"), 40)

    def before_commit(self, campaign, victim):
        campaign.target.run("actl", "release", victim.job)
        return True

    def harm(self, campaign, victim):
        return "too much memory"


class Escape(Aimed):
    """A process without environment, parent or session that ignores signals. Before the commit of an attempt: the supervisor of the
    one before it is killed while that process runs."""
    escapes = True

    def __init__(self, choose, target, phase):
        super().__init__(choose, target, phase)
        self.parts = frozenset([self.node])
        if phase == BEFORE:
            self.requeue, self.beats = True, 100
        if phase == RUNNING:
            self.first, self.beats, self.ends = "stubborn", 1000, frozenset(["CANCELLED"])

    def before_commit(self, campaign, victim):
        campaign.target.run("actl", "release", victim.job)
        return self.running(campaign, victim)

    def harm(self, campaign, victim):
        if not any("escaped.sh" in line for _, line in of_job(campaign.target.top, victim.job)):
            return None
        if self.phase == BEFORE:
            return "supervisor killed" if victim.supervisor().send(signal.SIGKILL) else None
        if self.phase == RUNNING:
            campaign.target.run("acancel", victim.job)
        return "escaped"


# --- the table ----------------------------------------------------------------------------------------------------------------
def root_with(*controllers):
    def needs(target):
        if os.geteuid() != 0:
            return "needs root"
        missing = set(controllers) - cgroups.writable_controllers()
        return f"needs the controller {missing.pop()} of cgroup version 1" if missing else ""
    return needs


def freezer(target):
    return root_with("freezer")(target) or ("" if "" in cgroups.mounts() else "the freezer is the node daemon's own")


def namespaces(target):
    return "" if target.namespaces else "no namespaces"


MATRIX = [
    Kind(f"{name} {phase}", 1, functools.partial(make, phase=phase), needs)
    for name, make, needs in [
        ("aresd", NodeDaemon, lambda target: ""),
        ("aresstepd", Supervisor, lambda target: ""),
        ("fork_server", ForkServer, lambda target: "" if fork_servers(target, target.nodes) else "the node daemons have none"),
        ("init", Init, namespaces),
        ("aresctld", Controller, lambda target: ""),
        ("cut off", CutOff, own_way),
        ("full disk", FullDisk, a_disk),
        ("uninterruptible", Uninterruptible, freezer),
        ("fork bomb", Bomb, root_with("pids")),
        ("out of memory", OutOfMemory, root_with("memory")),
        ("escape", Escape, namespaces),
    ]
    for phase in PHASES
]
