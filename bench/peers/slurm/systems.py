"""Both systems behind one interface. Their commands take the same options, so each workload is written once."""
import json
import os
import pathlib
import select
import shutil
import signal
import subprocess
import time

import slurm
import slurm_conf
from lib import ares
from lib.clients import burst
from lib.process import run

HERE = pathlib.Path(__file__).resolve().parent
LIVE = "PENDING,CONFIGURING,RUNNING,COMPLETING"
SINCE = ("-S", "now-2hours")  # includes everything, as clusters are minutes old
# Slurm lists jobs that never became eligible only for queries with a state and an interval.
CANCELLED = ("-s", "CA", "-E", "now")
BATCH = 500  # jobs per call of the library; four calls are in flight
ARES_CONFIG = "policy: {max_array_size: 100001}\n"


def settings_of(path):
    """Returns the settings of a configuration file, without comments."""
    lines = (line.split("#", 1)[0].rstrip() for line in path.read_text().splitlines())
    return "".join(f"{line}\n" for line in lines if line)


class Skip(Exception):
    """This system does not support the measurement; the text says why."""


class StillLive(RuntimeError):
    """Jobs did not end in time; args[1] is their number."""


class System:
    """One private system in one folder. start() returns when its node accepts jobs; stop() leaves no process."""
    submit_program = queue_program = account_program = cancel_program = ""

    def __init__(self, name, directory, user):
        self.name, self.dir, self.user = name, pathlib.Path(directory), user
        self.work = self.dir / "work"  # working directory of clients and jobs
        # Environment of every client, and so of every job: small, and the same for both systems.
        self.env = {"PATH": "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin", "HOME": str(self.work), "USER": user, "LOGNAME": user,
                    "SHELL": "/bin/sh", "LANG": "C.UTF-8"}
        self.dir.mkdir(parents=True)
        self.dir.chmod(0o755)
        self.work.mkdir()
        self.work.chmod(0o1777)

    # --- commands -------------------------------------------------------------------------------------------------------
    def submit(self, script, *arguments, hold=False, array=None, name=None):
        options = ["--parsable", "-o", "/dev/null"]
        options += ["-H"] if hold else []
        options += [f"--array={array}"] if array else []
        options += ["-J", name] if name else []
        return [self.submit_program, *options, str(script), *arguments]

    def queue(self, *options):
        return [self.queue_program, *options]

    def account(self, *options):
        return [self.account_program, "-X", *options]

    def cancel_all(self):
        return [self.cancel_program, "-u", self.user]

    @staticmethod
    def job_id(text):
        return text.strip().split(";")[0]

    # --- running them ---------------------------------------------------------------------------------------------------
    def run(self, argv):
        return run(*argv, env=self.env, cwd=self.work, user=self.user if os.geteuid() == 0 else None)

    def burst(self, clients, count, argv_of, keep=2000):
        return burst(clients, count, argv_of, self.env, self.work, self.user, keep)

    def warm_up(self):
        """Runs one job as root, so that one-time costs (first scheduling pass, first connections) are not measured."""
        script = self.script("warm-up.sh", "#!/bin/sh\ntrue\n")
        run(*self.submit(script), env=self.env, cwd=self.work)
        self.wait_done()

    def live(self):
        """Ids of jobs and tasks that have not ended."""
        return self.run(self.queue("-h", "-r", "-t", LIVE, "-o", "%i")).split()

    def names(self):
        """Job name -> id of the jobs that have not ended."""
        lines = self.run(self.queue("-h", "-t", LIVE, "-o", "%i %j")).splitlines()
        return {name: job for job, name in (line.split() for line in lines)}

    def ended(self, *filters):
        """List of the states of all jobs in accounting."""
        text = self.run(self.account("-n", "-P", *SINCE, *filters, "-o", "State"))
        return [line.split(" ")[0] for line in text.splitlines()]

    def wait_done(self, patience=600):
        """Waits until no job is live. Polls rarely while many are left, so that polling hardly affects the measurement."""
        deadline = time.monotonic() + patience
        before, then = None, time.monotonic()
        while left := len(self.live()):
            now = time.monotonic()
            if now > deadline:
                raise StillLive(f"{self.name}: {left} jobs still live after {patience} s", left)
            rate = (before - left) / (now - then) if before is not None and before > left else 0
            before, then = left, now
            time.sleep(min(2.0, max(0.02, 0.4 * left / rate)) if rate else 0.1)

    def wait_accounted(self, count, state, *filters, patience=120):
        """Waits until accounting has `count` jobs in this state."""
        deadline = time.monotonic() + patience
        while (found := self.ended(*filters).count(state)) < count:
            if time.monotonic() > deadline:
                raise RuntimeError(f"{self.name}: accounting has {found} jobs {state} after {patience} s, not {count}")
            time.sleep(0.3)

    def script(self, name, text):
        path = self.work / name
        path.write_text(text)
        path.chmod(0o755)
        return path


class Ares(System):
    def __init__(self, name, directory, user, bin_dir):
        super().__init__(name, directory, user)
        self.bin = bin_dir
        self.submit_program, self.queue_program = f"{bin_dir}/asub", f"{bin_dir}/aqueue"
        self.account_program, self.cancel_program = f"{bin_dir}/aacct", f"{bin_dir}/acancel"
        self.step_program = f"{bin_dir}/arun"
        self.cluster = None

    def start(self):
        self.cluster = ares.Cluster(self.bin, self.dir / "c", nodes=1, cpus=slurm_conf.SLOTS, memory=f"{slurm_conf.MEMORY_MIB}M",
                                    config=ARES_CONFIG)
        self.env["ARES_CONF"] = self.cluster.env["ARES_CONF"]

    def api(self, count, parallel):
        """Submits with `parallel` requests in flight on one connection; every acknowledgement is durable."""
        return self.bench_submit(str(count), str(parallel))

    def api_batch(self, count):
        """Submits many jobs per call. Raises Skip if this bench_submit does not support it."""
        usage = subprocess.run([self.bench()], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True).stdout
        if "[BATCH]" not in usage:
            raise Skip("this bench_submit submits one job a call")
        return self.bench_submit(str(count), "4", str(BATCH))

    def bench(self):
        path = f"{self.bin}/bench_submit"
        if not os.access(path, os.X_OK):
            raise Skip("bench_submit is not built; build the target benchmarks")
        return path

    def bench_submit(self, *words):
        return json.loads(self.run([self.bench(), self.env["ARES_CONF"], *words]))

    def kill_controller(self):
        """Sends SIGKILL, after which acluster restarts the controller. Returns when the killed process has ended."""
        pid = self.cluster.pid("aresctld")
        descriptor = os.pidfd_open(pid)
        signal.pidfd_send_signal(descriptor, signal.SIGKILL)
        select.select([descriptor], [], [])
        os.close(descriptor)

    def wait_controller(self):
        """Waits until the controller listens and answers. A command started earlier would include its own retry interval."""
        slurm.until("aresctld", lambda: slurm.Slurm.connects(self.dir / "c/run/aresctld.sock"))
        self.live()

    def stop(self):
        if self.cluster:
            self.cluster.down()

    def configuration(self):
        return {"ares.yaml": self.cluster.configuration(),
                "postgresql.conf": "".join(settings_of(path) for path in self.dir.glob("c/**/postgresql.conf"))}

    def logs(self):
        return self.cluster.acluster("logs", "--lines=10") if self.cluster else ""


class SlurmSystem(System):
    def __init__(self, name, directory, user, tuned, contained=False):
        super().__init__(name, directory, user)
        self.slurm = slurm.Slurm(self.dir / "c", tuned, contained)
        self.env["SLURM_CONF"] = str(self.slurm.conf)
        self.submit_program, self.queue_program, self.account_program, self.cancel_program, self.srun = (
            shutil.which(program) for program in ("sbatch", "squeue", "sacct", "scancel", "srun"))
        self.step_program = self.srun
        self.client = self.dir / "submit_api"

    def start(self):
        self.slurm.start()

    def api(self, count, parallel):
        """Submits from `parallel` processes, each with one request in flight."""
        if not self.client.exists():
            run("cc", "-O2", "-o", self.client, HERE / "submit_api.c", "-lslurm")
        return json.loads(self.run([self.client, str(count), str(parallel)]))

    def api_batch(self, count):
        raise Skip("libslurm takes one job a call")

    def kill_controller(self):
        self.slurm.kill_controller()

    def wait_controller(self):
        self.slurm.start_controller()

    def stop(self):
        self.slurm.stop()

    def configuration(self):
        return self.slurm.configuration()

    def logs(self):
        return self.slurm.logs()


class Loops:
    """A baseline without scheduler: loops that only fork and run the script, one loop or one per core."""

    def __init__(self, name, directory, user, loops):
        self.name, self.dir, self.user, self.loops = name, pathlib.Path(directory), user, loops
        self.work = self.dir / "work"
        self.work.mkdir(parents=True)
        for path in (self.dir, self.work):
            path.chmod(0o755)
        self.env = {"PATH": "/usr/bin:/bin"}

    script = System.script

    def run(self, script, count):
        each = [count // self.loops + (1 if i < count % self.loops else 0) for i in range(self.loops)]
        loop = 'i=0; while [ $i -lt "$1" ]; do "$0"; i=$((i+1)); done'
        burst(self.loops, self.loops, lambda i: ["/bin/sh", "-c", loop, str(script), str(each[i])], self.env, self.work, self.user).check()


MAKERS = {
    "ares": lambda directory, user, bin_dir: Ares("ares", directory, user, bin_dir),
    "slurm": lambda directory, user, bin_dir: SlurmSystem("slurm", directory, user, tuned=False),
    "slurm-tuned": lambda directory, user, bin_dir: SlurmSystem("slurm-tuned", directory, user, tuned=True),
    "slurm-cgroup": lambda directory, user, bin_dir: SlurmSystem("slurm-cgroup", directory, user, tuned=True, contained=True),
    "loop": lambda directory, user, bin_dir: Loops("loop", directory, user, 1),
    "loops": lambda directory, user, bin_dir: Loops("loops", directory, user, os.cpu_count()),
}


def slurm_version():
    return subprocess.run(["slurmctld", "-V"], stdout=subprocess.PIPE, text=True, check=True).stdout.strip()
