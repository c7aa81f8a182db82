# Tests: reconfigure
"""Reconfiguration of a running cluster: checked first, applied completely or not at all, with a list of the changes."""

import json
import os
import re
import signal

import pytest

from cluster import Cluster, f1, until


@pytest.fixture
def cluster():
    made = Cluster(config=f1())
    yield made
    made.close()


def edit(cluster, pattern, replacement, count=1):
    path = cluster.dir / "ares.yaml"
    text, done = re.subn(pattern, replacement, path.read_text(), flags=re.M)
    assert done >= count, f"{pattern} is not in {path.read_text()}"
    path.write_text(text)


def test_setdebug_changes_the_log_until_the_next_reconfigure(cluster, others):
    def logged():
        return (cluster.dir / "log" / "aresctld.log").read_text()

    def lines_of_a_ping():
        before = len(logged())
        cluster.run("actl", "ping")
        return logged()[before:]
    assert "request to" not in lines_of_a_ping()
    told = cluster.run("actl", "setdebug", "verbose").stdout + cluster.run("actl", "setdebug", "debug").stdout
    assert "from level debug on, in place of info" in told
    until(lambda: "request to" in lines_of_a_ping())
    assert "log level debug in place of info, asked for by root" in logged()
    cluster.run("actl", "setdebug", "quiet")
    assert "log level error in place of debug" in logged(), "the log has this line at any level"
    assert lines_of_a_ping() == ""
    cluster.run("actl", "setdebug", "debug2")
    until(lambda: "request to" in lines_of_a_ping())
    cluster.run("actl", "reconfigure")
    assert "request to" not in lines_of_a_ping()
    refused = cluster.run("actl", "setdebug", "loud", check=False)
    assert refused.returncode == 1 and "no level; use trace, debug, info, warn or error" in refused.stderr
    refused = cluster.run("actl", "setdebug", "debug", check=False, user=others[0])
    assert refused.returncode == 1 and "operators" in refused.stderr


def test_changed_limits_and_policy_apply_at_once(cluster):
    edit(cluster, r'(name: "?main"?, .*max_time: )[^,}]+', r"\g<1>00:10:00")
    edit(cluster, r"max_array_size: \d+", "max_array_size: 5")
    shown = cluster.run("actl", "reconfigure", "--dry-run").stdout
    assert "would change:" in shown and "partition main: max_time: " in shown
    assert cluster.run("asub", "-t", "11", "-H", "--wrap", "true").returncode == 0, "nothing has changed yet"
    shown = cluster.run("actl", "reconfigure").stdout
    assert "changed:" in shown and "policy: max_array_size: 100001 -> 5" in shown
    assert "allows at most 00:10:00" in cluster.run("asub", "-t", "11", "--wrap", "true", check=False).stderr
    refused = cluster.run("asub", "--array=0-5", "--wrap", "true", check=False).stderr
    assert "6 tasks; at most 5 are allowed (policy.max_array_size)" in refused
    assert "max_array_size: 5" in cluster.run("actl", "show", "config").stdout
    assert "no change" in cluster.run("actl", "reconfigure").stdout
    cluster.completed(cluster.wrap("true", "--array=0-4"))


def test_invalid_file_changes_nothing(cluster):
    good = (cluster.dir / "ares.yaml").read_text()
    before = cluster.run("actl", "show", "config").stdout
    edit(cluster, r"^partitions:", "partitons:")
    line = next(i for i, text in enumerate((cluster.dir / "ares.yaml").read_text().splitlines(), 1) if "partitons" in text)
    for _ in range(2):
        done = cluster.run("actl", "reconfigure", check=False)
        assert done.returncode == 1
        assert f'ares.yaml:{line}: unknown key "partitons"; did you mean "partitions"?' in done.stderr
    assert cluster.run("actl", "show", "config").stdout == before
    (cluster.dir / "ares.yaml").write_text(good.replace("cluster: ", "cluster: x"))
    done = cluster.run("actl", "reconfigure", check=False)
    assert done.returncode == 1 and "cannot change" in done.stderr
    (cluster.dir / "ares.yaml").write_text(good)
    cluster.completed(cluster.wrap("true"))


def test_removed_node_finishes_its_job_and_removed_partition_is_the_reason(cluster):
    edit(cluster, r"^partitions:\n", 'partitions:\n  - {name: night, nodes: "n[3-4]"}\n')
    cluster.run("actl", "reconfigure")
    running = cluster.wrap("while [ ! -e go.removed ]; do sleep 0.1; done; echo done", "-p", "night", "-w", "n4")
    cluster.wait_state(running, "RUNNING")
    waiting = cluster.wrap("true", "-p", "night", "-H")
    of_both = cluster.wrap("true", "-p", "night,main", "-H")
    path = cluster.dir / "ares.yaml"
    text = path.read_text()
    text = re.sub(r"^  - \{name: \"?night.*\n", "", text, flags=re.M)
    text = text.replace("n[1-4]", "n[1-3]").replace("n[3-4]", "n3").replace("n[2-4]", "n[2-3]")
    path.write_text(text)
    shown = cluster.run("actl", "reconfigure").stdout
    assert "node n4: " in shown and "partition night: " in shown
    cluster.run("actl", "release", waiting)
    cluster.wait_reason(waiting, "InvalidPartition")
    assert "night does not exist any more" in cluster.show("job", waiting)
    assert of_both in cluster.show("job", of_both)
    assert cluster.run("aqueue", "--why", of_both).stdout
    cluster.run("actl", "release", of_both)
    cluster.completed(of_both)
    assert cluster.queue(running) == "RUNNING"
    (cluster.work / "go.removed").touch()
    cluster.completed(running)
    assert cluster.output(running) == "done\n"
    until(lambda: "n4" not in cluster.run("ainfo", "-N", "-h").stdout)
    cluster.cancel(waiting)
    os.kill(cluster.pid("aresctld"), signal.SIGKILL)
    until(lambda: cluster.run("actl", "ping", check=False).returncode == 0)
    assert "n4" not in cluster.run("ainfo", "-N", "-h").stdout, "nor after a restart"


def test_reconfigure_undoes_changes_made_by_commands(cluster):
    cluster.run("actl", "update", "partition=main", "state=down")
    before = cluster.pid("aresctld")
    os.kill(before, signal.SIGKILL)
    until(lambda: cluster.pid("aresctld") != before)
    assert "State=DOWN" in cluster.show("partition", "main")
    shown = cluster.run("actl", "reconfigure", "--dry-run").stdout
    assert "partition main: state: down -> up (undoes a command)" in shown
    answer = json.loads(cluster.run("actl", "--json", "reconfigure").stdout)
    assert answer["applied"] and answer["changes"][0]["undoes_command"]
    assert "State=UP" in cluster.show("partition", "main")


def test_cpus_that_a_node_has_reported_come_back_at_once(fresh):
    made = fresh(config=f1().replace('{name: "n1", cpus: 4', '{name: "n1", cpus: 3'))

    def change(cpus):
        edit(made, r'(name: "?n1"?, cpus: )\d+', rf"\g<1>{cpus}")
        return made.run("actl", "reconfigure").stdout
    until(lambda: made.run("ainfo", "-h", "-N", "-n", "n1", "-o", "%t").stdout == "idle\n")
    assert "node n1: cpus: 3 -> 2\n" in change(2)
    assert "CPUTot=2 " in made.show("node", "n1")
    assert "node n1: cpus: 2 -> 3\n" in change(3)
    assert "CPUTot=3 " in made.show("node", "n1")
    assert "node n1: cpus: 3 -> 5 (when aresd is restarted there)\n" in change(5)
    assert "CPUTot=3 " in made.show("node", "n1")


def test_sighup_reconfigures_and_settings_that_need_a_restart_are_listed(cluster):
    edit(cluster, r"kill_wait: \d+", "kill_wait: 7")
    edit(cluster, r"lease: \d+", "lease: 299")
    edit(cluster, r"^  port: \d+", "  port: 1")
    pid = cluster.pid("aresctld")
    shown = cluster.run("actl", "reconfigure", "--dry-run").stdout
    assert re.search(r"database: port: \d+ -> 1 \(when aresctld is restarted\)", shown)
    os.kill(pid, signal.SIGHUP)
    until(lambda: "kill_wait: 7" in cluster.run("actl", "show", "config").stdout)
    config = cluster.run("actl", "show", "config").stdout
    assert "lease: 299" in config and "port: 1\n" not in config
    assert cluster.pid("aresctld") == pid
    cluster.completed(cluster.wrap("true"))


def test_only_administrators_reconfigure_and_other_files_are_for_dry_runs(cluster, others, tmp_path):
    other = tmp_path / "other.yaml"
    other.write_text((cluster.dir / "ares.yaml").read_text().replace("kill_wait: 2", "kill_wait: 9"))
    assert "kill_wait: 2 -> 9" in cluster.run("actl", "reconfigure", "--dry-run", str(other)).stdout
    assert cluster.run("actl", "reconfigure", str(other), check=False).returncode == 1
    done = cluster.run("actl", "reconfigure", user=others[0], check=False)
    assert done.returncode == 1 and "only administrators may" in done.stderr
