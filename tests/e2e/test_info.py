# Tests: ainfo/columns, ainfo/rows, ainfo/row, query_nodes
"""ainfo: nodes and partitions, as users and scripts query them."""

import getpass
import json
import os
import re
import signal

from cluster import f1, stop_process, until

USER = getpass.getuser()

PARTITIONS = """
partitions:
  - {name: main, nodes: "n[1-4]", default: true, default_memory_per_cpu: 500M}
  - {name: short, nodes: "n[3-4]", max_time: "1:00:00", max_nodes: 1}
"""


def two_partitions(fresh):
    config = f1().split("partitions:")[0].replace('{name: "n1", cpus: 4', '{name: "n1", cpus: 2') + PARTITIONS.lstrip()
    made = fresh(config=config)
    until(lambda: rows(made, "-t", "idle", "-o", "%D") == ["4"])
    return made


def rows(cluster, *words):
    return cluster.run("ainfo", "-h", *words).stdout.splitlines()


def test_partitions_nodes_and_formats(fresh):
    cluster = two_partitions(fresh)
    text = cluster.run("ainfo").stdout.splitlines()
    assert text[0].split() == ["PARTITION", "AVAIL", "TIMELIMIT", "NODES", "STATE", "NODELIST"]
    assert [line.split() for line in text[1:]] == [["main*", "up", "infinite", "4", "idle", "n[1-4]"],
                                                   ["short", "up", "1:00:00", "2", "idle", "n[3-4]"]]
    assert [line.split() for line in rows(cluster, "-s")] == [["main*", "up", "infinite", "0/4/0/4", "n[1-4]"],
                                                              ["short", "up", "1:00:00", "0/2/0/2", "n[3-4]"]]
    assert rows(cluster, "-N", "-o", "%N %P") == ["n1 main*", "n2 main*", "n3 main*", "n3 short", "n4 main*", "n4 short"]
    assert rows(cluster, "-o", "%R %c %s %g") == ["main 2+ 1-infinite all", "short 4 1-1 all"]
    assert rows(cluster, "-e", "-p", "main", "-o", "%c %N") == ["2 n1", "4 n[2-4]"]
    assert rows(cluster, "-S", "-P", "-o", "%R") == ["short", "main"]
    assert rows(cluster, "-p", "short", "-o", "%n") == ["n3", "n4"]
    assert rows(cluster, "-O", "partitionname:8,nodes:.3|") == ["main      4|", "short     2|"]
    assert rows(cluster, "-n", "n[1,3]", "-o", "%R %N") == ["main n[1,3]", "short n3"]
    for words, word in ((["-o", "%w"], "Weight"), (["-t", "sleepy"], "sleepy"), (["-n", "n99"], "n99"),
                        (["-p", "nope"], "nope"), (["-O", "statelnog"], "StateLong")):
        done = cluster.run("ainfo", *words, check=False)
        assert done.returncode == 1 and word in done.stderr, done.stderr


def test_node_states_follow_the_running_jobs(fresh):
    cluster = two_partitions(fresh)
    job = cluster.wrap("sleep 1000", "-w", "n2", "-c", "3")
    cluster.wait_state(job, "RUNNING")
    assert rows(cluster, "-N", "-n", "n2", "-o", "%t %C") == ["mix 3/1/0/4"]
    assert rows(cluster, "-t", "mix", "-o", "%N") == ["n2"]
    whole = cluster.wrap("sleep 1000", "-w", "n3", "--exclusive", "-t", "5")
    cluster.wait_state(whole, "RUNNING")
    assert rows(cluster, "-p", "short", "-o", "%t %N") == ["alloc n3", "idle n4"]
    waiting = cluster.wrap("true", "-w", "n3", "--exclusive")
    until(lambda: rows(cluster, "-p", "short", "-o", "%t %N") == ["alloc- n3", "idle n4"])
    cluster.cancel(job, whole, waiting)
    until(lambda: rows(cluster, "-t", "idle", "-o", "%D") == ["4"])


def test_drain_reasons_and_unresponsive_nodes(fresh):
    cluster = two_partitions(fresh)
    cluster.run("actl", "drain", "n4", "reason=bad fan")
    assert rows(cluster, "-R", "-o", "%E|%u|%N") == [f"bad fan|{USER}|n4"]
    assert rows(cluster, "-t", "drained", "-p", "main", "-o", "%t %N") == ["drain n4"]
    assert "bad fan" in cluster.run("ainfo", "-R").stdout
    nodes = {node["name"]: node for node in json.loads(cluster.run("ainfo", "--json").stdout)["nodes"]}
    assert nodes["n4"]["state"] == "DRAINED" and nodes["n4"]["reason_user"] == USER
    assert nodes["n1"]["cpus"] == 2 and nodes["n3"]["partitions"] == ["main", "short"]
    assert rows(cluster, "-d", "-o", "%N") == []
    assert rows(cluster, "-r", "-p", "main", "-o", "%t %D") == ["idle 3", "drain 1"]


def free_mib():
    with open("/proc/meminfo") as file:
        return next(int(line.split()[1]) for line in file if line.startswith("MemFree:")) >> 10


def test_load_and_free_memory_are_those_of_the_machine(fresh):
    cluster = fresh()
    loads, free = set(), [free_mib()]
    columns = ("-N", "-n", "n1", "-o", "%O %e")

    def agrees():
        with open("/proc/loadavg") as file:
            loads.add(file.read().split()[0])
        free.append(free_mib())
        load, memory = rows(cluster, *columns)[0].split()
        return load in loads and min(free) - 256 <= int(memory) <= max(free) + 256 and (load, memory)

    load, _ = until(agrees)
    assert float(load) >= 0
    shown = cluster.show("node", "n1")
    assert re.search(r" CPULoad=\d+\.\d\d\n", shown) and re.search(r" FreeMem=\d+\n", shown), shown
    node = json.loads(cluster.run("ainfo", "--json", "-n", "n1").stdout)["nodes"][0]
    assert node["cpu_load"] >= 0 and node["free_memory"] > 0
    assert sorted(rows(cluster, "-N", "-S", "O", "-o", "%n")) == ["n1", "n2", "n3", "n4"]
    daemon = cluster.pid("aresd@n1")
    stop_process(daemon)
    until(lambda: rows(cluster, *columns) == ["N/A N/A"])
    os.kill(daemon, signal.SIGCONT)
    until(lambda: "N/A" not in rows(cluster, *columns)[0])
