"""A private cluster that tests control through the real commands, as a user would.

It is started with acluster in a temporary folder, and close() removes all of it. Waiting is done by polling with a
deadline, which $ARES_TEST_PATIENCE multiplies. The programs are in $ARES_BIN_DIR (set by ctest) or else in build/release/bin.
"""

import contextlib
import os
import pathlib
import pwd
import re
import shutil
import signal
import subprocess
import tempfile
import time

import database_template

ROOT = pathlib.Path(__file__).resolve().parents[2]
BIN = pathlib.Path(os.environ.get("ARES_BIN_DIR") or ROOT / "build/release/bin")
PATIENCE = float(os.environ.get("ARES_TEST_PATIENCE") or 1)  # more on a machine that has much else to do
TERMINAL = {"COMPLETED", "FAILED", "CANCELLED", "TIMEOUT", "NODE_FAIL", "OUT_OF_MEMORY", "BOOT_FAIL", "DEADLINE",
            "PREEMPTED"}

# The cluster that most cases of doc/acceptance.md assume: four nodes of four CPUs and 4000 MiB, 500 MiB a CPU, quick to kill.
F1 = """
cluster: test
controller:
  operators: [{operator}]
policy: {{kill_wait: 2, heartbeat: 1, launch_backoff: 1}}
nodes:
  - {{name: "n1", cpus: 4, memory: 4000M{gpus1}}}
  - {{name: "n2", cpus: 4, memory: 4000M{gpus2}}}
  - {{name: "n[3-4]", cpus: 4, memory: 4000M}}
partitions:
  - {{name: main, nodes: "n[1-4]", default: true, default_memory_per_cpu: 500M}}
"""


def f1(gpus=False, operator="root"):
    return F1.format(operator=operator, gpus1=', gpus: "a100:4"' if gpus else "",
                     gpus2=', gpus: "h100:4"' if gpus else "")


def until(what, seconds=30, every=0.05):
    """Calls `what` until it returns a true value, and returns that value. The failure has its last result or exception."""
    seconds *= PATIENCE
    deadline = time.monotonic() + seconds
    last = None
    while True:
        try:
            last = what()
            if last:
                return last
        except (AssertionError, LookupError, OSError) as error:
            last = error
        if time.monotonic() > deadline:
            raise AssertionError(f"not within {seconds} s; last: {last!r}")
        time.sleep(every)


def stop_process(pid):
    """Sends SIGSTOP, and returns when every thread of the process has stopped: a thread may go on for a moment after the signal."""
    os.kill(pid, signal.SIGSTOP)
    states = lambda: {task.read_text().rpartition(")")[2].split()[0] for task in pathlib.Path(f"/proc/{pid}/task").glob("*/stat")}
    until(lambda: states() <= {"T", "Z", "X"}, every=0.01)


class Cluster:
    bin = BIN  # where its programs are
    outside = None  # a folder of its data that is not below `top`

    def __init__(self, *options, config=None, owner=None, within=None, own_database=False):
        """`owner`: the user who runs it, if not the caller. `within`: the folder of its folder. `own_database`: it runs initdb itself."""
        self.owner = owner if owner != pwd.getpwuid(os.geteuid()).pw_name else None
        self.top = pathlib.Path(tempfile.mkdtemp(prefix="ares-e2e-", dir=within))
        self.top.chmod(0o755)
        self.dir = self.top / "c"
        self.work = self.top / "work"
        self.work.mkdir()
        self.work.chmod(0o1777)
        if self.owner:
            shutil.chown(self.top, self.owner)
            shutil.chown(self.work, self.owner)
        self.options = list(options)
        if config:
            file = self.top / "given.yaml"
            file.write_text(config)
            self.options += ["--config", str(file)]
        try:
            if not own_database and not self.owner and self.bin == BIN:
                self.outside = database_template.give_to(self.dir, lambda *words: Cluster(*words, own_database=True), within is None)
            self.up()
        except BaseException:
            self.close()
            raise

    # --- the cluster itself ---------------------------------------------------------------------------------------
    def acluster(self, *words, check=True, **more):
        return self.run("acluster", *words, "--dir", str(self.dir), check=check, timeout=120, **more)

    def up(self, *options):
        done = self.acluster("up", *(options or self.options), check=False)
        self.options = []  # they are stored in the folder
        assert done.returncode == 0, done.stderr + self.logs()
        return done

    def pid(self, role):
        return int(self.acluster("pid", role).stdout)

    def logs(self):
        done = self.acluster("logs", "--lines=15", check=False)
        return done.stdout + done.stderr

    def close(self):
        if (self.dir / "settings").exists():
            self.acluster("down", check=False)
        if self.outside:
            shutil.rmtree(self.outside, ignore_errors=True)
        with contextlib.suppress(FileNotFoundError):
            shutil.rmtree(self.top)

    # --- its database -----------------------------------------------------------------------------------------------
    def database(self, name=None):
        """Options for PostgreSQL's programs to connect to the cluster's database, or to another one on the same server."""
        text = (self.dir / "ares.yaml").read_text()
        section = text[text.index("\ndatabase:"):]
        where = {key: re.search(rf'{key}: "?([^"\n]+)"?', section).group(1) for key in ("host", "port", "name", "user")}
        return ["-h", where["host"], "-p", where["port"], "-U", where["user"], "-d", name or where["name"]]

    def postgres(self, program, *words, **more):
        """Runs one of PostgreSQL's programs and returns its output."""
        done = subprocess.run([program, *map(str, words)], text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=60, **more)
        assert done.returncode == 0, f"{program} {words}: {done.stderr}"
        return done.stdout.strip()

    def psql(self, statement, name=None, given=None):
        return self.postgres("psql", "-XAtq", "-v", "ON_ERROR_STOP=1", *self.database(name), "-c", statement, input=given or "")

    # --- commands -------------------------------------------------------------------------------------------------
    def environment(self, **more):
        env = {k: v for k, v in os.environ.items() if not k.startswith(("ASUB_", "AQUEUE_", "AACCT_", "ACANCEL_"))}
        env.update({"ARES_CONF": str(self.dir / "ares.yaml"), "PATH": f"{self.bin}:{env['PATH']}", **more})
        return env

    def run(self, program, *words, check=True, timeout=60, user=None, env=None, cwd=None, **more):
        """Runs a command of Ares; its text streams are captured. `check` asserts that it exits with 0."""
        user = user or self.owner
        if user:
            who = pwd.getpwnam(user)
            more.update(user=who.pw_uid, group=who.pw_gid, extra_groups=os.getgrouplist(user, who.pw_gid))
        done = subprocess.run([str(self.bin / program), *map(str, words)], text=True, timeout=timeout,
                              cwd=cwd or self.work, env=self.environment(**(env or {})),
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              **({"stdin": subprocess.DEVNULL} if "input" not in more else {}), **more)
        if check:
            assert done.returncode == 0, f"{program} {words} exited with {done.returncode}: {done.stderr}"
        return done

    def submit(self, *words, **more):
        """Submits and returns the job's id as text."""
        return self.run("asub", "--parsable", *words, **more).stdout.strip()

    def wrap(self, command, *words, **more):
        return self.submit(*words, "--wrap", command, **more)

    def script(self, text, name="job.sh", folder=None):
        path = (folder or self.work) / name
        path.write_text(text)
        path.chmod(0o755)
        return path

    def cancel(self, *words, **more):
        return self.run("acancel", *words, **more)

    # --- looking --------------------------------------------------------------------------------------------------
    def queue(self, job, fmt="%T", **more):
        return self.run("aqueue", "-h", "-j", job, "-o", fmt, check=False, **more).stdout.strip()

    def state(self, job):
        """The state in accounting, or else in the queue."""
        return self.account(job, "State").split(" ")[0] or self.queue(job)

    def account(self, job, fields, *words):
        return self.run("aacct", "-X", "-n", "-P", "-j", job, "-o", fields, *words).stdout.strip()

    def rows(self, job, fields, *words):
        return [line.split("|") for line in self.account(job, fields, *words).splitlines()]

    def wait_state(self, job, *states, seconds=30):
        def look():
            state = self.state(job)
            assert state in states, f"job {job} is {state}, not {' or '.join(states)} ({self.queue(job, '%T %r')})"
            return state
        return until(look, seconds)

    def wait_reason(self, job, reason, seconds=15):
        def look():
            found = self.queue(job, "%r")
            assert found.split(",")[0].split(" ")[0] == reason, f"reason is {found!r}"
            return found
        return until(look, seconds)

    def wait_end(self, job, seconds=30):
        """Waits until the job, or every task of the array, has ended; returns the states by id."""
        def look():
            rows = self.rows(job, "JobID,State")
            assert rows and all(state.split(" ")[0] in TERMINAL for _, state in rows), f"{rows} {self.queue(job, '%i %T %r')}"
            assert not self.queue(job, "%i"), self.queue(job, "%i %T %r")
            return {key: state.split(" ")[0] for key, state in rows}
        return until(look, seconds)

    def completed(self, job, seconds=30):
        ended = self.wait_end(job, seconds)
        printed = "".join(path.read_text(errors="replace")[-2000:] for path in self.work.glob(f"ares-{job}*.out"))
        assert set(ended.values()) == {"COMPLETED"}, f"{ended}\n{printed}\n{self.logs()}"
        return ended

    def output(self, job, name=None):
        return (self.work / (name or f"ares-{job}.out")).read_text()

    def show(self, kind, name, **more):
        return self.run("actl", "show", kind, name, **more).stdout


def processes_naming(text):
    """Command lines of running processes that contain `text`, except this process."""
    found = []
    for entry in pathlib.Path("/proc").iterdir():
        if not entry.name.isdigit() or int(entry.name) == os.getpid():
            continue
        with contextlib.suppress(OSError):
            line = (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
            if text in line:
                found.append(f"{entry.name} {line}")
    return found
