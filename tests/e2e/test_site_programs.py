# Tests: site_program_runner
"""Prolog, epilog and health check of the site; the warning before an end."""

import os
import pathlib
import shutil
import tempfile

import pytest

from cluster import Cluster, until

CONFIG = """
cluster: programs
policy: {{heartbeat: 1, kill_wait: 2}}
node:
  prolog: {folder}/prolog
  prolog_timeout: 5
  epilog: {folder}/epilog
  epilog_timeout: 60
  health_check: {folder}/health
  health_check_interval: 1
nodes:
  - {{name: "n[1-2]", cpus: 4, memory: 400M}}
partitions:
  - {{name: main, nodes: "n[1-2]", default: true}}
"""


class Site:
    """A cluster whose programs do what the files in `folder` say: files named after a program and node are run by it."""

    def __init__(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="ares-site-"))
        self.folder.chmod(0o755)
        for name in ("prolog", "epilog", "health"):
            self.write(name, f"""#!/bin/sh
echo "$ARESD_NODENAME $ARES_JOB_ID $ARES_SCRIPT_CONTEXT $ARES_JOB_USER code=$ARES_JOB_EXIT_CODE" >> {self.folder}/{name}.log
[ ! -e {self.folder}/{name}.do ] || . {self.folder}/{name}.do
""")
        self.cluster = Cluster(config=CONFIG.format(folder=self.folder))

    def write(self, name, text):
        new = self.folder / (name + ".new")
        new.write_text(text)
        new.chmod(0o755)
        new.rename(self.folder / name)

    def let(self, name, text=None):
        """From now on the program also does this."""
        if text is None:
            (self.folder / f"{name}.do").unlink(missing_ok=True)
        else:
            self.write(f"{name}.do", text)

    def lines(self, name):
        log = self.folder / f"{name}.log"
        return log.read_text().splitlines() if log.exists() else []

    def node(self, name):
        return self.cluster.show("node", name)

    def resume(self, name):
        self.cluster.run("actl", "update", f"node={name}", "state=resume")

    def close(self):
        self.cluster.close()
        shutil.rmtree(self.folder)


@pytest.fixture(scope="module")
def site():
    made = Site()
    yield made
    made.close()


@pytest.fixture(autouse=True)
def as_before(site):
    yield
    for name in ("prolog", "epilog", "health"):
        site.let(name)
    for name in ("n1", "n2"):
        if "DRAIN" in site.node(name):
            site.resume(name)


def test_programs_run_around_each_job_on_each_of_its_nodes(site):
    job = site.cluster.wrap("exit 3", "-N2", "-w", "n1,n2")
    site.cluster.wait_end(job)
    for node in ("n1", "n2"):
        assert [line for line in site.lines("prolog") if line.startswith(f"{node} {job} prolog root")]
    assert [line for line in site.lines("epilog") if line.startswith(f"n1 {job} epilog root code=3")]
    assert [line for line in site.lines("epilog") if line.startswith(f"n2 {job} epilog root")]
    assert site.cluster.account(job, "State,ExitCode") == "FAILED|3:0"


def test_the_script_starts_after_the_prolog_and_the_next_job_after_the_epilog(site):
    site.let("prolog", f"touch {site.folder}/prepared")
    site.let("epilog", f"rm {site.folder}/prepared")
    for _ in range(3):
        job = site.cluster.wrap(f"test -e {site.folder}/prepared", "-w", "n1", "--exclusive")
        site.cluster.completed(job)


def test_a_failed_prolog_drains_the_node_and_the_job_runs_elsewhere(site):
    site.let("prolog", '[ "$ARESD_NODENAME" != n1 ] || { echo "no scratch on $ARESD_NODENAME"; exit 7; }')
    jobs = [site.cluster.wrap("true", "--exclusive") for _ in range(4)]
    for job in jobs:
        site.cluster.completed(job, 60)
        assert "Restarts=0" in site.cluster.show("job", job)
    shown = site.node("n1")
    assert "DRAIN" in shown and "prolog exited with 7: no scratch on n1" in shown
    assert "DRAIN" not in site.node("n2")


def test_a_prolog_that_hangs_is_killed_and_has_failed(site):
    site.let("prolog", '[ "$ARESD_NODENAME" != n1 ] || sleep 1000')
    job = site.cluster.wrap("true", "-w", "n1")
    until_drained(site, "n1", "prolog did not end within 5 s")
    assert site.cluster.state(job) == "PENDING"
    site.let("prolog")
    site.resume("n1")
    site.cluster.completed(job, 60)


def test_a_failed_epilog_drains_the_node_and_the_job_is_completed(site):
    site.let("epilog", "echo 'GPU 0 is still used'; exit 1")
    job = site.cluster.wrap("true", "-w", "n2")
    site.cluster.completed(job)
    until_drained(site, "n2", "epilog exited with 1: GPU 0 is still used")


def test_an_epilog_whose_supervisor_dies_drains_the_node(site):
    site.let("epilog", f"echo $$ > {site.folder}/epilog.pid; sleep 1000")
    job = site.cluster.wrap("true", "-w", "n1")
    pid = until(lambda: read_pid(site.folder / "epilog.pid"))
    until(lambda: site.cluster.queue(job) == "COMPLETING")
    parent = int(pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[1])
    os.kill(parent, 9)
    site.cluster.completed(job)
    until_drained(site, "n1", "the epilog did not come to its end")
    until(lambda: not pathlib.Path(f"/proc/{pid}").exists())


def test_cancelling_during_the_prolog_runs_nothing_and_blames_no_node(site):
    ran = site.folder / "ran"
    site.let("prolog", f"touch {site.folder}/begun; sleep 1000")
    job = site.cluster.wrap(f"touch {ran}", "-w", "n1")
    until(lambda: (site.folder / "begun").exists())
    site.cluster.cancel(job)
    site.cluster.wait_end(job)
    assert site.cluster.account(job, "State").startswith("CANCELLED")
    assert not ran.exists()
    assert "DRAIN" not in site.node("n1")


def test_a_node_daemon_that_restarts_meanwhile_runs_each_program_once(site):
    site.let("epilog", f"touch {site.folder}/ending; while [ -e {site.folder}/wait ]; do sleep 0.1; done")
    (site.folder / "wait").touch()
    job = site.cluster.wrap("exit 5", "-w", "n1")
    until(lambda: (site.folder / "ending").exists())
    until(lambda: site.cluster.queue(job) == "COMPLETING")
    before = site.cluster.pid("aresd@n1")
    os.kill(before, 9)
    until(lambda: site.cluster.pid("aresd@n1") != before)
    until(lambda: "2 of 2 nodes answer" in site.cluster.run("actl", "ping", check=False).stdout)
    assert site.cluster.queue(job) == "COMPLETING"
    (site.folder / "wait").unlink()
    site.cluster.wait_end(job, 60)
    assert site.cluster.account(job, "State,ExitCode") == "FAILED|5:0"
    assert len([line for line in site.lines("epilog") if line.startswith(f"n1 {job} ")]) == 1
    assert "DRAIN" not in site.node("n1")


def test_the_health_check_drains_the_node_while_it_fails(site):
    site.let("health", "echo 'clock is off by 90 s'; exit 1")
    until_drained(site, "n1", "health check exited with 1: clock is off by 90 s")
    site.let("health")
    until(lambda: "DRAIN" not in site.node("n1"))
    site.cluster.completed(site.cluster.wrap("true", "-w", "n1"))


def test_variables_of_the_user_do_not_reach_the_programs(site):
    site.let("prolog", f"env > {site.folder}/env.$ARES_JOB_ID")
    job = site.cluster.wrap("true", "--export=ALL,LD_PRELOAD=/tmp/evil.so,ARES_JOB_USER=other,BASH_ENV=/tmp/evil", "-w", "n1")
    site.cluster.wait_end(job)
    text = (site.folder / f"env.{job}").read_text()
    assert "evil" not in text and "ARES_JOB_USER=root" in text


WARNED = """#!/bin/sh
python3 -c '
import os, signal, sys, time
def warned(number, frame):
    print("warned", number, open(os.environ["ARES_DEADLINE_FILE"]).read().split(), int(time.time()), flush=True)
    sys.exit(0)
signal.signal(signal.SIGUSR1, warned)
print("ready", flush=True)
while True: time.sleep(0.05)
'
echo script went on
"""


def test_the_warning_reaches_what_the_script_started(site):
    job = site.cluster.submit("--signal=USR1@54", "-t1", site.cluster.script(WARNED))
    site.cluster.completed(job)
    ready, warned, last = site.cluster.output(job).splitlines()
    assert ready == "ready" and last == "script went on"
    words = warned.split()
    deadline, why, now = int(words[2].strip("[',")), words[3], int(words[4])
    assert why == "'TIMEOUT']"
    assert 51 <= deadline - now <= 57, "54 s to the limit, 2 s to KILL"
    assert "Signal=USR1@54" in site.cluster.show("job", job)


def test_the_warning_to_the_script_alone(site):
    job = site.cluster.submit("--signal=B:USR1@54", "-t1", site.cluster.script("""#!/bin/bash
trap 'echo caught; exit 9' USR1
echo ready
while :; do sleep 0.05; done
"""))
    site.cluster.wait_end(job)
    assert site.cluster.output(job).split() == ["ready", "caught"]
    assert site.cluster.account(job, "ExitCode") == "9:0"


def test_the_deadline_of_a_cancelled_job(site):
    job = site.cluster.submit(site.cluster.script("""#!/bin/bash
trap 'cat $ARES_DEADLINE_FILE; exit 1' TERM
test ! -e $ARES_DEADLINE_FILE && echo none yet
while :; do sleep 0.05; done
"""))
    until(lambda: "none" in site.cluster.output(job))
    site.cluster.cancel(job)
    site.cluster.wait_end(job)
    assert site.cluster.output(job).split()[-1] == "CANCELLED"


@pytest.mark.parametrize("value, why", [("R:USR1@60", "overlap a later reservation"), ("USR9", "unknown signal"),
                                        ("USR1@99999", "not a number of seconds")])
def test_a_wrong_signal_is_refused(site, value, why):
    result = site.cluster.run("asub", f"--signal={value}", "--wrap", "true", check=False)
    assert result.returncode != 0 and why in result.stderr


def until_drained(site, node, reason):
    return until(lambda: "DRAIN" in site.node(node) and reason in site.node(node))


def read_pid(path):
    return int(path.read_text()) if path.exists() and path.read_text().strip() else None
