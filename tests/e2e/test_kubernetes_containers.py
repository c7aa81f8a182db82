# Tests: kubernetes/pod_container, pod_template, rank_results
"""Options of jobs in containers (asub --container-image and its companions) on a real Kubernetes. Skipped without one."""
import json
import subprocess

import pytest

import kubernetes
from cluster import BIN, until
from test_kubernetes import agent, api, cluster, ends, is_idle, nothing_is_left, space, submit  # noqa: F401

pytestmark = pytest.mark.skipif(not kubernetes.is_there(), reason=kubernetes.MISSING)
BUSYBOX = "localhost/busybox:1"


def show(cluster, job):
    return cluster.run("actl", "show", "job", job).stdout


def fails(cluster, job, cause):
    ends(cluster, job, "FAILED", 90)
    assert cause in show(cluster, job)


def both_nodes(cluster, api):
    other = kubernetes.second_node() or pytest.skip("no second node: see add_node.sh")
    until(lambda: is_idle(cluster, other))
    return f"{api.node},{other}"


def test_without_nodes_for_containers_they_are_refused(cluster, api, space):
    refused = cluster.run("asub", "--container-image=x", "--wrap", "true", check=False)
    assert refused.returncode == 1
    assert "no node of partition kube runs jobs in containers" in refused.stderr


def test_the_partitions_image_and_the_jobs(cluster, api, space):
    agent = kubernetes.Agent(cluster, space, image="")
    try:
        until(lambda: is_idle(cluster, api.node))
        fails(cluster, submit(cluster, api, "true"), "no container image")
        cluster.run("actl", "update", "partition", "kube", f"ContainerImage={BUSYBOX}")
        assert f"ContainerImage={BUSYBOX}" in cluster.run("actl", "show", "partition", "kube").stdout
        job = submit(cluster, api, "echo ran > ran")
        assert ends(cluster, job, "COMPLETED") == "COMPLETED|0:0"
        cluster.run("actl", "update", "partition", "kube", "ContainerImage=localhost/absent:1")
        job = submit(cluster, api, "echo own > own", f"--container-image={BUSYBOX}")
        assert ends(cluster, job, "COMPLETED") == "COMPLETED|0:0"
        fails(cluster, submit(cluster, api, "echo ran > never"), "cannot be started")
        assert not (cluster.work / "never").exists()
        nothing_is_left(api, space)
    finally:
        agent.close()


def test_the_gate_of_the_node(cluster, api, space):
    folder = cluster.work / "gate"
    folder.mkdir()
    subprocess.run([str(BIN / "ares-gate"), "install", str(folder)], check=True)
    agent = kubernetes.Agent(cluster, space, gate_folder=str(folder))
    try:
        until(lambda: is_idle(cluster, api.node))
        job = submit(cluster, api, "echo start >> starts; until [ -e release ]; do sleep 0.1; done; arun true 2> refused; exit 3")
        until(lambda: (cluster.work / "starts").exists())
        assert all("initContainers" not in pod["spec"] for pod in api.objects("pods", space))
        agent.kill()
        agent.start()
        (cluster.work / "release").touch()
        assert ends(cluster, job, "FAILED", 90) == "FAILED|3:0"
        assert "do not work in pods" in (cluster.work / "refused").read_text()
        assert (cluster.work / "starts").read_text() == "start\n"
        (cluster.work / "in").mkdir()
        mounted = submit(cluster, api, "touch /in/here", f"--container-mounts={cluster.work}/in:/in")
        assert ends(cluster, mounted, "COMPLETED") == "COMPLETED|0:0"
        assert (cluster.work / "in/here").exists()
        nothing_is_left(api, space)
    finally:
        agent.close()


def test_an_unknown_image_fails_with_its_reason(cluster, api, space, agent):
    fails(cluster, submit(cluster, api, "true", "--container-image=localhost/absent:1"), "localhost/absent:1")
    nothing_is_left(api, space)


def test_mounts_of_a_container(cluster, api, space, agent):
    data = cluster.work / "data"
    data.mkdir()
    (data / "in").write_text("hello\n")
    job = submit(cluster, api, "cat /data/in > out; echo x > /data/new || echo refused >> out; echo y > /rw/made", f"--container-mounts={data}:/data:ro,{data}:/rw")
    assert ends(cluster, job, "COMPLETED") == "COMPLETED|0:0"
    assert (cluster.work / "out").read_text() == "hello\nrefused\n"
    assert (data / "made").read_text() == "y\n" and not (data / "new").exists()
    nothing_is_left(api, space)


def test_what_a_job_may_not_mount(cluster, api, space, agent):
    fails(cluster, submit(cluster, api, "true", "--container-mounts=/etc:/data"), "none of the directories that jobs may mount")
    fails(cluster, submit(cluster, api, "true", f"--container-mounts={cluster.work}/absent:/data"), "cannot mount")
    assert not (cluster.work / "absent").exists(), "the kubelet did not make it"
    # Inside of the container it leads to the container's own folder, and the kubelet does not follow it out of the mount.
    (cluster.work / "way").symlink_to("/etc/kubernetes")
    (cluster.work / "out").symlink_to("/")
    job = submit(cluster, api, "ls /data > listing", f"--container-mounts={cluster.work}/out:/data")
    until(lambda: show(cluster, job).find("JobState=FAILED") > 0 or "cannot be started" in show(cluster, job), 90)
    assert not (cluster.work / "listing").exists()
    cluster.run("acancel", job, check=False)
    nothing_is_left(api, space)


def test_the_working_directory_in_a_container(cluster, api, space, agent):
    job = submit(cluster, api, f"pwd > {cluster.work}/where", "--container-workdir=/bin")
    assert ends(cluster, job, "COMPLETED") == "COMPLETED|0:0"
    assert (cluster.work / "where").read_text() == "/bin\n"
    job = submit(cluster, api, "true", "--container-workdir=/absent")
    assert ends(cluster, job, "FAILED") == "FAILED|127:0"
    assert "cannot enter the working directory" in show(cluster, job)


def test_variables_of_the_image_come_first(cluster, api, space, agent):
    script = 'echo "$PATH" > path; echo "$MINE $ARES_JOB_ID" > mine'
    export = "--export=ALL,PATH=/from/submitter,MINE=1"
    job = submit(cluster, api, script, export, f"--container-image={BUSYBOX}")
    ends(cluster, job, "COMPLETED")
    assert not (cluster.work / "path").read_text().startswith("/from/submitter")
    assert (cluster.work / "mine").read_text() == f"1 {job}\n"
    job = submit(cluster, api, script, export, f"--container-image={BUSYBOX}", "--container-env=PATH")
    ends(cluster, job, "COMPLETED")
    assert (cluster.work / "path").read_text() == "/from/submitter:/ares/gate/bin\n"


def test_each_rank_runs_the_script(cluster, api, space, agent):
    nodes = both_nodes(cluster, api)
    job = submit(cluster, api, 'echo "$RANK of $WORLD_SIZE at $MASTER_ADDR"; echo ran >> ran.$RANK', "-N2", "-n2", "--container-per-rank", nodes=nodes)
    assert ends(cluster, job, "COMPLETED") == "COMPLETED|0:0"
    assert "Restarts=0" in show(cluster, job)
    outputs = [(cluster.work / name).read_text().split() for name in (f"ares-{job}.out", f"ares-{job}.out.1")]
    assert [words[:3] for words in outputs] == [["0", "of", "2"], ["1", "of", "2"]]
    assert outputs[0][4] == outputs[1][4], "both know rank 0"
    for rank in (0, 1):
        assert (cluster.work / f"ran.{rank}").read_text() == "ran\n"
    nothing_is_left(api, space)


def test_a_rank_that_fails_ends_the_others(cluster, api, space, agent):
    nodes = both_nodes(cluster, api)
    job = submit(cluster, api, 'if [ $RANK = 1 ]; then exit 9; fi; echo up > up; while :; do sleep 0.1; done', "-N2", "-n2", "--container-per-rank", nodes=nodes)
    assert ends(cluster, job, "FAILED") == "FAILED|9:0"
    assert "Restarts=0" in show(cluster, job)
    nothing_is_left(api, space)


def test_the_agent_is_killed_while_ranks_run(cluster, api, space, agent):
    nodes = both_nodes(cluster, api)
    job = submit(cluster, api, 'echo start >> start.$RANK; until [ -e release ]; do sleep 0.1; done; exit $((RANK * 3))', "-N2", "-n2", "--container-per-rank", "--requeue", nodes=nodes)
    until(lambda: all((cluster.work / f"start.{rank}").exists() for rank in (0, 1)))
    agent.kill()
    (cluster.work / "release").touch()
    agent.start()
    assert ends(cluster, job, "FAILED", 90) == "FAILED|3:0"
    for rank in (0, 1):
        assert (cluster.work / f"start.{rank}").read_text() == "start\n"
    nothing_is_left(api, space)


def test_a_pod_template(cluster, api, space, agent):
    file = cluster.work / "template.json"
    file.write_text(json.dumps({"metadata": {"labels": {"team": "x"}}, "spec": {
        "volumes": [{"name": "shm", "emptyDir": {"medium": "Memory"}}],
        "containers": [{"name": "main", "volumeMounts": [{"name": "shm", "mountPath": "/dev/shm"}]}]}}))
    job = submit(cluster, api, "busybox grep ' /dev/shm tmpfs' /proc/mounts > mounts; until [ -e release ]; do sleep 0.1; done", f"--pod-template={file}")
    until(lambda: (cluster.work / "mounts").exists())
    [pod] = [one for one in api.objects("pods", space) if one["metadata"]["name"].startswith("ares-")]
    assert pod["metadata"]["labels"]["team"] == "x"
    (cluster.work / "release").touch()
    assert ends(cluster, job, "COMPLETED") == "COMPLETED|0:0"
    file.write_text(json.dumps({"spec": {"hostNetwork": True}}))
    fails(cluster, submit(cluster, api, "echo ran > never", f"--pod-template={file}"), "spec.hostNetwork is not allowed")
    assert not (cluster.work / "never").exists()
    nothing_is_left(api, space)


def test_namespaces_that_are_granted(cluster, api, space):
    with api.namespace(space[:40] + "-team") as team, api.namespace(space[:40] + "-other") as other:
        agent = kubernetes.Agent(cluster, space, grants=[{"users": ["root"], "namespaces": [team], "service_accounts": ["default"]},
                                                         {"users": ["nobody"], "namespaces": [other]}])
        try:
            until(lambda: is_idle(cluster, api.node))
            token = "[ -s /var/run/secrets/kubernetes.io/serviceaccount/token ] && echo token > token; until [ -e release ]; do sleep 0.1; done; exit 4"
            job = submit(cluster, api, token, f"--namespace={team}", "--service-account=default", "--requeue")
            until(lambda: (cluster.work / "token").exists())
            assert api.of_ares("pods", team) and not api.of_ares("pods", space)
            agent.kill()
            agent.start()  # and finds its pod there
            (cluster.work / "release").touch()
            assert ends(cluster, job, "FAILED", 90) == "FAILED|4:0"
            nothing_is_left(api, team)
            fails(cluster, submit(cluster, api, "true", f"--namespace={other}"), "may not use namespace")
            fails(cluster, submit(cluster, api, "true", "--namespace=kube-system"), "may not use namespace")
            fails(cluster, submit(cluster, api, "true", "--service-account=default"), "may not use service account")
        finally:
            agent.close()
