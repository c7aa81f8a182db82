# Tests: arun/options, arun/output, become_user, steps/host, steps/link, steps/reactor, steps/dialer, steps/task_group, task_output, host_process, steps/task_process, task_pid, step_gate, socket_name, arun/session
"""Steps of jobs: tasks on one and on several nodes, started with arun from the batch script."""

import os
import pathlib
import re
import signal
import socket
import subprocess
import textwrap

import pytest

from cluster import Cluster, until

CONFIG = """
cluster: steps
controller: {operators: [root]}
policy: {kill_wait: 3, heartbeat: 1, launch_backoff: 1}
nodes:
  - {name: "n[1-3]", cpus: 4, memory: 2000M}
partitions:
  - {name: main, nodes: "n[1-3]", default: true}
"""


@pytest.fixture(scope="module")
def cluster():
    made = Cluster(config=CONFIG)
    yield made
    made.close()


def submitted(cluster, text, *options):
    return cluster.submit(*options, str(cluster.script("#!/bin/bash\n" + textwrap.dedent(text))))


def said(cluster, text, *options):
    """Lines of a job that ends well."""
    job = submitted(cluster, text, *options)
    cluster.completed(job)
    return cluster.output(job).splitlines()


def started(cluster, job, file):
    """Waits until a file in the working directory of the tests has content."""
    def look():
        assert cluster.queue(job) in ("RUNNING", ""), cluster.queue(job, "%T %r")
        return (cluster.work / file).read_text().split()
    return until(look)


def test_tasks_know_their_ranks_on_one_node(cluster):
    lines = said(cluster, "arun bash -c 'echo $ARES_PROCID $SLURM_LOCALID $RANK $SLURM_NTASKS $ARES_STEP_ID'", "-n4")
    assert sorted(lines) == [f"{i} {i} {i} 4 0" for i in range(4)]


def test_tasks_run_on_all_nodes_of_the_job(cluster):
    lines = said(cluster, "arun bash -c 'echo $SLURM_PROCID $SLURM_NODEID $SLURM_LOCALID $SLURMD_NODENAME $SLURM_STEP_NODELIST'",
                 "-N2", "--ntasks-per-node=2")
    assert sorted(lines) == ["0 0 0 n1 n[1-2]", "1 0 1 n1 n[1-2]", "2 1 0 n2 n[1-2]", "3 1 1 n2 n[1-2]"]


def test_script_and_tasks_know_their_own_process(cluster):
    """Each line has the number of the shell twice, also where a program runs around the task."""
    epilog = cluster.script("#!/bin/bash\ntrue\n", "epilog.sh")
    lines = said(cluster, f"""
        echo $$ $SLURM_TASK_PID
        arun -n2 bash -c 'echo $$ $ARES_TASK_PID'
        arun -n1 --task-epilog={epilog} bash -c 'echo $$ $SLURM_TASK_PID; :'
        """, "-n2")
    assert len(lines) == 4 and len(set(lines)) == 4
    for line in lines:
        shell, told = line.split()
        assert shell == told, lines


def test_job_knows_how_it_was_submitted(cluster):
    first = cluster.wrap("true")
    script = cluster.script("#!/bin/bash\necho $SLURM_JOB_DEPENDENCY $SLURM_EXPORT_ENV\narun -n1 bash -c 'echo $SLURM_LAUNCH_NODE_IPADDR'\n")
    job = cluster.submit(f"--dependency=afterany:{first}", "--export=NIL,PATH", str(script))
    cluster.completed(job)
    lines = cluster.output(job).splitlines()
    assert lines[0] == f"afterany:{first} NIL,PATH" and lines[1], lines


def test_batch_script_has_variables_of_slurm(cluster):
    lines = said(cluster, "echo $SLURM_JOB_ID $SLURM_JOB_NODELIST $SLURM_NNODES $SLURM_CPUS_ON_NODE $SLURMD_NODENAME", "-N2", "-n8")
    assert re.fullmatch(r"\d+ n\[1-2\] 2 4 n1", lines[0]), lines


def test_options_choose_nodes_and_tasks(cluster):
    lines = said(cluster, """
        echo w $(arun -w n3 -n1 bash -c 'echo $SLURMD_NODENAME')
        echo x $(arun -x n1,n2 -n1 bash -c 'echo $SLURMD_NODENAME')
        echo N $(arun -N3 bash -c 'echo $SLURMD_NODENAME' | sort)
        echo cyclic $(arun -N2 -n4 -m cyclic bash -c 'echo $SLURM_PROCID$SLURMD_NODENAME' | sort)
        """, "-N3", "-n12")
    assert lines == ["w n3", "x n3", "N n1 n2 n3", "cyclic 0n1 1n2 2n1 3n2"]


def test_exit_code_is_the_highest_and_128_with_the_signal(cluster):
    lines = said(cluster, """
        arun -Q -n3 bash -c 'exit $SLURM_PROCID'; echo $?
        arun -Q -n1 bash -c 'kill -TERM $$'; echo $?
        arun -n1 /no/such/program; echo $?
        arun -n1 /etc/passwd; echo $?
        arun -n9 true; echo $?
        """, "-n4")
    assert [line for line in lines if line.isdigit()] == ["2", "143", "127", "126", "1"]
    assert any("cannot execute /no/such/program" in line for line in lines)
    assert any("asks for 9 tasks" in line and "--overcommit" in line for line in lines)


def test_failed_task_is_named_and_ends_the_others_only_if_asked(cluster):
    lines = said(cluster, """
        arun -n2 bash -c 'if [ $SLURM_PROCID = 1 ]; then exit 3; else sleep 0.3; echo whole; fi'
        arun -K -n2 bash -c 'if [ $SLURM_PROCID = 1 ]; then exit 3; else sleep 60; fi'; echo $?
        """, "-n2")
    assert "arun: n1: task 1 exited with code 3" in lines
    assert "whole" in lines
    assert "137" in lines, "task 0 was killed"


def test_input_goes_to_all_tasks_or_to_one(cluster):
    lines = said(cluster, """
        echo all: $(seq 3 | arun -n2 cat | sort | tr '\\n' ' ')
        echo one: $(seq 3 | arun -n2 -i 1 -l cat | tr '\\n' ' ')
        echo none: $(seq 3 | arun -n1 -i none cat)
        """, "-n2")
    assert lines == ["all: 1 1 2 2 3 3", "one: 1: 1 1: 2 1: 3", "none:"]


def test_output_files_are_named_by_rank_node_and_step(cluster):
    said(cluster, "arun -o 'f.%t.%N.%s' -e 'e.%J' bash -c 'echo out; echo err >&2'", "-N2", "-n2")
    assert (cluster.work / "f.0.n1.0").read_text() == "out\n"
    assert (cluster.work / "f.1.n2.0").read_text() == "out\n"


def test_file_that_cannot_be_opened_is_named(cluster):
    lines = said(cluster, """
        arun -n1 -o /no/such/folder/f.%t true; echo $?
        arun -n1 -o f.%t -e f.%t /no/such/program; echo $?
        arun -n1 -i /no/such/input true; echo $?
        """, "-n1")
    assert [line for line in lines if line.isdigit()] == ["1", "127", "1"]
    for path in ("/no/such/folder/f.0", "/no/such/program", "/no/such/input"):
        assert any(line.startswith("aresstepd: cannot") and path in line for line in lines), lines


def test_what_a_step_cannot_do_is_refused_by_name(cluster):
    lines = said(cluster, """
        for words in --cpu-bind=nosuch --gpu-bind=nosuch --gres=gpu:1 --gpus=0.5 --mpi=nosuch --distribution=plane=2; do
          arun $words -n1 true && echo ran
        done
        true
        """, "-n1")
    assert "ran" not in lines
    for option in ("--cpu-bind", "--gpu-bind", "1 GPU", "--gpus=0.5", "--mpi=nosuch", "--distribution"):
        assert any(line.startswith("arun: ") and option in line for line in lines), (option, lines)


def test_other_ways_to_bind_are_named_in_a_warning(cluster):
    lines = said(cluster, "arun --cpu-bind=map_cpu:0 -n1 echo one; arun --cpu-bind=q -n1 echo two; arun -Q --cpu-bind=sockets -n1 echo three", "-n1")
    assert lines == ["arun: warning: --cpu-bind=map_cpu:0: each task is bound to its own CPUs", "one", "two", "three"]


def test_pmi2_finds_pmi1(cluster):
    lines = said(cluster, "arun --mpi=pmi2 -n1 sh -c 'echo ${PMI_RANK-none} of ${PMI_SIZE-none}'", "-n1")
    assert len(lines) == 2 and lines[0].startswith("arun: warning: --mpi=pmi2: ") and lines[1] == "0 of 1", lines


def test_labels_and_whole_lines(cluster):
    lines = said(cluster, "arun -l bash -c 'for i in 1 2 3; do printf \"a%d\" $i; printf \"b\\n\"; done; printf end'", "-n2")
    for rank in "01":
        assert [line for line in lines if line.startswith(rank)] == [f"{rank}: a{i}b" for i in (1, 2, 3)] + [f"{rank}: end"]


def test_second_step_waits_unless_it_is_exact_or_overlaps(cluster):
    lines = said(cluster, """
        mkfifo gate.$SLURM_JOB_ID
        arun -n1 bash -c "touch begun.$SLURM_JOB_ID; cat gate.$SLURM_JOB_ID; touch ended" &
        until [ -e begun.$SLURM_JOB_ID ]; do sleep 0.05; done
        arun -I -n1 true || echo refused
        arun --overlap -n1 echo overlaps
        arun -n1 bash -c 'test -e ended && echo waited' 2>waits &
        until grep -qs waits: waits; do sleep 0.05; done
        echo through > gate.$SLURM_JOB_ID
        wait
        """, "-n2")
    assert {"refused", "overlaps", "through", "waited"} <= set(lines), lines
    assert "--exact" in (cluster.work / "waits").read_text()


def test_exact_steps_run_at_the_same_time_on_cpus_of_their_own(cluster):
    # Each task waits for the other one.
    lines = said(cluster, """
        for i in 1 2; do
          arun --exact -n1 bash -c "touch at.$i; until [ -e at.1 ] && [ -e at.2 ]; do sleep 0.01; done; echo met" &
        done
        wait
        """, "-n2")
    assert lines == ["met", "met"]


def test_no_byte_of_much_output_is_lost(cluster):
    size = 8 << 20
    said(cluster, f"""
        arun -N2 -n4 bash -c 'head -c {size} /dev/zero | tr "\\0" "$SLURM_PROCID"' > all
        """, "-N2", "-n4")
    data = (cluster.work / "all").read_bytes()
    assert len(data) == 4 * size
    for rank in b"0123":
        assert data.count(bytes([rank])) == size


def test_reader_that_stops_ends_what_writes_to_it(cluster):
    lines = said(cluster, "arun -n2 yes | head -n1; arun -n1 echo after", "-n2")
    assert lines[-1] == "after"


def test_input_that_is_not_read_waits_in_bounded_memory(cluster):
    lines = said(cluster, """
        head -c 50000000 /dev/zero | arun -n1 bash -c 'sleep 0.5; wc -c'
        """, "-n1")
    assert lines == ["50000000"]


def test_terminal_of_a_task_has_a_size_and_takes_control_c(cluster):
    program = cluster.work / "terminal.py"
    program.write_text(textwrap.dedent("""
        import fcntl, os, pty, struct, sys, termios
        pid, fd = pty.fork()
        if pid == 0:
            os.execvp("arun", ["arun", "-n1", "--pty", "bash", "-c", "stty size; test -t 0 && echo terminal; trap 'echo caught; exit 7' INT; echo ready; while :; do sleep 0.05; done"])
        fcntl.ioctl(fd, termios.TIOCSWINSZ, struct.pack("HHHH", 33, 111, 0, 0))
        text = b""
        sent = False
        while True:
            try:
                part = os.read(fd, 4096)
            except OSError:
                break
            if not part:
                break
            text += part
            if b"ready" in text and not sent:
                os.write(fd, b"\\x03")
                sent = True
        print(text.decode().replace("\\r", ""))
        print("exit", os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
        """))
    lines = said(cluster, f"python3 {program}", "-n1")
    assert "terminal" in lines and any("caught" in line for line in lines) and "exit 7" in lines
    assert any(line in ("33 111", "24 80", "0 0") for line in lines)


def test_all_that_was_written_to_a_terminal_arrives(cluster):
    lines = said(cluster, """
        for i in 1 2 3 4 5; do arun -n1 --pty sh -c 'seq 1 5000' < /dev/null | tr -d '\\r' | sha256sum; done
        seq 1 5000 | sha256sum
        """, "-n1")
    assert len(lines) == 6 and len(set(lines)) == 1


SCREEN = """
import curses, signal
def main(screen):
    signal.signal(signal.SIGINT, lambda *_: heard.append("interrupt"))
    heard = []
    while True:
        height, width = screen.getmaxyx()
        screen.erase()
        screen.addstr(height - 1, 0, f"<{height} {width} {' '.join(heard)}>")
        screen.refresh()
        try:
            key = screen.getch()
        except curses.error:
            continue
        if key == ord("q"):
            return
        if key == curses.KEY_RESIZE:
            curses.update_lines_cols()
        elif key == curses.KEY_UP:
            heard.append("up")
curses.wrapper(main)
"""
# Runs arun on a terminal, and does the next thing as soon as the screen has what is expected.
AT_TERMINAL = """
import fcntl, os, pty, re, signal, struct, sys, termios
pid, fd = pty.fork()
if pid == 0:
    os.environ["TERM"] = "xterm"
    os.execvp("arun", ["arun", "-N1", "-n1", "-w", "n2", "--pty", "python3", "screen.py"])
def size(rows, columns):
    fcntl.ioctl(fd, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
size(30, 100)
steps = [("<30 100 >", lambda: size(41, 77)), ("<41 77 >", lambda: os.write(fd, b"\x1bOA")), ("<41 77 up>", lambda: os.write(fd, b"\x03")),
         ("<41 77 up interrupt>", lambda: os.write(fd, b"q"))]
text = ""
while True:
    try:
        part = os.read(fd, 4096)
    except OSError:
        break
    text += part.decode()
    shown = re.sub("\x1b[^a-zA-Z]*[a-zA-Z]", "", text)
    # curses draws what has changed; the whole line is drawn when its place has changed.
    if steps and (steps[0][0] in shown or (len(steps) < 3 and steps[0][0].split()[-1].rstrip(">") in shown)):
        print("saw", steps[0][0])
        steps.pop(0)[1]()
        text = ""
print("exit", os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
"""


def test_full_screen_program_follows_the_terminal(cluster):
    (cluster.work / "screen.py").write_text(SCREEN)
    (cluster.work / "at_terminal.py").write_text(AT_TERMINAL)
    lines = said(cluster, "python3 at_terminal.py", "-N2", "-n2")
    assert lines == ["saw <30 100 >", "saw <41 77 >", "saw <41 77 up>", "saw <41 77 up interrupt>", "exit 0"]


def test_steps_can_be_started_from_other_nodes(cluster):
    lines = said(cluster, """
        arun -N1 -w n2 -n1 arun --overlap -n2 -N2 bash -c 'echo $SLURM_PROCID $SLURMD_NODENAME $SLURM_STEP_ID'
        """, "-N2", "-n2")
    assert sorted(lines) == ["0 n1 1", "1 n2 1"]


def test_end_of_the_job_reaches_tasks_on_all_nodes(cluster):
    job = submitted(cluster, """
        arun -N2 -n2 bash -c 'trap "echo $SLURMD_NODENAME >> ended; exit" TERM; echo $$ >> running; while :; do sleep 0.05; done'
        """, "-N2", "-n2")
    until(lambda: len((cluster.work / "running").read_text().split()) == 2)
    cluster.cancel(job)
    cluster.wait_state(job, "CANCELLED")
    assert sorted((cluster.work / "ended").read_text().split()) == ["n1", "n2"]


def test_what_a_step_leaves_behind_ends_with_the_job(cluster):
    said(cluster, """
        arun -N2 -n2 bash -c 'setsid sleep 1000 </dev/null >/dev/null 2>&1 & echo left'
        """, "-N2", "-n2")
    def none():
        found = subprocess.run(["pgrep", "-fx", "sleep 1000"], stdout=subprocess.PIPE, text=True).stdout.split()
        ours = [pid for pid in found if str(cluster.dir) in pathlib.Path(f"/proc/{pid}/environ").read_text(errors="replace")]
        return not ours
    until(none)


def hosts(cluster):
    """Pids of the step hosts of this cluster: processes of that name below one of its node daemons."""
    parents, names = {}, {}
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            text = pathlib.Path(f"/proc/{pid}/stat").read_text()
        except OSError:
            continue
        names[int(pid)] = text[text.index("(") + 1:text.rindex(")")]
        parents[int(pid)] = int(text.rsplit(")", 1)[1].split()[1])
    daemons = {cluster.pid(f"aresd@n{i}") for i in (1, 2, 3)}

    def below(pid):
        while pid in parents:
            if pid in daemons:
                return True
            pid = parents[pid]
        return False
    return [pid for pid, name in names.items() if name == "ares-steps" and below(pid)]


@pytest.mark.skipif(os.geteuid() != 0, reason="looks into processes of the cluster")
def test_death_of_the_step_host_ends_its_steps_and_the_job_goes_on(cluster):
    job = submitted(cluster, """
        arun -n1 bash -c 'echo $$ > host.task; echo run >> host.runs; sleep 1000'; echo $? > host.code
        arun -n1 echo again
        """, "-n1")
    started(cluster, job, "host.task")
    before = hosts(cluster)
    assert before
    for pid in before:
        os.kill(pid, signal.SIGKILL)
    cluster.completed(job)
    assert (cluster.work / "host.code").read_text().strip() == "1"
    assert (cluster.work / "host.runs").read_text().split() == ["run"]
    assert "again" in cluster.output(job) and "has ended" in cluster.output(job)


@pytest.mark.skipif(os.geteuid() != 0, reason="needs another user")
def test_other_users_cannot_reach_the_steps_of_a_job(cluster):
    job = submitted(cluster, "echo $ARES_ATTEMPT_DIR > where; sleep 1000", "-n1")
    directory = started(cluster, job, "where")[0]
    done = subprocess.run([str(cluster.bin / "arun"), "true"], user="nobody", env={"ARES_ATTEMPT_DIR": directory, "PATH": "/bin"},
                          stderr=subprocess.PIPE, text=True)
    assert done.returncode != 0 and "Permission denied" in done.stderr
    cluster.cancel(job)
    cluster.wait_end(job)


def test_node_daemon_refuses_who_does_not_know_the_key(cluster):
    port = int(next(file for file in cluster.dir.rglob("step_port") if "n2" in str(file)).read_text())
    job = submitted(cluster, "sleep 1000", "-N2", "-n2")
    cluster.wait_state(job, "RUNNING")
    # Everything is right but the proof.
    spec = next(file for file in cluster.dir.rglob("spec") if "n2" in str(file) and file.parent.name == f"{job}.1").read_text()
    fence = re.search(r"^fence (\d+)$", spec, re.M).group(1)
    assert re.search(r"^rank 1$", spec, re.M)
    for line in (f"{job}.1 {fence} 0 1 {'00' * 16} {'00' * 32}\n", "nonsense\n", "../../etc 1 0 1 00 00\n"):
        with socket.create_connection(("127.0.0.1", port), timeout=10) as connection:
            stream = connection.makefile("rw")
            assert stream.readline().startswith("ares-steps 1 ")
            stream.write(line)
            stream.flush()
            assert stream.readline().startswith("no ")
            assert stream.readline() == ""
    cluster.cancel(job)
    cluster.wait_end(job)


def test_outside_of_a_job_the_remote_shell_says_what_to_do(cluster):
    done = cluster.run("ares-rsh", "n1", "true", check=False)
    assert done.returncode == 1 and "not within a job" in done.stderr
    done = cluster.run("arun", "--jobid=999999", "true", check=False)
    assert done.returncode == 1 and "Invalid job id specified: 999999" in done.stderr


# The reader of arun stops until the file `goes_on` is there.
STOPPED_READER = """
arun {options} ./task | (until [ -e goes_on ]; do read -t 0.1 <> <(:); done; cat > read)
"""


def task(cluster, text):
    file = cluster.work / "task"
    file.write_text("#!/bin/bash\n" + textwrap.dedent(text))
    file.chmod(0o755)
    for name in ("goes_on", "read", "done0", "done1"):
        (cluster.work / name).unlink(missing_ok=True)


@pytest.mark.parametrize("options", ["-n2", "-N2 -n2"])
def test_a_reader_that_stops_makes_only_the_task_wait_that_writes_too_much(cluster, options):
    task(cluster, """
        if [ $RANK = 0 ]; then seq 1 12000000
        else echo small; fi
        touch done$RANK
    """)
    job = submitted(cluster, STOPPED_READER.format(options=options), "-N2", "-n2")
    until(lambda: (cluster.work / "done1").exists())
    assert not (cluster.work / "done0").exists(), "88 MB are more than is kept"
    (cluster.work / "goes_on").touch()
    cluster.completed(job)
    lines = (cluster.work / "read").read_text().split("\n")
    lines.remove("small")
    assert lines == [str(i) for i in range(1, 12000001)] + [""]


def test_what_a_task_writes_is_kept_while_it_is_not_read(cluster):
    task(cluster, "seq 1 3000000; touch done$RANK")
    job = submitted(cluster, STOPPED_READER.format(options="-n2"), "-n2")
    until(lambda: (cluster.work / "done0").exists() and (cluster.work / "done1").exists())
    (cluster.work / "goes_on").touch()
    cluster.completed(job)
    read = (cluster.work / "read").read_text().split("\n")
    assert sorted(read) == sorted([str(i) for i in range(1, 3000001)] * 2 + [""])


def test_the_oldest_lines_are_dropped_where_that_was_asked_for(cluster):
    task(cluster, "seq 1 20000000; touch done$RANK")
    job = submitted(cluster, STOPPED_READER.format(options="--output-overflow=drop -n1 2> errors"), "-n1")
    until(lambda: (cluster.work / "done0").exists())
    (cluster.work / "goes_on").touch()
    cluster.completed(job)
    lines = (cluster.work / "read").read_text().split("\n")
    total = sum(len(str(i)) + 1 for i in range(1, 20000001))
    dropped = [int(n) for n in re.findall(r"(\d+) bytes of what this task wrote are dropped", (cluster.work / "errors").read_text())]
    assert len(dropped) == 1
    # A line that was cut has got an end of line.
    assert dropped[0] + sum(map(len, lines)) + len(lines) - 1 in (total, total + 1)
    numbers = [int(line) for line in lines[:-1]]
    cut = next(i for i in range(1, len(numbers)) if numbers[i] != numbers[i - 1] + 1)
    after = numbers[cut + 1:]
    assert numbers[:cut] == list(range(1, cut + 1)) and after == list(range(20000001 - len(after), 20000001))


def test_lines_of_tasks_do_not_mix(cluster):
    task(cluster, """
        for i in {1..2000}; do printf '%s' "$RANK "; printf '%s\\n' $i; done
    """)
    lines = said(cluster, "arun -n4 ./task", "-n4")
    assert sorted(lines) == sorted(f"{rank} {i}" for rank in range(4) for i in range(1, 2001))


def test_output_that_cannot_be_written_is_an_error(cluster):
    lines = said(cluster, """
        arun -n1 head -c 200000 /dev/zero >/dev/full; echo $?
        arun -n1 -o /dev/full head -c 200000 /dev/zero; echo $?
        arun -n1 sh -c 'head -c 200000 /dev/zero; exit 7' >/dev/full; echo $?
        """)
    lost = "arun: cannot write standard output, the rest of it is lost: No space left on device"
    assert [line for line in lines if line.isdigit()] == ["1", "1", "7"]
    assert [line for line in lines if lost in line] == [lost] * 3, lines


def test_types_of_mpi_are_listed(cluster):
    assert said(cluster, "arun --mpi=list") == ["none", "pmi1", "pmi2", "pmix"]


def test_tasks_tell_their_cpus(cluster):
    lines = said(cluster, "arun -n2 -c1 --cpu-bind=verbose,cores sh -c 'taskset -cp $$' 2>&1", "-n2", "-w", "n1")
    told = sorted(line.split(": ", 1)[1] for line in lines if line.startswith("cpu-bind: "))
    assert [line.split(": ")[0] for line in told] == ["task 0 on n1", "task 1 on n1"], lines
    assert all(line.split(": ")[1] for line in told), lines


def test_closed_standard_descriptors(cluster):
    lines = said(cluster, "arun -n1 echo lost >&-; echo $?; arun -n1 echo kept <&- 2>&-; echo $?")
    assert lines == ["0", "kept", "0"]
