# Tests: query_rows, query_nodes, waiting_rows, accounting_columns, pg_attempts, cli/output/colour
"""Columns that show what jobs ask for and where they ran, in the queue, in accounting and of nodes; colours and --helpformat."""
import os
import pty
import subprocess

import pytest

from cluster import BIN, Cluster, f1, until


@pytest.fixture(scope="module")
def cluster():
    cluster = Cluster(config=f1().replace("default: true", "default: true, max_cpus_per_node: 3"))
    yield cluster
    cluster.close()


def words(cluster, *command):
    return cluster.run(*command).stdout.rstrip("\n").split("|")


def test_what_a_job_asks_for_is_shown_while_it_waits_and_for_ever(cluster):
    asked = ("--prefer=fast", "--extra", '{"ticket": 12}', "--exclusive=user")
    job = cluster.wrap("true", "-H", *asked)
    group = subprocess.run(["id", "-gn"], stdout=subprocess.PIPE, text=True, check=True).stdout.strip()
    assert words(cluster, "aqueue", "-h", "-j", job, "-O", "GroupName:20|,Prefer:20|,Extra:20|,ReqSwitch:20|,SegmentSize:20") == [
        text.ljust(20) for text in (group, "fast", '{"ticket": 12}', "0")] + ["0"]
    assert cluster.run("aqueue", "-h", "-j", job, "-o", "%g").stdout == group + "\n"
    fields = "Extra,OverSubscribe,SegmentSize,Reservation,Container"
    expected = ['{"ticket": 12}', "USER", "0", "", ""]
    assert words(cluster, "aacct", "-n", "-X", "-P", "-j", job, "-o", fields) == expected
    cluster.run("actl", "release", job)
    cluster.wait_end(job)
    until(lambda: words(cluster, "aacct", "-n", "-X", "-P", "-j", job, "-o", "State") == ["COMPLETED"])
    assert words(cluster, "aacct", "-n", "-X", "-P", "-j", job, "-o", fields) == expected


def test_reservations_of_jobs_and_nodes(cluster):
    cluster.run("actl", "create", "reservation", "ReservationName=maint", "Nodes=n2", "StartTime=now", "Duration=10", "Users=root")
    assert words(cluster, "ainfo", "-h", "-N", "-n", "n[1-2]", "-o", "%n %i") == ["n1 \nn2 maint"]
    listed = cluster.run("ainfo", "-T").stdout.splitlines()
    assert listed[0].split() == ["RESV_NAME", "STATE", "START_TIME", "END_TIME", "DURATION", "NODELIST"]
    assert [listed[1].split()[i] for i in (0, 1, 4, 5)] == ["maint", "ACTIVE", "00:10:00", "n2"]
    job = cluster.wrap("true", "--reservation=maint")
    assert cluster.run("aqueue", "-h", "-t", "all", "-j", job, "-o", "%v").stdout == "maint\n"
    never = cluster.wrap("true", "-H", "--reservation=maint")
    cluster.wait_end(job)
    until(lambda: words(cluster, "aacct", "-n", "-X", "-P", "-j", job, "-o", "State") == ["COMPLETED"])
    assert words(cluster, "aacct", "-n", "-X", "-P", "-j", job, "-o", "Reservation,ReqReservation") == ["maint", "maint"]
    assert words(cluster, "aacct", "-n", "-X", "-P", "-j", never, "-o", "Reservation,ReqReservation") == ["", "maint"]
    cluster.cancel(never)


def test_layout_of_nodes(cluster):
    sockets, cores, threads = (int(word) for word in cluster.run("ainfo", "-h", "-n", "n1", "-o", "%z").stdout.strip().split(":"))
    assert sockets * cores * threads > 0
    assert cluster.run("ainfo", "-h", "-n", "n1", "-o", "%X|%Y|%Z|%B").stdout == f"{sockets}|{cores}|{threads}|3\n"
    assert f"CpuLayout={sockets} socket" in cluster.show("node", "n1")


def on_a_terminal(cluster, *command, **environment):
    """What the command prints there."""
    env = cluster.environment(TERM="xterm", **environment)
    own, other = pty.openpty()
    with subprocess.Popen([str(BIN / command[0]), *command[1:]], stdin=other, stdout=other, stderr=other, env=env) as process:
        os.close(other)
        text = b""
        while True:
            try:
                part = os.read(own, 65536)
            except OSError:
                break
            if not part:
                break
            text += part
        assert process.wait(60) == 0, text
    os.close(own)
    return text.decode().replace("\r\n", "\n")


def test_states_are_coloured_on_terminals_only(cluster):
    job = cluster.wrap("true", "-H")
    green, yellow, end = "\033[32m", "\033[33m", "\033[0m"
    listing = ("aqueue", "-h", "-j", job, "-o", "%i %T %u")
    plain = cluster.run(*listing).stdout
    assert "\033" not in plain
    assert on_a_terminal(cluster, *listing) == plain.replace("PENDING", f"{yellow}PENDING{end}")
    assert on_a_terminal(cluster, *listing, NO_COLOR="1") == plain
    assert on_a_terminal(cluster, *listing, "--color=never") == plain
    assert cluster.run(*listing, "--color").stdout == plain.replace("PENDING", f"{yellow}PENDING{end}")
    assert "\033" not in on_a_terminal(cluster, "aqueue", "-j", job, "--json")
    until(lambda: cluster.run("ainfo", "-h", "-n", "n1", "-o", "%t").stdout == "idle\n")
    assert on_a_terminal(cluster, "ainfo", "-h", "-n", "n1", "-o", "%n %t") == f"n1 {green}idle{end}\n"
    assert f"{yellow}PENDING{end}" in on_a_terminal(cluster, "aacct", "-j", job)
    assert "\033" not in on_a_terminal(cluster, "aacct", "-j", job, "-P")
    assert cluster.run("aqueue", "--color=red", check=False).stderr == 'aqueue: --color: "red": expected auto, always or never\n'
    cluster.cancel(job)


@pytest.mark.parametrize("command, line", [("aqueue", "%g  GroupName           the group's name"), ("ainfo", "%X  Sockets"),
                                           ("aacct", "ReqReservation"), ("astat", "JobID")])
def test_columns_are_listed_by_helpformat(cluster, command, line):
    assert any(shown.startswith(line) for shown in cluster.run(command, "--helpformat").stdout.splitlines())


@pytest.mark.parametrize("command, word", [(("aqueue", "-O", "DerivedEC"), "aacct -o DerivedExitCode"), (("ainfo", "-o", "%w"), "Weight"),
                                           (("aacct", "-o", "MaxRSSTask"), "records of steps do not name tasks")])
def test_what_has_no_value_is_refused_with_a_reason(cluster, command, word):
    done = cluster.run(*command, check=False)
    assert done.returncode == 1 and word in done.stderr and "not supported:" in done.stderr, done.stderr
