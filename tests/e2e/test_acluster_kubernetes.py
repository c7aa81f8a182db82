# Tests: acluster/actions, cluster_config, services
"""acluster up --kubernetes: a private cluster with the nodes of a real Kubernetes. Skipped without a test bed."""
import os
import pathlib
import re
import signal
import tempfile

import pytest

import kubernetes
from cluster import Cluster, until

pytestmark = pytest.mark.skipif(not kubernetes.is_there(), reason=kubernetes.MISSING)
IMAGES = ["--gate-image=localhost/ares-gate:1", "--image=localhost/busybox:1"]


@pytest.fixture(scope="module")
def api():
    kubernetes.give_gate_image()
    return kubernetes.Api()


@pytest.fixture
def make(api):
    """Makes private clusters in a folder that their jobs see; afterwards nothing of them is left in Kubernetes."""
    made = []
    with tempfile.TemporaryDirectory(prefix="ares-e2e-kube-") as folder:
        pathlib.Path(folder).chmod(0o755)

        def up(*options):
            made.append(Cluster(f"--kubernetes={kubernetes.FOLDER}/run/admin.kubeconfig", f"--mount={folder}", *IMAGES, *options, within=folder))
            return made[-1]

        yield up
        for cluster in made:
            name = name_of(cluster)
            cluster.close()
            label = f"?labelSelector=ares.io/cluster={name}"
            for kind in ("pods", "secrets"):  # Kubernetes removes Secrets some time after their pods
                until(lambda kind=kind: not api.call("GET", f"/api/v1/namespaces/default/{kind}{label}")["items"])
            api.call("DELETE", f"/apis/coordination.k8s.io/v1/namespaces/default/leases/ares-{name}")


def name_of(cluster):
    return re.search(r'^cluster: "?([^"\n]+)', (cluster.dir / "ares.yaml").read_text(), re.MULTILINE).group(1)


def test_jobs_run_as_pods_from_the_first_up_on(make, api):
    cluster = make()
    assert "idle" in cluster.run("ainfo", "-h", "-N", "-n", f"kube-{api.node}", "-o", "%t").stdout
    job = cluster.wrap("hostname; until [ -e release ]; do sleep 0.1; done", "-w", f"kube-{api.node}")
    cluster.wait_state(job, "RUNNING")
    assert "aresd@kubernetes" in cluster.acluster("status").stdout
    agent = cluster.pid("aresd@kubernetes")
    os.kill(agent, signal.SIGKILL)
    until(lambda: cluster.acluster("pid", "aresd@kubernetes", check=False).stdout.strip() not in ("", str(agent)))
    (cluster.work / "release").touch()
    cluster.completed(job)
    assert cluster.output(job).startswith(f"ares-{name_of(cluster)}-")
    cluster.acluster("down")
    assert cluster.acluster("status", check=False).returncode != 0
    cluster.up()
    cluster.completed(cluster.wrap("true"))


def test_nodes_of_this_machine_are_beside_them(make, api):
    cluster = make("--nodes=1", "--cpus=2")
    here, there = cluster.wrap("hostname", "-w", "n1"), cluster.wrap("hostname", "-w", f"kube-{api.node}")
    for job in (here, there):
        cluster.completed(job)
    assert cluster.output(here) != cluster.output(there)


def test_an_agent_that_cannot_start_is_an_error_with_its_reason(fresh_folder, api):
    file = fresh_folder / "kubeconfig"
    text = pathlib.Path(f"{kubernetes.FOLDER}/run/admin.kubeconfig").read_text()
    file.write_text(text.replace("/pki/admin.crt", "/nonexistent.crt"))
    with pytest.raises(AssertionError, match="the agent of Kubernetes has ended(.|\n)*nonexistent"):
        Cluster(f"--kubernetes={file}", *IMAGES)


@pytest.fixture
def fresh_folder():
    with tempfile.TemporaryDirectory(prefix="ares-e2e-kube-") as folder:
        yield pathlib.Path(folder)
