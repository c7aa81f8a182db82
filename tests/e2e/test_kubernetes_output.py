# Tests: cluster_agent_output, gate/log_pipe, actl/output, aresd/controller_link
"""Output of jobs whose directory is not mounted in Kubernetes: it is read from the logs of their pods, stored once and without a loss, and
shown by `actl output`. Skipped without a test bed."""
import hashlib
import os
import re
import signal
import subprocess
import time

import pytest

import kubernetes
from cluster import BIN, ROOT, until
from test_kubernetes import api, cluster, ends, is_idle, nothing_is_left, space, submit  # noqa: F401  # fixtures among them

pytestmark = pytest.mark.skipif(not kubernetes.is_there(), reason=kubernetes.MISSING)

# Lines of different lengths, a byte that marks in the log use, and no newline at the end.
LINES = r'''awk 'BEGIN { for (i = 0; i < %d; i++) printf "%%d %%s\n", i, substr("0123456789abcdefghijklmnopqrstuvwxyz\036", 1, i %% 38);
        printf "the end" }' '''


def lines(count):
    text = "0123456789abcdefghijklmnopqrstuvwxyz\x1e"
    return ("".join(f"{i} {text[:i % 38]}\n" for i in range(count)) + "the end").encode()


@pytest.fixture
def agent(cluster, space, api):  # noqa: F811
    """One whose pods see no directory of the submitters."""
    agent = kubernetes.Agent(cluster, space, mounts=[])
    try:
        until(lambda: is_idle(cluster, api.node))
        yield agent
    finally:
        agent.process.send_signal(signal.SIGCONT)
        agent.close()


def output(cluster, job, *options):  # noqa: F811
    return subprocess.run([str(BIN / "actl"), "output", job, *options], env=cluster.environment(), capture_output=True, check=True, timeout=60).stdout


def follow(cluster, job):  # noqa: F811
    return subprocess.Popen([str(BIN / "actl"), "output", job, "--follow"], env=cluster.environment(), stdout=subprocess.PIPE)


def test_what_a_job_prints_is_there_when_it_has_ended(cluster, api, space, agent):  # noqa: F811
    job = submit(cluster, api, "echo out; echo err >&2; printf 'no newline'; exit 3")
    assert ends(cluster, job, "FAILED") == "FAILED|3:0"
    assert output(cluster, job) == b"out\nerr\nno newline"
    silent = submit(cluster, api, "true")
    ends(cluster, silent, "COMPLETED")
    assert output(cluster, silent) == b""
    nothing_is_left(api, space)


def test_large_output_is_whole(cluster, api, space, agent):  # noqa: F811
    job = submit(cluster, api, LINES % 1_000_000)
    ends(cluster, job, "COMPLETED", 300)
    assert hashlib.sha256(output(cluster, job)).digest() == hashlib.sha256(lines(1_000_000)).digest()
    nothing_is_left(api, space)


def test_it_can_be_followed(cluster, api, space, agent):  # noqa: F811
    job = submit(cluster, api, "echo first; until [ -e /tmp/go ]; do sleep 0.1; done & sleep 1; echo second; touch /tmp/go; wait; echo last")
    reader = follow(cluster, job)
    assert reader.communicate(timeout=60)[0] == b"first\nsecond\nlast\n"
    assert reader.returncode == 0
    ends(cluster, job, "COMPLETED")


def is_waiting(api, space):  # noqa: F811
    """The script's log is as far ahead as it may be."""
    seen = []

    def look():
        pods = api.of_ares("pods", space)
        seen.append(len(api.log(space, pods[0])) if pods else 0)
        return seen[-1] > 1_000_000 and seen[-5:-1] == seen[-1:] * 4

    until(look, 60)  # looks every 50 ms


@pytest.mark.parametrize("fault", ["killed", "stopped", "apiserver"])
def test_an_agent_that_is_away_loses_nothing(cluster, api, space, agent, fault):  # noqa: F811
    """The script prints more than the log may be ahead, so it waits for the agent."""
    job = submit(cluster, api, "echo begin; " + LINES % 600_000)
    until(lambda: output(cluster, job))
    if fault == "killed":
        agent.kill()
        is_waiting(api, space)
        agent.start()
    elif fault == "stopped":
        agent.process.send_signal(signal.SIGSTOP)
        is_waiting(api, space)
        agent.process.send_signal(signal.SIGCONT)
    else:
        subprocess.run([str(ROOT / "contrib/kubernetes/testbed/restart.sh"), kubernetes.FOLDER, "kube-apiserver"], check=True, timeout=60)
    ends(cluster, job, "COMPLETED", 300)
    printed = output(cluster, job)
    assert hashlib.sha256(printed).digest() == hashlib.sha256(b"begin\n" + lines(600_000)).digest(), len(printed)
    assert "were no longer in its log" not in agent.text()
    nothing_is_left(api, space)


def test_each_rank_has_its_own(cluster, api, space, agent):  # noqa: F811
    other = kubernetes.second_node() or pytest.skip("no second node: see add_node.sh")
    until(lambda: is_idle(cluster, other))
    job = submit(cluster, api, "echo rank $RANK", "-N2", f"-w{api.node},{other}", "--container-per-rank")
    ends(cluster, job, "COMPLETED", 90)
    assert output(cluster, job) == b"rank 0\n"
    assert output(cluster, job, "rank=1") == b"rank 1\n"
    missing = cluster.run("actl", "output", job, "rank=2", check=False)
    assert missing.returncode == 1 and "nothing is stored" in missing.stderr
    nothing_is_left(api, space)


def test_attempts_are_apart_and_strangers_read_nothing(cluster, api, space, agent):  # noqa: F811
    job = submit(cluster, api, "echo attempt $SLURM_RESTART_COUNT; [ ${SLURM_RESTART_COUNT:-0} = 1 ] || sleep 100", "--requeue")
    until(lambda: cluster.state(job) == "RUNNING" and output(cluster, job))
    cluster.run("actl", "requeue", job)
    ends(cluster, job, "COMPLETED", 90)
    assert output(cluster, job) == b"attempt 1\n"
    assert output(cluster, job, "attempt=1").startswith(b"attempt")
    refused = cluster.run("actl", "output", job, user="nobody", check=False)
    assert refused.returncode == 1 and "may not read the output" in refused.stderr
    unknown = cluster.run("actl", "output", "999999", check=False)
    assert unknown.returncode == 1 and "there is no job 999999" in unknown.stderr


def test_the_controller_restarts_and_stores_no_more_than_it_shall(cluster, api, space, agent):  # noqa: F811
    job = submit(cluster, api, "echo before; until [ -e /tmp/x ]; do sleep 0.2; [ $((i=i+1)) -lt 40 ] || touch /tmp/x; echo $i; done")
    until(lambda: cluster.state(job) == "RUNNING" and output(cluster, job))
    os.kill(cluster.pid("aresctld"), signal.SIGKILL)
    ends(cluster, job, "COMPLETED", 90)
    assert output(cluster, job) == b"before\n" + b"".join(b"%d\n" % i for i in range(1, 41))
    text = (cluster.dir / "ares.yaml").read_text()
    (cluster.dir / "ares.yaml").write_text(re.sub("job_output_limit: .*", "job_output_limit: 1M", text))
    cluster.run("actl", "reconfigure")
    job = submit(cluster, api, LINES % 100_000)
    ends(cluster, job, "COMPLETED", 90)
    assert output(cluster, job) == lines(100_000)[:1 << 20]


def test_a_pod_deleted_in_kubernetes_keeps_what_it_still_prints(cluster, api, space, agent):  # noqa: F811
    job = submit(cluster, api, "trap 'sleep 1; echo last words; exit 0' TERM; echo first; while :; do sleep 0.1; done")
    until(lambda: output(cluster, job) == b"first\n")
    (pod,) = api.of_ares("pods", space)
    api.call("DELETE", f"/api/v1/namespaces/{space}/pods/{pod}")
    ends(cluster, job, "COMPLETED", 60)
    printed = output(cluster, job)
    assert printed.startswith(b"first\n") and printed.endswith(b"last words\n"), printed
    nothing_is_left(api, space)


def test_a_cancelled_job_keeps_its_last_words(cluster, api, space, agent):  # noqa: F811
    job = submit(cluster, api, "trap 'echo last words; exit 1' TERM; echo first; while :; do sleep 0.1; done")
    until(lambda: output(cluster, job) == b"first\n")
    since = time.monotonic()
    cluster.run("acancel", job)
    until(lambda: cluster.state(job) != "RUNNING" and "CANCELLED" in cluster.account(job, "State"))
    print(f"cancelled after {time.monotonic() - since:.1f} s")
    printed = output(cluster, job)  # the shell may say that its sleep was ended
    assert printed.startswith(b"first\n") and printed.endswith(b"last words\n"), printed
    nothing_is_left(api, space)
