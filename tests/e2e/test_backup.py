# Tests: state_dir
"""Backup and restore as described in ares-backup(7): the restored state is that of the dump, and no job runs twice."""

import os
import re
import signal
import subprocess

from cluster import BIN, f1, processes_naming, until

CONFIG = f1() + "accounting: {enforce: associations}\n"


def alive(pid):
    try:
        return open(f"/proc/{pid}/stat").read().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def stop_controller(cluster):
    pid = cluster.pid("aresctld")
    os.kill(pid, signal.SIGTERM)
    until(lambda: not alive(pid))


def dump(cluster):
    file = cluster.work / "ares.dump"
    words = cluster.database()
    # The cluster may keep running: the dump has the state of one moment.
    cluster.postgres("pg_dump", *words[:-2], words[-1], "-Fc", "-f", file)
    return file


def restore(cluster, file):
    """Restores into a new database of the same name."""
    name = cluster.database()[-1]
    where = cluster.database()[:4] + ["-U", "postgres"]
    cluster.postgres("dropdb", *where, "--force", name)
    cluster.postgres("createdb", *where, "-O", "ares", name)
    cluster.postgres("pg_restore", *where, "--exit-on-error", "-d", name, file)


def epoch(cluster):
    said = re.search(r"epoch (\d+), lsn (\d+)", cluster.run("actl", "ping").stdout)
    return int(said.group(1)), int(said.group(2))


def runs(cluster, name):
    """The lines that a job's script wrote, one for each start."""
    file = cluster.work / name
    return file.read_text().splitlines() if file.exists() else []


def counting(cluster, name, then="", *words):
    """Submits a job that writes a line when it starts and, by default, runs until it is cancelled."""
    file = cluster.work / name
    return cluster.wrap(f"echo run >> {file}; {then or f'tail -f {file}'}", "-o", "/dev/null", "-A", "physics", *words)


def processes(cluster, name):
    return processes_naming(f"tail -f {cluster.work / name}")


def a_site(fresh):
    cluster = fresh("--no-supervise", config=CONFIG)
    cluster.run("aacctmgr", "-i", "add", "account", "physics")
    cluster.run("aacctmgr", "-i", "add", "user", "root", "account=physics")
    return cluster


def everything(cluster):
    """The state as users and administrators see it."""
    return {
        "accounting": cluster.run("aacct", "-D", "-P", "-S", "now-1day", "-o",
                                  "JobID,JobName,State,Account,Submit,Start,End,AllocTRES,ExitCode,NodeList").stdout,
        "records": cluster.run("aacctmgr", "dump").stdout,
        "queue": cluster.run("aqueue", "-h", "-o", "%i %T %r %u %a %N").stdout,
        "nodes": cluster.run("ainfo", "-h", "-N", "-o", "%N %T %C").stdout,
        "audit": cluster.psql("SELECT * FROM audit ORDER BY id"),
    }


def test_restored_dump_has_the_same_state(fresh):
    cluster = a_site(fresh)
    done = counting(cluster, "done", "true")
    running = counting(cluster, "running")
    held = counting(cluster, "held", "true", "-H")
    array = cluster.submit("--array=0-9%2", "-o", "/dev/null", "-A", "physics", "-H", "--wrap", f"echo x >> {cluster.work}/array")
    cluster.completed(done)
    cluster.wait_state(running, "RUNNING")
    ran = until(lambda: processes(cluster, "running"))
    cluster.run("actl", "drain", "n4", "reason=broken")
    before, was = everything(cluster), epoch(cluster)

    stop_controller(cluster)
    file = dump(cluster)
    restore(cluster, file)
    cluster.up("--no-supervise")
    now = epoch(cluster)
    assert now[0] > was[0] and now[1] >= was[1]
    until(lambda: everything(cluster)["nodes"] == before["nodes"])
    assert everything(cluster) == before
    # The running job still runs, with the same processes.
    assert cluster.state(running) == "RUNNING"
    assert processes(cluster, "running") == ran
    cluster.run("actl", "release", held)
    cluster.completed(held)
    cluster.run("actl", "release", array)
    assert set(cluster.wait_end(array, 60).values()) == {"COMPLETED"}
    cluster.cancel(running)
    assert set(cluster.wait_end(running).values()) == {"CANCELLED"}
    assert len(runs(cluster, "done")) == len(runs(cluster, "running")) == len(runs(cluster, "held")) == 1
    assert len(runs(cluster, "array")) == 10
    after = counting(cluster, "after", "true")
    assert int(after) > int(array)
    cluster.completed(after)
    assert cluster.run("aacctmgr", "-i", "show", "runawayjobs").stdout.startswith("No runaway jobs")


def test_older_dump_needs_accept_rollback_and_runs_no_job_twice(fresh):
    """The cluster continued after the dump: aresctld accepts it only with --accept-rollback."""
    cluster = a_site(fresh)
    stays = counting(cluster, "stays")
    ends = counting(cluster, "ends", f"while [ ! -e {cluster.work}/go ]; do sleep 0.1; done")
    for job in (stays, ends):
        cluster.wait_state(job, "RUNNING")
    stayed = until(lambda: processes(cluster, "stays"))
    until(lambda: runs(cluster, "ends"))
    held = counting(cluster, "held", "true", "-H")
    was = epoch(cluster)
    file = dump(cluster)

    later = counting(cluster, "later")
    cluster.wait_state(later, "RUNNING")
    until(lambda: processes(cluster, "later"))
    stop_controller(cluster)
    (cluster.work / "go").touch()  # the job ends while no controller runs
    restore(cluster, file)
    refused = subprocess.run([BIN / "aresctld", "--config", cluster.dir / "ares.yaml"], text=True, timeout=30,
                             stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env=cluster.environment())
    assert refused.returncode != 0 and "--accept-rollback" in refused.stdout
    assert "an older copy was restored" in refused.stdout

    log = open(cluster.work / "controller.log", "w")
    controller = subprocess.Popen([BIN / "aresctld", "--config", cluster.dir / "ares.yaml", "--accept-rollback"],
                                  stdout=log, stderr=subprocess.STDOUT, env=cluster.environment())
    try:
        until(lambda: "4 of 4 nodes answer" in cluster.run("actl", "ping", check=False).stdout, 60)
        now = epoch(cluster)
        assert now[0] > was[0] and now[1] > was[1]
        # Jobs that run according to the dump have the state that the nodes report.
        assert cluster.state(stays) == "RUNNING"
        assert set(cluster.wait_end(ends).values()) == {"COMPLETED"}
        # A job that is not in the dump is ended, and its id is not used again.
        until(lambda: not processes(cluster, "later"))
        assert cluster.account(later, "State") == ""
        fresh_one = counting(cluster, "fresh", "true")
        assert int(fresh_one) > int(later)
        cluster.completed(fresh_one)
        cluster.run("actl", "release", held)
        cluster.completed(held)
        assert processes(cluster, "stays") == stayed
        for name in ("stays", "ends", "later", "held", "fresh"):
            assert len(runs(cluster, name)) == 1, name
        cluster.cancel(stays)
        cluster.wait_end(stays)
        assert cluster.run("aacctmgr", "-i", "show", "runawayjobs").stdout.startswith("No runaway jobs")
    finally:
        controller.send_signal(signal.SIGTERM)
        controller.wait(30)
        log.close()
    # Later starts need no option.
    cluster.up("--no-supervise")
    cluster.completed(counting(cluster, "normal", "true"))
