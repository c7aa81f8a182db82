# Tests: query_use, astat/query
"""What running jobs use: told by their nodes, shown by astat."""

import json

import pytest

from cluster import Cluster, until

CONFIG = """
cluster: used
controller: {operators: [root]}
policy: {kill_wait: 2, heartbeat: 1, launch_backoff: 1}
nodes:
  - {name: "n[1-2]", cpus: 2, memory: 900M}
partitions:
  - {name: main, nodes: "n[1-2]", default: true}
"""
BUSY = "exec python3 -c 'x = b\"x\" * 50000000\nwhile True: pass'"


@pytest.fixture(scope="module")
def used(others):
    made = Cluster(config=CONFIG)
    yield made
    made.close()


@pytest.fixture
def busy(used, others):
    job = used.wrap(BUSY, "--mem=200M", user=others[0])
    used.wait_state(job, "RUNNING")
    yield job
    used.cancel(job)
    used.wait_end(job)


def fields(cluster, names, *words, user=None):
    done = cluster.run("astat", "-n", "-P", "-o", names, *words, user=user)
    return [line.split("|") for line in done.stdout.splitlines()]


def seconds(text):
    minutes, rest = text.split(":")
    return 60 * int(minutes) + float(rest)


def megabytes(text):
    return float(text[:-1]) * {"K": 1 / 1024, "M": 1, "G": 1024}[text[-1]]


def test_memory_processes_and_cpu_time_of_a_running_job(used, busy, others):
    if "memory" not in used.show("node", "n1").split("Enforced=")[1].split()[0]:
        pytest.skip("needs control groups of memory that this machine's root may write to")
    def grown():
        (row,) = fields(used, "JobID,User,NodeList,RSS,MaxRSS,ReqMem,TotalCPU,Processes", "-j", busy)
        job, user, node, rss, most, asked, cpu, processes = row
        assert (job, user, asked, processes) == (busy, others[0], "200M", "1") and node in ("n1", "n2")
        assert 45 < megabytes(rss) < 100 and megabytes(most) > 45
        return seconds(cpu) > 1
    until(grown)
    assert 30 < float(fields(used, "CPUEff", "-j", busy)[0][0].rstrip("%")) <= 101
    line = json.loads(used.run("astat", "-j", busy, "--json").stdout)["lines"][0]
    assert line["known"] and line["memory"] > 45_000_000


def test_users_see_their_own_jobs_unless_they_ask_for_others(used, busy, others):
    assert fields(used, "JobID", user=others[0]) == [[busy]]
    assert fields(used, "JobID", user=others[1]) == []
    assert fields(used, "JobID", "-a", user=others[1]) == fields(used, "JobID", "-u", others[0], user=others[1]) == [[busy]]


def test_a_job_on_two_nodes_is_one_line_or_two(used):
    job = used.wrap("sleep 1000", "-N2")
    used.wait_state(job, "RUNNING")
    assert fields(used, "NodeList,NTasks", "-j", job) == [["n[1-2]", "2"]]
    assert fields(used, "NodeList", "-j", job, "-N") == [["n1"], ["n2"]]
    used.cancel(job)
    used.wait_end(job)


def test_jobs_that_do_not_run_are_refused_with_what_to_do(used):
    ended = used.wrap("true")
    used.completed(ended)
    waits = used.wrap("true", "-H")
    for job in (ended, waits):
        done = used.run("astat", "-j", job, check=False)
        assert done.returncode == 1 and f"aacct -j {job}" in done.stderr
    done = used.run("astat", "-j", "99999", check=False)
    assert done.returncode == 1 and "Invalid job id" in done.stderr
    used.cancel(waits)


def test_unknown_fields_are_refused_by_name(used):
    done = used.run("astat", "-o", "JobID,MaxDiskRead", check=False)
    assert done.returncode != 0 and "MaxDiskRead" in done.stderr
    done = used.run("astat", "-o", "RSSS", check=False)
    assert done.returncode != 0 and "RSS" in done.stderr


def test_a_node_that_counts_nothing_leaves_fields_empty(fresh, others):
    cluster = fresh(owner=others[0], config=CONFIG.replace("[root]", f"[{others[0]}]"))
    job = cluster.wrap("sleep 1000")
    cluster.wait_state(job, "RUNNING")
    ((shown, rss),) = fields(cluster, "JobID,RSS", "-a")
    assert shown == job and rss == ""
    cluster.cancel(job)
