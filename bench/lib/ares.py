"""A private Ares cluster for a benchmark, run by acluster."""
import os
import re

from lib.process import run


class Cluster:
    """The constructor starts the cluster. `env` lets commands and bench_submit find it."""

    def __init__(self, bin_dir, directory, nodes, cpus, memory, config=None, exec_plugin=None):
        self.bin, self.dir = bin_dir, str(directory)
        self.env = dict(os.environ, PATH=f"{bin_dir}:{os.environ['PATH']}")
        for name in [name for name in self.env if name.startswith(("ASUB_", "AQUEUE_", "AACCT_", "ACANCEL_"))]:
            del self.env[name]
        options = ["--nodes", str(nodes), "--cpus", str(cpus), "--memory", memory]
        if exec_plugin:
            options += ["--exec", exec_plugin]
        if config:
            os.makedirs(self.dir, exist_ok=True)
            with open(f"{self.dir}/given.yaml", "w") as file:
                file.write(config)
            options += ["--config", f"{self.dir}/given.yaml"]
        try:
            self.acluster("up", *options)
            self._take_environment()
        except BaseException:
            self.down()
            raise

    @classmethod
    def left_by(cls, bin_dir, directory):
        """Attaches to a cluster that is already running."""
        self = cls.__new__(cls)
        self.bin, self.dir = bin_dir, str(directory)
        self.env = dict(os.environ, PATH=f"{bin_dir}:{os.environ['PATH']}")
        self._take_environment()
        return self

    def _take_environment(self):
        for line in self.acluster("env").splitlines():
            found = re.match(r"export ([A-Z_]+)=(.*)$", line)
            if found and found.group(1) != "PATH":
                self.env[found.group(1)] = found.group(2).strip("'\"")

    def acluster(self, *words):
        return run(f"{self.bin}/acluster", *words, "--dir", self.dir, env=self.env)

    def submit(self, script, *options):
        return int(run(f"{self.bin}/asub", "--parsable", *options, script, env=self.env, cwd=self.dir).strip())

    def live(self):
        """Ids of the jobs that have not ended."""
        return run(f"{self.bin}/aqueue", "-h", "-t", "PENDING,CONFIGURING,RUNNING,COMPLETING", "-o", "%i", env=self.env).split()

    def configuration(self):
        with open(self.env["ARES_CONF"]) as file:
            return file.read()

    def pid(self, role):
        return int(self.acluster("pid", role))

    def down(self):
        if os.path.exists(f"{self.dir}/settings"):
            self.acluster("down")
