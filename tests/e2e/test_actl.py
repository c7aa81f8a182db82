# Tests: act, actl/interact, actl/lines, actl/names, actl/show, asub/manual, describe_cluster, show_topology
# Tests: describe_job, write, ingress_jobs, ingress_answers
"""actl: show, write batch_script, commands from a pipe and from a terminal."""

import json
import os
import pty
import select
import subprocess
import time

import pytest

from cluster import BIN, until



def test_commands_from_a_pipe_stop_at_the_first_failure(cluster):
    done = cluster.run("actl", input="# a comment\nping\n\nshow partition main -o\nquit\nnonsense\n")
    assert "is UP" in done.stdout and "PartitionName=main Default=YES" in done.stdout
    done = cluster.run("actl", input="ping\nhold 999999\nping\n", check=False)
    assert done.returncode == 1
    assert done.stdout.count("is UP") == 1
    assert done.stderr.startswith("actl: line 2: ") and "999999" in done.stderr


def talk(cluster, lines, home):
    """Types the lines at actl's prompt in order and returns its output and exit status."""
    env = cluster.environment(HOME=str(home), XDG_STATE_HOME=str(home / "state"), TERM="dumb", INPUTRC="/dev/null")
    pid, terminal = pty.fork()
    if pid == 0:
        os.execvpe("actl", ["actl"], env)
    shown = ""

    def read_until(text, seconds=20):
        nonlocal shown
        deadline = time.monotonic() + seconds
        start = len(shown)
        while text not in shown[start:]:
            assert time.monotonic() < deadline, shown
            if select.select([terminal], [], [], 0.2)[0]:
                try:
                    shown += os.read(terminal, 65536).decode(errors="replace")
                except OSError:
                    return
    read_until("actl: ")
    for line, answer in lines:
        os.write(terminal, line.encode())
        read_until(answer)
    deadline = time.monotonic() + 20
    while True:  # wait for actl to exit: closing the terminal first would end it with a signal
        assert time.monotonic() < deadline, shown
        if select.select([terminal], [], [], 0.2)[0]:
            try:
                shown += os.read(terminal, 65536).decode(errors="replace")
            except OSError:
                break
    os.close(terminal)
    return shown, os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


def test_terminal_has_line_editing_completion_and_history(cluster, tmp_path):
    job = cluster.wrap("true", "-H")
    shown, code = talk(cluster, [
        ("ver\t\n", "actl 0"),
        ("show node n1 \n", "NodeName=n1"),
        ("update partitionname=ma\t", "main "),
        ("sta\tdow\t\n", "actl: "),
        ("update partitionname=main state=up\n", "actl: "),
        (f"hold 99999{job}\n", "Invalid job id"),
        ("exit\n", "exit")], tmp_path)
    assert "State=down" in shown, shown
    assert code == 1, "the last failure's status"
    history = (tmp_path / "state/ares/actl_history").read_text().splitlines()
    assert history[0].strip() == "version" and f"hold 99999{job}" in history
    assert "State=UP" in cluster.show("partition", "main")
    cluster.cancel(job)


def test_show_prints_text_one_line_details_and_json(cluster):
    job = cluster.wrap("sleep 1000", "-N2", "-o", "%x-%j.out", "-J", "shown")
    cluster.wait_state(job, "RUNNING")
    text = cluster.show("job", job)
    assert f"StdOut={cluster.work}/shown-{job}.out" in text and "Phase=" not in text
    assert text.count("\n   ") > 10
    assert cluster.run("actl", "-o", "show", "job", job).stdout.count("\n") == 1
    assert cluster.run("actl", "-d", "show", "job", job).stdout.count("Phase=running") == 2
    for words in (["job", job], ["node"], ["partition"], ["config"]):
        assert json.loads(cluster.run("actl", "--json", "show", *words).stdout), words
    assert json.loads(cluster.run("actl", "--json", "show", "hostnames", "n[1-2]").stdout) == ["n1", "n2"]
    assert "TotalCPUs=16 TotalNodes=4" in cluster.show("partition", "main")
    assert f"Jobs={job}" in cluster.run("actl", "show", "node").stdout
    cluster.cancel(job)
    cluster.wait_end(job)


def test_extra_text_is_kept_shown_and_changed(cluster):
    first = '{"ticket": 17, "note": "a b"}'
    job = cluster.wrap("sleep 1000", "--comment=read by people", f"--extra={first}")
    cluster.wait_state(job, "RUNNING")
    assert f"\n   Comment=read by people\n   Extra={first}\n" in cluster.show("job", job)
    cluster.run("actl", "update", "job", job, "Extra=second")
    assert "\n   Extra=second\n" in cluster.show("job", job)
    [shown] = json.loads(cluster.run("aqueue", "--json", "-j", job).stdout)["jobs"]
    assert shown["spec"]["extra"] == "second" and shown["spec"]["comment"] == "read by people"
    cluster.run("actl", "update", "job", job, "extra=")
    assert "Extra=" not in cluster.show("job", job)
    cluster.cancel(job)
    cluster.wait_end(job)


def test_write_batch_script_is_for_the_owner_and_administrators(cluster, others):
    alice, bob = others
    script = "#!/bin/bash\n#ARES -J written\necho 'ü' \"$1\"\n"
    path = cluster.script(script, "written.sh")
    job = cluster.submit("-H", str(path), user=alice)
    assert cluster.run("actl", "write", "batch_script", job, "-", user=alice).stdout == script
    cluster.run("actl", "write", "batch_script", job)
    assert (cluster.work / f"ares-{job}.sh").read_text() == script
    done = cluster.run("actl", "write", "batch_script", job, "-", user=bob, check=False)
    assert done.returncode == 1 and "may not read the script" in done.stderr and done.stdout == ""
    assert cluster.run("actl", "write", "batch_script", "999999", check=False).returncode == 1
    cluster.cancel(job)


def test_version_help_and_unsupported_commands(cluster):
    assert cluster.run("actl", "version").stdout.startswith("actl ")
    assert "requeuehold" in cluster.run("actl", "help").stdout
    assert cluster.run("actl", "help", "show", "node").stdout.startswith("show node ")
    done = cluster.run("actl", "token", "1", check=False)
    assert done.returncode == 1 and "not supported: munge certifies users" in done.stderr


def test_processes_of_jobs_on_this_machine_are_listed(cluster):
    job = cluster.wrap("arun -n1 sleep 77", "-n1")
    def listed(*words):
        done = cluster.run("actl", *words, check=False)
        return [line.split() for line in done.stdout.splitlines()[1:]], done
    until(lambda: [line for line in listed("listpids", job)[0] if line[2:] == ["0", "0", "0"]])
    lines, done = listed("listpids", job)
    assert done.stdout.splitlines()[0].split() == ["PID", "JOBID", "STEPID", "LOCALID", "GLOBALID"]
    task = next(line for line in lines if line[2:] == ["0", "0", "0"])
    assert open(f"/proc/{task[0]}/cmdline").read().split("\0")[:2] == ["sleep", "77"]
    assert [job, "batch", "0", "0"] in [line[1:] for line in lines], "the script"
    assert [line for line in listed("listpids", f"{job}.0")[0]] == [line for line in lines if line[2] == "0"]
    assert [job] in listed("listjobs")[0]
    assert {("batch",), ("0",)} <= {tuple(line[1:]) for line in listed("liststeps")[0] if line[0] == job}
    cluster.cancel(job)
    until(lambda: listed("listpids", job)[1].returncode == 1)
    assert "no process of" in listed("listpids", job)[1].stderr


def test_daemons_topology_and_completing_jobs_are_shown(cluster):
    assert "aresctld" in cluster.run("actl", "show", "daemons").stdout
    assert "No networks are described" in cluster.run("actl", "show", "topology").stdout
    assert cluster.run("actl", "completing").stdout == "No jobs are completing\n"


def test_wait_job_returns_when_the_job_has_started(cluster):
    job = cluster.wrap("sleep 60", "-H")
    waiting = subprocess.Popen([str(BIN / "actl"), "wait_job", job], env=cluster.environment(), stdin=subprocess.DEVNULL, stderr=subprocess.PIPE)
    try:
        with pytest.raises(subprocess.TimeoutExpired):
            waiting.wait(1)
        cluster.run("actl", "release", job)
        assert waiting.wait(30) == 0
    finally:
        waiting.kill()
        waiting.communicate()
    assert cluster.queue(job) == "RUNNING"
    cluster.cancel(job)
    held = cluster.wrap("true", "-H")
    cluster.cancel(held)
    never = cluster.run("actl", "wait_job", held, check=False)
    assert never.returncode == 1 and "ended before it started: CANCELLED" in never.stderr
    assert cluster.run("actl", "wait_job", "999999", check=False).returncode == 1
