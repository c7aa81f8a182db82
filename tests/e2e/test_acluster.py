# Tests: acluster/munge, acluster/network, acluster/supervisor, actions, aresctld/options, service
# Tests: cluster_config, hosted_node, layout, node_host, postgres, process, readiness, services
# Tests: state_dir
"""acluster: up, down, status, env, logs and pid; several clusters at once; no processes remain, also after a crash."""

import os
import pwd
import re
import signal
import subprocess
import sys
import tempfile

import pytest

from cluster import BIN, processes_naming, until


def control_groups(cluster):
    """Folders of the control groups of running jobs."""
    found = []
    for record in (cluster.dir / "spool").rglob("started"):
        for group in re.findall(r"^cgroups (\S+)$", record.read_text(), re.MULTILINE):
            found += group.split(":")
    return found


def test_down_leaves_no_process_and_up_keeps_the_data(fresh):
    cluster = fresh("--nodes=1", "--cpus=2", own_database=True)
    job = cluster.wrap("true")
    cluster.completed(job)
    cluster.wait_state(cluster.wrap("sleep 1000"), "RUNNING")
    groups = control_groups(cluster)
    assert os.geteuid() != 0 or all(os.path.isdir(group) for group in groups[:1])
    cluster.acluster("down")
    assert processes_naming(str(cluster.dir)) == []
    assert not [group for group in groups if os.path.exists(group)]
    assert cluster.acluster("status", check=False).returncode != 0
    cluster.up("--dir", str(cluster.dir))
    assert cluster.account(job, "State") == "COMPLETED"
    assert cluster.run("ainfo", "-h", "-o", "%c").stdout.strip() == "2"


def test_down_ends_all_processes_after_a_supervisor_crash(fresh):
    cluster = fresh("--nodes=1")
    os.kill(cluster.pid("supervisor"), signal.SIGKILL)
    assert cluster.pid("aresctld")
    cluster.acluster("down")
    assert processes_naming(str(cluster.dir)) == []


def test_up_supervises_the_daemons_of_a_crashed_supervisor(fresh):
    cluster = fresh("--nodes=1")
    controller = cluster.pid("aresctld")
    os.kill(cluster.pid("supervisor"), signal.SIGKILL)
    cluster.up("--dir", str(cluster.dir))
    assert cluster.pid("aresctld") == controller
    os.kill(controller, signal.SIGKILL)
    until(lambda: cluster.pid("aresctld") != controller)


def test_without_supervision_daemons_are_not_restarted(fresh):
    cluster = fresh("--nodes=1", "--no-supervise")
    os.kill(cluster.pid("aresd@n1"), signal.SIGKILL)
    until(lambda: cluster.acluster("pid", "aresd@n1", check=False).returncode != 0)
    assert cluster.acluster("pid", "supervisor", check=False).returncode != 0
    cluster.up("--no-supervise")
    cluster.completed(cluster.wrap("true"))


def test_the_role_that_reads_the_views_of_accounting_exists(fresh):
    cluster = fresh("--nodes", "1", own_database=True)
    cluster.completed(cluster.wrap("true", "-o", "/dev/null"))
    words = cluster.database()
    assert cluster.postgres("psql", "-XAtq", *words[:4], "-U", "postgres", *words[6:], "-c",
                            "SET ROLE ares_reader; SELECT count(*) FROM ares_views.job") == "1"
    assert "ares_reader" not in cluster.acluster("logs", "--lines=1000", "aresctld").stdout


def test_two_clusters_run_independently(fresh):
    one, two = fresh("--nodes=1"), fresh("--nodes=2")
    a, b = one.wrap("echo one"), two.wrap("echo two")
    one.completed(a)
    two.completed(b)
    assert (one.output(a), two.output(b)) == ("one\n", "two\n")
    one.acluster("down")
    two.completed(two.wrap("true"))


def test_cluster_runs_in_a_folder_with_a_long_path(fresh):
    cluster = fresh("--nodes=1")
    deep = cluster.top / ("long" * 30)
    cluster.acluster("down")
    deep.mkdir(mode=0o755)
    cluster.dir = deep / "c"
    cluster.up("--nodes=1")
    target = os.readlink(cluster.dir / "run")
    cluster.completed(cluster.wrap("true"))
    cluster.acluster("down")
    assert not os.path.exists(target)


def test_two_hundred_mock_nodes_run_a_job(fresh):
    cluster = fresh("--nodes=200", "--exec=mock")
    assert cluster.run("ainfo", "-h", "-o", "%D").stdout.strip() == "200"
    cluster.completed(cluster.wrap("true", "-N50"))


def test_options_can_only_change_while_the_cluster_is_down(fresh):
    cluster = fresh("--nodes=1")
    done = cluster.acluster("up", "--nodes=2", check=False)
    assert done.returncode != 0 and "other options" in done.stderr
    cluster.acluster("down")
    cluster.up("--nodes=2")
    assert cluster.run("ainfo", "-h", "-o", "%D").stdout.strip() == "2"


def test_up_keeps_a_configuration_that_was_changed_by_hand(fresh):
    cluster = fresh("--nodes=1", "--cpus=2")
    file = cluster.dir / "ares.yaml"
    changed = "# mine\n" + file.read_text().replace("cpus: 2", "cpus: 3")
    file.write_text(changed)
    cluster.acluster("up")
    assert file.read_text() == changed, "of a cluster that runs"
    cluster.acluster("down")
    assert "changed by hand" in cluster.acluster("up").stdout
    assert file.read_text() == changed
    assert cluster.run("ainfo", "-h", "-o", "%c").stdout.strip() == "3"
    cluster.acluster("down")
    done = cluster.acluster("up", "--nodes=2", check=False)
    assert done.returncode == 1 and "changed by hand" in done.stderr and "move it away" in done.stderr
    file.write_text(re.sub("spool: .*", "spool: /nowhere", changed))
    done = cluster.acluster("up", check=False)
    assert done.returncode == 1 and "/nowhere" in done.stderr and f"{cluster.dir}/spool/%n" in done.stderr
    assert "spool: /nowhere" in file.read_text()
    file.rename(cluster.top / "mine.yaml")
    cluster.up("--nodes=2")
    assert cluster.run("ainfo", "-h", "-o", "%D %c").stdout.strip() == "2 2"


def test_nodes_that_were_added_by_hand_start_with_the_next_up(fresh):
    cluster = fresh("--nodes=1")
    file = cluster.dir / "ares.yaml"
    file.write_text(file.read_text().replace('"n1"', '"n[1-2]"'))
    done = cluster.acluster("up", check=False)
    assert done.returncode == 1 and "node n2" in done.stderr and "acluster down" in done.stderr
    cluster.acluster("down")
    cluster.acluster("up")
    cluster.completed(cluster.wrap("true", "-w", "n2"))


def test_up_replaces_no_file_of_the_user(tmp_path):
    file = tmp_path / "ares.yaml"
    file.write_text("cluster: mine\n")
    done = subprocess.run([BIN / "acluster", "up", "--dir", tmp_path], text=True, capture_output=True, timeout=60)
    assert done.returncode == 1 and "--config" in done.stderr
    assert file.read_text() == "cluster: mine\n" and not (tmp_path / "procs").exists()


@pytest.mark.parametrize("words,expected", [
    (["--nodes=0"], "--nodes"), (["--memory=lots"], "--memory"), (["--exec=magic"], "magic"),
    (["--gpus=a100:2", "--topology=x"], "exclude"), (["--isolate", "--exec=mock"], "--isolate")])
def test_invalid_options_are_refused(words, expected):
    with tempfile.TemporaryDirectory() as top:
        done = subprocess.run([BIN / "acluster", "up", "--dir", f"{top}/c", *words], text=True, capture_output=True)
        assert done.returncode == 1 and expected in done.stderr
        assert not os.path.exists(f"{top}/c/procs")


def test_isolated_nodes_get_scripts_by_rpc_only(fresh):
    if os.geteuid() != 0:
        pytest.skip("only root can make namespaces")
    cluster = fresh("--nodes=2", "--isolate")
    job = cluster.wrap("ls %s; echo; cat /proc/net/dev | grep -c eth0; hostname; getent hosts n1" % (cluster.dir / "spool"), "-w", "n2")
    cluster.completed(job)
    assert cluster.output(job).split() == ["n2", "1", "n2", "10.77.0.2", "n1"]


def sockets_of_daemons(cluster):
    """Sockets that only daemons need: of munged, of PostgreSQL, of gRPC."""
    config = (cluster.dir / "ares.yaml").read_text()
    munge = re.search(r'munge_socket: "?([^"\n]+)"?', config).group(1)
    database = re.search(r'host: "?(/[^"\n]+)"?', config).group(1)
    controller = re.search(r'unix:([^"\]\s]+)', config).group(1)
    return [munge, f"{database}/.s.PGSQL.5432", controller]


def test_archive_of_a_private_cluster_is_below_its_folder(fresh):
    cluster = fresh("--nodes=1")
    assert f"dir: {cluster.dir}/archive" in (cluster.dir / "ares.yaml").read_text().replace('"', "")


def test_other_users_submit_but_do_not_reach_munged_or_postgresql(fresh, others):
    cluster = fresh("--nodes=1")
    for path in sockets_of_daemons(cluster):
        done = subprocess.run([sys.executable, "-c", "import socket, sys; socket.socket(socket.AF_UNIX).connect(sys.argv[1])", path],
                              user=pwd.getpwnam(others[0]).pw_uid, group=pwd.getpwnam(others[0]).pw_gid, extra_groups=[],
                              text=True, capture_output=True)
        assert "PermissionError" in done.stderr, (path, done.stderr)
    job = cluster.wrap("id -un", user=others[0])
    cluster.completed(job)
    assert cluster.output(job) == f"{others[0]}\n"


def test_commands_on_the_controllers_machine_need_no_munge(fresh, others):
    cluster = fresh("--nodes=1", "--no-supervise")
    munged = cluster.pid("munged")
    os.kill(munged, signal.SIGKILL)
    until(lambda: cluster.acluster("pid", "munged", check=False).returncode != 0)
    job = cluster.wrap("true", user=others[0])
    cluster.completed(job)
    assert cluster.account(job, "User") == others[0]


def test_deleted_sockets_are_made_again(fresh):
    cluster = fresh("--nodes=1", "--no-supervise")
    controller = sockets_of_daemons(cluster)[2]
    os.unlink(controller)
    os.unlink(controller + ".call")
    os.kill(cluster.pid("aresd@n1"), signal.SIGKILL)
    until(lambda: cluster.acluster("pid", "aresd@n1", check=False).returncode != 0)
    cluster.up("--no-supervise")
    cluster.completed(cluster.wrap("true"))
