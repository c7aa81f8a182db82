# Tests: aalloc/options, aalloc/command, step_client/allocation, step_client/wait_limit, step_client/pending_call, step_client/reach, arun/holder, arun/place, steps/hold, submission/allocation_request
"""Interactive allocations: aalloc with commands and shells, and arun outside of a job."""

import contextlib
import os
import pathlib
import pty
import re
import select
import signal
import subprocess
import time

import pytest

from cluster import Cluster, stop_process, until

CONFIG = """
cluster: interactive
controller: {operators: [root]}
policy: {kill_wait: 2, heartbeat: 1, launch_backoff: 1}
node: {allocation_timeout: 2}
nodes:
  - {name: "n[1-2]", cpus: 2, memory: 2000M}
partitions:
  - {name: main, nodes: "n[1-2]", default: true, default_memory_per_cpu: 100M}
"""


@pytest.fixture(scope="module")
def cluster():
    made = Cluster(config=CONFIG)
    yield made
    made.close()


def start(cluster, program, *words, **more):
    return subprocess.Popen([str(cluster.bin / program), *words], env=cluster.environment(), cwd=cluster.work, text=True,
                            stderr=subprocess.PIPE, **{"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, **more})


def granted(process):
    """The id of the job, when aalloc has said that it was granted."""
    lines = []
    for line in process.stderr:
        lines.append(line)
        if found := re.match(r"aalloc: Granted job allocation (\d+)", line):
            return found.group(1)
    raise AssertionError("".join(lines))


@pytest.fixture
def full(cluster):
    """A job that has all nodes; its function ends it."""
    job = cluster.wrap("sleep 1000", "-N2", "--exclusive", "-o", "/dev/null")
    cluster.wait_state(job, "RUNNING")

    def end():
        cluster.cancel(job, check=False)
    yield end
    end()
    cluster.wait_end(job)


def test_command_runs_here_with_the_variables_of_the_job(cluster):
    done = cluster.run("aalloc", "-N2", "-n4", "bash", "-c",
                       "echo $PPID $ARES_JOB_NODELIST $SLURM_NTASKS $PWD; arun bash -c 'echo $SLURM_PROCID $SLURMD_NODENAME'")
    lines = done.stdout.splitlines()
    assert lines[0].split()[1:] == ["n[1-2]", "4", str(cluster.work)]
    assert sorted(lines[1:]) == ["0 n1", "1 n1", "2 n2", "3 n2"]
    job = re.search(r"aalloc: Granted job allocation (\d+)\n(.*\n)*aalloc: Relinquishing job allocation (\d+)", done.stderr).group(1)
    cluster.completed(job)
    assert cluster.rows(job, "JobName,State,ExitCode,AllocNodes") == [["bash", "COMPLETED", "0:0", "2"]]


def test_job_ends_with_the_exit_code_of_the_command(cluster):
    done = cluster.run("aalloc", "-n1", "bash", "-c", "echo $ARES_JOB_ID; exit 5", check=False)
    assert done.returncode == 5
    job = done.stdout.strip()
    assert set(cluster.wait_end(job).values()) == {"FAILED"}
    assert cluster.account(job, "ExitCode") == "5:0"
    assert cluster.run("aalloc", "-n1", "bash", "-c", "kill -TERM $$", check=False).returncode == 143
    done = cluster.run("aalloc", "-n1", "/no/such/program", check=False)
    assert done.returncode == 127 and "cannot execute /no/such/program" in done.stderr


def test_messages_while_it_waits_and_control_c_cancels(cluster, full):
    process = start(cluster, "aalloc", "-n1", "true")
    first, second = process.stderr.readline(), process.stderr.readline()
    job = re.fullmatch(r"aalloc: Pending job allocation (\d+)\n", first).group(1)
    assert second == f"aalloc: job {job} queued and waiting for resources\n"
    process.send_signal(signal.SIGINT)
    _, rest = process.communicate(timeout=30)
    assert process.returncode == 1
    assert f"Job allocation {job} has been revoked." in rest and "cancelled" in rest
    cluster.wait_state(job, "CANCELLED")


def test_allocation_is_granted_after_a_wait(cluster, full):
    process = start(cluster, "aalloc", "-n1", "echo", "ran")
    job = re.search(r"\d+", process.stderr.readline()).group()
    process.stderr.readline()
    full()
    out, rest = process.communicate(timeout=60)
    assert out == "ran\n" and process.returncode == 0
    assert rest.splitlines() == [f"aalloc: job {job} has been allocated resources", f"aalloc: Granted job allocation {job}",
                                 f"aalloc: Relinquishing job allocation {job}"]


def test_immediate_gives_up(cluster, full):
    done = cluster.run("aalloc", "-n1", "-I1", "true", check=False)
    assert done.returncode == 1 and "--immediate" in done.stderr
    job = re.search(r"job (\d+) is cancelled", done.stderr).group(1)
    cluster.wait_state(job, "CANCELLED")


def test_lost_command_ends_the_allocation_after_the_time(cluster):
    process = start(cluster, "aalloc", "-n1", "sleep", "20")
    job = granted(process)
    begun = time.time()
    process.kill()
    process.wait()
    assert set(cluster.wait_end(job).values()) == {"FAILED"}
    assert cluster.account(job, "ExitCode") == "129:0"
    assert time.time() - begun >= 1.5, "the time of ares.yaml passes first"


def test_restart_of_controller_and_node_daemon_ends_no_allocation(cluster):
    process = start(cluster, "aalloc", "-n1", "bash", "-c", "read line; arun echo $line", stdin=subprocess.PIPE)
    job = granted(process)
    for role in ("aresctld", "aresd@n1"):
        before = cluster.pid(role)
        os.kill(before, signal.SIGKILL)
        until(lambda: cluster.pid(role) != before)
    until(lambda: cluster.queue(job) == "RUNNING")
    out, rest = process.communicate("alive\n", timeout=60)
    assert (out, process.returncode) == ("alive\n", 0), rest
    cluster.completed(job)


def step_hosts(cluster):
    """Pids of the step hosts below the node daemons of this cluster."""
    parents, names = {}, {}
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            text = pathlib.Path(f"/proc/{pid}/stat").read_text()
        except OSError:
            continue
        names[int(pid)] = text[text.index("(") + 1:text.rindex(")")]
        parents[int(pid)] = int(text.rsplit(")", 1)[1].split()[1])
    daemons = {cluster.pid(f"aresd@n{i}") for i in (1, 2)}

    def below(pid):
        while pid in parents:
            if pid in daemons:
                return True
            pid = parents[pid]
        return False
    return [pid for pid, name in names.items() if name == "ares-steps" and below(pid)]


@pytest.mark.skipif(os.geteuid() != 0, reason="looks into processes of the cluster")
def test_lost_connection_is_made_again(cluster):
    process = start(cluster, "aalloc", "-n1", "bash", "-c", "read line; arun echo $line", stdin=subprocess.PIPE)
    job = granted(process)
    for pid in until(lambda: step_hosts(cluster)):
        os.kill(pid, signal.SIGKILL)
    time.sleep(4)  # longer than node.allocation_timeout: without a connection it would end
    out, rest = process.communicate("again\n", timeout=60)
    assert (out, process.returncode) == ("again\n", 0), rest
    cluster.completed(job)


def test_end_of_the_job_is_told_and_kills_the_command_if_asked(cluster):
    process = start(cluster, "aalloc", "-n1", "-K", "bash", "-c", "echo runs; exec sleep 1000")
    job = granted(process)
    assert process.stdout.readline() == "runs\n"
    cluster.cancel(job)
    _, rest = process.communicate(timeout=60)
    assert process.returncode == 143, rest
    assert f"aalloc: Job allocation {job} has been revoked." in rest
    cluster.wait_state(job, "CANCELLED")


def test_no_shell_leaves_the_allocation(cluster):
    done = cluster.run("aalloc", "-n1", "--no-shell")
    job = re.search(r"Granted job allocation (\d+)", done.stderr).group(1)
    time.sleep(4)  # longer than node.allocation_timeout
    assert cluster.queue(job) == "RUNNING"
    assert cluster.run("arun", f"--jobid={job}", "echo", "in").stdout == "in\n"
    cluster.cancel(job)
    cluster.wait_state(job, "CANCELLED")


def in_foreground(terminal):
    """The name of the program that leads the terminal's foreground process group; empty between two of them."""
    with contextlib.suppress(OSError):
        return pathlib.Path(f"/proc/{os.tcgetpgrp(terminal)}/comm").read_text().strip()
    return ""


@pytest.fixture
def terminal():
    """Runs a program in a terminal, which is hung up in the end: an allocation that a failed test left would keep the others waiting."""
    opened = []

    def run(folder, *words, **environment):
        pid, fd = pty.fork()
        if pid == 0:
            os.chdir(folder)
            os.execve(words[0], words, environment)
        opened.append(fd)
        return pid, fd
    yield run
    for fd in opened:
        os.close(fd)


def test_shell_is_the_users_own_and_has_the_terminal(cluster, terminal):
    pid, fd = terminal(cluster.work, str(cluster.bin / "aalloc"), "-n1",
                       **cluster.environment(SHELL="/bin/bash", PS1="ready> ", HOME=str(cluster.work)))
    text = b""

    def read_until(what):
        nonlocal text
        deadline = time.monotonic() + 30
        while what not in text:
            assert select.select([fd], [], [], max(0, deadline - time.monotonic()))[0], text
            text += os.read(fd, 4096)
    read_until(b"Granted")
    os.write(fd, b"echo job=$ARES_JOB_ID; tty\n")
    read_until(b"/dev/pts/")
    job = re.search(rb"job=(\d+)", text).group(1).decode()
    os.write(fd, b"sleep 1000\n")
    until(lambda: in_foreground(fd) == "sleep")  # only then Ctrl-C is for the program
    os.write(fd, b"\x03")
    read_until(b"^C")
    os.write(fd, b"exit 3\n")
    read_until(b"Relinquishing")
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 3
    assert set(cluster.wait_end(job).values()) == {"FAILED"}


def test_end_of_the_terminal_ends_the_allocation(cluster):
    pid, fd = pty.fork()
    if pid == 0:
        os.execve(str(cluster.bin / "aalloc"), ["aalloc", "-n1", "bash", "-c", "echo command runs; sleep 1000"], cluster.environment())
    text = b""
    while not (found := re.search(rb"Granted job allocation (\d+)", text)):
        text += os.read(fd, 4096)
    while b"command runs" not in text:
        text += os.read(fd, 4096)
    os.close(fd)  # its processes get SIGHUP
    os.waitpid(pid, 0)
    assert set(cluster.wait_end(found.group(1).decode()).values()) == {"FAILED"}


def test_options_of_scripts_are_refused(cluster):
    for option in ("--array=1-2", "--wrap=true", "--output=x", "--test-only"):
        done = cluster.run("aalloc", option, "true", check=False)
        assert done.returncode == 1 and option.split("=")[0] in done.stderr
    done = cluster.run("aalloc", "--no-shell", "true", check=False)
    assert done.returncode == 1 and "--no-shell" in done.stderr


def test_arun_outside_of_a_job_allocates_and_ends_it(cluster):
    done = cluster.run("arun", "-N2", "-n2", "-J", "direct", "bash", "-c", "echo $SLURM_PROCID $SLURM_JOB_ID $SLURMD_NODENAME; exit $SLURM_PROCID",
                       check=False)
    assert done.returncode == 1
    lines = sorted(done.stdout.splitlines())
    job = lines[0].split()[1]
    assert lines == [f"0 {job} n1", f"1 {job} n2"]
    assert set(cluster.wait_end(job).values()) == {"FAILED"}
    assert cluster.rows(job, "JobName,ExitCode,AllocNodes") == [["direct", "1:0", "2"]]


def test_arun_outside_passes_input_and_signals(cluster):
    assert cluster.run("arun", "-n1", "cat", input="read\n").stdout == "read\n"
    process = start(cluster, "arun", "-n1", "bash", "-c", "trap 'exit 9' TERM; echo $ARES_JOB_ID; while :; do sleep 0.05; done")
    job = process.stdout.readline().strip()
    process.send_signal(signal.SIGTERM)
    assert process.wait(60) == 9
    cluster.wait_end(job)
    assert cluster.account(job, "ExitCode") == "9:0"


def test_arun_outside_waits_like_aalloc(cluster, full):
    process = start(cluster, "arun", "-n1", "true")
    line = process.stderr.readline()
    job = re.fullmatch(r"arun: job (\d+) queued and waiting for resources\n", line).group(1)
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=30)
    assert process.returncode == 1
    cluster.wait_state(job, "CANCELLED")


def test_within_a_job_options_of_allocations_have_no_effect(cluster):
    job = cluster.wrap("arun -n1 --partition=main true; echo $?; arun -n1 --constraint=fast true; echo $?")
    cluster.completed(job)
    said = cluster.output(job).splitlines()
    assert said[:2] == ["arun: warning: --partition has no effect within a job", "0"]
    assert "--constraint asks for an allocation" in said[2] and said[3] == "1"


@pytest.fixture
def stopped_controller(cluster):
    """Gives a function that makes the controller not answer any more, until the test ends."""
    pid = cluster.pid("aresctld")
    yield lambda: stop_process(pid)
    os.kill(pid, signal.SIGCONT)
    cluster.run("actl", "ping")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGHUP, signal.SIGTERM])
def test_signals_end_the_wait_while_the_controller_does_not_answer(cluster, full, stopped_controller, number):
    waiting = start(cluster, "aalloc", "-n1", "true")
    lines = []
    for line in waiting.stderr:
        lines.append(line)
        if "queued and waiting" in line:
            break
    stopped_controller()
    waiting.send_signal(number)
    # Far below what the command would wait for the controller.
    _, rest = waiting.communicate(timeout=20)
    assert waiting.returncode == 75, "the controller did not answer"
    assert "may not have been cancelled" in rest and "acancel" in rest


def test_signals_reach_the_command_while_the_allocation_is_looked_for(cluster, stopped_controller):
    program = "trap 'echo caught; exit 5' HUP; echo runs; while :; do sleep 0.05; done"
    process = start(cluster, "aalloc", "-n1", "bash", "-c", program)
    job = granted(process)
    assert process.stdout.readline() == "runs\n"
    stopped_controller()
    for pid in step_hosts(cluster):
        os.kill(pid, signal.SIGKILL)  # aalloc has to ask the controller for the way
    process.send_signal(signal.SIGHUP)
    assert process.stdout.readline() == "caught\n"
    children = pathlib.Path(f"/proc/{process.pid}/task/{process.pid}/children")
    until(lambda: not children.read_text())  # aalloc has seen the end of the command
    process.send_signal(signal.SIGINT)  # and it does not wait to give the job back
    process.communicate(timeout=20)
    assert process.returncode == 5
    os.kill(cluster.pid("aresctld"), signal.SIGCONT)
    cluster.wait_end(job)


@pytest.fixture
def by_tcp():
    """A command line in front of which a program reaches a cluster as from another machine, and the cluster."""
    if os.geteuid() != 0:
        pytest.skip("only root can make namespaces")
    made = Cluster("--isolate", config=CONFIG)
    prefix = ["nsenter", f"--net=/proc/{made.pid('netns@hub')}/ns/net", "env", f"ARES_CONF={made.dir}/node.yaml"]
    yield prefix, made
    made.close()


def test_signals_reach_the_commands_of_another_machine(by_tcp):
    """A client by TCP has threads, which must not take the signals: the end of a command was lost, and TERM ended aalloc at once."""
    prefix, cluster = by_tcp
    for _ in range(3):
        assert subprocess.run([*prefix, cluster.bin / "aalloc", "-n1", "true"], env=cluster.environment(), timeout=20).returncode == 0
    for program in ("aalloc", "arun"):
        process = subprocess.Popen([*prefix, cluster.bin / program, "-n1", "bash", "-c", "trap 'exit 9' TERM; echo runs; sleep 1000 & wait"],
                                   env=cluster.environment(), text=True, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, cwd=cluster.work)
        assert process.stdout.readline() == "runs\n"
        process.terminate()
        assert process.wait(20) == 9
    until(lambda: not cluster.run("aqueue", "-h").stdout)
