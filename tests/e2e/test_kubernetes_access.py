# Tests: agent/connect, kubernetes/cluster_agent, login/kubeconfig, access_review
"""What the agent needs to reach a real Kubernetes: what is missing is named, and nothing has changed in Kubernetes or in Ares. Certificates
that expire. Skipped without a test bed."""
import datetime
import json
import pathlib
import subprocess

import pytest
import yaml

import kubernetes
from cluster import ROOT, until
from test_kubernetes import api, cluster, ends, is_idle, nothing_is_left, space, submit  # noqa: F401  # fixtures among them

pytestmark = pytest.mark.skipif(not kubernetes.is_there(), reason=kubernetes.MISSING)

RBAC = "/apis/rbac.authorization.k8s.io/v1"
# Of a client certificate that the authority of the test bed signs with any dates.
AUTHORITY = """[ca]
default_ca=d
[d]
database={0}/index
rand_serial=yes
new_certs_dir={0}
default_md=sha256
policy=p
x509_extensions=e
[e]
extendedKeyUsage=clientAuth
[p]
organizationName=optional
commonName=supplied
"""


def make_certificate(folder, subject, begin, end):
    """PEM texts of a key and its certificate, which is valid between these seconds from now."""
    pki = pathlib.Path(kubernetes.FOLDER) / "run/pki"
    now = datetime.datetime.now(datetime.timezone.utc)
    dates = [(now + datetime.timedelta(seconds=seconds)).strftime("%Y%m%d%H%M%SZ") for seconds in (begin, end)]
    (folder / "index").write_text("")
    (folder / "ca.conf").write_text(AUTHORITY.format(folder))
    for words in (["req", "-newkey", "rsa:2048", "-nodes", "-keyout", folder / "key", "-out", folder / "request", "-subj", subject],
                  ["ca", "-batch", "-notext", "-config", folder / "ca.conf", "-in", folder / "request", "-out", folder / "certificate", "-cert",
                   pki / "ca.crt", "-keyfile", pki / "ca.key", "-startdate", dates[0], "-enddate", dates[1]]):
        subprocess.run(["openssl", *map(str, words)], check=True, capture_output=True)
    return (folder / "key").read_text(), (folder / "certificate").read_text()


def make_kubeconfig(cluster, key, certificate):  # noqa: F811
    """One with the files `login.key` and `login.crt` of the folder of the cluster."""
    write_login(cluster, key, certificate)
    given = yaml.safe_load((pathlib.Path(kubernetes.FOLDER) / "run/admin.kubeconfig").read_text())
    given["users"][0]["user"] = {"client-certificate": str(cluster.top / "login.crt"), "client-key": str(cluster.top / "login.key")}
    file = cluster.top / "kubeconfig"
    file.write_text(json.dumps(given))
    return str(file)


def write_login(cluster, key, certificate):  # noqa: F811
    for name, text in (("login.key", key), ("login.crt", certificate)):
        new = cluster.top / f"{name}.new"
        new.write_text(text)
        new.rename(cluster.top / name)


def seen(api, space, cluster):  # noqa: F811
    """All that an agent could have changed."""
    objects = {kind: [(one["metadata"]["name"], one["metadata"]["resourceVersion"]) for one in api.objects(kind, space)]
               for kind in ("pods", "secrets", "configmaps", "events", "serviceaccounts")}
    objects["leases"] = [one["metadata"]["name"] for one in api.call("GET", f"/apis/coordination.k8s.io/v1/namespaces/{space}/leases")["items"]]
    objects["nodes"] = [(one["metadata"]["name"], one["metadata"].get("labels"), one["spec"]) for one in api.call("GET", "/api/v1/nodes")["items"]]
    return objects, cluster.run("ainfo", "-h", "-N", "-o", "%N %t").stdout, cluster.run("aqueue", "-h", "-o", "%i %T %r").stdout


@pytest.fixture
def pending(cluster, api, space):  # noqa: F811
    """A job that waits for a node besides n1, which is full; and all that there is before an agent starts."""
    full, job = cluster.wrap("sleep 1000", "-c4"), cluster.wrap("true", "-c1")
    cluster.wait_state(full, "RUNNING")
    cluster.wait_reason(job, "Resources")
    until(lambda: any(one["type"] == "kubernetes.io/service-account-token" for one in api.objects("secrets", space)) and
          api.objects("configmaps", space))
    return job, seen(api, space, cluster)


def is_refused(cluster, api, space, pending, cause, **settings):  # noqa: F811
    agent = kubernetes.Agent(cluster, space, **settings)
    try:
        assert agent.process.wait(timeout=60) == 1
        assert cause in agent.text(), agent.text()
        job, before = pending
        assert seen(api, space, cluster) == before
        assert cluster.state(job) == "PENDING"
    finally:
        agent.close()


@pytest.mark.parametrize("text, cause", [
    ("{{{", ":1: "),
    ("[]", "it is not a kubeconfig"),
    ("kind: Config\ncurrent-context: x\n", 'a list "contexts" is needed'),
    ("kind: Config\ncurrent-context: x\ncontexts: [{name: y, context: {}}]\n", 'there is no context "x"'),
    ("kind: Config\ncurrent-context: x\ncontexts: [{name: x, context: {cluster: c, user: u}}]\n"
     "clusters: [{name: c, cluster: {server: 'http://127.0.0.1:1'}}]\nusers: [{name: u, user: {}}]\n", '"server" must be https://'),
    ("kind: Config\ncurrent-context: x\ncontexts: [{name: x, context: {cluster: c, user: u}}]\n"
     "clusters: [{name: c, cluster: {server: 'https://127.0.0.1:1', certificate-authority-data: '%'}}]\nusers: [{name: u, user: {}}]\n",
     "is not base64"),
    ("", "kubeconfig"),
])
def test_a_malformed_kubeconfig_changes_nothing(cluster, api, space, pending, text, cause):  # noqa: F811
    file = cluster.top / "kubeconfig"
    file.write_text(text)
    is_refused(cluster, api, space, pending, cause, kubeconfig=str(file))


def test_a_certificate_that_is_none_changes_nothing(cluster, api, space, pending):  # noqa: F811
    is_refused(cluster, api, space, pending, "certificate", kubeconfig=make_kubeconfig(cluster, "no key\n", "no certificate\n"))


def test_an_expired_certificate_changes_nothing(cluster, api, space, pending, tmp_path):  # noqa: F811
    login = make_certificate(tmp_path, "/O=system:masters/CN=late", -200, -100)
    is_refused(cluster, api, space, pending, "the client certificate is wrong or has expired", kubeconfig=make_kubeconfig(cluster, *login))


def test_an_unknown_namespace_changes_nothing(cluster, api, space, pending):  # noqa: F811
    agent = kubernetes.Agent(cluster, f"{space[:50]}-absent")
    try:
        assert agent.process.wait(timeout=60) == 1
        assert f"{space[:50]}-absent" in agent.text() and "not found" in agent.text()
        assert seen(api, space, cluster) == pending[1]
        assert api.call("GET", f"/api/v1/namespaces/{space[:50]}-absent") is None
    finally:
        agent.close()


class Roles:
    """The roles of etc/kubernetes/cluster_roles.yaml for a user, less one permission."""

    def __init__(self, api, space, user, without=None):  # noqa: F811
        self.api, self.paths = api, []
        subjects = [{"kind": "User", "name": user, "apiGroup": "rbac.authorization.k8s.io"}]
        for role in yaml.safe_load_all((ROOT / "etc/kubernetes/cluster_roles.yaml").read_text()):
            name = f"{space}-{role['metadata']['name']}"
            rules = [{**rule, "verbs": [verb for verb in rule["verbs"] if without != (rule["resources"][0], verb)]} for rule in role["rules"]]
            self.make(f"{RBAC}/clusterroles", {"metadata": {"name": name}, "rules": [rule for rule in rules if rule["verbs"]]})
            of_cluster = role["metadata"]["name"] == "ares-agent"
            self.make(f"{RBAC}/clusterrolebindings" if of_cluster else f"{RBAC}/namespaces/{space}/rolebindings",
                      {"metadata": {"name": name}, "subjects": subjects,
                       "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": name}})

    def make(self, path, body):
        self.api.call("POST", path, body)
        self.paths.append(f"{path}/{body['metadata']['name']}")

    def close(self):
        for path in self.paths:
            self.api.call("DELETE", path)


@pytest.fixture
def user(cluster, api, space, tmp_path):  # noqa: F811
    """Its name, and settings with its kubeconfig."""
    name = f"user-{space}"[:60]
    return name, {"kubeconfig": make_kubeconfig(cluster, *make_certificate(tmp_path, f"/CN={name}", -100, 3600))}


@pytest.mark.parametrize("without", [("pods", "watch"), ("nodes", "get"), ("pods", "create"), ("pods/binding", "create"), ("pods", "delete"),
                                     ("secrets", "create"), ("leases", "update")], ids="-".join)
def test_a_missing_permission_is_named_and_changes_nothing(cluster, api, space, pending, user, without):  # noqa: F811
    roles = Roles(api, space, user[0], without)
    try:
        resource, verb = without
        is_refused(cluster, api, space, pending, f"{verb} {resource}", **user[1])
    finally:
        roles.close()


def test_a_user_without_any_permission_changes_nothing(cluster, api, space, pending, user):  # noqa: F811
    is_refused(cluster, api, space, pending, "the agent's user lacks permissions in Kubernetes", **user[1])


def test_the_roles_that_are_delivered_are_enough(cluster, api, space, user):  # noqa: F811
    roles = Roles(api, space, user[0])
    agent = kubernetes.Agent(cluster, space, **user[1])
    try:
        until(lambda: is_idle(cluster, api.node))
        job = submit(cluster, api, "echo $ARES_JOB_ID > ran")
        assert ends(cluster, job, "COMPLETED") == "COMPLETED|0:0"
        stored = submit(cluster, api, "echo stored", "-o", "/nowhere/out", f"-D{cluster.work}")
        assert ends(cluster, stored, "COMPLETED") == "COMPLETED|0:0"
        assert cluster.run("actl", "output", stored).stdout == "stored\n"
        cancelled = submit(cluster, api, "sleep 1000")
        until(lambda: cluster.state(cancelled) == "RUNNING")
        cluster.cancel(cancelled)
        ends(cluster, cancelled, "CANCELLED")
        nothing_is_left(api, space)
        assert "forbidden" not in agent.text()
    finally:
        agent.close()
        roles.close()


def test_a_certificate_that_expires_and_is_renewed_loses_no_job(cluster, api, space, tmp_path):  # noqa: F811
    config = make_kubeconfig(cluster, *make_certificate(tmp_path, "/O=system:masters/CN=short", -100, 30))
    agent = kubernetes.Agent(cluster, space, kubeconfig=config)
    try:
        until(lambda: is_idle(cluster, api.node))
        job = submit(cluster, api, "echo start >> starts; until [ -e release ]; do sleep 0.1; done; exit 5", "--requeue")
        until(lambda: (cluster.work / "starts").exists(), 60)
        until(lambda: "the client certificate is wrong or has expired" in agent.text(), 60)
        waits = submit(cluster, api, "echo ran > ran", "-c1", "--mem=20M")
        (cluster.work / "release").touch()
        write_login(cluster, *make_certificate(tmp_path, "/O=system:masters/CN=short", -100, 3600))
        assert ends(cluster, job, "FAILED", 90) == "FAILED|5:0"
        assert ends(cluster, waits, "COMPLETED", 90) == "COMPLETED|0:0"
        assert (cluster.work / "starts").read_text() == "start\n"
        nothing_is_left(api, space)
    finally:
        agent.close()
