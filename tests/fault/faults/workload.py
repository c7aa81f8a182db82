"""The jobs that run during a campaign: what they leave on disk, and who submits them."""
import collections
import dataclasses
import os
import pathlib
import pwd
import random
import subprocess
import threading
import time

# Creates one file for each start, before the script does anything else, so that the number of starts is known from the disk. Then it
# writes beats, so that two attempts of a job that ran at the same time are found; a frozen one writes none. ESCAPE=1 leaves a process
# without environment, parent or session that ignores signals and beats as well until it is killed. FIRST and LAST name files in $OUT
# that are read before the beats and after them.
SCRIPT = """#!/bin/bash
set -C
start=${ARES_ATTEMPT_DIR##*/}.$SUBMISSION.$RANDOM$RANDOM$RANDOM
: > "$OUT/starts/$start"
[ -z "$FIRST" ] || . "$OUT/$FIRST"
if ((ESCAPE)); then env -i setsid bash "$OUT/escaped.sh" "$OUT/beats/$start" & fi
exec {idle}<> <(:)
for ((i = 0; i < BEATS; i++)); do echo "$EPOCHREALTIME"; read -t "$PAUSE" -u $idle; done >> "$OUT/beats/$start"
[ -z "$LAST" ] || . "$OUT/$LAST"
exit $CODE
"""

ESCAPED = """trap '' HUP INT QUIT TERM USR1 USR2
exec {idle}<> <(:)
while :; do echo "$EPOCHREALTIME"; read -t 0.2 -u $idle; done >> "$1"
"""


@dataclasses.dataclass
class Submission:
    number: int
    code: int
    requeue: bool
    tasks: int  # of an array; 0: none
    ends: frozenset = frozenset()  # states that are right at its end; empty: what its code says
    acknowledged_at: float = 0  # wall clock
    job: str = ""

    def names(self):
        return [f"{self.job}_{task}" for task in range(self.tasks)] or [self.job]


class Workload:
    def __init__(self, target, seed, submitters=4, pause=(0.02, 0.15), long_jobs=False):
        """`long_jobs`: a fifth of them runs for 4 to 14 seconds, and some leave escaped processes; else all are short and may be requeued."""
        self.target, self.pause, self.long_jobs = target, pause, long_jobs
        self.out = target.work / "out"
        for folder in (self.out, self.out / "starts", self.out / "beats", self.out / "cwd", self.out / "ending"):
            folder.mkdir()
            folder.chmod(0o1777)
        self.script = target.script(SCRIPT, "job.sh", self.out)
        target.script(ESCAPED, "escaped.sh", self.out)
        self.acknowledged = {}  # job id -> Submission
        self.refused = collections.Counter()  # message -> submissions
        self.given_twice = []  # job ids
        self.count = 0
        self.lock = threading.Lock()
        self.stopping = threading.Event()
        seeds = random.Random(f"{seed} workload")
        self.threads = [threading.Thread(target=self._submit_forever, args=(seeds.random(),)) for _ in range(submitters)]

    def start(self):
        for thread in self.threads:
            thread.start()

    def stop(self):
        """Waits for submissions in flight."""
        self.stopping.set()
        for thread in self.threads:
            thread.join()

    def _submit_forever(self, seed):
        choose = random.Random(seed)
        while not self.stopping.is_set():
            self._submit(choose, choose.choice(self.users()))
            # Not faster than jobs end: with a short queue, most faults affect a running attempt.
            self.stopping.wait(choose.uniform(*self.pause))

    def users(self):
        return [self.target.user] + (["daemon"] if os.geteuid() == 0 and self.long_jobs else [])

    def _submit(self, choose, user):
        with self.lock:
            before = next(reversed(self.acknowledged), None)
        submission = Submission(self.next_number(), choose.choice([0, 0, 0, 3]), True, 0)
        beats, beat, escape = choose.choice([0, 2, 10, 25, 50]), 0.02, 0
        words = [f"-N{choose.choice([1, 1, 1, 2])}"]
        if self.long_jobs:
            if choose.random() < 0.2:
                beats, beat = choose.randrange(40, 140), 0.1
            escape = int(choose.random() < 0.15)
            submission.requeue = choose.random() < 0.75
            if choose.random() < 0.1:
                submission.tasks = choose.randrange(2, 5)
                words.append(f"--array=0-{submission.tasks - 1}")
            elif before and choose.random() < 0.1:
                words.append(f"--dependency=afterany:{before}")
        self.submit(submission, user, words, {"BEATS": beats, "PAUSE": beat, "ESCAPE": escape})

    def next_number(self):
        with self.lock:
            self.count += 1
            return self.count

    def submit(self, submission, user, words, variables):
        """False if it was refused."""
        variables = {"OUT": self.out, "CODE": submission.code, "SUBMISSION": submission.number, "ESCAPE": 0, "FIRST": "", "LAST": "", **variables}
        words = [*words, "--requeue" if submission.requeue else "--no-requeue"]
        exported = ",".join(["ALL", *(f"{name}={value}" for name, value in variables.items())])
        who = pwd.getpwnam(user)
        other = {} if user == self.target.user else {"user": who.pw_uid, "group": who.pw_gid, "extra_groups": []}
        done = subprocess.run([str(self.target.bin / "asub"), "--parsable", *words, "-o", "/dev/null", f"--export={exported}",
                               str(self.script)],
                              env=self.target.environment(), cwd=self.out / "cwd", stdin=subprocess.DEVNULL, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, **other)
        with self.lock:
            if done.returncode != 0:
                self.refused[done.stderr.strip()] += 1
                return False
            submission.job = done.stdout.strip()
            submission.acknowledged_at = time.time()
            if submission.job in self.acknowledged:
                self.given_twice.append(submission.job)
            self.acknowledged[submission.job] = submission
        return True


@dataclasses.dataclass(frozen=True)
class Start:
    """One start of a script, from the disk."""
    job: str  # or task of an array
    attempt: int
    submission: int
    begin: float  # wall clock
    end: float  # its last sign of life


def starts_on_disk(out):
    """All starts, and the names of files that are none."""
    found, strange = [], []
    for name in os.listdir(out / "starts"):
        words = name.split(".")
        if len(words) != 4:
            strange.append(name)
            continue
        begin = (out / "starts" / name).stat().st_mtime
        found.append(Start(words[0], int(words[1]), int(words[2]), begin, max([begin, *beats_in(out / "beats" / name)])))
    return found, strange


def beats_in(path):
    try:
        lines = pathlib.Path(path).read_text().split("\n")
    except FileNotFoundError:
        return []
    # Behind the last line break is what was being written at the end.
    return [float(line) for line in lines[:-1] if line]
