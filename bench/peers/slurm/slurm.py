"""A private Slurm of Debian's packages under one folder: munged, MariaDB, slurmdbd, slurmctld, and slurmd for one host.

All daemons run as root (slurmd needs it to become the users), listen only on loopback, on ports that were free at the start, and are
ended by their pid. Jobs run as the submitting user.
"""
import contextlib
import os
import pathlib
import signal
import socket
import subprocess
import time

import slurm_conf
from lib.process import run

PROGRAMS = ["slurmctld", "slurmd", "slurmdbd", "sbatch", "srun", "squeue", "sacct", "scancel", "sacctmgr", "mariadbd",
            "mariadb-install-db", "munged", "cc"]
PATIENCE = 60  # seconds


def missing_programs():
    path = os.environ["PATH"] + ":/usr/sbin:/sbin"
    return [name for name in PROGRAMS if not any(os.access(f"{d}/{name}", os.X_OK) for d in path.split(":"))]


def free_ports(count):
    held = [socket.socket() for _ in range(count)]
    for one in held:
        one.bind(("127.0.0.1", 0))
    ports = [one.getsockname()[1] for one in held]
    for one in held:
        one.close()
    return ports


def until(what, condition, patience=PATIENCE):
    deadline = time.monotonic() + patience
    while not condition():
        if time.monotonic() > deadline:
            raise RuntimeError(f"{what}: not within {patience} s")
        time.sleep(0.02)


class Slurm:
    """The daemons of a Slurm cluster. start() returns when the node is idle; stop() leaves no process."""

    def __init__(self, directory, tuned, contained=False):
        self.dir, self.tuned, self.contained = pathlib.Path(directory), tuned, contained
        self.conf = self.dir / "etc/slurm.conf"
        # Every process of this Slurm, also of jobs, has SLURM_CONF in its environment, by which stop() finds remaining processes.
        self.env = dict(os.environ, SLURM_CONF=str(self.conf), MYSQL_UNIX_PORT=str(self.dir / "run/maria.sock"),
                        PATH=os.environ["PATH"] + ":/usr/sbin:/sbin")
        for name in [name for name in self.env if name.startswith(("SBATCH_", "SQUEUE_", "SACCT_", "SRUN_", "SCANCEL_"))]:
            del self.env[name]
        self.running = {}  # role -> Popen

    # --- starting -------------------------------------------------------------------------------------------------------
    def start(self):
        for name in ("etc", "run", "log", "state", "spool", "db"):
            (self.dir / name).mkdir(parents=True, exist_ok=True)
        ports = free_ports(3)
        places = {"dir": self.dir, "host": socket.gethostname().split(".")[0], "ctld_port": ports[0], "slurmd_port": ports[1],
                  "dbd_port": ports[2]}
        for name, text in self.configuration_files(places).items():
            (self.dir / "etc" / name).write_text(text)
        (self.dir / "etc/slurmdbd.conf").chmod(0o600)
        self.start_munge()
        self.start_mariadb()
        self.spawn("slurmdbd", "slurmdbd", "-D")
        until("slurmdbd", lambda: self.answers("sacctmgr", "-n", "show", "cluster"))
        run("sacctmgr", "-i", "add", "cluster", "bench", env=self.env)
        self.start_controller()
        self.spawn_nodes()
        until("the nodes", self.nodes_are_idle)

    # What a cluster of another shape replaces.
    def configuration_files(self, places):
        return slurm_conf.files(self.tuned, self.contained, **places)

    def spawn_nodes(self):
        self.spawn("slurmd", "slurmd", "-D")

    def nodes_are_idle(self):
        return self.output("sinfo", "-h", "-o", "%T").strip() == "idle"

    def start_munge(self):
        key = self.dir / "etc/munge.key"
        key.write_bytes(os.urandom(1024))
        key.chmod(0o600)
        where = self.dir / "run/munge.sock"
        self.spawn("munged", "munged", "--foreground", "--force", f"--key-file={key}", f"--socket={where}",
                   f"--pid-file={self.dir}/run/munged.pid", f"--seed-file={self.dir}/run/munged.seed",
                   f"--num-threads={10 if self.tuned else 2}")
        until("munged", where.exists)

    def start_mariadb(self):
        defaults = f"--defaults-file={self.dir}/etc/my.cnf"
        run("mariadb-install-db", defaults, "--skip-test-db", "--auth-root-authentication-method=socket", env=self.env)
        self.spawn("mariadbd", "mariadbd", defaults)
        until("MariaDB", lambda: self.connects(self.dir / "run/maria.sock"))

    def start_controller(self):
        self.spawn("slurmctld", "slurmctld", "-D")
        until("slurmctld", lambda: self.answers("scontrol", "ping") and self.answers("squeue", "-h"))

    def spawn(self, role, *argv):
        with open(self.dir / f"log/{role}.out", "ab") as log:
            self.running[role] = subprocess.Popen(argv, env=self.env, cwd=self.dir, stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                                                  start_new_session=True)

    def answers(self, *argv):
        self.check_alive()
        return subprocess.run(argv, env=self.env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode == 0

    def output(self, *argv):
        self.check_alive()
        return subprocess.run(argv, env=self.env, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True).stdout

    @staticmethod
    def connects(path):
        """Whether a process listens on this socket."""
        with contextlib.closing(socket.socket(socket.AF_UNIX)) as one:
            return one.connect_ex(str(path)) == 0

    def check_alive(self):
        for role, process in self.running.items():
            if process.poll() is not None:
                raise RuntimeError(f"{role} ended with {process.returncode}:\n{self.logs(role)}")

    def logs(self, *roles):
        text = ""
        for path in sorted((self.dir / "log").glob("*")):
            if not roles or path.name.split(".")[0] in roles:
                text += f"--- {path}\n" + "\n".join(path.read_text(errors="replace").splitlines()[-15:]) + "\n"
        return text

    # --- ending ---------------------------------------------------------------------------------------------------------
    def kill_controller(self):
        process = self.running.pop("slurmctld")
        process.kill()
        process.wait()

    def stop(self):
        """Stops the daemons with a short grace, as their data is not kept. Step daemons and jobs outlive slurmd and are killed last."""
        order = ("slurmctld", "slurmd", "slurmdbd", "mariadbd", "munged")
        for role in sorted(self.running, key=lambda role: order.index(role.split("-")[0])):
            process = self.running.pop(role)
            process.terminate()
            try:
                process.wait(3)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        until("ends of jobs", lambda: not self.kill_marked(), 30)

    def kill_marked(self):
        """Kills every process of this Slurm. Returns their pids."""
        mark = f"SLURM_CONF={self.conf}".encode()
        found = []
        for entry in pathlib.Path("/proc").iterdir():
            if entry.name.isdigit() and int(entry.name) != os.getpid():
                with contextlib.suppress(OSError):
                    if mark in (entry / "environ").read_bytes():
                        os.kill(int(entry.name), signal.SIGKILL)
                        found.append(int(entry.name))
        return found

    def configuration(self):
        return {name: (self.dir / "etc" / name).read_text() for name in ("slurm.conf", "slurmdbd.conf", "my.cnf", "cgroup.conf")}
