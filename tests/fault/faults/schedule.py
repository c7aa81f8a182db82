"""Which faults a campaign injects, in which order, and what is done at the same time. Everything is chosen by the seed; when a fault is
injected depends on the parts of the cluster that earlier ones still hold."""
import collections
import random
import threading
import time
import traceback

from .aimed import MATRIX
from .follower import Follower
from .kinds import KINDS

AT_ONCE = 8  # faults
PATIENCE = 5  # seconds that the fault at the front waits for its parts before others may no longer take them
TRIES = 20  # to find something to harm, before the fault goes to the end of the queue


def kinds_named(names):
    """Without names those that are not aimed; "matrix" names all aimed ones."""
    every = KINDS + MATRIX
    if "matrix" in names:
        names = [name for name in names if name != "matrix"] + [kind.name for kind in MATRIX]
    unknown = set(names) - {kind.name for kind in every}
    if unknown:
        raise SystemExit(f"unknown kinds: {', '.join(sorted(unknown))}; known: matrix, {', '.join(kind.name for kind in every)}")
    return [kind for kind in every if kind.name in names] if names else KINDS


def planned(kinds, count, choose):
    """`count` kinds by their shares, in random order; each at least once if there are as many."""
    if count < len(kinds):
        return choose.sample(kinds, count)
    total = sum(kind.share for kind in kinds)
    plan, before = [], 0
    for kind in kinds:
        plan += [kind] * max(1, round((before + kind.share) * count / total) - round(before * count / total))
        before += kind.share
    choose.shuffle(plan)
    return plan


class Campaign:
    def __init__(self, target, workload, seed, kinds, count, pause=(0.1, 1.5), say=print, after=None):
        """`after` is called after each fault."""
        self.target, self.workload, self.pause, self.say, self.after = target, workload, pause, say, after or (lambda: None)
        self.random = random.Random(f"{seed} faults")
        self.missing = {kind.name: kind.needs(target) for kind in kinds if kind.needs(target)}
        self.kinds = kinds
        self.width = max(18, *(len(kind.name) for kind in kinds)) if kinds else 18
        plan = planned([kind for kind in kinds if kind.name not in self.missing], count, self.random)
        self.planned = collections.Counter(kind.name for kind in plan)
        self.faults = collections.deque((kind, kind.make(self.random, self.target)) for kind in plan)
        self.injected = collections.Counter()
        self.without_victim = collections.Counter()
        self.rollbacks = []
        self.ended_by_kill = set()  # attempts that end FAILED with signal 9
        self.follower = Follower(self)
        self.problems = []
        self.taken = set()  # parts
        self.running = 0
        self.lock = threading.Condition()
        self.begin = time.monotonic()

    def problem(self, count, text):
        self.say(f"PROBLEM {count}: {text}")
        self.problems.append((count, text))

    def run(self):
        """Returns after the last fault is over."""
        faults = self.faults
        since = time.monotonic()
        threads = []
        while self._more():
            time.sleep(self.random.uniform(*self.pause))
            with self.lock:
                self.lock.wait_for(lambda: self.running < AT_ONCE)
                reserved = faults[0][1].parts if time.monotonic() - since > PATIENCE else frozenset()
                for place, (kind, fault) in enumerate(faults):
                    if place >= 20:
                        break
                    if not fault.parts & self.taken and (place == 0 or not fault.parts & reserved):
                        del faults[place]
                        if place == 0:
                            since = time.monotonic()
                        self.taken |= fault.parts
                        self.running += 1
                        threads.append(threading.Thread(target=self._inject, args=(kind, fault)))
                        threads[-1].start()
                        break
        for thread in threads:
            thread.join()

    def _more(self):
        with self.lock:
            self.lock.wait_for(lambda: self.faults or self.running == 0)
            return bool(self.faults)

    def _inject(self, kind, fault):
        done = None
        try:
            for _ in range(TRIES):
                begin = time.monotonic() - self.begin
                done = fault.inject(self)
                if done:
                    self.after()
                    break
                time.sleep(0.3)
        except Exception:  # a fault that fails says so, and the others go on
            self.problem("failed faults", f"{kind.name}: {traceback.format_exc()}")
        with self.lock:
            self.taken -= fault.parts
            self.running -= 1
            if not done and self.without_victim[kind.name] < 2 * self.planned[kind.name]:
                self.without_victim[kind.name] += 1
                self.faults.append((kind, kind.make(self.random, self.target)))
            self.lock.notify_all()
            if done:
                self.injected[kind.name] += 1
                self.say(f"{begin:8.1f} s  {sum(self.injected.values()):5}  {kind.name:{self.width}} {done}")
