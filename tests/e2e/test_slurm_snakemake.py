"""Debian's snakemake drives Ares by the commands of contrib/slurm, in both of its ways. Label snakemake: it polls, so this takes minutes."""
import os
import pwd
import shutil
import subprocess

import pytest

from cluster import ROOT, Cluster, f1


@pytest.fixture(scope="module")
def cluster(tmp_path_factory):
    prefix = tmp_path_factory.mktemp("slurm")
    subprocess.run([ROOT / "contrib/slurm/install.sh", prefix], check=True)
    cluster = Cluster(config=f1())
    cluster.slurm = prefix / "bin"
    yield cluster
    cluster.close()


@pytest.mark.skipif(not shutil.which("snakemake"), reason="Debian's snakemake is not installed")
@pytest.mark.parametrize("mode", [["--slurm"], ["--cluster", "sbatch --parsable -n {threads}"]], ids=["slurm", "cluster"])
def test_snakemake_drives_it(cluster, mode):
    folder = cluster.work / f"snake{len(mode)}"
    folder.mkdir(mode=0o1777)
    (folder / "Snakefile").write_text("""
rule all:
    input: "sum"
rule part:
    output: "part.{n}"
    threads: 1
    resources: runtime=5, mem_mb=400
    shell: "echo {wildcards.n} > {output}"
rule sum:
    input: expand("part.{n}", n=[1, 2, 3])
    output: "sum"
    resources: runtime=5, mem_mb=400
    shell: "cat {input} | paste -sd+ > {output}"
""")
    user = pwd.getpwuid(os.geteuid()).pw_name
    env = cluster.environment(HOME=str(folder), XDG_CACHE_HOME=str(folder / "cache"), USER=user)
    env["PATH"] = f"{cluster.slurm}:{env['PATH']}"
    done = subprocess.run(["snakemake", "--jobs", "3", "--latency-wait", "20", *mode], cwd=folder, env=env, text=True, stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=300)
    logs = "".join(f"--- {path}\n{path.read_text()}" for path in folder.glob(".snakemake/slurm_logs/*/*.log"))
    assert done.returncode == 0, done.stdout + logs
    assert (folder / "sum").read_text() == "1+2+3\n"
