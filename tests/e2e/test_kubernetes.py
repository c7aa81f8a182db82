# Tests: kubernetes/cluster_agent, cluster_agent_calls, cluster_agent_nodes, agent/plugin, agent/connect, kubernetes/pod_call, kubernetes_fields
"""Jobs as pods of a real Kubernetes (contrib/kubernetes/testbed with a kubelet). Skipped without one."""
import contextlib
import os
import pathlib
import re
import signal
import subprocess
import time

import pytest

import kubernetes
from cluster import Cluster, until

pytestmark = pytest.mark.skipif(not kubernetes.is_there(), reason=kubernetes.MISSING)

CONFIG = """
cluster: kube
controller: {{operators: [root]}}
policy:
  kill_wait: 2
  heartbeat: 1
  launch_backoff: 1
  dynamic_nodes: [{{names: "{nodes}", partitions: [kube]}}]
nodes:
  - {{name: n1, cpus: 4, memory: 4000M}}
partitions:
  - {{name: kube, nodes: n1, default: true, default_memory_per_cpu: 50M}}
"""


@pytest.fixture(scope="module")
def api():
    kubernetes.give_gate_image()
    return kubernetes.Api()


@pytest.fixture
def space(api, request):
    with api.namespace("t-" + re.sub(r"[^a-z0-9]+", "-", request.node.name)[:40].strip("-")) as name:
        yield name


@pytest.fixture
def cluster(api, space):
    cluster = Cluster(config=CONFIG.format(nodes=",".join(filter(None, [api.node, kubernetes.second_node()]))))
    yield cluster
    cluster.close()


@pytest.fixture
def agent(cluster, space, api):
    agent = kubernetes.Agent(cluster, space)
    try:
        until(lambda: is_idle(cluster, api.node))
        yield agent
    finally:
        agent.close()


def is_idle(cluster, node):
    return "idle" in cluster.run("ainfo", "-h", "-N", "-n", node, "-o", "%t", check=False).stdout


def submit(cluster, api, script, *options, nodes=None):
    """Submits the script, to run on the first node of Kubernetes or on these nodes."""
    file = cluster.work / "job.sh"
    file.write_text("#!/bin/sh\n" + script + "\n")
    return cluster.run("asub", "--parsable", "-w", nodes or api.node, *options, file).stdout.strip()


def state_of(cluster, job):
    return cluster.account(job, "State,ExitCode")


def ends(cluster, job, state, seconds=60):
    until(lambda: re.split(r"[| ]", state_of(cluster, job))[0] == state, seconds)  # "CANCELLED by 0"
    return state_of(cluster, job)


def nothing_is_left(api, space, seconds=60):
    until(lambda: not api.of_ares("pods", space) and not api.of_ares("secrets", space), seconds)


def test_a_script_runs_unchanged(cluster, api, space, agent):
    job = submit(cluster, api, 'echo "$ARES_JOB_ID $SLURM_JOB_ID $(hostname) $1 $FROM_SUBMITTER" > out; id -u; exit 3', "--export=ALL,FROM_SUBMITTER=yes")
    assert ends(cluster, job, "FAILED") == "FAILED|3:0"
    assert (cluster.work / "out").read_text().startswith(f"{job} {job} ares-kube-")
    assert (cluster.work / "out").read_text().endswith(" yes\n")
    assert (cluster.work / f"ares-{job}.out").read_text() == "0\n"
    assert cluster.account(job, "NodeList,MaxRSS").split("|")[0] == api.node
    nothing_is_left(api, space)


def test_an_array_and_what_kubernetes_shows_of_it(cluster, api, space, agent):
    job = submit(cluster, api, "until [ -e release ]; do sleep 0.1; done; echo $ARES_ARRAY_TASK_ID > task.$ARES_ARRAY_TASK_ID", "--array=1-3%2", "-c1", "--mem=20M")
    until(lambda: cluster.run("aqueue", "-h", "-t", "R", "-o", "%i").stdout.split() and len(api.of_ares("pods", space)) == 2)
    pod = api.objects("pods", space)[0]
    assert pod["spec"]["nodeName"] == api.node and pod["spec"]["schedulerName"] == "ares"
    amounts = pod["spec"]["containers"][0]["resources"]
    assert amounts["requests"] == amounts["limits"] == {"cpu": "1", "memory": str(20 << 20)}
    assert pod["spec"]["securityContext"] == {"runAsUser": 0, "runAsGroup": 0, "supplementalGroups": [0]}
    assert not pod["spec"]["automountServiceAccountToken"]
    (cluster.work / "release").touch()
    for task in (1, 2, 3):
        ends(cluster, f"{job}_{task}", "COMPLETED")
        assert (cluster.work / f"task.{task}").read_text() == f"{task}\n"
    nothing_is_left(api, space)


def test_cancel_sends_term_and_ends_what_ignores_it(cluster, api, space, agent):
    polite = submit(cluster, api, "trap 'echo told > told; exit 7' TERM; echo up > up; while :; do sleep 0.1; done")
    until(lambda: (cluster.work / "up").exists())
    cluster.cancel(polite)
    ends(cluster, polite, "CANCELLED")
    assert (cluster.work / "told").read_text() == "told\n"
    deaf = submit(cluster, api, "trap '' TERM; echo up > up2; while :; do sleep 0.1; done")
    until(lambda: (cluster.work / "up2").exists())
    cluster.cancel(deaf)
    assert ends(cluster, deaf, "CANCELLED").endswith("|0:9")
    nothing_is_left(api, space)


def test_cancel_before_the_go(cluster, api, space):
    agent = kubernetes.Agent(cluster, space, image="localhost/absent:1")
    try:
        until(lambda: is_idle(cluster, api.node))
        job = submit(cluster, api, "echo ran > ran")
        # There is no such image, and no registry to ask.
        until(lambda: "cannot be started" in cluster.run("actl", "show", "job", job).stdout, 90)
        cluster.cancel(job)
        nothing_is_left(api, space)
        assert not (cluster.work / "ran").exists()
    finally:
        agent.close()


def test_time_limit_warning_and_its_change(cluster, api, space, agent):
    job = submit(cluster, api, "trap 'echo warned > warned' USR1; echo up > up; while :; do sleep 0.1; done", "--time=10", "--signal=B:USR1@55")
    until(lambda: (cluster.work / "up").exists())
    assert not (cluster.work / "warned").exists()
    cluster.run("actl", "update", f"jobid={job}", "timelimit=1")
    until(lambda: (cluster.work / "warned").exists(), 40)
    assert ends(cluster, job, "TIMEOUT", 90).startswith("TIMEOUT|0:")
    nothing_is_left(api, space)


def test_signals_reach_the_script(cluster, api, space, agent):
    job = submit(cluster, api, "trap 'echo usr2 > got; exit 0' USR2; echo up > up; while :; do sleep 0.1; done")
    until(lambda: (cluster.work / "up").exists())
    cluster.run("acancel", "--signal=USR2", "--batch", job)
    assert ends(cluster, job, "COMPLETED") == "COMPLETED|0:0"
    assert (cluster.work / "got").read_text() == "usr2\n"


def test_suspension_is_refused_since_a_pod_keeps_its_cpus(cluster, api, space, agent):
    job = submit(cluster, api, "echo up > up; until [ -e release ]; do sleep 0.1; done")
    until(lambda: (cluster.work / "up").exists())
    refused = cluster.run("actl", "suspend", job, check=False)
    assert refused.returncode == 1 and "requeue it instead" in refused.stderr
    assert cluster.state(job) == "RUNNING"
    (cluster.work / "release").touch()
    assert ends(cluster, job, "COMPLETED") == "COMPLETED|0:0"


def test_two_nodes_know_each_other(cluster, api, space, agent):
    other = kubernetes.second_node() or pytest.skip("no second node: see add_node.sh")
    until(lambda: is_idle(cluster, other))
    job = submit(cluster, api, 'cat "$ARES_HOSTFILE" > hosts; echo "$MASTER_ADDR $WORLD_SIZE $RANK" > me; until [ -e release ]; do sleep 0.1; done',
                 "-N2", "-n3", "--ntasks-per-node=2", nodes=f"{api.node},{other}")
    until(lambda: (cluster.work / "me").exists() and (cluster.work / "me").read_text())
    pods = {pod["metadata"]["labels"]["ares.io/rank"]: pod for pod in api.objects("pods", space)}
    assert {pod["spec"]["nodeName"] for pod in pods.values()} == {api.node, other}
    addresses = [pods[rank]["status"]["podIP"] for rank in ("0", "1")]
    lines = [line.split() for line in (cluster.work / "hosts").read_text().splitlines()]
    assert [line[0] for line in lines] == addresses
    assert sorted(line[1] for line in lines) == ["slots=1", "slots=2"]
    assert (cluster.work / "me").read_text() == f"{addresses[0]} 2 0\n"
    (cluster.work / "release").touch()
    assert ends(cluster, job, "COMPLETED") == "COMPLETED|0:0"
    nothing_is_left(api, space)


def test_members_of_a_gang_exchange_data(cluster, api, space, agent):
    other = kubernetes.second_node() or pytest.skip("no second node: see add_node.sh")
    until(lambda: is_idle(cluster, other))
    server = cluster.wrap("hostname -i > address.new; mv address.new address; echo 'from the server' | busybox nc -l -p 7777", "-w", api.node, "--gang=g", "--gang-size=2")
    until(lambda: cluster.state(server) == "PENDING")
    assert not api.of_ares("pods", space), "the gang is not complete"
    client = cluster.wrap("until [ -e address ]; do sleep 0.1; done; until busybox nc $(cat address) 7777 > got && [ -s got ]; do sleep 0.1; done", "-w", other, "--gang=g", "--gang-size=2")
    for job in (server, client):
        assert ends(cluster, job, "COMPLETED") == "COMPLETED|0:0"
    assert (cluster.work / "got").read_text() == "from the server\n"
    nothing_is_left(api, space)


def test_out_of_memory(cluster, api, space, agent):
    job = submit(cluster, api, "head -c 200000000 /dev/zero | tail > /dev/null", "--mem=30M")
    ends(cluster, job, "OUT_OF_MEMORY")
    nothing_is_left(api, space)


def test_no_interpreter_in_the_image(cluster, api, space, agent):
    file = cluster.work / "python.sh"
    file.write_text("#!/usr/bin/python3\nprint(1)\n")
    job = cluster.run("asub", "--parsable", "-w", api.node, file).stdout.strip()
    assert ends(cluster, job, "FAILED") == "FAILED|127:0"
    assert "no interpreter" in agent.text() + cluster.run("actl", "show", "job", job).stdout


def test_requeue_runs_it_again(cluster, api, space, agent):
    job = submit(cluster, api, "echo start >> starts; until [ -e release ]; do sleep 0.1; done", "--requeue")
    until(lambda: (cluster.work / "starts").exists())
    cluster.run("actl", "requeue", job)
    until(lambda: (cluster.work / "starts").read_text() == "start\nstart\n", 60)
    (cluster.work / "release").touch()
    ends(cluster, job, "COMPLETED")
    nothing_is_left(api, space)


@pytest.mark.parametrize("phase", ["running", "starting"])
def test_the_agent_is_killed(cluster, api, space, agent, phase):
    job = submit(cluster, api, "echo start >> starts; until [ -e release ]; do sleep 0.1; done; exit 5", "--requeue")
    if phase == "running":
        until(lambda: (cluster.work / "starts").exists())
    else:
        until(lambda: api.of_ares("pods", space), every=0.001)
    agent.kill()
    if phase == "running":
        (cluster.work / "release").touch()
    agent.start()
    (cluster.work / "release").touch()
    assert ends(cluster, job, "FAILED", 90) == "FAILED|5:0"
    assert (cluster.work / "starts").read_text() == "start\n"
    assert "Restarts=0" in cluster.run("actl", "show", "job", job).stdout
    nothing_is_left(api, space)


def test_a_pod_that_is_deleted_in_kubernetes(cluster, api, space, agent):
    kept = submit(cluster, api, "echo start >> starts; until [ -e release ]; do sleep 0.1; done", "--requeue")
    until(lambda: (cluster.work / "starts").exists())
    [pod] = api.of_ares("pods", space)
    api.call("DELETE", f"/api/v1/namespaces/{space}/pods/{pod}")
    until(lambda: (cluster.work / "starts").read_text() == "start\nstart\n", 90)
    (cluster.work / "release").touch()
    ends(cluster, kept, "COMPLETED")
    nothing_is_left(api, space)


def test_nodes_follow_kubernetes_within_seconds(cluster, api, space, agent):
    before = cluster.run("ainfo", "-h", "-N", "-n", api.node, "-o", "%c").stdout.split()[0]
    api.patch(f"/api/v1/nodes/{api.node}", {"spec": {"unschedulable": True}})
    try:
        since = time.monotonic()
        until(lambda: "cordoned in Kubernetes" in cluster.run("actl", "show", "node", api.node).stdout)
        print(f"cordon known after {time.monotonic() - since:.2f} s")
    finally:
        api.patch(f"/api/v1/nodes/{api.node}", {"spec": {"unschedulable": None}})
    until(lambda: is_idle(cluster, api.node))
    api.call("POST", f"/api/v1/namespaces/{space}/pods", {
        "metadata": {"name": "other"},
        "spec": {"nodeName": api.node, "restartPolicy": "Never", "terminationGracePeriodSeconds": 0,
                 "containers": [{"name": "c", "image": "localhost/busybox:1", "command": ["/bin/sleep", "1000"],
                                 "resources": {"requests": {"cpu": "1"}}}]}})
    until(lambda: cluster.run("ainfo", "-h", "-N", "-n", api.node, "-o", "%c").stdout.split()[0] != before)
    api.call("DELETE", f"/api/v1/namespaces/{space}/pods/other")
    until(lambda: cluster.run("ainfo", "-h", "-N", "-n", api.node, "-o", "%c").stdout.split()[0] == before)


@pytest.mark.parametrize("change, error", [
    ({"namespace": "absent"}, "absent"),
    ({"kubeconfig": "/nonexistent/kubeconfig"}, "/nonexistent/kubeconfig"),
    ({"gate_image": ""}, "gate_image"),
])
def test_bad_settings_are_refused_at_the_start(cluster, api, space, change, error):
    agent = kubernetes.Agent(cluster, space, **change)
    try:
        assert agent.process.wait(timeout=90) != 0
        assert error in agent.text()
    finally:
        agent.close()


@contextlib.contextmanager
def machine_gone(api):
    """The kubelet is stopped, as if its machine were cut off, and its Node is removed. Afterwards there is a Node again."""
    kubelet = int((pathlib.Path(kubernetes.FOLDER) / "run/kubelet.pid").read_text())
    os.kill(kubelet, signal.SIGSTOP)
    try:
        api.call("DELETE", f"/api/v1/nodes/{api.node}")
        yield
    finally:
        os.kill(kubelet, signal.SIGCONT)
        subprocess.run([str(kubernetes.TESTBED / "restart.sh"), kubernetes.FOLDER, "kubelet"], check=True)
        until(lambda: api.is_ready(api.node), 120)


def test_a_node_that_is_removed_ends_its_jobs_by_an_operators_word(cluster, api, space, agent):
    job = submit(cluster, api, "sleep 1000")
    until(lambda: cluster.state(job) == "RUNNING")
    with machine_gone(api):
        until(lambda: "down" in cluster.run("ainfo", "-h", "-N", "-n", api.node, "-o", "%t").stdout, 60)
        told = until(lambda: "removed from Kubernetes" in (text := cluster.run("actl", "show", "job", job).stdout) and text)
        assert f"actl update node {api.node} state=down" in told
        assert cluster.state(job) == "RUNNING"
        assert cluster.run("actl", "delete", "node", api.node, check=False).returncode != 0
        agent.kill()
        agent.start()
        cluster.run("actl", "update", "node", api.node, "state=down", "reason=removed")
        ends(cluster, job, "NODE_FAIL")
        nothing_is_left(api, space, 120)  # Kubernetes looks for pods without a Node every 20 s, and gives each 40 s
        until(lambda: cluster.run("actl", "delete", "node", api.node, check=False).returncode == 0)


def test_a_node_whose_link_is_cut_keeps_its_jobs(cluster, api, space, agent):
    if not kubernetes.has_links():
        pytest.skip("the kubelets have no links of their own: see up.sh --networks")
    job = submit(cluster, api, "echo start >> starts; until [ -e release ]; do sleep 0.1; done; exit 5", "--requeue")
    until(lambda: (cluster.work / "starts").exists())
    with kubernetes.link_cut(api.node):
        until(lambda: not api.is_ready(api.node), 120)  # Kubernetes waits for so long before it says so
        until(lambda: "not ready in Kubernetes" in cluster.run("actl", "show", "node", api.node).stdout)
        assert cluster.state(job) == "RUNNING"
        (cluster.work / "release").touch()  # it ends, and nothing tells
    assert ends(cluster, job, "FAILED", 60) == "FAILED|5:0"
    assert (cluster.work / "starts").read_text() == "start\n"
    until(lambda: is_idle(cluster, api.node))
    nothing_is_left(api, space)


def test_what_cannot_run_in_pods_runs_beside_them(cluster, api, space, agent):
    assert "n1" in cluster.run("aalloc", "arun", "sh", "-c", "env | grep NODELIST").stdout
    refused = cluster.run("aalloc", "-w", api.node, "true", check=False)
    assert refused.returncode != 0 and "interactive allocations" in refused.stderr
    refused = cluster.run("asub", "-w", api.node, f"--checkpoint={cluster.work}", "--wrap", "true", check=False)
    assert refused.returncode != 0 and "runs jobs in containers" in refused.stderr


def test_arun_in_a_pod_says_that_it_does_not_work_there(cluster, api, space, agent):
    job = submit(cluster, api, "arun hostname", "-o", f"{cluster.work}/out")
    ends(cluster, job, "FAILED")
    assert "arun: steps and allocations do not work in pods" in (cluster.work / "out").read_text()
