# Tests: spelling, update, top, file_partitions
"""What the fingers of users of scontrol type for actl."""

import grp
import os
import pwd
import re

from cluster import until


def run(cluster, *words, **more):
    return cluster.run("actl", *words, **more)


def test_short_words_and_equals_signs(cluster):
    job = cluster.wrap("true", "-H")
    assert f"JobId={job} " in run(cluster, "show", f"job={job}").stdout
    assert f"JobId={job} " in run(cluster, "show", "jobid", job).stdout
    assert f"JobId={job} " in run(cluster, "show", f"JobId={job}").stdout
    assert "NodeName=n1 " in run(cluster, "show", "NodeName=n1").stdout
    assert "NodeName=n1 " in run(cluster, "show", "node=n1").stdout
    assert "PartitionName=main" in run(cluster, "show", "partition=main").stdout
    assert "PartitionName=main" in run(cluster, "show", "part").stdout
    assert run(cluster, "show", "res").returncode == 0
    assert run(cluster, "show", "hostlistsorted", "n10,n2,n1,n2").stdout == "n[1-2,10]\n"
    run(cluster, "release", f"jobid={job}")
    cluster.completed(job)
    waits = cluster.wrap("true", "--begin=now+1hour")
    run(cluster, "hold", f"job={waits}")
    assert cluster.queue(waits, "%r").startswith("JobHeld")
    cluster.cancel(waits)


def test_hold_and_update_by_name(cluster):
    first, second = (cluster.wrap("true", "-J", "fingers", "-t", "10", "--begin=now+1hour") for _ in "ab")
    other = cluster.wrap("true", "-J", "others", "-t", "10", "--begin=now+1hour")
    run(cluster, "hold", "name=fingers")
    for job in (first, second):
        assert cluster.queue(job, "%r").startswith("JobHeld")
    assert cluster.queue(other, "%r") == "BeginTime"
    run(cluster, "release", f"job={first},{second}")
    run(cluster, "update", "jobname=fingers", "comment=all of them")
    assert [cluster.queue(job, "%k") for job in (first, second, other)] == ["all of them", "all of them", "N/A"]
    run(cluster, "update", f"jobid={first}", "TimeLimit=+5")
    run(cluster, "update", f"jobid={second}", "TimeLimit=-5", "comment=less")
    assert [cluster.queue(job, "%l") for job in (first, second, other)] == ["15:00", "5:00", "10:00"]
    refused = run(cluster, "update", f"jobid={second}", "TimeLimit=-5", check=False)
    assert refused.returncode == 1 and f"job {second}: its time limit of 00:05:00 is not longer" in refused.stderr
    run(cluster, "update", "jobname=fingers", "TimeLimit=+1:00:00")
    assert [cluster.queue(job, "%l") for job in (first, second, other)] == ["1:15:00", "1:05:00", "10:00"]
    cluster.cancel(first, second, other)


def test_filter_that_selects_nothing_is_an_error(cluster):
    for words in (["hold", "name=typo"], ["release", "name=typo"], ["requeue", "name=typo"], ["update", "jobname=typo", "comment=x"]):
        done = run(cluster, *words, check=False)
        assert (done.returncode, done.stderr) == (1, "actl: no job that has not ended matches name=typo\n")
    assert cluster.run("acancel", "--name=typo").returncode == 0


def test_all_nodes(cluster):
    run(cluster, "update", "nodename=ALL", "state=drain", "reason=all of them")
    assert cluster.run("ainfo", "-h", "-N", "-o", "%N %T").stdout.count("drained") == 4
    run(cluster, "update", "nodename=ALL", "state=resume")
    until(lambda: cluster.run("ainfo", "-h", "-N", "-o", "%T").stdout.split() == ["idle"] * 4)


def test_refused_partitions_name_the_line_of_the_configuration(fresh):
    cluster = fresh("--nodes=2")
    done = run(cluster, "create", "partitionname=debug", "Nodes=n[1-2]", "MaxTime=1:30:00", "State=DRAIN", "PriorityTier=3", check=False)
    line = re.search(r"^  - \{name: debug.*\}$", done.stderr, re.MULTILINE).group()
    assert done.returncode == 1 and "actl reconfigure" in done.stderr
    file = cluster.dir / "ares.yaml"
    before = file.read_text()
    file.write_text(before.replace("\npartitions:\n", f"\npartitions:\n{line}\n"))
    run(cluster, "reconfigure")
    shown = run(cluster, "show", "partition", "debug").stdout
    for fact in ("Nodes=n[1-2]", "MaxTime=01:30:00", "State=DRAIN", "PriorityTier=3"):
        assert fact in shown, shown
    for words in (["delete", "partitionname=debug"], ["delete", "partition", "debug"]):
        done = run(cluster, *words, check=False)
        assert done.returncode == 1 and "\n  - {name: debug, ...}\n" in done.stderr and "State=DOWN" in done.stderr
    for words, why in ((["create", "partition", "debug"], "Nodes=NODES"), (["create", "partition=x", "Nodes=n1", "Color=red"], "color")):
        assert why in run(cluster, *words, check=False).stderr


def test_messages_do_not_mislead(cluster):
    assert run(cluster, "show", "lic").stdout == "No licenses configured in Ares.\n"
    run(cluster, "create", "res", "ReservationName=fingers", "Nodes=n4", "StartTime=now+1hour", "Duration=10", "Users=root")
    assert "ReservationName=fingers" in run(cluster, "show", "res").stdout
    run(cluster, "delete", "res", "fingers")


def test_top_moves_a_job_before_the_others_of_its_user(cluster, others):
    user = others[0]
    blocker = cluster.wrap("sleep 300", "-w", "n1", "--exclusive", "-t", "10")
    until(lambda: cluster.queue(blocker) == "RUNNING")
    jobs = [cluster.wrap("sleep 300", "-w", "n1", "--exclusive", "-t", "10", user=user) for _ in "abc"]
    run(cluster, "top", f"{jobs[2]},{jobs[1]}", user=user)
    assert run(cluster, "top", jobs[0], user=others[1], check=False).returncode == 1, "jobs of others stay where they are"
    cluster.cancel(blocker)
    until(lambda: cluster.queue(jobs[2]) == "RUNNING")
    assert [cluster.queue(job) for job in jobs[:2]] == ["PENDING"] * 2
    cluster.cancel(jobs[2])
    until(lambda: cluster.queue(jobs[1]) == "RUNNING")
    assert cluster.queue(jobs[0]) == "PENDING"
    refused = run(cluster, "top", jobs[1], check=False)
    assert refused.returncode == 1 and f"job {jobs[1]}: it is RUNNING; only pending jobs can be moved" in refused.stderr
    cluster.cancel(*jobs)


def test_drained_nodes_and_groups_are_shown_as_by_scontrol(cluster):
    me = pwd.getpwuid(os.geteuid()).pw_name
    run(cluster, "drain", "n4", "reason=fan broken")
    shown = until(lambda: (text := cluster.show("node", "n4")) and "State=IDLE+DRAIN" in text and text)
    assert f"Reason=fan broken [{me}@2" in shown
    run(cluster, "undrain", "n4")
    job = cluster.wrap("true", "-N", "1-4", "-n", "4", "--begin=now+1hour")
    shown = cluster.show("job", job)
    group = pwd.getpwuid(os.geteuid()).pw_gid
    assert f"GroupId={grp.getgrgid(group).gr_name}({group})" in shown and "NumNodes=1-4 " in shown
    cluster.cancel(job)


def test_reservation_gets_a_name_and_keeps_its_length(cluster):
    made = run(cluster, "create", "res", "Nodes=n4", "StartTime=now+1hour", "Duration=10", "Users=root").stdout
    name = made.split()[1]
    assert made == f"reservation {name} created\n" and name.endswith("_1")
    run(cluster, "update", f"reservationname={name}", "StartTime=now+5hours")
    assert "Duration=00:10:00" in cluster.show("reservation", name)
    again = run(cluster, "create", "res", "Nodes=n3", "StartTime=now+1hour", "Duration=10", "Users=root").stdout
    assert again.split()[1].endswith("_2")
    run(cluster, "delete", "res", f"{name},{again.split()[1]}")
    nameless = run(cluster, "create", "Nodes=n4", "Duration=10", check=False)
    assert nameless.returncode == 1 and "Write create reservation" in nameless.stderr
