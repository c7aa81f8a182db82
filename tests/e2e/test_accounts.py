# Tests: aacctmgr/command, edit_request, aacctmgr/interact, aacctmgr/json, aacctmgr/load
# Tests: aacctmgr/print, account_commands, dump, file_commands, prompt, qos_properties, remote
"""Accounts, users and QOS through aacctmgr: add, modify, delete, dump and load, permissions, and the effects on jobs."""

import json
import os
import re
import signal
import subprocess

import pytest

from cluster import BIN, Cluster, f1, until

CONFIG = f1() + "accounting: {enforce: associations}\n"
NOTHING = "accounts: {root: {}}\n"


@pytest.fixture(scope="module")
def shared():
    made = Cluster(config=CONFIG)
    yield made
    made.close()


@pytest.fixture
def cluster(shared):
    """With the root account only."""
    mgr(shared, "-iQ", "load", "-", "clean", input=NOTHING)
    yield shared


def mgr(cluster, *words, check=True, **more):
    return cluster.run("aacctmgr", *words, check=check, **more)


def do(cluster, line, **more):
    return mgr(cluster, "-i", *line.split(), **more)


def shown(cluster, entity, *words):
    return mgr(cluster, "-n", "-P", "show", entity, *words).stdout.splitlines()


def refused(cluster, *words, **more):
    done = mgr(cluster, *words, check=False, **more)
    assert done.returncode == 1, done.stdout + done.stderr
    return done.stderr


def site(cluster):
    do(cluster, "add qos high priority=10")
    do(cluster, "add account science fairshare=3 MaxTRESPerJob=cpu=8,mem=1G")
    do(cluster, "add account physics,biology parent=science")
    do(cluster, "add user root,daemon account=physics")
    do(cluster, "add user root account=biology partition=main")


def test_accounts_users_and_qos_are_added_and_shown(cluster):
    assert shown(cluster, "association", "format=account,user,share") == ["root||1"]
    site(cluster)
    tree = mgr(cluster, "show", "association", "tree", "format=account%-14,user,partition,share,maxtresperjob").stdout
    assert [line.split() for line in tree.splitlines()[2:]] == [
        ["root", "1"], ["science", "3", "cpu=8,mem=1G"], ["biology", "1"], ["biology", "root", "main", "1"],
        ["physics", "1"], ["physics", "daemon", "1"], ["physics", "root", "1"]]
    assert "\n   physics" in tree, "indented by its depth"
    assert shown(cluster, "user", "format=user,defaultaccount") == ["daemon|physics", "root|physics"]
    assert shown(cluster, "qos", "format=name,priority") == ["high|10", "normal|0"]
    everything = json.loads(mgr(cluster, "--json", "show", "account", "science").stdout)
    assert everything["cluster"] == "test" and everything["enforce"] == "associations"
    [science] = everything["accounts"]
    assert science["limits"] == {"MaxTRESPerJob": {"cpu": 8, "mem": 1024}} and science["shares"] == 3 and science["id"] > 1
    assert mgr(cluster, "-p", "show", "qos", "high", "format=name%30,flags").stdout == "Name|Flags|\nhigh||\n"


def test_changes_are_shown_and_have_to_be_confirmed(cluster):
    no = mgr(cluster, "add", "account", "a", "fairshare=5", input="n\n", check=False)
    assert no.returncode == 1 and "add account a\n" in no.stdout and "fairshare: 5" in no.stdout
    assert "Nothing was changed." in no.stdout
    assert shown(cluster, "account", "format=account") == ["root"]
    yes = mgr(cluster, "add", "account", "a", input="y\n")
    assert "Done: 1 added" in yes.stdout
    again = mgr(cluster, "-i", "modify", "account", "a", "set", "fairshare=1")
    assert again.stdout == "Nothing changes.\n"
    dry = mgr(cluster, "--dry-run", "delete", "account", "a")
    assert "remove account a" in dry.stdout and shown(cluster, "account", "a", "format=account") == ["a"]
    assert "--readonly" in refused(cluster, "-r", "-i", "delete", "account", "a")


def test_reservation_for_an_account_that_is_not_there_is_refused(cluster):
    site(cluster)
    of = ("starttime=now+1hour", "duration=5", "nodes=n1")
    done = cluster.run("actl", "create", "reservation", "wrong", *of, "accounts=physics,nope", check=False)
    assert done.returncode == 1 and "there is no account nope" in done.stderr
    cluster.run("actl", "create", "reservation", "right", *of, "accounts=physics")
    done = cluster.run("actl", "update", "reservation", "right", "accounts=nope", check=False)
    assert done.returncode == 1 and "there is no account nope" in done.stderr
    cluster.run("actl", "delete", "reservation", "right")


def test_list_and_limit_values_are_added_and_removed(cluster):
    site(cluster)
    do(cluster, "modify account physics set qos+=high,normal MaxTRESPerJob=gres/gpu:a100=4 MaxWall=2-00:00:00")
    do(cluster, "modify user where name=daemon account=physics set qos+=high defaultqos=high")
    fields = "format=user,qos,defaultqos,maxtresperjob,maxwall"
    assert shown(cluster, "association", "account=physics", fields) == [
        "|high,normal||gres/gpu:a100=4|2-00:00:00", "daemon||high||", "root||||"], "it inherits high and has no list of its own"
    do(cluster, "modify account where name=physics set qos-=normal MaxTRESPerJob=gres/gpu:a100=-1,cpu=2 MaxWall=")
    assert shown(cluster, "association", "account=physics", fields)[0] == "|high||cpu=2|"
    removed = do(cluster, "delete qos high").stdout
    assert "remove QOS high" in removed and "InvalidQOS" in removed and "defaultqos: high -> (none)" in removed
    assert shown(cluster, "association", "account=physics", fields)[:2] == ["|||cpu=2|", "daemon||||"]


@pytest.mark.parametrize("line, said", [
    ("add acount a", 'did you mean "account"'),
    ("add account a fairshair=3", 'did you mean "fairshare"'),
    ("add account a parent=none", "there is no account none"),
    ("add account a,root", "account root exists already"),
    ("add user daemon account=nowhere", "there is no account nowhere"),
    ("add account a MaxTRESPerJob=cpus=3", 'did you mean "cpu"'),
    ("add user daemon account=root adminlevel=admin", "ares.yaml"),
    ("modify account root set parent=root", "above all accounts"),
    ("modify account root set defaultqos=none", "there is no QOS none"),
    ("delete account root", "cannot be deleted"),
    ("show transaction account=a", "not chosen by"),
    ("delete transaction user=a", "only shown"),
    ("frobnicate", "unknown command"),
])
def test_refusals_name_the_cause_and_change_nothing(cluster, line, said):
    assert said in refused(cluster, "-i", *line.split())
    assert shown(cluster, "account", "format=account") == ["root"], "all or nothing"


def test_running_jobs_of_a_deleted_account_finish_and_pending_ones_wait(cluster):
    """The reason of the pending job is InvalidAccount until the account exists again."""
    site(cluster)
    running = cluster.wrap("sleep 3", "-A", "physics", "-t1")
    cluster.wait_state(running, "RUNNING")
    waiting = cluster.wrap("true", "-A", "physics", "-t1", "--begin=now+2")
    shows = do(cluster, "delete account science").stdout
    assert "remove account physics" in shows and "remove user daemon in account physics" in shows
    assert "defaultaccount: physics -> (none)" in shows and "InvalidAccount" in shows
    assert shown(cluster, "account", "format=account") == ["root"]
    cluster.wait_reason(waiting, "InvalidAccount")
    cluster.completed(running)
    denied = cluster.run("asub", "-A", "physics", "--wrap", "true", check=False)
    assert denied.returncode == 1 and "physics" in denied.stderr
    do(cluster, "add account physics")
    do(cluster, "add user root account=physics")
    cluster.completed(waiting)


def test_dumped_records_load_again_unchanged(cluster):
    site(cluster)
    do(cluster, "add coordinator account=physics names=daemon")
    do(cluster, "add wckey sun user=daemon")
    file = cluster.work / "tree.yaml"
    assert "records of cluster test" in mgr(cluster, "dump", file).stdout
    text = file.read_text()
    assert mgr(cluster, "-i", "load", file, "clean").stdout == "Nothing changes.\n"

    file.write_text(re.sub(" *coordinators: daemon\n", "", text.replace("fairshare: 3", "fairshare: 4")))
    dry = mgr(cluster, "load", file, "-t").stdout
    assert "fairshare: 3 -> 4" in dry and "coordinators: daemon -> (none)" in dry and "Would be: 2 modified" in dry
    assert shown(cluster, "account", "science", "withassoc", "format=share") == ["3"]
    mgr(cluster, "-i", "load", file)
    assert shown(cluster, "account", "science", "withassoc", "format=share") == ["4"]

    mgr(cluster, "-i", "load", "-", "clean", input=NOTHING)
    assert shown(cluster, "user") == []
    mgr(cluster, "-i", "load", "-", input=text)
    assert mgr(cluster, "dump").stdout == text, "the same from nothing"
    wrong = refused(cluster, "-i", "load", "-", input="accounts:\n  root:\n    fairshair: 3\n")
    assert "standard input:3:" in wrong and 'did you mean "fairshare"' in wrong


def test_permissions_of_users_and_coordinators(cluster, others):
    coordinator, plain = others
    site(cluster)
    do(cluster, f"add user {plain} account=biology")
    do(cluster, f"add coordinator account=physics names={coordinator}")
    assert shown(cluster, "coordinator", "format=account,user") == [f"physics|{coordinator}"]
    # All users may read; only operators and coordinators may change.
    assert mgr(cluster, "-nP", "show", "account", "physics", "format=account", user=plain).stdout == "physics\n"
    for line in (f"modify user {plain} set fairshare=100", "delete account science", "add qos mine",
                 f"add user {plain} account=physics"):
        assert "may not" in refused(cluster, "-i", *line.split(), user=plain)
    # A coordinator may change their account and those below it.
    do(cluster, "add account lasers parent=physics", user=coordinator)
    do(cluster, f"add user {plain} account=lasers fairshare=2", user=coordinator)
    assert shown(cluster, "association", f"user={plain}", "format=account,share") == ["biology|1", "lasers|2"]
    for line in ("add account x parent=biology", f"add user {coordinator} account=biology",
                 f"modify user where user={plain} account=lasers set priority=9",
                 f"modify user where user={plain} account=lasers set qos+=high"):
        assert "may not" in refused(cluster, "-i", *line.split(), user=coordinator)
    # A user that the coordinator added is taken out again, and added again.
    for verb in ("add", "delete", "add", "delete"):
        do(cluster, f"{verb} user nobody account=lasers", user=coordinator)
        assert shown(cluster, "user", "nobody", "format=defaultaccount") == (["lasers"] if verb == "add" else [""])
    # Users may change their own defaults.
    do(cluster, f"modify user {plain} set defaultaccount=lasers", user=plain)
    assert shown(cluster, "user", plain, "format=defaultaccount") == ["lasers"]
    kept = refused(cluster, "-i", "delete", "user", plain, "account=lasers")
    assert f"account lasers is the default account of user {plain}" in kept
    assert f"modify user {plain} set defaultaccount=biology" in kept
    assert shown(cluster, "association", f"user={plain}", "format=account") == ["biology", "lasers"]


def test_concurrent_change_is_not_overwritten(cluster):
    site(cluster)
    first = subprocess.Popen([str(BIN / "aacctmgr"), "modify", "account", "science", "set", "fairshare=7"],
                             env=cluster.environment(), text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                             stderr=subprocess.PIPE)
    shown_first = first.stdout.readline() + first.stdout.readline()
    assert "fairshare: 3 -> 7" in shown_first
    do(cluster, "modify account science set description=other")
    _, said = first.communicate("y\n", timeout=30)
    assert first.returncode == 1 and "account science was changed meanwhile" in said and "nothing of this was done" in said
    assert shown(cluster, "account", "science", "withassoc", "format=description,share") == ["other|3"]


def test_commands_from_standard_input_stop_at_the_first_error(cluster):
    lines = "# a site\nadd account a\nadd user daemon account=a\nshow user format=user\nquit\nnonsense\n"
    assert "daemon" in mgr(cluster, "-i", input=lines).stdout
    stopped = mgr(cluster, "-i", input="add account b\nadd account b\nadd account c\n", check=False)
    assert stopped.returncode == 1 and "line 2: account b exists already" in stopped.stderr
    assert shown(cluster, "account", "format=account") == ["root", "a", "b"]
    asked = mgr(cluster, input="add account c\n", check=False)
    assert "line 1: no question can be asked" in asked.stderr


def test_records_are_unchanged_after_a_controller_restart(cluster):
    site(cluster)
    before = mgr(cluster, "dump").stdout
    os.kill(cluster.pid("aresctld"), signal.SIGKILL)
    until(lambda: cluster.run("actl", "ping", check=False).returncode == 0)
    assert mgr(cluster, "dump").stdout == before


def test_a_user_that_the_machine_does_not_know_is_named(cluster):
    site(cluster)
    done = do(cluster, "add user nosuchuser account=physics")
    assert "aacctmgr: warning: this machine does not know nosuchuser" in done.stderr
    assert mgr(cluster, "-nP", "show", "problem").stdout.splitlines() == ["user nosuchuser is not known on this machine"]


def test_accounts_without_users_and_users_without_accounts_are_shown(cluster):
    site(cluster)
    do(cluster, "add account empty")
    do(cluster, "delete user where user=daemon account=physics")
    assert mgr(cluster, "-nP", "show", "problem").stdout.splitlines() == [
        "account empty has no users, nor has any below it", "user daemon is in no account"]
    assert re.search(r"^cpu", mgr(cluster, "-nP", "show", "tres").stdout, re.M)
