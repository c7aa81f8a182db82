# Tests: pam/session, pam_session
"""`node.pam_service`: a PAM session around each job, by a stand-in for libpam (tests/pam/stub.cc)."""
import os
import pathlib
import re
import shutil
import signal
import subprocess
import tempfile

import pytest

import nvml
from cluster import BIN, Cluster, until

CONFIG = """
cluster: pam
policy: {{heartbeat: 1, kill_wait: 10}}
node: {{pam_service: jobs{more}}}
nodes: [{{name: n1, cpus: 4, memory: 400M}}]
partitions: [{{name: main, nodes: n1, default: true}}]
"""
LINES = ["tty=ares", "account", "credentials 2", "open", "close", "credentials 4", "end 0"]


@pytest.fixture(scope="module", params=["", "with a task epilog"])
def pam(request):
    if os.geteuid() != 0:
        pytest.skip("only root can open sessions of others")
    folder = pathlib.Path(tempfile.mkdtemp(prefix="ares-pam-"))
    folder.chmod(0o755)
    more = ""
    if request.param:
        (folder / "epilog").write_text("#!/bin/sh\necho epilog\n")
        (folder / "epilog").chmod(0o755)
        more = f", task_epilog: {folder}/epilog"
    # aresstepd finds ares-pam beside itself; the stand-in is for that alone.
    shutil.copy(BIN / "aresstepd", folder)
    (folder / "ares-pam").write_text(f"""#!/bin/sh
LD_LIBRARY_PATH={nvml.STUBS}/pam_stub ARES_PAM_STUB={folder}/calls exec {BIN}/ares-pam "$@"
""")
    (folder / "ares-pam").chmod(0o755)
    made = Cluster("--no-supervise", config=CONFIG.format(more=more))
    made.calls, made.epilog = folder / "calls", ["epilog"] if request.param else []
    os.kill(made.pid("aresd@n1"), signal.SIGKILL)
    config, count = re.subn(r"(?m)^  stepd: .*$", f"  stepd: {folder}/aresstepd", (made.dir / "ares.yaml").read_text())
    assert count == 1
    (folder / "ares.yaml").write_text(config)
    with open(folder / "aresd.log", "w") as log:
        daemon = subprocess.Popen([str(BIN / "aresd"), "--config", str(folder / "ares.yaml"), "--node", "n1"], stdin=subprocess.DEVNULL,
                                  stdout=log, stderr=log)
    yield made
    daemon.terminate()
    daemon.wait(timeout=20)
    made.close()
    shutil.rmtree(folder)


def calls(cluster):
    found = cluster.calls.read_text().splitlines() if cluster.calls.exists() else []
    cluster.calls.unlink(missing_ok=True)
    return found


def test_a_job_runs_within_a_session_of_its_user(pam, others):
    job = pam.wrap("echo $FROM_PAM $KRB5CCNAME; ulimit -Hn; id -un; exit 3", "--export=ALL,KRB5CCNAME=mine", user=others[0])
    pam.wait_end(job)
    assert pam.account(job, "State,ExitCode") == "FAILED|3:0"
    assert pam.output(job).splitlines() == ["a value FILE:/tmp/of-session", "123", others[0], *pam.epilog]
    assert calls(pam) == [f"{line} jobs {others[0]}" for line in LINES]


def test_an_account_that_pam_refuses_runs_no_job(pam, others):
    refuse = pam.calls.with_name("calls.account")
    refuse.write_text(others[1])
    try:
        job = pam.wrap("touch ran", user=others[1])
        pam.wait_end(job)
        assert pam.account(job, "State").startswith("FAILED")
        assert "there is no PAM session (jobs): the account is refused: User account has expired" in pam.show("job", job)
        assert not (pam.work / "ran").exists()
        pam.completed(pam.wrap("true", user=others[0]))
    finally:
        refuse.unlink()
    calls(pam)


def test_signals_reach_the_script_and_a_cancelled_job_closes_its_session(pam, others):
    job = pam.wrap("trap 'echo usr1' USR1; trap 'echo term; exit 0' TERM; echo began; while :; do sleep 0.05; done", user=others[0])
    out = pam.work / f"ares-{job}.out"
    until(lambda: out.exists() and "began" in out.read_text())
    pam.cancel("--signal=USR1", "--batch", job)
    until(lambda: "usr1" in out.read_text())
    pam.cancel("--signal=USR1", job)
    until(lambda: out.read_text().count("usr1") == 2)
    pam.cancel(job)
    pam.wait_end(job)
    assert pam.account(job, "State").startswith("CANCELLED")
    own = [line for line in out.read_text().splitlines() if line in ("began", "usr1", "term", "epilog")]  # the shell tells of sleep, too
    assert own == ["began", "usr1", "usr1", "term", *pam.epilog]
    assert calls(pam) == [f"{line} jobs {others[0]}" for line in LINES]


def test_it_is_refused_without_root(tmp_path, others):
    if os.geteuid() != 0:
        pytest.skip("needs another user than root")
    folder = pathlib.Path(tempfile.mkdtemp(prefix="ares-pam-"))
    try:
        config = folder / "ares.yaml"
        config.write_text(CONFIG.format(more=f", spool: {folder}/%n"))
        shutil.chown(folder, others[0])
        done = subprocess.run([str(BIN / "aresd"), "--config", str(config), "--node", "n1"], user=others[0], capture_output=True, text=True,
                              timeout=60, check=False)
        assert done.returncode == 1 and "needs an aresd that runs as root" in done.stderr, done.stderr
    finally:
        shutil.rmtree(folder)
