"""The two clusters that are compared: Debian's Slurm and Ares behind the wrappers, each with four nodes of four CPUs and 4000 MiB.

Everything is private and below one folder; all daemons are ended by their pid. Runs as root, since slurmd has to become the users.
"""
import os
import pathlib
import socket
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.path[:0] = [str(ROOT / "bench/peers/slurm"), str(ROOT / "bench")]

import slurm  # noqa: E402
import slurm_conf  # noqa: E402

NODES = ["n1", "n2", "n3", "n4"]
FIRST_JOB = 70000
SLURM = """\
SelectTypeParameters=CR_Core_Memory
ReturnToService=2
KillWait=2
MinJobAge=300
SchedulerParameters=batch_sched_delay=0,sched_min_interval=100000,bf_interval=2
JobAcctGatherType=jobacct_gather/linux
AccountingStorageEnforce=associations,limits,qos
AccountingStorageTRES=gres/gpu
GresTypes=gpu
PriorityType=priority/multifactor
LaunchParameters=enable_nss_slurm
Licenses=matlab:4
FirstJobId=70001
"""
ARES = """\
cluster: bench
controller: {operators: [root]}
accounting: {enforce: limits}
policy: {kill_wait: 2, heartbeat: 1, launch_backoff: 1}
licenses: {matlab: 4}
nodes:
  - {name: "n[1-2]", cpus: 4, memory: 4000M, features: [fast], gpus: "a100:2"}
  - {name: "n[3-4]", cpus: 4, memory: 4000M, features: [slow]}
partitions:
  - {name: main, nodes: "n[1-4]", default: true, default_memory_per_cpu: 500M}
  - {name: second, nodes: "n[3-4]", default_memory_per_cpu: 500M, max_time: 60}
"""


class Slurm(slurm.Slurm):
    """With four slurmd on this host."""

    def start(self):
        self.ports = slurm.free_ports(len(NODES))
        for name in NODES:
            (self.dir / "spool" / name).mkdir(parents=True, exist_ok=True)
        super().start()

    def configuration_files(self, places):
        text = slurm_conf.files(False, False, **places)
        lines = [line for line in text["slurm.conf"].splitlines()
                 if not line.startswith(("NodeName", "PartitionName", "SelectTypeParameters", "ReturnToService", "SlurmdSpoolDir", "SlurmdPort",
                                         "SlurmdPidFile"))]
        lines += [SLURM, f"SlurmdSpoolDir={self.dir}/spool/%n", f"SlurmdPidFile={self.dir}/run/slurmd-%n.pid"]
        for name, port in zip(NODES, self.ports):
            kind = "Feature=fast Gres=gpu:a100:2" if name in ("n1", "n2") else "Feature=slow"
            lines.append(f"NodeName={name} NodeHostname={places['host']} NodeAddr=127.0.0.1 Port={port} CPUs=4 RealMemory=4000 {kind}")
        lines += ["PartitionName=main Nodes=n[1-4] Default=YES MaxTime=INFINITE State=UP DefMemPerCPU=500",
                  "PartitionName=second Nodes=n[3-4] MaxTime=60 State=UP DefMemPerCPU=500"]
        devices = self.dir / "dev"
        devices.mkdir(exist_ok=True)
        for number in range(2):
            (devices / f"gpu{number}").touch()
        text["slurm.conf"] = "\n".join(lines) + "\n"
        text["gres.conf"] = f"NodeName=n[1-2] Name=gpu Type=a100 File={devices}/gpu[0-1]\n"
        return text

    def spawn_nodes(self):
        for name in NODES:
            self.spawn(f"slurmd-{name}", "slurmd", "-D", "-N", name)

    def nodes_are_idle(self):
        return self.output("sinfo", "-h", "-N", "-p", "main", "-o", "%T").split() == ["idle"] * len(NODES)


class SlurmCluster:
    name = "slurm"

    def __init__(self, folder):
        self.work = folder / "slurm-work"
        self.slurm = Slurm(folder / "slurm", False)

    def __enter__(self):
        self.work.mkdir()
        self.work.chmod(0o1777)
        try:
            self.slurm.start()
        except BaseException:
            self.slurm.stop()
            raise
        self.env = dict(self.slurm.env, HOME=str(self.work))
        return self

    def __exit__(self, *failed):
        self.slurm.stop()


class AresCluster:
    name = "ares"

    def __init__(self, folder):
        self.work, self.dir, self.config = folder / "ares-work", folder / "ares", folder / "ares.yaml"
        bin_dir = os.environ.get("ARES_BIN_DIR") or str(ROOT / "build/release/bin")
        self.env = dict(os.environ, ARES_CONF=str(self.dir / "ares.yaml"), HOME=str(self.work),
                        PATH=f"{ROOT}/contrib/slurm/bin:{bin_dir}:{os.environ['PATH']}")

    def run(self, *words):
        done = subprocess.run(words, env=self.env, cwd=self.work, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              text=True)
        if done.returncode:
            raise RuntimeError(f"{' '.join(words)}: {done.stdout}")
        return done.stdout.strip()

    def __enter__(self):
        self.work.mkdir()
        self.work.chmod(0o1777)
        self.config.write_text(ARES)
        try:
            self.run("acluster", "up", "--dir", str(self.dir), "--config", str(self.config))
            # Slurm has an account and a user root from the start.
            self.run("aacctmgr", "-i", "add", "user", "root", "account=root")
            # Both number jobs from here, so that an id is no other number.
            self.run("acancel", self.run("asub", "--parsable", "-H", f"--array=1-{FIRST_JOB}", "--wrap", "true"))
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *failed):
        subprocess.run(["acluster", "down", "--dir", str(self.dir)], env=self.env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
