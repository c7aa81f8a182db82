"""A private cluster restored from the files of a release in tests/replay/<release>: its database and the spools of its nodes.

The folder of a release holds
  base.yaml         configuration of the cluster, as given to acluster
  database.sql.gz   pg_dump of its database, taken while its controller and some of its nodes were stopped
  spool.tar.gz      spool directories of its nodes at that moment
  expected.json     output of that release's commands for the restored database, and the outcome of its jobs
  columns.txt       columns of ares_views
  events.txt, records.txt, frozen.txt   written by test_replay

make_release.py writes them, test_upgrade.py reads them. Both restore a release in the same way: `Restored` starts the controller on the
database, without nodes, so that all records can be compared; then start_nodes() starts the node daemons on the spools.
"""

import gzip
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tarfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "e2e"))

from cluster import BIN, ROOT, Cluster, until  # noqa: E402

HERE = pathlib.Path(__file__).resolve().parent
TEST_PROGRAMS = pathlib.Path(os.environ.get("ARES_TEST_PROGRAMS") or ROOT / "build/release/tests")

# For these nodes the machine seems to have run since their spools were written; for all others it seems to have been restarted.
SAME_BOOT = ["n1", "n4"]
OTHER_BOOT_ID = "00000000-0000-4000-8000-000000000000"
# Greater than every process id on Linux: the processes of the spool's attempts do not exist, and no other process has their id.
NO_PROCESS = "4999999"

# Commands that print all records as JSON. Their output is compared, and the names in it are frozen.
LISTINGS = {
    "jobs": ["aqueue", "--json"],
    "nodes": ["ainfo", "--json"],
    "partitions": ["actl", "--json", "show", "partition"],
    "reservations": ["actl", "--json", "show", "reservation"],
    "accounting": ["aacct", "-D", "-a", "-S", "2000-01-01", "--json"],
    "accounts": ["aacctmgr", "--json", "show", "account"],
    "users": ["aacctmgr", "--json", "show", "user"],
    "associations": ["aacctmgr", "--json", "show", "association"],
    "qos": ["aacctmgr", "--json", "show", "qos"],
    "wckeys": ["aacctmgr", "--json", "show", "wckey"],
    "shares": ["ashare", "-a", "--json"],
    "priorities": ["aprio", "--json"],
    "report": ["areport", "--json", "cluster", "AccountUtilizationByUser", "start=2026-01-01", "end={until}"],
}

COLUMNS = """SELECT table_name || '.' || column_name || ' ' || ordinal_position || ' ' || data_type FROM information_schema.columns
WHERE table_schema = 'ares_views' ORDER BY table_name, ordinal_position"""


def releases():
    """Folders of all releases, oldest first."""
    return sorted(path.parent for path in HERE.glob("*/expected.json"))


def boot_id():
    return pathlib.Path("/proc/sys/kernel/random/boot_id").read_text().strip()


def stop(pid, number=signal.SIGTERM):
    """Ends a process that is not a child of ours, and returns when it no longer exists."""
    def gone():
        try:
            return pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
        except OSError:
            return True
    os.kill(pid, number)
    until(gone)


def attempts_that_ran(cluster):
    """Every start of user code, as JOB.ATTEMPT: the job scripts of the scenario begin by writing a line."""
    file = cluster.dir / "runs"
    return file.read_text().split() if file.exists() else []


def views_columns(cluster):
    return cluster.psql(COLUMNS).splitlines()


def listings(cluster, at):
    """Output of the commands; reports end at `at`, so that they stay the same."""
    def ask(words):
        return json.loads(cluster.run(*[word.format(until=at) for word in words], env={"TZ": "UTC"}).stdout)
    shown = {name: ask(words) for name, words in LISTINGS.items()}
    shown["priorities"]["lines"].sort(key=lambda line: line["job"]["job"])  # their order changes as they age
    return shown


def json_names(value, prefix=""):
    """Paths of all names in a JSON value; all members of a list have the same path."""
    if isinstance(value, list):
        return set().union(*(json_names(item, prefix) for item in value)) if value else set()
    if not isinstance(value, dict):
        return set()
    paths = set()
    for name, inner in value.items():
        path = f"{prefix}.{name}" if prefix else name
        paths |= {path} | json_names(inner, path)
    return paths


def outcome(cluster, jobs):
    """Number, state and exit code of every attempt of these jobs, by job or task."""
    rows = cluster.run("aacct", "-X", "-D", "-n", "-P", "-a", "-S", "2000-01-01", "-o", "JobID,State,ExitCode,Attempt").stdout
    found = {}
    for line in rows.splitlines():
        job, state, code, attempt = line.split("|")
        if job.split("_")[0] in jobs:
            found.setdefault(job, []).append([int(attempt), state.split(" ")[0], code])
    return {job: sorted(attempts) for job, attempts in sorted(found.items())}


def in_queue(cluster):
    """Jobs that have not ended; of an array the array's id."""
    return {job.split("_")[0] for job in cluster.run("aqueue", "-h", "-o", "%i").stdout.split()}


class Restored:
    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        self.cluster = Cluster("--no-supervise", config=(self.folder / "base.yaml").read_text())
        self.controller = None
        try:
            self.restore()
        except BaseException:
            self.close()
            raise

    def restore(self):
        cluster = self.cluster
        for role in sorted(path.name for path in (cluster.dir / "procs").iterdir()):
            if role.startswith("aresd@"):
                stop(cluster.pid(role))
        stop(cluster.pid("aresctld"))
        self.restore_database()
        self.restore_spools()
        log = open(cluster.work / "controller.log", "w")
        self.controller = subprocess.Popen([BIN / "aresctld", "--config", cluster.dir / "ares.yaml"], stdout=log, stderr=subprocess.STDOUT,
                                           env=cluster.environment())
        log.close()
        try:
            until(lambda: self.alive() and cluster.run("actl", "ping", check=False).returncode == 0)
        except AssertionError as error:
            raise AssertionError(f"{error}\n{(cluster.work / 'controller.log').read_text()}") from None

    def alive(self):
        code = self.controller.poll()
        if code is not None:
            raise RuntimeError(f"aresctld exited with {code}: {(self.cluster.work / 'controller.log').read_text()}")
        return True

    def restore_database(self):
        cluster = self.cluster
        name = cluster.database()[-1]
        server = cluster.database()[:4] + ["-U", "postgres"]
        cluster.postgres("dropdb", *server, "--force", name)
        cluster.postgres("createdb", *server, "-O", "ares", name)
        statements = gzip.decompress((self.folder / "database.sql.gz").read_bytes()).decode()
        # The controller knows a node by its uuid and the boot id of its machine. The dump has both within values of type bytea.
        statements = statements.replace(self.boot_id_of_release().encode().hex(), boot_id().encode().hex())
        cluster.postgres("psql", "-XAtq1", "-v", "ON_ERROR_STOP=1", *cluster.database(), "-o", "/dev/null", input=statements)
        # Read before the controller purges old records.
        self.journal_kinds = set(cluster.psql("SELECT DISTINCT kind FROM journal").split())
        shutil.rmtree(cluster.dir / "state")  # it has data about the previous database

    def boot_id_of_release(self):
        """Boot id of the machine on which the release wrote the spools."""
        with tarfile.open(self.folder / "spool.tar.gz") as archive:
            identity = archive.extractfile(f"{SAME_BOOT[0]}/identity").read().decode()
        return re.search(r"(?m)^boot_id (.*)$", identity).group(1)

    def restore_spools(self):
        spool = self.cluster.dir / "spool"
        shutil.rmtree(spool)
        spool.mkdir()
        with tarfile.open(self.folder / "spool.tar.gz") as archive:
            archive.extractall(spool)
        for path in spool.rglob("*"):
            if path.name in ("identity", "intent"):
                seen = boot_id() if path.relative_to(spool).parts[0] in SAME_BOOT else OTHER_BOOT_ID
                path.write_text(re.sub(r"(?m)^boot_id .*$", f"boot_id {seen}", path.read_text()))
            if path.name in ("started", "task"):
                text = re.sub(r"(?m)^pid .*$", f"pid {NO_PROCESS}", path.read_text())
                path.write_text(re.sub(r"(?m)^cgroups .*$", "cgroups ", text))

    def check_state(self):
        """Loads the state from the database and checks the engine's invariants; returns the number of records of each kind."""
        host, port, user, name = (self.cluster.database()[i] for i in (1, 3, 5, 7))
        done = subprocess.run([TEST_PROGRAMS / "check_state", host, port, name, user], text=True, capture_output=True, timeout=60)
        assert done.returncode == 0, done.stderr
        return {kind: int(count) for kind, count in (line.split() for line in done.stdout.splitlines())}

    def stop_controller(self):
        if self.controller and self.controller.poll() is None:
            self.controller.send_signal(signal.SIGTERM)
            self.controller.wait(30)

    def wait_settled(self, jobs):
        until(lambda: not in_queue(self.cluster) & set(jobs), 60)

    def start_nodes(self):
        """Restarts the controller and starts the node daemons, with acluster; returns when all nodes answer."""
        self.stop_controller()
        self.cluster.up("--no-supervise")

    def close(self):
        self.stop_controller()
        self.cluster.close()
