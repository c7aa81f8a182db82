# Tests: steps/program, aattach/options, abcast/options, abcast/receive, arun/broadcast, arun/session
"""Tools around steps: programs by task, aattach, abcast, --wait and --relative."""

import hashlib
import os
import pathlib
import pty
import select
import signal
import subprocess
import time

import pytest

from cluster import Cluster, until

CONFIG = """
cluster: tools
controller: {operators: [root]}
policy: {kill_wait: 3, heartbeat: 1, launch_backoff: 1}
nodes:
  - {name: "n[1-2]", cpus: 4, memory: 2000M}
partitions:
  - {name: main, nodes: "n[1-2]", default: true}
"""


@pytest.fixture(scope="module")
def cluster():
    made = Cluster(config=CONFIG)
    yield made
    made.close()


@pytest.fixture
def job(cluster):
    made = cluster.wrap("sleep 1000", "-N2", "-n4", "--mem=100M", "-o", "/dev/null")
    cluster.wait_state(made, "RUNNING")
    yield made
    cluster.cancel(made)
    cluster.wait_end(made)


def start(cluster, program, *words, **more):
    return subprocess.Popen([str(cluster.bin / program), *words], env=cluster.environment(), cwd=cluster.work, text=True,
                            **{"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **more})


def test_tasks_run_programs_of_their_own(cluster, job):
    (cluster.work / "programs").write_text("# ranks program\n0 echo master\n1-2 echo 'the worker' %t/%o\n")
    done = cluster.run("arun", f"--jobid={job}", "-l", "--multi-prog", "programs", check=False)
    assert sorted(done.stdout.splitlines()) == ["0: master", "1: the worker 1/0", "2: the worker 2/1"]
    assert done.returncode == 1 and "no program for task 3" in done.stderr
    (cluster.work / "programs").write_text("0 echo a\n0-1 echo b\n")
    done = cluster.run("arun", f"--jobid={job}", "--multi-prog", "programs", check=False)
    assert done.returncode == 1 and "programs:2:" in done.stderr


def test_wait_ends_the_tasks_that_are_late(cluster, job):
    done = cluster.run("arun", f"--jobid={job}", "-n2", "-W1", "bash", "-c", "[ $SLURM_PROCID = 0 ] || sleep 1000", check=False)
    assert done.returncode == 137 and "--wait" in done.stderr


def test_relative_leaves_out_the_first_nodes(cluster, job):
    done = cluster.run("arun", f"--jobid={job}", "-r1", "-n2", "bash", "-c", "echo $SLURMD_NODENAME")
    assert done.stdout.split() == ["n2", "n2"]
    assert cluster.run("arun", f"--jobid={job}", "-r2", "true", check=False).returncode == 1


def test_viewers_see_what_the_step_writes(cluster, job):
    step = start(cluster, "arun", f"--jobid={job}", "-n2", "bash", "-c", "until [ -e go ]; do sleep 0.05; done; echo $SLURM_PROCID; exit $SLURM_PROCID")
    until(lambda: cluster.run("aattach", "--layout", f"{job}.0", check=False).returncode == 0)
    layout = cluster.run("aattach", "--layout", f"{job}.0").stdout
    assert "2 tasks, 1 nodes (n1)" in layout and "Node 0 (n1), 2 task(s): 0-1" in layout
    viewers = [start(cluster, "aattach", *words, f"{job}.0") for words in (["-l"], ["--output-filter=1"])]
    leaver = start(cluster, "aattach", f"{job}.0")
    # They are attached when they can take a signal; the one that leaves changes nothing.
    until(lambda: takes_signals(leaver.pid))
    leaver.send_signal(signal.SIGINT)
    assert leaver.wait(30) == 130
    until(lambda: len(connections_of(cluster, [v.pid for v in viewers])) == 2)
    (cluster.work / "go").touch()
    assert sorted(step.communicate(timeout=60)[0].split()) == ["0", "1"]
    labelled, filtered = (v.communicate(timeout=60)[0] for v in viewers)
    assert sorted(labelled.splitlines()) == ["0: 0", "1: 1"] and filtered == "1\n"
    assert [v.returncode for v in viewers] == [1, 1] and step.returncode == 1
    (cluster.work / "go").unlink()
    done = cluster.run("aattach", f"{job}.0", check=False)
    assert done.returncode == 1 and "does not run" in done.stderr


def takes_signals(pid):
    """Whether the process has blocked SIGINT to read it from a descriptor. A thread that starts another one blocks all signals meanwhile."""
    text = pathlib.Path(f"/proc/{pid}/status").read_text()
    mask = int(next(line.split()[1] for line in text.splitlines() if line.startswith("SigBlk")), 16)
    blocked = lambda number: mask & (1 << (number - 1))
    return blocked(signal.SIGINT) and not blocked(signal.SIGSEGV)


def connections_of(cluster, pids):
    """Those of the processes that read no more from the controller: they wait for the step."""
    return [pid for pid in pids if takes_signals(pid)]


def test_viewer_passes_input_and_a_slow_one_blocks_no_task(cluster, job):
    size = 64 << 20
    step = start(cluster, "arun", f"--jobid={job}", "-n1", "bash", "-c", f"read line; echo $line; head -c {size} /dev/zero; echo end",
                 stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    until(lambda: cluster.run("aattach", "--layout", f"{job}.0", check=False).returncode == 0)
    slow = start(cluster, "aattach", f"{job}.0")
    until(lambda: takes_signals(slow.pid))
    giver = start(cluster, "aattach", "--input-filter=0", "--output-filter=none", f"{job}.0", stdin=subprocess.PIPE)
    giver.stdin.write("from a viewer\n")
    giver.stdin.flush()
    assert step.stdout.readline() == "from a viewer\n"
    step.stdin.close()
    out = step.stdout.read()  # while the slow viewer reads nothing of its 64 MiB
    assert out.endswith("end\n") and len(out) == size + len("end\n")
    text, said = slow.communicate(timeout=60)
    assert len(text) < len(out) and "bytes of output are left out" in said
    giver.communicate(timeout=60)


@pytest.mark.skipif(os.geteuid() != 0, reason="needs another user")
def test_other_users_cannot_attach(cluster, job):
    done = cluster.run("aattach", f"{job}.0", user="nobody", check=False, cwd="/")
    assert done.returncode == 1 and "only its owner" in done.stderr


def test_file_is_copied_to_all_nodes(cluster, job):
    source = cluster.work / "source"
    source.write_bytes(os.urandom(3 << 20))
    source.chmod(0o750)
    os.utime(source, (1000, 2000))
    target = cluster.work / "copies"
    target.mkdir()
    # The nodes share a file system here, so each writes to a name of its own by a link.
    for node in ("n1", "n2"):
        (target / node).mkdir()
    done = cluster.run("abcast", "-f", "-p", "-j", job, "source", f"{target}/n1/")
    copy = target / "n1" / "source"
    assert hashlib.sha256(copy.read_bytes()).digest() == hashlib.sha256(source.read_bytes()).digest()
    assert copy.stat().st_mode & 0o7777 == 0o750 and copy.stat().st_mtime == 2000
    assert done.stdout == done.stderr == "" and os.listdir(target / "n1") == ["source"]
    done = cluster.run("abcast", "-j", job, "source", str(copy), check=False)
    assert done.returncode == 1 and "n1: " in done.stderr and "n2: " in done.stderr and "--force" in done.stderr
    done = cluster.run("abcast", "-j", job, "source", "/no/such/folder/x", check=False)
    assert done.returncode == 1 and "/no/such/folder" in done.stderr
    done = cluster.run("abcast", "-j", job, "/no/such/source", "/tmp/x", check=False)
    assert done.returncode == 1 and "/no/such/source" in done.stderr
    assert cluster.run("abcast", "-C", "a", "b", check=False).returncode == 1


def test_file_is_compressed_on_its_way(cluster, job, tmp_path):
    source = tmp_path / "source"
    source.write_bytes(b"much of the same " * 500_000 + os.urandom(100_000))
    for words in (["-C"], ["-C", "-s", "1000"], ["-s", "4K"]):
        cluster.run("abcast", *words, "-f", "-j", job, str(source), str(tmp_path / "target"))
        assert (tmp_path / "target").read_bytes() == source.read_bytes()
    for words in (["--compress=lz4"], ["--size=0"], ["--size=1G"], ["--fanout=2"]):
        refused = cluster.run("abcast", *words, "-f", "-j", job, str(source), str(tmp_path / "target"), check=False)
        assert refused.returncode == 1 and words[0].split("=")[0][2:] in refused.stderr


def test_second_terminal_joins_that_of_a_task(cluster, job):
    program = "read -p 'first? ' a; echo got $a; read -p 'second? ' b; echo got $b; stty size"
    first = Terminal(cluster, "arun", f"--jobid={job}", "-n1", "--pty", "bash", "-c", program)
    first.read_until("first? ")
    second = Terminal(cluster, "aattach", "--pty", f"{job}.0")
    until(lambda: connections_of(cluster, [second.pid]))  # it sees what comes from then on
    first.write("one\n")
    first.read_until("second? ")
    second.read_until("second? ")
    second.write("two\n")
    for terminal in (first, second):
        terminal.read_until("got two")
        assert terminal.end() == 0
    plain = start(cluster, "arun", f"--jobid={job}", "-n1", "sleep", "1000")
    until(lambda: cluster.run("aattach", "--layout", f"{job}.1", check=False).returncode == 0)
    refused = cluster.run("aattach", "--pty", f"{job}.1", check=False)
    assert refused.returncode == 1 and "without --pty" in refused.stderr
    plain.terminate()
    plain.wait(30)


class Terminal:
    """A command with a terminal of its own."""

    def __init__(self, cluster, program, *words):
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            os.chdir(cluster.work)
            os.execve(str(cluster.bin / program), [program, *words], cluster.environment())
        self.text = ""

    def read(self):
        try:
            part = os.read(self.fd, 4096).decode()
        except OSError:
            part = ""
        self.text += part
        return part

    def read_until(self, what):
        deadline = time.monotonic() + 30
        while what not in self.text:
            assert select.select([self.fd], [], [], max(0, deadline - time.monotonic()))[0] and self.read(), self.text

    def write(self, text):
        os.write(self.fd, text.encode())

    def end(self):
        while self.read():
            pass
        os.close(self.fd)
        return os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])


def test_file_is_copied_from_within_a_job(cluster):
    made = cluster.submit("-N2", "-n2", "--mem=100M", str(cluster.script(
        "#!/bin/bash\necho text > $SLURM_JOB_ID.src\nabcast -f $SLURM_JOB_ID.src $PWD/$SLURM_JOB_ID.copy && cat $SLURM_JOB_ID.copy\n")))
    cluster.completed(made)
    assert cluster.output(made) == "text\n"
