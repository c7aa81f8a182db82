# Tests: limit_groups, cgroup, task_tree
"""A job that tries to leave what it was given is refused, or what it leaves is removed.

Each test is one attempt, made by the processes of a real job. All need root: the jobs run as other users.
"""

import itertools
import json
import os
import pathlib
import shutil
import stat
import subprocess

import pytest

import cgroups
from cgroups import needs
from cluster import Cluster, processes_naming, until

MOST_PROCESSES = 40
DEVICES = ["/dev/full", "/dev/random"]  # stand for those of two GPUs; both are writable for everyone

CONFIG = f"""
cluster: confined
controller: {{operators: [root]}}
policy: {{kill_wait: 1, heartbeat: 1, launch_backoff: 1}}
node: {{max_processes_per_cpu: {MOST_PROCESSES}}}
nodes:
  - {{name: "n1", cpus: 4, memory: 400M, gpus: "a100:2", gpu_devices: [{", ".join(DEVICES)}]}}
partitions:
  - {{name: main, nodes: "n1", default: true}}
"""

# Before the code of every job in Python.
PRELUDE = """#!/usr/bin/python3
import ctypes, json, os, signal, subprocess, sys, threading, time
sys.dont_write_bytecode = True
sys.path.insert(0, os.getcwd())
import cgroups

def wait_for(name):
    while not os.path.exists(name): time.sleep(0.02)

def works(action, *words):
    try: action(*words)
    except OSError: return False
    return True

def can_write(path): return works(lambda: os.close(os.open(path, os.O_WRONLY | os.O_APPEND)))
"""


class Confined(Cluster):
    numbers = itertools.count(1)

    def __init__(self):
        super().__init__(config=CONFIG)
        shutil.copy(cgroups.__file__, self.work)

    def start(self, code, *arguments, options=(), user=None, prelude=PRELUDE):
        """Submits a script, of Python unless `prelude` says otherwise."""
        path = self.script(prelude + code, f"attempt{next(self.numbers)}")
        return self.submit("-c1", *options, path, *arguments, user=user)

    def told(self, job):
        """What the job printed, after it has completed."""
        assert self.wait_end(job, 60) == {job: "COMPLETED"}, self.output(job)
        return json.loads(self.output(job))

    def attempt(self, code, *arguments, **more):
        return self.told(self.start(code, *arguments, **more))

    def wait_file(self, name):
        until((self.work / name).exists)

    def spool(self, job):
        return self.dir / "spool/n1/jobs" / f"{job}.1"

    def recorded(self, job, name):
        """Process that is named in a record of the job's attempt: `started` has the supervisor, `task` the init."""
        text = (self.spool(job) / name).read_text()
        return int(dict(line.split(" ", 1) for line in text.splitlines())["pid"])


@pytest.fixture(scope="module")
def held(others):
    made = Confined()
    yield made
    made.close()


class Neighbour:
    """A running job of one process."""

    def __init__(self, cluster, user):
        self.cluster, self.name = cluster, f"neighbour-{next(cluster.numbers)}"
        self.job = cluster.start(f"exec -a {self.name} sleep 1000\n", user=user, prelude="#!/bin/bash\n")
        self.pid = until(lambda: processes_naming(f"{self.name} 1000"))[0].split()[0]

    def unharmed(self):
        return self.cluster.queue(self.job) == "RUNNING" and \
            [line.split()[0] for line in processes_naming(f"{self.name} 1000")] == [self.pid]


@pytest.fixture
def neighbour(held, others):
    """Starts neighbours of the given user, and ends them."""
    made = []

    def make(user=others[1]):
        made.append(Neighbour(held, user))
        return made[-1]

    yield make
    for one in made:
        held.cancel(one.job)
        held.wait_end(one.job)


def limit(group, name):
    return int((pathlib.Path(group) / name).read_text())


# --- CPUs -------------------------------------------------------------------------------------------------------------
def test_its_affinity_cannot_be_widened(held, others):
    needs("cpuset")
    if os.cpu_count() < 2:
        pytest.skip("needs two CPUs")
    found = held.attempt("""
works(os.sched_setaffinity, 0, range(os.cpu_count()))
counts = [len(os.sched_getaffinity(0))]
for words in ["nproc"], ["taskset", "-c", "0-63", "nproc"], ["setsid", "-w", "taskset", "-c", "0-63", "nproc"]:
    counts.append(int(subprocess.run(words, stdout=subprocess.PIPE).stdout))
print(json.dumps(counts))
""", user=others[0])
    assert found == [1, 1, 1, 1]


def test_several_processes_get_no_more_time_than_that_of_its_cpus(held, others):
    needs("cpuset")
    if os.cpu_count() < 2:
        pytest.skip("needs two CPUs")
    job = held.start("""
begin = time.monotonic()
for number in range(4):
    if os.fork() == 0:
        os.setsid()
        works(os.sched_setaffinity, 0, range(os.cpu_count()))
        works(os.nice, -10)
        works(os.sched_setscheduler, 0, os.SCHED_RR, os.sched_param(1))
        while time.monotonic() < begin + 1.5: pass
        os._exit(0)
for number in range(4): os.wait()
used = os.times()
print(json.dumps((used.children_user + used.children_system) / (time.monotonic() - begin)))
""", user=others[0])
    assert held.told(job) <= 1.05


# --- memory -----------------------------------------------------------------------------------------------------------
def test_processes_that_exceed_its_memory_together_end_it(held, others, neighbour):
    needs("memory")
    other = neighbour()
    job = held.start("""
for number in range(4):
    if os.fork() == 0:
        block = b"x" * (40 << 20)
        time.sleep(100)
os.wait()
""", options=["--mem=100M"], user=others[0])
    assert held.wait_end(job) == {job: "OUT_OF_MEMORY"}
    assert held.account(job, "Reason") == "OutOfMemory"
    assert 90 <= float(held.account(job, "MaxRSS", "--units=M").rstrip("M")) <= 100
    assert other.unharmed()


def test_job_that_asks_for_no_memory_is_held_to_the_share_of_its_cpu(held, others, neighbour):
    needs("memory")
    other = neighbour()
    job = held.start('block = b"x" * (160 << 20)\n', user=others[0])
    assert held.wait_end(job) == {job: "OUT_OF_MEMORY"}
    # A quarter of the node, which has four CPUs and 400 MiB.
    assert held.account(job, "ReqMem", "--units=M").startswith("100M")
    assert "mem=100M" in held.account(job, "AllocTRES").split(",")
    assert other.unharmed()


def test_swap_is_no_memory_beyond_its_limit(held, others):
    needs("memory")
    job = held.start('open("swap.ready", "w"); wait_for("swap.go")\nblock = b"x" * (160 << 20)\n', options=["--mem=100M"], user=others[0])
    held.wait_file("swap.ready")
    group = cgroups.groups_of(held.recorded(job, "task"))["memory"]
    both = "memory.memsw.limit_in_bytes"
    counted = (pathlib.Path(group) / both).exists()
    limits = [limit(group, name) for name in ("memory.limit_in_bytes", both) if counted]
    (held.work / "swap.go").touch()
    assert held.wait_end(job) == {job: "OUT_OF_MEMORY"}
    if not counted:
        pytest.skip("this kernel does not count what is swapped")
    assert limits == [100 << 20, 100 << 20]


# --- processes --------------------------------------------------------------------------------------------------------
def test_a_fork_bomb_does_not_harm_others_and_can_be_cancelled(held, others, neighbour):
    needs("pids")
    other = neighbour()
    job = held.start("""
for number in set(signal.Signals) - {signal.SIGKILL, signal.SIGSTOP, signal.SIGCHLD}: signal.signal(number, signal.SIG_IGN)
while True:
    try:
        if os.fork() == 0: os.setsid()
    except OSError: pass
""", "this-is-a-bomb", user=others[0])
    until(lambda: len(processes_naming("this-is-a-bomb")) >= MOST_PROCESSES - 5)
    assert len(processes_naming("this-is-a-bomb")) <= MOST_PROCESSES
    assert other.unharmed()
    held.cancel(job)
    held.wait_state(job, "CANCELLED")
    assert processes_naming("this-is-a-bomb") == []
    held.completed(held.wrap("true", user=others[1]))


def test_threads_count_as_processes(held, others):
    needs("pids")
    found = held.attempt("""
made, stop = 0, threading.Event()
try:
    while made < 300:
        threading.Thread(target=stop.wait).start()
        made += 1
except RuntimeError: pass
stop.set()
print(made)
""", user=others[0])
    assert MOST_PROCESSES / 2 < found < MOST_PROCESSES


# --- devices ----------------------------------------------------------------------------------------------------------
OPEN_DEVICES = """
paths = sys.argv[2:]
open("has." + sys.argv[1], "w")
for other in "12": wait_for("has." + other)
found = []
for path in paths + ["/proc/1/root" + path for path in paths] + ["/proc/self/root" + path for path in paths]:
    for mode in os.O_RDONLY, os.O_WRONLY, os.O_RDWR:
        if works(lambda: os.close(os.open(path, mode))): found.append(path)
inside = "for f in " + " ".join(paths) + "; do (exec <$f) && echo $f; done"
for words in [], ["setsid", "-w"], ["unshare", "--user", "--map-root-user", "--mount"]:
    found += subprocess.run(words + ["sh", "-c", inside], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True).stdout.split()
print(json.dumps(sorted(set(found))))
"""


def test_the_gpu_of_another_job_cannot_be_opened(held, others):
    needs("devices")
    jobs = [held.start(OPEN_DEVICES, str(number), *DEVICES, options=["--gres=gpu:1"], user=user) for number, user in enumerate(others, 1)]
    found = [{path for path in held.told(job) if path in DEVICES} for job in jobs]
    assert [len(paths) for paths in found] == [1, 1]
    assert found[0] != found[1]


@pytest.mark.parametrize("user", ["root", None])
def test_device_files_of_gpus_cannot_be_made(held, others, user):
    """Not by root either, and one that is there under another name cannot be opened."""
    needs("devices")
    alias = held.work / "alias"
    alias.unlink(missing_ok=True)
    number = os.stat(DEVICES[0]).st_rdev
    os.mknod(alias, stat.S_IFCHR | 0o666, number)
    alias.chmod(0o666)
    try:
        os.close(os.open(alias, os.O_RDONLY))
    except OSError:
        pytest.skip("this file system has no device files")
    found = held.attempt("""
import stat
own, null = int(sys.argv[1]), os.stat("/dev/null").st_rdev
print(json.dumps({"gpu": works(os.mknod, "made.gpu", stat.S_IFCHR | 0o666, own), "null": works(os.mknod, "made.null", stat.S_IFCHR | 0o666, null),
                  "alias": works(lambda: os.open("alias", os.O_RDONLY))}))
""", str(number), user=user or others[0])
    for name in ("made.gpu", "made.null"):
        (held.work / name).unlink(missing_ok=True)
    assert found == {"gpu": False, "null": user == "root", "alias": False}


# --- control groups ---------------------------------------------------------------------------------------------------
# In `folders`: its own groups, those above them, and those of the arguments.
FOLDERS = """
folders = set(sys.argv[1:])
for group in cgroups.groups_of().values(): folders |= {group, os.path.dirname(group)}
folders = sorted(folder for folder in folders if os.path.isdir(folder))
"""

# Everyone may write to event_control, and gains nothing: it takes a descriptor of another file of the group that the writer opened.
WRITE_GROUPS = FOLDERS + """
done = []
for folder in folders:
    for name in sorted(os.listdir(folder)):
        path = os.path.join(folder, name)
        if os.path.isfile(path) and name != "cgroup.event_control" and (can_write(path) or works(os.chmod, path, 0o666)): done.append(path)
    if works(os.mkdir, folder + "/mine"): done.append(folder + "/mine")
    if works(os.rmdir, folder): done.append(folder)
print(json.dumps({"folders": len(folders), "done": done}))
"""

JOIN_GROUPS = FOLDERS + """
def write(path):
    with open(path, "w") as file: file.write(str(os.getpid()))

def entered(folders):
    return [path for folder in folders for path in (folder + "/cgroup.procs", folder + "/tasks") if works(write, path)]

done = entered(folders)
if os.environ.get("INSIDE"):
    # Mounts that the job makes as root of a namespace of its own.
    for controller in [name for name in cgroups.mounts() if name]:
        os.makedirs("mounted", exist_ok=True)
        if subprocess.run(["mount", "-t", "cgroup", "-o", controller, "none", "mounted"], stderr=subprocess.DEVNULL).returncode == 0:
            done += entered(folder for folder, _, _ in os.walk("mounted"))
    print(json.dumps(done))
    sys.exit()
before = cgroups.groups_of()
inside = subprocess.run(["unshare", "--user", "--map-root-user", "--cgroup", "--mount", sys.executable, *sys.argv], env={**os.environ, "INSIDE": "1"},
                        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
if inside.returncode == 0: done += json.loads(inside.stdout)
print(json.dumps({"done": done, "moved": cgroups.groups_of() != before, "namespaces": inside.returncode == 0}))
"""


def groups_around(held, neighbour):
    """Groups of another job, of the node's daemon, and of the supervisor of that job."""
    found = set()
    for pid in (neighbour.pid, held.pid("aresd@n1"), held.recorded(neighbour.job, "started")):
        found |= set(cgroups.groups_of(pid).values())
    return sorted(found)


def test_control_groups_cannot_be_written_to(held, others, neighbour):
    if not cgroups.writable_controllers():
        pytest.skip("needs control groups")
    around = groups_around(held, neighbour())
    found = held.attempt(WRITE_GROUPS, *around, user=others[0])
    assert found["folders"] >= len(around)
    assert found["done"] == []


def test_it_cannot_move_to_another_group(held, others, neighbour):
    if not cgroups.writable_controllers():
        pytest.skip("needs control groups")
    found = held.attempt(JOIN_GROUPS, *groups_around(held, neighbour()), user=others[0])
    assert (found["done"], found["moved"]) == ([], False)


# --- spool ------------------------------------------------------------------------------------------------------------
def test_the_spool_cannot_be_read_or_changed(held, others, neighbour):
    """Its own script can be read."""
    other = neighbour()
    # Its own programs connect to `steps`, a socket, which holds nothing.
    names = sorted(entry.name for entry in held.spool(other.job).iterdir() if not entry.is_socket())
    assert "script" in names
    before = {folder: sorted(files + folders) for folder, folders, files in os.walk(held.spool(other.job))}
    found = held.attempt("""
own = os.environ["ARES_ATTEMPT_DIR"]
jobs = os.path.dirname(own)
node = os.path.dirname(jobs)
other = os.path.join(jobs, sys.argv[1])
done = {"read": [], "changed": []}
for name in sys.argv[2:]:
    for folder in own, other:
        path = os.path.join(folder, name)
        if folder == other and works(os.open, path, os.O_RDONLY): done["read"].append(path)
        if can_write(path) or works(os.chmod, path, 0o777) or works(os.truncate, path, 0): done["changed"].append(path)
        if works(os.rename, path, path + ".old") or works(os.unlink, path): done["changed"].append(path)
for folder in own, other, jobs, node, os.path.dirname(node):
    mine = os.path.join(folder, "mine")
    if works(os.mkdir, mine) or works(os.symlink, "/", mine) or works(os.link, "mine.file", mine): done["changed"].append(mine)
    if works(os.chmod, folder, 0o777) or works(os.rmdir, folder): done["changed"].append(folder)
    if folder == other and works(os.listdir, folder): done["read"].append(folder)
print(json.dumps(done))
""", f"{other.job}.1", *names, user=others[0])
    assert found == {"read": [], "changed": []}
    assert {folder: sorted(files + folders) for folder, folders, files in os.walk(held.spool(other.job))} == before
    assert other.unharmed()


def test_its_script_cannot_be_changed_while_it_runs(held, others):
    """Neither where it runs nor, with an effect, where it was submitted."""
    job = held.start("""s=$ARES_ATTEMPT_DIR/script
for f in $s /proc/self/fd/255 /proc/$$/fd/255 /proc/1/root$s; do
  chmod u+w $f; echo 'echo changed' >> $f; printf 'echo changed; exit\\n' 1<> $f; : > $f
done 2> /dev/null
{ mv $s $s.old; rm -f $s; cp /bin/true $s; } 2> /dev/null
touch script.ready
until [ -e script.go ]; do sleep 0.05; done
echo end
""", user=others[0], prelude="#!/bin/bash\n")
    held.wait_file("script.ready")
    for path in held.work.glob("attempt*"):
        if "script.ready" in path.read_text():
            path.write_text("#!/bin/bash\necho changed\n")
    (held.work / "script.go").touch()
    held.completed(job)
    assert held.output(job) == "end\n"


# --- memory that outlives processes -----------------------------------------------------------------------------------
def test_what_it_left_in_dev_shm_is_removed(held, others):
    left = pathlib.Path(f"/dev/shm/ares-left-{os.getpid()}")
    try:
        job = held.wrap(f"head -c 1000000 /dev/zero > {left} && stat -c %s {left}; stat -fc '%T %S*%b' /dev/shm", user=others[0])
        held.completed(job)
        size, kind, bytes_ = held.output(job).split()
        machine = os.statvfs("/dev/shm")
        assert (size, kind) == ("1000000", "tmpfs") and bytes_ == f"{machine.f_frsize}*{machine.f_blocks}"
        assert not left.exists()
    finally:
        left.unlink(missing_ok=True)


def test_what_it_left_of_system_v_is_removed(held, others):
    kinds = {"shm": "-m", "msg": "-q", "sem": "-s"}
    job = held.wrap("for words in '-M 1000000' -Q '-S 1'; do ipcmk $words; done", user=others[0])
    held.completed(job)
    made = list(zip(kinds, [line.split()[-1] for line in held.output(job).splitlines() if line]))
    assert len(made) == len(kinds)
    left = [(kind, number) for kind, number in made
            if number in [line.split()[1] for line in pathlib.Path(f"/proc/sysvipc/{kind}").read_text().splitlines()]]
    for kind, number in left:
        subprocess.run(["ipcrm", kinds[kind], number], check=True)
    assert left == []


# --- other processes --------------------------------------------------------------------------------------------------
def test_processes_outside_of_it_can_be_neither_signalled_nor_traced(held, others, neighbour):
    """Nor its own init. The other jobs are one of another user and one of its own."""
    neighbours = [neighbour(), neighbour(others[0])]
    daemon = held.pid("aresd@n1")
    guardians = [held.recorded(one.job, name) for one in neighbours for name in ("started", "task")]
    found = held.attempt("""
libc = ctypes.CDLL(None, use_errno=True)
ATTACH, SEIZE = 16, 0x4206
done = []
for pid in [1, *map(int, sys.argv[1:])]:
    for number in 0, signal.SIGTERM, signal.SIGSTOP, signal.SIGKILL:
        if works(os.kill, pid, number): done.append(f"signal {number} to {pid}")
    for request in SEIZE, ATTACH:
        if libc.ptrace(request, pid, None, None) == 0: done.append(f"traced {pid}")
    for name in "mem", "environ", "maps", "fd/0", "root/etc", "cwd/.":
        if works(lambda: os.close(os.open(f"/proc/{pid}/{name}", os.O_RDONLY))): done.append(f"read {name} of {pid}")
print(json.dumps(done), flush=True)
works(os.kill, -1, signal.SIGKILL)  # there is no other process
""", *map(str, [daemon, *guardians, *(one.pid for one in neighbours)]), user=others[0])
    assert found == []
    assert all(one.unharmed() for one in neighbours)
    assert held.pid("aresd@n1") == daemon
    assert guardians == [held.recorded(one.job, name) for one in neighbours for name in ("started", "task")]


# Leaves processes that ignore every signal, without environment, session or parent; one that is stopped; and one in namespaces of its own.
LEAVE = r"""
ignore="trap '' HUP INT QUIT TERM USR1 USR2 TSTP ALRM"
loop="$ignore; : > $1.\$2; while :; do sleep 0.05; done"
(env -i setsid bash -c "$loop" $1 $1 escaped < /dev/null > /dev/null 2>&1 &)
(env -i setsid -f setsid -f bash -c "$loop" $1 $1 twice < /dev/null > /dev/null 2>&1 &)
(env -i setsid bash -c "$ignore; : > $1.stopped; kill -STOP \$\$" $1 < /dev/null > /dev/null 2>&1 &)
(setsid unshare --user --map-root-user --pid --fork --mount-proc bash -c "$loop" $1 $1 nested < /dev/null > /dev/null 2>&1 || : > $1.nested) &
for name in escaped twice stopped nested; do until [ -e $1.$name ]; do sleep 0.02; done; done
: > $1.ready
"""


def leave(held, user, mark, then):
    for name in ("escaped", "twice", "stopped", "nested", "ready"):
        (held.work / f"{mark}.{name}").unlink(missing_ok=True)
    job = held.start(LEAVE + then, mark, user=user, prelude="#!/bin/bash\n")
    held.wait_file(f"{mark}.ready")
    return job


def test_processes_that_left_their_session_end_with_its_script(held, others):
    job = leave(held, others[0], "left-behind", "until [ -e left-behind.go ]; do sleep 0.05; done; exit 3\n")
    assert len(processes_naming("left-behind")) >= 4
    (held.work / "left-behind.go").touch()
    assert held.wait_end(job) == {job: "FAILED"}
    assert held.account(job, "ExitCode") == "3:0"
    assert processes_naming("left-behind") == []


def test_nothing_survives_acancel(held, others):
    job = leave(held, others[0], "not-cancelled", "eval \"$ignore\"; while :; do sleep 0.1; done\n")
    assert len(processes_naming("not-cancelled")) >= 4
    held.cancel(job)
    held.wait_state(job, "CANCELLED")
    assert processes_naming("not-cancelled") == []
