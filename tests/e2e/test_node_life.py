"""Nodes that go bad, are mended, drained, rebooted, and that join and leave, through the real commands."""
import contextlib
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import time

import pytest

import nvml
from cluster import BIN, Cluster, until

CONFIG = """
cluster: life
controller: {{operators: [root]}}
policy:
  kill_wait: 2
  heartbeat: 1
  launch_backoff: 1
  launch_backoff_max: 1
  launch_guard: {{failures: 3, window: 60, retry_after: {retry}}}
  max_clock_offset: 30
  resume_timeout: {resume}
  dynamic_nodes: [{{names: "d[1-3]", partitions: [main], most: 2}}]
nodes:
  - {{name: "n[1-4]", cpus: 4, memory: 4000M{gpus}}}
partitions:
  - {{name: main, nodes: "n[1-4]", default: true, default_memory_per_cpu: 100M}}
node: {{reboot_program: "{program}"}}
"""
JOBS = 200

# Moves the wall clock of a process by the seconds in the file $CLOCK_OFFSET.
CLOCK_SHIM = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
int clock_gettime(clockid_t id, struct timespec *at) {
  static int (*real)(clockid_t, struct timespec *);
  if (!real) real = dlsym(RTLD_NEXT, "clock_gettime");
  int done = real(id, at);
  const char *path = getenv("CLOCK_OFFSET");
  FILE *file = id == CLOCK_REALTIME && path ? fopen(path, "r") : 0;
  long by = 0;
  if (file) {
    if (fscanf(file, "%ld", &by) == 1) at->tv_sec += by;
    fclose(file);
  }
  return done;
}
"""


@pytest.fixture
def make():
    made = []

    def build(retry=600, resume=600, program="/bin/true", gpus=""):
        made.append(Cluster("--no-supervise", config=CONFIG.format(retry=retry, resume=resume, program=program, gpus=gpus)))
        return made[-1]

    yield build
    for cluster in made:
        cluster.close()


def node(cluster, name):
    return json.loads(cluster.run("actl", "--json", "show", "node", name).stdout)["nodes"][0]


def wait_node(cluster, name, state, seconds=30):
    def look():
        found = node(cluster, name)
        assert found["state"] == state, f"{found['state']} {found['reason']}"
        return found
    return until(look, seconds)


def submit_many(cluster, *words):
    return cluster.submit(f"--array=1-{JOBS}", "-o", "/dev/null", *words, "--wrap", "true")


def check_all_completed(cluster, array, seconds=180):
    ended = cluster.wait_end(array, seconds)
    assert len(ended) == JOBS and set(ended.values()) == {"COMPLETED"}, ended
    restarts = {line for line in cluster.run("aacct", "-X", "-n", "-P", "-j", array, "-o", "Restarts").stdout.split()}
    assert restarts <= {"0"}, restarts


def spool(cluster, name):
    return cluster.dir / "spool" / name


def stop_daemon(cluster, name):
    pid = cluster.pid(f"aresd@{name}")
    os.kill(pid, signal.SIGTERM)
    until(lambda: not pathlib.Path(f"/proc/{pid}").exists())


@contextlib.contextmanager
def own_daemon(cluster, name, *words, before=(), **environment):
    """An aresd that acluster does not know of, such as one of a node that joins."""
    log = open(cluster.work / f"aresd-{name}.log", "a")
    process = subprocess.Popen([*before, str(BIN / "aresd"), "--config", str(cluster.dir / "ares.yaml"), "--node", name, *words],
                               env=cluster.environment(**environment), stdin=subprocess.DEVNULL, stdout=log, stderr=log)
    try:
        yield process
    finally:
        if process.poll() is None:
            process.terminate()
        process.wait(timeout=20)
        log.close()


# --- bad nodes ---------------------------------------------------------------------------------------------------------
def test_a_node_whose_launches_fail_hurts_no_job_and_is_back_when_mended(make):
    cluster = make(retry=5)
    jobs = spool(cluster, "n2") / "jobs"
    jobs.rename(spool(cluster, "n2") / "away")
    jobs.write_text("")  # nothing can be made in it
    array = submit_many(cluster)
    bad = wait_node(cluster, "n2", "DRAINED")
    assert bad["reason"].startswith("3 launches failed within 00:01:00; last: cannot write to the node's spool: "), bad
    assert bad["reason_user"] == "controller" and bad["retry_at"] > 0
    reasons = cluster.run("ainfo", "-R").stdout  # before it is tried again
    assert re.search(r"launch\S* .*controller +\d{4}-\d\d-\d\dT\S+ +n2", reasons), reasons
    check_all_completed(cluster, array)

    # It is tried with one job, which runs elsewhere when that fails too; the next pause is longer.
    tried = cluster.wrap("true", "-w", "n[1-4]", "-N4", "--no-requeue")
    until(lambda: "the launch failed with which it was tried again" in node(cluster, "n2")["reason"])
    jobs.unlink()
    (spool(cluster, "n2") / "away").rename(jobs)
    cluster.completed(tried, 60)
    assert node(cluster, "n2")["state"] == "IDLE"
    assert not node(cluster, "n2")["on_trial"]

    history = cluster.run("actl", "show", "node", "n2", "--history").stdout
    whats = [line.split()[2] for line in history.splitlines()[1:]]
    assert whats[0] == "REGISTERED"
    assert [what for what in whats if what in ("DRAIN", "RESUME")][:4] == ["DRAIN", "RESUME", "DRAIN", "RESUME"], history
    assert whats.count("LAUNCH_FAILED") >= 4
    assert "is tried again with one job" in history and "controller" in history


def test_what_the_guard_knows_survives_the_controller(make):
    cluster = make(retry=600)
    jobs = spool(cluster, "n2") / "jobs"
    jobs.rename(spool(cluster, "n2") / "away")
    jobs.write_text("")
    cluster.completed(cluster.submit("--array=1-20", "-o", "/dev/null", "--wrap", "true"))
    before = wait_node(cluster, "n2", "DRAINED")
    os.kill(cluster.pid("aresctld"), signal.SIGKILL)
    cluster.up()
    after = wait_node(cluster, "n2", "DRAINED")
    assert [after[key] for key in ("reason", "reason_at", "retry_at")] == [before[key] for key in ("reason", "reason_at", "retry_at")]
    jobs.unlink()
    (spool(cluster, "n2") / "away").rename(jobs)
    cluster.run("actl", "resume", "n2")
    resumed = node(cluster, "n2")
    assert (resumed["state"], resumed["retry_at"], resumed["on_trial"]) == ("IDLE", 0, False)
    cluster.completed(cluster.wrap("true", "-w", "n2"))


def test_a_node_with_a_full_disk_hurts_no_job_and_is_back_when_there_is_space(make):
    if os.geteuid() != 0:
        pytest.skip("only root can mount a small file system")
    cluster = make()
    stop_daemon(cluster, "n3")
    wait_node(cluster, "n3", "IDLE*")
    place = spool(cluster, "n3")
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=32m,mode=755", "tmpfs", str(place)], check=False).returncode != 0:
        pytest.skip("no right to mount a small file system")
    try:
        cluster.up()
        wait_node(cluster, "n3", "IDLE")
        with open(place / "fill", "wb", buffering=0) as out, contextlib.suppress(OSError):
            while True:
                out.write(bytes(1 << 16))
        array = submit_many(cluster)
        wait_node(cluster, "n3", "DRAINED")  # at first perhaps because of launches
        until(lambda: node(cluster, "n3")["reason"] == f"the disk of the spool is full: {place}")
        check_all_completed(cluster, array)
        (place / "fill").unlink()
        wait_node(cluster, "n3", "IDLE")
        cluster.completed(cluster.wrap("true", "-w", "n3"))
        stop_daemon(cluster, "n3")
    finally:
        subprocess.run(["umount", "-l", str(place)], check=True)


@pytest.mark.parametrize("spool_is_new", [False, True], ids=["its own spool after a reboot", "a new spool"])
def test_a_daemon_that_starts_on_a_full_disk_says_so_and_is_in_service_when_there_is_space(make, spool_is_new):
    if os.geteuid() != 0:
        pytest.skip("only root can mount a small file system")
    cluster = make()
    stop_daemon(cluster, "n3")
    wait_node(cluster, "n3", "IDLE*")
    place = spool(cluster, "n3")
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=32m,mode=755", "tmpfs", str(place)], check=False).returncode != 0:
        pytest.skip("no right to mount a small file system")
    try:
        if not spool_is_new:
            with own_daemon(cluster, "n3"):
                wait_node(cluster, "n3", "IDLE")
        with open(place / "fill", "wb", buffering=0) as out, contextlib.suppress(OSError):
            while True:
                out.write(bytes(1 << 12))
        with own_daemon(cluster, "n3", before=another_boot(cluster, "n3")):
            bad = wait_node(cluster, "n3", "DRAINED")
            assert bad["reason"] == f"the disk of the spool is full: {place}", bad
            check_all_completed(cluster, submit_many(cluster))
        # Another boot finds it still full.
        registered = node(cluster, "n3")["registered_at"]
        with own_daemon(cluster, "n3", before=another_boot(cluster, "n3")):
            until(lambda: node(cluster, "n3")["registered_at"] > registered)
            assert wait_node(cluster, "n3", "DRAINED")["reason"] == f"the disk of the spool is full: {place}"
            (place / "fill").unlink()
            wait_node(cluster, "n3", "IDLE")
            cluster.completed(cluster.wrap("true", "-w", "n3"))
    finally:
        subprocess.run(["umount", "-l", str(place)], check=True)


def test_a_node_with_a_wrong_clock_hurts_no_job_and_is_back_when_it_is_right(make):
    compiler = shutil.which("cc") or shutil.which("gcc")
    if not compiler:
        pytest.skip("no C compiler")
    cluster = make()
    (cluster.work / "shim.c").write_text(CLOCK_SHIM)
    shim, offset = cluster.work / "shim.so", cluster.work / "offset"
    subprocess.run([compiler, "-shared", "-fPIC", "-O1", "-o", shim, cluster.work / "shim.c", "-ldl"], check=True)
    offset.write_text("0")
    stop_daemon(cluster, "n4")
    wait_node(cluster, "n4", "IDLE*")
    with own_daemon(cluster, "n4", LD_PRELOAD=str(shim), CLOCK_OFFSET=str(offset)):
        wait_node(cluster, "n4", "IDLE")
        offset.write_text("100")
        bad = wait_node(cluster, "n4", "DRAINED")
        assert re.fullmatch(r"its clock is 00:01:(39|40) ahead of the controller's \(max_clock_offset\)", bad["reason"]), bad
        check_all_completed(cluster, submit_many(cluster))
        offset.write_text("0")
        wait_node(cluster, "n4", "IDLE")
        cluster.completed(cluster.wrap("true", "-w", "n4"))


def test_a_node_whose_gpu_has_leftover_memory_hurts_no_job_and_is_back_when_it_is_clean(make, tmp_path, monkeypatch):
    def machine(folder, used=0, processes=()):
        folder.mkdir(exist_ok=True)
        gpus = [{"index": i, "name": "NVIDIA A100-SXM4-40GB", "uuid": f"GPU-{i}", "memory_bytes": 40 << 30} for i in range(2)]
        gpus[1].update(memory_used_bytes=used, processes=list(processes))
        return nvml.environment(folder, {"format": 1, "gpus": gpus, "links": [["X", "NV12"], ["NV12", "X"]]})

    for key, value in machine(tmp_path / "good").items():
        monkeypatch.setenv(key, value)
    cluster = make(gpus=", gpu_discovery: nvml")
    stop_daemon(cluster, "n3")
    wait_node(cluster, "n3", "IDLE*")
    stub = machine(tmp_path / "bad", used=30 << 30)["ARES_NVML_STUB"]
    with own_daemon(cluster, "n3", ARES_NVML_STUB=stub):
        array = submit_many(cluster, "--gres=gpu:1")
        bad = wait_node(cluster, "n3", "DRAINED")
        assert bad["reason"] == "GPU 1 is not clean: more than 1G of its memory is in use (gpu_idle_memory)", bad
        check_all_completed(cluster, array)
        machine(tmp_path / "bad")
        wait_node(cluster, "n3", "IDLE")

        # What a job leaves behind is no failure of it; the next one starts when the GPU is clean.
        leaves = cluster.wrap(f"until [ -e {cluster.work}/go ]; do sleep 0.05; done", "-w", "n3", "--gres=gpu:2")
        cluster.wait_state(leaves, "RUNNING")
        foreign = subprocess.Popen(["sleep", "1000"])
        try:
            machine(tmp_path / "bad", processes=[foreign.pid])
            (cluster.work / "go").touch()
            cluster.completed(leaves)
            bad = wait_node(cluster, "n3", "DRAINED")
            assert bad["reason"] == f"GPU 1 is not clean: process {foreign.pid} (sleep) of uid {os.geteuid()} uses it", bad
            waits = cluster.wrap("true", "-w", "n3", "--gres=gpu:2")
            cluster.wait_reason(waits, "ReqNodeNotAvail")
        finally:
            foreign.kill()
            foreign.wait()
        cluster.completed(waits)
        assert node(cluster, "n3")["state"] == "IDLE"


# --- drain -------------------------------------------------------------------------------------------------------------
def test_drain_waits_and_lists_what_still_runs(make):
    cluster = make()
    job = cluster.wrap(f"until [ -e {cluster.work}/go ]; do sleep 0.05; done", "-w", "n1", "-J", "slow", "-t", "10")
    cluster.wait_state(job, "RUNNING")
    waiting = subprocess.Popen([str(BIN / "actl"), "drain", "n[1-2]", "reason=new disk", "--wait"], env=cluster.environment(), text=True,
                               stdout=subprocess.PIPE)
    assert waiting.stdout.readline() == "1 job is still there:\n"
    assert re.fullmatch(rf"  n1: job {job} of \S+ \(slow\), until \S+T\S+ at the latest\n", waiting.stdout.readline())
    assert node(cluster, "n1")["state"] == "DRAINING" and node(cluster, "n2")["state"] == "DRAINED"
    assert waiting.poll() is None
    (cluster.work / "go").touch()
    assert waiting.communicate(timeout=20)[0] == "nothing runs on n[1-2] any more\n"
    assert waiting.returncode == 0
    assert node(cluster, "n1")["state"] == "DRAINED"
    again = cluster.run("actl", "drain", "n1", "--wait").stdout
    assert again == "nothing runs on n1 any more\n"
    refused = cluster.run("actl", "drain", "n3", "--wait", check=False)
    assert refused.returncode != 0 and "node n3 is in service (IDLE): drain it first, with a reason" in refused.stderr

    lines = cluster.run("ainfo", "-R").stdout.splitlines()
    assert len(lines) == 2 and re.fullmatch(r"new disk +root +\d\S+T\S+ +n\[1-2\] *", lines[1]), lines
    history = cluster.run("actl", "show", "node", "n[1-2]", "--history").stdout.splitlines()
    assert sum(bool(re.match(r"\S+T\S+ +n[12] +DRAIN +root +new disk$", line)) for line in history) == 2, history
    told = json.loads(cluster.run("actl", "--json", "show", "node", "n2", "--history").stdout)["events"]
    assert [(e["what"], e["user"], e["detail"]) for e in told if e["what"] == "DRAIN"] == [("DRAIN", "root", "new disk")]


def test_a_node_that_is_expected_to_fail(make):
    cluster = make()
    job = cluster.wrap(f"until [ -e {cluster.work}/go ]; do sleep 0.05; done", "-w", "n1")
    cluster.wait_state(job, "RUNNING")
    cluster.run("actl", "update", "node=n1", "state=fail", "reason=ECC errors")
    assert node(cluster, "n1")["state"] == "FAILING"
    (cluster.work / "go").touch()
    wait_node(cluster, "n1", "FAIL")
    assert cluster.run("ainfo", "-h", "-t", "fail", "-o", "%n %t").stdout.split() == ["n1", "fail"]
    waits = cluster.wrap("true", "-w", "n1")
    cluster.wait_reason(waits, "ReqNodeNotAvail")
    cluster.run("actl", "resume", "n1")
    cluster.completed(waits)


# --- reboot ------------------------------------------------------------------------------------------------------------
def reboot_program(folder):
    """A reboot program that only writes a line."""
    path = folder / "reboot"
    path.write_text(f'#!/bin/sh\necho "$ARES_NODE_NAME $#" >> {path}.log\n')
    path.chmod(0o755)
    return path


def another_boot(cluster, name):
    """Words before a command that runs it on a machine of another boot."""
    boot = cluster.work / f"boot-{name}"
    boot.write_text("00000000-0000-4000-8000-%012x\n" % time.monotonic_ns())
    return ["unshare", "-m", "sh", "-c", f'mount --bind {boot} /proc/sys/kernel/random/boot_id && exec "$@"', "sh"]


def test_reboot_when_idle_and_back_with_the_next_boot(make, tmp_path):
    if os.geteuid() != 0:
        pytest.skip("only root can show another boot id")
    program = reboot_program(tmp_path)
    log = pathlib.Path(f"{program}.log")
    cluster = make(program=str(program))
    job = cluster.wrap(f"until [ -e {cluster.work}/go ]; do sleep 0.05; done", "-w", "n1")
    cluster.wait_state(job, "RUNNING")
    cluster.run("actl", "reboot", "asap", "nextstate=resume", "reason=new kernel", "n1")
    assert node(cluster, "n1")["reboot"] == "ASAP"
    assert "@" in cluster.run("ainfo", "-h", "-n", "n1", "-o", "%t").stdout
    waits = cluster.wrap("true", "-w", "n1")
    cluster.wait_reason(waits, "ReqNodeNotAvail")
    assert not log.exists()
    (cluster.work / "go").touch()
    wait_node(cluster, "n1", "REBOOT_ISSUED")
    assert until(lambda: log.exists() and log.read_text()) == "n1 0\n"
    refused = cluster.run("actl", "cancel_reboot", "n1", check=False)
    assert "node n1 reboots already" in refused.stderr
    stop_daemon(cluster, "n1")
    with own_daemon(cluster, "n1", before=another_boot(cluster, "n1")):
        until(lambda: not node(cluster, "n1")["reboot"])
        cluster.completed(waits)
    assert log.read_text() == "n1 0\n", "once"
    history = cluster.run("actl", "show", "node", "n1", "--history").stdout
    for what in (r"REBOOT_REQUESTED +root +new kernel", r"REBOOT_ISSUED +controller", r"REBOOT_OVER +controller"):
        assert re.search(what, history), history


def test_a_node_that_does_not_come_back_from_its_reboot_is_down(make):
    cluster = make(resume=3)
    cluster.run("actl", "reboot", "n1")
    down = wait_node(cluster, "n1", "DOWN")
    assert down["reason"] == "did not register within 00:00:03 after its reboot (resume_timeout)"


# --- nodes that join ---------------------------------------------------------------------------------------------------
def test_a_node_joins_runs_jobs_and_leaves_without_a_change_of_the_configuration(make):
    cluster = make()
    refused = subprocess.run([str(BIN / "aresd"), "--node", "d1"], env=cluster.environment(), text=True, capture_output=True, timeout=30)
    assert "has no node d1; add it under `nodes`, or let it join (--join)" in refused.stderr
    with own_daemon(cluster, "d1", "--join"):
        joined = wait_node_exists(cluster, "d1")
        assert joined["state"] == "IDLE" and joined["partitions"] == ["main"] and joined["dynamic"]
        job = cluster.wrap(f"until [ -e {cluster.work}/go ]; do sleep 0.05; done", "-w", "d1")
        cluster.wait_state(job, "RUNNING")
        busy = cluster.run("actl", "delete", "node", "d1", check=False)
        assert "jobs run on node d1" in busy.stderr
        cluster.run("actl", "reconfigure")
        os.kill(cluster.pid("aresctld"), signal.SIGKILL)
        cluster.up()
        assert node(cluster, "d1")["dynamic"], "it is still there"
        (cluster.work / "go").touch()
        cluster.completed(job)
    with own_daemon(cluster, "x1", "--join"):
        until(lambda: "no rule of dynamic_nodes" in (cluster.work / "aresd-x1.log").read_text() + cluster.logs())
    cluster.run("actl", "delete", "node", "d1")
    assert "Invalid node name specified: d1" in cluster.run("actl", "show", "node", "d1", check=False).stderr
    history = cluster.run("actl", "show", "node", "d1", "--history").stdout
    assert re.search(r"d1 +JOINED +controller +partitions main", history) and re.search(r"d1 +LEFT", history), history
    cluster.completed(cluster.wrap("true"))


def wait_node_exists(cluster, name):
    def look():
        done = cluster.run("actl", "--json", "show", "node", name, check=False)
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)["nodes"][0]
    return until(look)
