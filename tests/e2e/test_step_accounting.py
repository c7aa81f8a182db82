# Tests: steps/host, store/pg/steps/step_rows, accounting_steps, aresctld/accounting/step_rows, step_signal, task_usage, arun/session
"""Accounting of steps: the rows JOB.batch, JOB.0, ... of aacct, astat of steps, and signals to single steps."""

import json
import os
import re
import signal
import textwrap
import time

import pytest

from cluster import Cluster, until

CONFIG = """
cluster: stepacct
controller: {operators: [root]}
policy: {kill_wait: 2, heartbeat: 1, launch_backoff: 1, master_ports: 21000-21099}
nodes:
  - {name: "n[1-3]", cpus: 4, memory: 2000M}
partitions:
  - {name: main, nodes: "n[1-3]", default: true}
"""
BURN = "python3 -c 'import time\nwhile time.process_time() < 1: pass'"


@pytest.fixture(scope="module")
def cluster():
    made = Cluster(config=CONFIG)
    yield made
    made.close()


def submitted(cluster, text, *options):
    return cluster.submit(*options, str(cluster.script("#!/bin/bash\n" + textwrap.dedent(text))))


def rows(cluster, job, fields, *words):
    """Rows of accounting: {id: {field: text}}."""
    lines = cluster.run("aacct", "-n", "-P", "-j", str(job), "-o", "JobID," + fields, *words).stdout.splitlines()
    names = fields.split(",")
    return {line.split("|")[0]: dict(zip(names, line.split("|")[1:])) for line in lines}


def running(cluster, job):
    until(lambda: cluster.queue(job) == "RUNNING")


def seconds(text):
    parts = [float(part) for part in text.split(":")]
    return sum(part * 60 ** power for power, part in enumerate(reversed(parts)))


def test_steps_have_rows_with_their_own_state_times_and_use(cluster):
    job = submitted(cluster, f"""
        arun -N2 -n4 {BURN}
        arun -n1 --exact bash -c 'exit 3'
        arun -n1 bash -c 'kill -SEGV $$'
        true
    """, "-N2", "--ntasks-per-node=2")
    cluster.completed(job)
    fields = "JobName,State,ExitCode,DerivedExitCode,NTasks,NNodes,NodeList,AllocCPUS,TotalCPU,MaxRSS,AveRSS,Start,End,Elapsed"
    found = rows(cluster, job, fields)
    assert list(found) == [job, f"{job}.batch", f"{job}.0", f"{job}.1", f"{job}.2"]
    whole, batch, first, failed, killed = found.values()
    assert (whole["State"], whole["ExitCode"], whole["DerivedExitCode"]) == ("COMPLETED", "0:0", "3:0")
    assert (batch["JobName"], batch["State"], batch["NTasks"], batch["NNodes"]) == ("batch", "COMPLETED", "1", "1")
    assert (first["JobName"], first["State"], first["ExitCode"]) == ("python3", "COMPLETED", "0:0")
    assert (first["NTasks"], first["NNodes"], first["AllocCPUS"]) == ("4", "2", "4")
    assert first["NodeList"] == whole["NodeList"]
    assert 4 <= seconds(first["TotalCPU"]) < 30
    assert first["MaxRSS"] and first["AveRSS"]
    assert seconds(batch["TotalCPU"]) < seconds(first["TotalCPU"])  # what steps used is not the script's
    assert (failed["State"], failed["ExitCode"], failed["NNodes"]) == ("FAILED", "3:0", "1")
    assert (killed["State"], killed["ExitCode"]) == ("FAILED", "0:11")
    for step in (first, failed, killed):
        assert whole["Start"] <= step["Start"] <= step["End"] <= whole["End"]
    assert list(rows(cluster, job, "State", "-X")) == [job]


def test_steps_can_be_asked_for_by_name(cluster):
    job = submitted(cluster, "arun -n1 true; arun -n1 true")
    cluster.completed(job)
    assert list(rows(cluster, f"{job}.batch", "State")) == [f"{job}.batch"]
    assert list(rows(cluster, f"{job}.1,{job}.0", "State")) == [f"{job}.0", f"{job}.1"]
    assert rows(cluster, f"{job}.7", "State") == {}
    told = json.loads(cluster.run("aacct", "--json", "-j", job).stdout)["rows"][0]["steps"]
    assert [step["number"] for step in told] == ["-1", "0", "1"] or [step["number"] for step in told] == [-1, 0, 1]


def test_job_without_steps_has_a_row_of_its_script(cluster):
    job = submitted(cluster, f"{BURN}; exit 4")
    cluster.wait_end(job)
    batch = rows(cluster, f"{job}.batch", "State,ExitCode,TotalCPU,MaxRSS")[f"{job}.batch"]
    assert (batch["State"], batch["ExitCode"]) == ("FAILED", "4:0")
    assert seconds(batch["TotalCPU"]) >= 1


def test_cancelled_job_cancels_its_steps(cluster):
    job = submitted(cluster, "arun -n1 sleep 1000")
    running(cluster, job)
    until(lambda: f"{job}.0" in rows(cluster, job, "State"))
    cluster.run("acancel", job)
    cluster.wait_end(job)
    found = rows(cluster, job, "State,ExitCode")
    assert found[f"{job}.0"]["State"] == "CANCELLED"
    assert found[f"{job}.batch"]["State"] == "CANCELLED"


def test_running_steps_are_shown_with_what_they_use(cluster):
    job = submitted(cluster, """
        arun -n1 --exact true
        arun -N2 -n2 python3 -c 'while True: pass'
    """, "-N2")
    running(cluster, job)

    def live():
        found = rows(cluster, job, "State,NNodes")
        return found if found.get(f"{job}.1", {}).get("State") == "RUNNING" else None
    found = until(live)
    assert found[f"{job}.batch"]["State"] == "RUNNING"
    assert found[f"{job}.0"]["State"] == "COMPLETED"
    assert found[f"{job}.1"]["NNodes"] == "2"

    def used():
        line = cluster.run("astat", "-n", "-P", "-j", f"{job}.1", "-o", "JobID,NTasks,TotalCPU,MaxRSS").stdout.strip()
        return line if line and seconds(line.split("|")[2]) > 1 and line.split("|")[3] else None
    assert until(used, 60).split("|")[:2] == [f"{job}.1", "2"]
    everything = cluster.run("astat", "-n", "-P", "-j", job, "--allsteps", "-o", "JobID").stdout.split()
    assert everything == [f"{job}.batch", f"{job}.1"]
    assert cluster.run("astat", "-n", "-P", "-j", f"{job}.batch", "-o", "JobID").stdout.split() == [f"{job}.batch"]
    cluster.run("acancel", job)
    cluster.wait_end(job)


def test_single_step_is_cancelled_and_the_job_goes_on(cluster):
    job = submitted(cluster, """
        arun -n1 sleep 1000
        echo "rc $?"
        arun -n1 bash -c 'trap "" TERM; echo ignores > ignoring; sleep 1000'
        echo "rc $?"
    """)
    running(cluster, job)
    until(lambda: f"{job}.0" in rows(cluster, job, "State"))
    cluster.run("acancel", f"{job}.0")
    until(lambda: (cluster.work / "ignoring").exists())
    began = time.monotonic()
    until(lambda: f"{job}.1" in rows(cluster, job, "State"))
    cluster.run("acancel", f"{job}.1")
    cluster.completed(job)
    assert time.monotonic() - began >= 2  # kill_wait, as for jobs
    assert re.findall(r"rc (\d+)", "\n".join(cluster.output(job).splitlines())) == ["143", "137"]
    found = rows(cluster, job, "State,ExitCode")
    assert found[f"{job}.0"] == {"State": "CANCELLED by 0", "ExitCode": "0:15"}
    assert found[f"{job}.1"] == {"State": "CANCELLED by 0", "ExitCode": "0:9"}
    assert found[f"{job}.batch"]["State"] == "COMPLETED"


def test_signal_to_one_step_reaches_its_tasks_on_all_nodes_and_no_other(cluster):
    trap = 'trap "echo $ARES_STEP_ID $ARES_PROCID got it; exit 0" USR1; echo > ready.$ARES_STEP_ID.$ARES_PROCID; while :; do sleep 0.1; done'
    job = submitted(cluster, f"""
        arun -N2 -n2 --overlap bash -c '{trap}' &
        first=$!
        while ! ls ready.*.0 ready.*.1 > /dev/null 2>&1; do sleep 0.1; done
        arun -n1 --overlap bash -c 'touch second; sleep 1000' &
        wait $first
        acancel $ARES_JOB_ID.1
        wait
    """, "-N2")
    running(cluster, job)
    until(lambda: (cluster.work / "second").exists())
    cluster.run("acancel", "--signal=USR1", f"{job}.0")
    cluster.completed(job)
    assert sorted(cluster.output(job).splitlines())[:2] == ["0 0 got it", "0 1 got it"]
    found = rows(cluster, job, "State")
    assert found[f"{job}.0"]["State"] == "COMPLETED"
    assert found[f"{job}.1"]["State"].startswith("CANCELLED")  # from within the job


def test_only_the_user_may_cancel_a_step(cluster):
    job = submitted(cluster, "arun -n1 sleep 1000")
    running(cluster, job)
    done = cluster.run("acancel", f"{job}.0", check=False, user="daemon")
    assert done.returncode != 0 and job in done.stderr
    cluster.run("acancel", job)
    cluster.wait_end(job)


def test_master_port_is_the_jobs_alone_on_its_first_node(cluster):
    script = "echo $MASTER_ADDR $MASTER_PORT; arun -n2 bash -c 'echo $MASTER_PORT'; sleep 1000"
    jobs = [submitted(cluster, script, "-w", "n1", "-n2") for _ in range(2)]
    alone = submitted(cluster, "echo ${MASTER_PORT-none}")
    ports = set()
    for job in jobs:
        lines = until(lambda job=job: len(cluster.output(job).splitlines()) == 3 and cluster.output(job).splitlines())
        port = lines[0].split()[1]
        assert lines[1:] == [port, port] and 21000 <= int(port) <= 21099
        ports.add(port)
    assert len(ports) == 2
    cluster.completed(alone)
    assert cluster.output(alone).split() == ["none"]
    cluster.run("acancel", *jobs)
    for job in jobs:
        cluster.wait_end(job)


def test_steps_survive_a_restart_of_the_node_daemon(cluster):
    job = submitted(cluster, "arun -n1 bash -c 'while [ ! -e goon ]; do sleep 0.1; done'; exit 5", "-w", "n3")
    running(cluster, job)
    until(lambda: f"{job}.0" in rows(cluster, job, "State"))
    os.kill(cluster.pid("aresd@n3"), signal.SIGKILL)
    (cluster.work / "goon").write_text("")
    cluster.wait_end(job)
    found = rows(cluster, job, "State,ExitCode")
    said = cluster.output(job)
    assert found[f"{job}.0"] == {"State": "COMPLETED", "ExitCode": "0:0"}, said
    assert found[f"{job}.batch"] == {"State": "FAILED", "ExitCode": "5:0"}


def test_steps_go_to_archives_with_their_job_and_come_back(cluster):
    job = submitted(cluster, "arun -n2 true; arun -n1 false", "-n2")
    cluster.wait_end(job)
    fields = "State,ExitCode,NTasks,TotalCPU,Start,End"
    before = rows(cluster, job, fields)
    assert len(before) == 4
    line = cluster.psql(f"SELECT archive_line(row_to_json(a)::text, a.job_id, a.task, a.attempt) FROM attempt_done a WHERE job_id = {job}")
    assert [step["step"] for step in json.loads(line)["steps"]] == [-1, 0, 1]
    cluster.psql(f"DELETE FROM attempt_done WHERE job_id = {job}; DELETE FROM attempt_step WHERE job_id = {job}")
    assert rows(cluster, job, fields) == {}
    loaded = line.replace("'", "''")
    assert cluster.psql(f"SELECT archive_load(jsonb_build_array('{loaded}'::jsonb))") == "1"
    assert rows(cluster, job, fields) == before
    seen = cluster.psql(f"SELECT step, state, exit_code, tasks FROM ares_views.step WHERE job_id = {job} ORDER BY started, step")
    assert set(seen.splitlines()) == {"batch|FAILED|1|1", "0|COMPLETED|0|2", "1|FAILED|1|1"}
