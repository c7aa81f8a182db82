# Tests: feature_discovery, server_features, agent/connect, cluster_agent_calls, cluster_agent_nodes, pods/manifest, pods/pod_call, object_watch
"""Jobs as pods of a stand-in for Kubernetes that is newer than the test bed's, checks each body strictly, and fails when a test says so.
No program runs in its pods: kubernetes_stand_in/kubelet.py says how a script says what it does."""
import contextlib
import json
import re
import ssl
import urllib.error
import urllib.request

import pytest

import kubernetes
from cluster import Cluster, until
from kubernetes_stand_in import StandIn
from kubernetes_stand_in.server import TOKEN

CONFIG = """
cluster: kube
controller: {operators: [root]}
policy:
  kill_wait: 2
  heartbeat: 1
  launch_backoff: 1
  dynamic_nodes: [{prefix: k-, partitions: [kube]}, {prefix: old-, partitions: [kube]}]
nodes:
  - {name: n1, cpus: 4, memory: 4000M}
partitions:
  - {name: kube, nodes: n1, default: true, default_memory_per_cpu: 50M}
"""
STRICT = {"fieldValidation": "Strict"}
WRITES = ("create", "update", "patch")


class Site:
    """A stand-in with the nodes a and b, and the agent that serves it as nodes of the cluster with a prefix."""

    def __init__(self, cluster, name, prefix="k-", minor=34, more=None, **settings):
        self.cluster, self.prefix = cluster, prefix
        self.kube = StandIn(cluster.top / name, minor, **(more or {}))
        self.kube.add_node("a")
        self.kube.add_node("b")
        self.settings = {"kubeconfig": str(self.kube.config), "node_prefix": prefix, "image": "base:1", "gate_image": "ares-gate:1", **settings}
        self.agent = kubernetes.Agent(cluster, self.kube.space, name=f"agent-{name}", **self.settings)

    def close(self):
        self.agent.close()
        self.kube.close()

    def is_served(self):
        until(lambda: self.state("a") == "idle" and self.state("b") == "idle")

    def state(self, node):
        return self.cluster.run("ainfo", "-h", "-N", "-n", self.prefix + node, "-o", "%t", check=False).stdout.strip()

    def submit(self, plan, *options, nodes="a"):
        text = f"#!/bin/sh\n: stand-in {json.dumps(plan)}\n"
        names = ",".join(self.prefix + node for node in nodes.split(","))
        return self.cluster.submit("-w", names, *options, self.cluster.script(text))

    def ends(self, job, state, seconds=30):
        until(lambda: re.split(r"[| ]", self.cluster.account(job, "State"))[0] == state, seconds)
        return self.cluster.account(job, "State,ExitCode")

    def runs(self, job, count=1):
        """Its containers, when so many have their go."""
        def look():
            found = [container for container in self.kube.kubelet.of_job(job) if container.go]
            return len(found) == count and found
        return until(look)

    def is_clean(self):
        until(lambda: not self.kube.left())
        assert self.kube.api.problems == []


@pytest.fixture(scope="module")
def cluster():
    cluster = Cluster(config=CONFIG)
    yield cluster
    cluster.close()


@pytest.fixture(scope="module")
def the_site(cluster):
    with contextlib.closing(Site(cluster, "site")) as site:
        site.is_served()
        yield site


@pytest.fixture
def site(the_site):
    """The site that tests share. Each leaves nothing there, and the agent has done nothing wrong."""
    yield the_site
    the_site.kube.api.gone = "status"
    the_site.is_clean()


@contextlib.contextmanager
def other_site(cluster, name, **more):
    with contextlib.closing(Site(cluster, name, prefix="old-", **more)) as site:
        yield site
        site.is_clean()


# --- jobs


def test_many_jobs_at_once(cluster):
    with other_site(cluster, "many") as site:
        site.kube.add_node("wide", cpus=400, memory="400Gi", devices={"pods": "400"})
        until(lambda: site.state("wide") == "idle")
        job = site.submit({}, "--array=1-300", "-c1", "--mem=64M", nodes="wide")
        until(lambda: not cluster.run("aqueue", "-h", "-j", job, check=False).stdout, 120)
        states = cluster.account(job, "State").split()
        assert states == ["COMPLETED"] * 300
        assert site.kube.api.counts()["create_pod"] == 300


def test_a_job_and_its_exit_code(cluster, site):
    assert site.ends(site.submit({}), "COMPLETED") == "COMPLETED|0:0"
    job = site.submit({"code": 3})
    assert site.ends(job, "FAILED") == "FAILED|3:0"
    assert cluster.account(job, "NodeList,MaxRSS").split("|") == ["k-a", "64M"]


def test_each_body_is_checked(site):
    site.ends(site.submit({}), "COMPLETED")
    site.is_clean()
    assert set(site.kube.api.checked) == {"Pod", "Secret", "Binding", "Lease", "DeleteOptions", "SelfSubjectAccessReview", "patch"}
    # One each for the go and for the finalizer.
    pods = site.kube.api.checked["Pod"]
    assert site.kube.api.checked["Binding"] >= pods and site.kube.api.checked["Secret"] >= pods and site.kube.api.checked["patch"] >= 2 * pods


def test_an_array(cluster, site):
    job = site.submit({"waits": True}, "--array=1-3%2")
    site.runs(job, 2)
    assert {pod["metadata"]["labels"]["ares.io/task"] for pod in site.kube.pods(job)} == {"1", "2"}
    site.kube.kubelet.finish(job)
    third = until(lambda: [one for one in site.kube.kubelet.of_job(job) if one.go and one.plan.get("waits")])
    assert len(third) == 1
    site.kube.kubelet.finish(job)
    assert set(cluster.completed(job)) == {f"{job}_{task}" for task in (1, 2, 3)}


def test_cancel(cluster, site):
    polite, deaf = site.submit({"waits": True}), site.submit({"waits": True, "deaf": True})
    site.runs(polite), site.runs(deaf)
    cluster.cancel(polite, deaf)
    assert site.ends(polite, "CANCELLED").endswith("|0:15")
    assert site.ends(deaf, "CANCELLED").endswith("|0:9")


def test_a_signal_is_an_annotation(cluster, site):
    job = site.submit({"waits": True})
    [container] = site.runs(job)
    cluster.run("acancel", "--signal=USR2", "--batch", job)
    until(lambda: container.signals == [12])
    site.kube.kubelet.finish(job)
    site.ends(job, "COMPLETED")


def test_a_time_limit_that_ended_without_an_agent(site):
    job = site.submit({"waits": True}, "--time=1")
    site.runs(job)
    site.agent.kill()

    def to(pod):  # as if it had begun 70 seconds earlier
        annotations = pod["metadata"]["annotations"]
        annotations["ares.io/go"] = re.sub(r"(?m)^at (\d+)$", lambda at: f"at {int(at[1]) - 70_000_000}", annotations["ares.io/go"])
        return pod

    [pod] = site.kube.pods(job)
    site.kube.store.change("pods", site.kube.space, pod["metadata"]["name"], to)
    site.agent.start()
    assert site.ends(job, "TIMEOUT").startswith("TIMEOUT|0:15")
    site.is_served()


def test_two_nodes(cluster, site):
    job = site.submit({"waits": True}, "-N2", "-n2", nodes="a,b")
    containers = site.runs(job, 2)
    pods = {pod["metadata"]["labels"]["ares.io/rank"]: pod for pod in site.kube.pods(job)}
    assert {pod["spec"]["nodeName"] for pod in pods.values()} == {"a", "b"}
    addresses = [pods[rank]["status"]["podIP"] for rank in ("0", "1")]
    assert [one.go["host"] for one in containers] == [addresses, addresses]
    site.kube.kubelet.finish(job)
    assert site.ends(job, "COMPLETED") == "COMPLETED|0:0"
    assert cluster.account(job, "NodeList") == "k-[a-b]" or cluster.account(job, "NodeList") == "k-a,k-b"


def test_what_the_kubelet_says_of_ends(cluster, site):
    jobs = {state: site.submit(*words) for state, words in {
        "OUT_OF_MEMORY": [{"oom": True}], "NODE_FAIL": [{"evicted": True}, "--no-requeue"], "FAILED": [{}, "--container-image=absent:1"]}.items()}
    for state, job in jobs.items():
        site.ends(job, state)
    assert "absent:1" in cluster.show("job", jobs["FAILED"])
    assert "Kubernetes evicted the pod: The node was low on resource: memory." in cluster.show("job", jobs["NODE_FAIL"])


def test_temporary_storage_is_ephemeral_storage(cluster, site):
    """A node of the stand-in has 100Gi."""
    first = site.submit({"waits": True}, "--tmp=60G")
    site.runs(first)
    [pod] = site.kube.pods(first)
    resources = pod["spec"]["containers"][0]["resources"]
    assert resources["requests"]["ephemeral-storage"] == resources["limits"]["ephemeral-storage"] == str(60 << 30)
    second = site.submit({}, "--tmp=60G")
    cluster.wait_reason(second, "Resources")
    assert "too little free temporary storage (at most 40G)" in cluster.run("aqueue", "--why", second).stdout
    site.kube.kubelet.finish(first)
    site.ends(first, "COMPLETED")
    site.ends(second, "COMPLETED")
    assert "TmpDisk=102400 AllocTmpDisk=0" in cluster.show("node", "k-a")
    refused = cluster.run("asub", "-w", "k-a", "--tmp=101G", "--wrap", "true", check=False)
    assert refused.returncode == 1 and "temporary storage" in refused.stderr, refused.stderr
    # Another run would end in the same way.
    over = site.submit({"evicted": "Pod ephemeral local storage usage exceeds the total limit of containers 1Gi."}, "--tmp=1G")
    assert site.ends(over, "FAILED") == "FAILED|0:9"
    assert "exceeds the total limit of containers 1Gi" in cluster.show("job", over)


TEMPLATE = {
    "apiVersion": "v1", "kind": "Pod", "metadata": {"labels": {"team": "a"}, "annotations": {"note": "any text, also with spaces"}},
    "spec": {"volumes": [{"name": "scratch", "emptyDir": {"medium": "Memory", "sizeLimit": "1Gi"}}], "dnsPolicy": "None", "enableServiceLinks": True,
             "dnsConfig": {"nameservers": ["10.0.0.10"], "searches": ["example.org"], "options": [{"name": "ndots", "value": "2"}]},
             "hostAliases": [{"ip": "10.0.0.11", "hostnames": ["data"]}],
             "containers": [{"name": "main", "env": [{"name": "MODE", "value": "fast"}], "imagePullPolicy": "IfNotPresent",
                             "volumeMounts": [{"name": "scratch", "mountPath": "/scratch", "readOnly": False, "subPath": "a"}],
                             "ports": [{"name": "http", "containerPort": 8080, "protocol": "TCP"}], "securityContext": {"readOnlyRootFilesystem": True}}]}}


def test_all_that_a_job_may_say_of_its_container(cluster, site):
    """No strict server refuses any of it."""
    (cluster.work / "template.json").write_text(json.dumps(TEMPLATE))
    (cluster.work / "data").mkdir(exist_ok=True)
    job = site.submit({"waits": True}, f"--pod-template={cluster.work}/template.json", f"--container-mounts={cluster.work}/data:/data:ro",
                      "--container-image=other:1", "--container-workdir=/data", "--container-env=PATH")
    site.runs(job)
    [pod] = site.kube.pods(job)
    main = pod["spec"]["containers"][0]
    assert main["image"] == "other:1" and main["ports"] == TEMPLATE["spec"]["containers"][0]["ports"]
    assert {"name": "mount-0", "mountPath": "/data", "subPath": "data", "readOnly": True} in main["volumeMounts"]
    assert pod["spec"]["dnsConfig"] == TEMPLATE["spec"]["dnsConfig"] and pod["metadata"]["annotations"]["note"] == "any text, also with spaces"
    site.kube.kubelet.finish(job)
    site.ends(job, "COMPLETED")


def test_an_agent_that_is_killed_finds_its_jobs(site):
    job = site.submit({"waits": True})
    site.runs(job)
    site.agent.kill()
    site.kube.kubelet.finish(job, code=5)
    site.agent.start()
    assert site.ends(job, "FAILED") == "FAILED|5:0"
    site.is_served()


def test_output_is_read_from_the_log(cluster):
    with other_site(cluster, "output", mounts=[]) as site:
        site.is_served()
        text = "first\n\x1e\x1e is doubled\nlast"
        job = site.submit({"prints": text})
        assert site.ends(job, "COMPLETED") == "COMPLETED|0:0"
        assert cluster.run("actl", "output", job).stdout == text.replace("\x1e\x1e", "\x1e")
        waiting = site.submit({"prints": "before the end\n", "waits": True})
        site.runs(waiting)
        cluster.cancel(waiting)
        assert site.ends(waiting, "CANCELLED").endswith("|0:15")
        assert cluster.run("actl", "output", waiting).stdout == "before the end\n"


# --- versions


def writes(site):
    return [request for request in site.kube.api.seen if request.row and request.row.verb in WRITES]


@pytest.mark.parametrize("minor, text", [(20, ""), (24, "24+"), (25, "25+"), (34, "")])
def test_fields_are_validated_by_servers_that_can(cluster, minor, text):
    with other_site(cluster, f"version-{minor}", minor=minor, more={"minor_text": text}) as site:
        site.is_served()
        assert site.ends(site.submit({}), "COMPLETED") == "COMPLETED|0:0"
        site.is_clean()
        asked = [request.query == STRICT for request in writes(site)]
        assert len(asked) > 20 and set(asked) == {minor >= 25}


def ends_with(agent, *texts):
    until(lambda: agent.process.poll() is not None)
    assert agent.process.returncode != 0
    for text in texts:
        assert text in agent.text()


def test_what_the_server_lacks_is_named(cluster):
    with other_site(cluster, "no-leases", more={"without": ["leases", "pods/binding"]}) as site:
        ends_with(site.agent, "Kubernetes v1.34.1 does not have what Ares needs: pods/binding leases.coordination.k8s.io")


def test_a_missing_permission_is_named(cluster):
    with contextlib.closing(StandIn(cluster.top / "denied")) as kube:
        kube.api.denied = {("delete", "secrets"), ("create", "pods/binding")}
        with contextlib.closing(kubernetes.Agent(cluster, kube.space, name="agent-denied", kubeconfig=str(kube.config))) as agent:
            ends_with(agent, "create pods/binding in namespace jobs", "delete secrets in namespace jobs")
        assert kube.api.problems == [] and "create_lease" not in kube.api.counts()


# --- faults


def seen_times(site, call):
    return [request.at for request in site.kube.api.seen if request.row and request.row.call == call]


def test_retry_after_is_obeyed(site):
    before = len(seen_times(site, "create_pod"))
    fault = site.kube.faults.add("create_pod", status=429, times=2, headers={"Retry-After": "1"})
    assert site.ends(site.submit({}), "COMPLETED") == "COMPLETED|0:0"
    tries = seen_times(site, "create_pod")[before:]
    assert len(tries) == 3 and fault.times == 0
    assert all(later - earlier >= 1 for earlier, later in zip(tries, tries[1:]))


def test_a_quota_is_waited_for(site):
    before = site.kube.api.counts()
    site.kube.faults.add("create_pod", status=403, message='pods "x" is forbidden: exceeded quota: q, requested: cpu=1, used: cpu=4, limited: cpu=4')
    assert site.ends(site.submit({}), "COMPLETED") == "COMPLETED|0:0"
    assert (site.kube.api.counts() - before)["create_pod"] == 2


def test_a_burst_of_errors(site):
    job = site.submit({"waits": True})
    site.runs(job)
    fault = site.kube.faults.add(status=500, times=12)
    second = site.submit({}, nodes="b")
    site.kube.kubelet.finish(job, code=4)
    assert site.ends(job, "FAILED") == "FAILED|4:0"
    assert site.ends(second, "COMPLETED") == "COMPLETED|0:0"
    assert fault.times < 12


def test_answers_that_are_lost(site):
    """Each call is carried out once and its answer lost. The job runs once."""
    calls = ("create_pod", "create_secret", "bind_pod", "patch_pod", "delete_pod")
    faults = [site.kube.faults.add(call, lost=True) for call in calls]
    job = site.submit({"waits": True})
    [container] = site.runs(job)
    site.kube.kubelet.finish(job, code=2)
    assert site.ends(job, "FAILED") == "FAILED|2:0"
    site.is_clean()
    assert [fault.times for fault in faults] == [0] * len(calls)
    assert sum(one.fence == container.fence for one in site.kube.kubelet.containers.values()) == 1


def test_a_pod_that_changes_before_it_is_bound(site):
    """Its binding names the version that the agent has seen, and is refused with 409."""
    def change(request):
        def to(pod):
            pod["metadata"].setdefault("annotations", {})["other.io/note"] = "changed"
            return pod
        site.kube.store.change("pods", request.space, request.name, to)

    fault = site.kube.faults.add("bind_pod", before=change)
    before = site.kube.api.counts()
    assert site.ends(site.submit({}), "COMPLETED") == "COMPLETED|0:0"
    made = site.kube.api.counts() - before
    assert fault.times == 0 and made["create_pod"] == 1 and made["bind_pod"] == 2 and made["get_pod"] == 1


def test_a_pod_that_another_scheduler_has_bound(site):
    """The agent ends that attempt, and the job runs by another."""
    def steal(request):
        def to(pod):
            pod["spec"]["nodeName"] = "b"
            return pod
        site.kube.store.change("pods", request.space, request.name, to)

    site.kube.faults.add("bind_pod", before=steal)
    job = site.submit({})
    assert site.ends(job, "COMPLETED") == "COMPLETED|0:0"


@pytest.mark.parametrize("form", ["status", "first event", "last event"])
def test_versions_that_are_too_old(site, form):
    """What has happened meanwhile is found by the lists."""
    job = site.submit({"waits": True})
    site.runs(job)
    before = site.kube.api.counts()
    site.kube.api.gone = form
    with site.kube.store.changed:  # at once, as by a restart of the server
        site.kube.change_node("b", lambda node: node["spec"].update(unschedulable=True))
        site.kube.kubelet.finish(job, code=6)
        site.kube.store.compact()
        site.kube.store.end_watches()
    assert site.ends(job, "FAILED") == "FAILED|6:0"
    until(lambda: site.state("b") != "idle")
    made = site.kube.api.counts() - before
    assert made["list_pods"] >= 1 and made["list_nodes"] >= 1
    site.kube.change_node("b", lambda node: node["spec"].pop("unschedulable"))
    site.is_served()


def test_a_list_of_several_pages(site):
    """Its token expires once, between two pages."""
    site.kube.add_foreign_pods(600, "b")
    try:
        def expire(request):
            if "continue" in request.query:
                site.kube.store.pages.clear()
                fault.times = 0
        fault = site.kube.faults.add("list_pods", times=10, before=expire)
        before = site.kube.api.counts()
        site.kube.store.compact()
        site.kube.store.end_watches()
        until(lambda: (site.kube.api.counts() - before)["list_pods"] == 4 and (site.kube.api.counts() - before)["watch_pods"] >= 2)
        pages = [request.query for request in site.kube.api.seen if request.row and request.row.call == "list_pods"][-4:]
        assert all(page["limit"] == "500" for page in pages)
        assert ["continue" in page for page in pages] == [False, True, False, True]
        assert site.ends(site.submit({}), "COMPLETED") == "COMPLETED|0:0"
    finally:
        for pod in site.kube.store.all("pods"):
            if pod["metadata"]["name"].startswith("other-"):
                site.kube.store.remove("pods", site.kube.space, pod["metadata"]["name"])


# --- nodes


def test_nodes_come_change_and_go(cluster, site):
    site.kube.add_node("c", cpus=2)
    until(lambda: site.state("c") == "idle")
    site.kube.change_node("c", lambda node: node["status"]["allocatable"].update(cpu="3"))
    until(lambda: cluster.run("ainfo", "-h", "-N", "-n", "k-c", "-o", "%c").stdout.strip() == "3")
    site.kube.change_node("c", lambda node: node["spec"].update(taints=[{"key": "site", "value": "x", "effect": "NoSchedule"}]))
    until(lambda: "tainted in Kubernetes: site=x:NoSchedule" in cluster.show("node", "k-c"))
    site.kube.change_node("c", lambda node: node["spec"].pop("taints"))
    until(lambda: site.state("c") == "idle")
    site.kube.remove_node("c")
    until(lambda: "removed from Kubernetes" in cluster.show("node", "k-c") and site.state("c") != "idle")
    site.kube.add_node("c", cpus=2)
    until(lambda: site.state("c") == "idle")
    site.kube.remove_node("c")
    until(lambda: "removed from Kubernetes" in cluster.show("node", "k-c"))
    until(lambda: cluster.run("actl", "delete", "node", "k-c", check=False).returncode == 0)


def test_gpus_and_their_parts(cluster, site):
    site.kube.add_node("g", cpus=8, labels={"nvidia.com/gpu.product": "NVIDIA-H100-80GB-HBM3"}, devices={"nvidia.com/gpu": "4"})
    site.kube.add_node("m", cpus=8, devices={"nvidia.com/mig-1g.10gb": "7"})
    until(lambda: site.state("g") == "idle" and site.state("m") == "idle")
    whole, part = site.submit({"waits": True}, "--gpus=h100:3", nodes="g"), site.submit({"waits": True}, "--gpus=1g.10gb:1", nodes="m")
    for job, resource, count in ((whole, "nvidia.com/gpu", "3"), (part, "nvidia.com/mig-1g.10gb", "1")):
        site.runs(job)
        [pod] = site.kube.pods(job)
        for container in pod["spec"]["initContainers"] + pod["spec"]["containers"]:
            assert container["resources"]["limits"][resource] == container["resources"]["requests"][resource] == count
    too_many = site.submit({}, "--gpus=h100:2", nodes="g")
    cluster.wait_reason(too_many, "Resources")
    site.kube.kubelet.finish(whole)
    site.kube.kubelet.finish(part)
    for job in (whole, part, too_many):
        site.ends(job, "COMPLETED")
    for node in ("g", "m"):
        site.kube.remove_node(node)


# --- the stand-in itself


def ask(kube, method, path, body=None):
    port = kube.server.listener.server_address[1]
    request = urllib.request.Request(f"https://127.0.0.1:{port}{path}", method=method, data=json.dumps(body).encode() if body is not None else None,
                                     headers={"Authorization": f"Bearer {TOKEN}", "Content-Type": "application/json", "Accept": "application/json",
                                              "User-Agent": "ares/test"})
    context = ssl.create_default_context(cafile=kube.config.parent / "server.crt")
    try:
        with urllib.request.urlopen(request, context=context, timeout=30) as answer:
            return answer.status
    except urllib.error.HTTPError as error:
        return error.code


def test_what_the_agent_may_not_do_fails_a_test(tmp_path):
    with contextlib.closing(StandIn(tmp_path / "own")) as kube:
        assert ask(kube, "GET", "/api/v1/nodes?limit=1") == 200 and kube.api.problems == []
        lease = {"apiVersion": "coordination.k8s.io/v1", "kind": "Lease", "metadata": {"name": "l"}, "spec": {"holderIdentity": "a"}}
        leases = "/apis/coordination.k8s.io/v1/namespaces/jobs/leases"
        assert ask(kube, "POST", leases, {**lease, "spek": {}}) == 400
        assert ask(kube, "POST", leases, {**lease, "spec": {"holderIdentity": ""}}) == 422
        assert ask(kube, "DELETE", "/api/v1/nodes") == ask(kube, "DELETE", leases + "/l") == ask(kube, "GET", "/api/v1/events") == 404
        assert ask(kube, "GET", "/api/v1/pods?labels=a") == 200
        assert [text.partition(": ")[2] for text in kube.api.problems] == [
            "spek: unknown field of Lease", "spec.holderIdentity: empty", *["is not in the table of calls"] * 3, "unknown parameters ['labels']"]
        assert ask(kube, "POST", leases, lease) == 201 and ask(kube, "POST", leases, lease) == 409
