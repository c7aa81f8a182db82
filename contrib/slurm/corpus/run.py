#!/usr/bin/python3
"""Recorded job scripts of Slurm's users on Ares: how many are accepted, and how many of these run to their end.

  contrib/slurm/corpus/run.py DIRECTIVES.jsonl[.gz] [--bin build/release/bin] [--part K/N] [--no-run] [--at-once 6] [--only TEXT] [--keep DIR] [--out FILE]

DIRECTIVES has a line for each script: {"repo", "path", "shebang", "directives": [...]}. The bodies of the scripts are not recorded; bodies.py
makes them. What a site would have is there: the partitions, features, QOS, reservations and nodes that are named, large nodes, the folders
of output files, and stand-ins for modules, conda, python, mpirun and the like. srun, scontrol, sbatch and others are the wrappers of
contrib/slurm. Programs run as real processes.

A script is accepted if asub takes it as recorded, on 200 simulated nodes. It runs not quite as recorded: output and working directory are
below a folder of this run; jobs of more than 8 nodes ask for 8; of an array the first and the last task run. It ran to its end if all its jobs are COMPLETED and printed their last line.
"""

import argparse
import collections
import gzip
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time
import zlib

from bodies import LAST_LINE, body_of, options_of

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[2]
NODES = 8  # of those on which scripts run
PATIENCE = 180  # seconds for a script
SIMULATED = 200  # of those that say whether a script is accepted
NAME = re.compile(r"[A-Za-z0-9_][\w.@-]*$")
STAND_INS = {
    "python": 'echo "rank ${SLURM_PROCID:-0} of ${SLURM_NTASKS:-1}"',
    "mpirun": 'echo "mpirun $*"',
    "conda": ":",
    "module": ":",
    "nvidia-smi": 'echo "GPU ${CUDA_VISIBLE_DEVICES:-none}"',
    "parallel": "echo parallel",
}
SAME = {"mpirun": ["mpiexec"], "python": ["torchrun", "accelerate", "deepspeed", "singularity", "apptainer", "a.out", "ray"],
        "module": ["enroot", "rocm-smi"]}


def read(file):
    with (gzip.open if file.suffix == ".gz" else open)(file, "rt") as lines:
        return [json.loads(line) for line in lines]


def names(scripts, option):
    words = {word for one in scripts for word in re.split(r"[,&|()\[\]*!]", one["options"].get(option, ""))}
    return sorted(word for word in words if NAME.match(word) and not word.isdigit())


def gpu_types(scripts):
    found = set()
    for one in scripts:
        for option in ("gres", "gpus", "gpus-per-node", "gpus-per-task"):
            found.update(re.findall(r"(?:gpu:)?([A-Za-z][\w]*):\d+", one["options"].get(option, "")))
    return sorted(found - {"gpu"}) or ["a100"]


def nodes_of(one):
    return int(one["options"]["nodes"]) if re.fullmatch(r"\d+", one["options"].get("nodes", "")) else 1


def reservations(scripts, most):
    """Names of reservations, and nodes for the largest of their jobs."""
    for i, name in enumerate(names(scripts, "reservation")):
        wanted = max(nodes_of(one) for one in scripts if one["options"].get("reservation") == name)
        yield name, f"r{i}n[1-{min(wanted, most)}]"


def configuration(scripts, nodes):
    """What the sites of these scripts have, as one site."""
    named = names(scripts, "nodelist") + names(scripts, "exclude")
    reserved = [hosts for _, hosts in reservations(scripts, nodes)]
    features = ", ".join(f'"{word}"' for word in names(scripts, "constraint"))
    gpus = ",".join(f"{kind}:24" for kind in ["a100"] + [kind for kind in gpu_types(scripts) if kind != "a100"])
    lines = ["cluster: corpus", "controller: {operators: [root], mail_program: \"\"}",
             "policy: {kill_wait: 2, heartbeat: 1, launch_backoff: 1}", "nodes:"]
    for host in [f"c[1-{nodes}]", *named, *reserved]:
        lines.append(f'  - {{name: "{host}", cpus: 512, memory: 8T, gpus: "{gpus}", features: [{features}]}}')
    lines.append("partitions:")
    for i, name in enumerate(["batch"] + [name for name in names(scripts, "partition") if name != "batch"]):
        lines.append(f'  - {{name: "{name}", nodes: ALL, default: {str(i == 0).lower()}, default_memory_per_cpu: 2G}}')
    return "\n".join(lines) + "\n"


class Site:
    """A private cluster with all of that, and the environment of its users."""

    def __init__(self, folder, programs, scripts, simulated):
        self.folder = folder
        self.folder.mkdir()
        self.folder.chmod(0o755)
        self.options = ["--exec=mock"] if simulated else []
        self.nodes = SIMULATED if simulated else NODES
        self.home = folder / "home"
        self.home.mkdir()
        self.tools = folder / "tools"
        (self.tools / "bin").mkdir(parents=True)
        subprocess.run([HERE.parent / "install.sh", folder / "slurm"], check=True)
        for name, line in STAND_INS.items():
            for other in [name, *SAME.get(name, [])]:
                self.program(self.tools / "bin" / other, line)
        shutil.copy(self.tools / "bin/a.out", self.home)
        (folder / "ares.yaml").write_text(configuration(scripts, self.nodes))
        self.acluster = [str(programs / "acluster")]
        self.environment = {
            "PATH": f"{self.tools}/bin:{folder}/slurm/bin:{programs}:/usr/bin:/bin", "HOME": str(self.home), "USER": "root", "LANG": "C.UTF-8",
            "ACLUSTER_DIR": str(folder / "c"), "ARES_CONF": str(folder / "c/ares.yaml")}
        for name in (".bash_profile", ".profile", ".zprofile"):  # of the users' login shells
            (self.home / name).write_text(f"export PATH='{self.environment['PATH']}'\n")
        self.scripts = scripts

    def start(self):
        self.run(*self.acluster, "up", *self.options, "--config", self.folder / "ares.yaml", seconds=300)
        for qos in sorted({*names(self.scripts, "qos")} - {"normal"}):
            self.run("aacctmgr", "-i", "add", "qos", qos)
        for name, hosts in reservations(self.scripts, self.nodes):
            self.run("actl", "create", "reservation", f"ReservationName={name}", "StartTime=now", "Duration=7-0", f"Nodes={hosts}", "Users=root")

    @staticmethod
    def program(path, line):
        path.write_text(f"#!/bin/sh\n{line}\n")
        path.chmod(0o755)

    def run(self, *words, seconds=60, check=True):
        done = subprocess.run([str(word) for word in words], env=self.environment, cwd=self.home, stdin=subprocess.DEVNULL, text=True,
                              capture_output=True, timeout=seconds)
        if check and done.returncode != 0:
            raise SystemExit(f"run.py: {' '.join(map(str, words))}: {done.stderr}")
        return done

    def close(self):
        self.run(*self.acluster, "down", seconds=120, check=False)


def submission(site, one):
    """The words of the command line that runs the script, and the file of its output."""
    words, options = [], one["options"]
    number = f"{one['number']}.%A_%a" if "array" in options else f"{one['number']}.%j"
    words.append(f"--output={site.home}/out.{number}")
    if options.get("error"):
        words.append(f"--error={site.home}/err.{number}")
    if options.get("chdir"):
        folder = pathlib.Path(f"{site.home}/{options['chdir']}")
        folder.mkdir(parents=True, exist_ok=True)
        shutil.copy(site.tools / "bin/a.out", folder)
        words.append(f"--chdir={folder}")
    if nodes_of(one) > NODES:
        words.append(f"--nodes={NODES}")
    found = re.findall(r"\d+", options.get("array", "").split("%")[0].split(":")[0])
    if found:
        words.append(f"--array={found[0]},{found[-1]}" if found[0] != found[-1] else f"--array={found[0]}")
    return words


def is_template(one):
    """Directives that another program fills in before they reach sbatch."""
    return any(re.search(r"\{\{|\$\{|\{ ?[a-z_.]+ ?\}|<[A-Z a-z_]+>", line) for line in one["directives"])


def refusal(site, one):
    done = site.run("asub", "--hold", "--parsable", f"--chdir={site.home}", one["file"], check=False)
    return done.stderr.strip() if done.returncode != 0 else None


def first_refusals(folder, programs, scripts, chosen):
    """What asub says of the scripts that it does not take, on a cluster that is as large as they want."""
    site = Site(folder, programs, scripts, simulated=True)
    try:
        site.start()
        return [(one, why) for one in chosen if (why := refusal(site, one)) is not None]
    finally:
        site.close()


class Runs:
    """Jobs that run, some at a time."""

    def __init__(self, site, at_once):
        self.site, self.at_once, self.jobs, self.failed = site, at_once, {}, []

    def start(self, one):
        self.wait(self.at_once - 1)
        done = self.site.run("asub", "--parsable", *submission(self.site, one), one["file"], check=False)
        if done.returncode != 0:
            self.failed.append((one, f"asub: {done.stderr.strip()}"))
        else:
            self.jobs[done.stdout.strip().split(";")[0]] = (one, time.monotonic())

    def wait(self, most):
        while len(self.jobs) > most:
            listed = self.site.run("aqueue", "-h", "-o", "%F").stdout.split()
            for job in [job for job in self.jobs if job not in listed]:
                self.judge(job, *self.jobs.pop(job))
            for job in [job for job, (_, since) in self.jobs.items() if time.monotonic() - since > PATIENCE]:
                why = self.site.run("aqueue", "-h", "-j", job, "-o", "%T %r").stdout
                self.site.run("acancel", job, check=False)
                self.failed.append((self.jobs.pop(job)[0], f"has not ended after {PATIENCE} s: {why.strip()}"))
            time.sleep(0.3)

    def judge(self, job, one, _):
        rows = self.site.run("aacct", "-X", "-n", "-P", "-j", job, "-o", "JobID,State,ExitCode,Reason").stdout.split()
        outputs = [path.read_text(errors="replace") for path in self.site.home.rglob(f"out.{one['number']}.*")]
        errors = [path.read_text(errors="replace") for path in self.site.home.rglob(f"err.{one['number']}.*")]
        bad = [row for row in rows if "|COMPLETED|" not in row]
        if bad or not rows:
            self.failed.append((one, f"{bad[:1]}: {' / '.join(outputs + errors)[-300:]}"))
        elif not outputs or any(LAST_LINE not in text for text in outputs):
            self.failed.append((one, f"no last line: {' / '.join(outputs + errors)[-300:]}"))


def measure(args):
    scripts = read(args.directives)
    for number, one in enumerate(scripts):
        one.update(number=number, name=f"{one['repo']}/{one['path']}", options=options_of(one["directives"]))
    part, parts = map(int, args.part.split("/"))
    chosen = [one for one in scripts if zlib.crc32(one["name"].encode()) % parts == part - 1 and args.only in one["name"]]
    folder = pathlib.Path(args.keep or tempfile.mkdtemp(prefix="ares-corpus-"))
    folder.mkdir(exist_ok=True)
    folder.chmod(0o755)
    for one in chosen:
        one["file"] = folder / f"job{one['number']}.sh"
        body = body_of(one["name"], one["shebang"], one["options"])
        one["file"].write_text("\n".join([one["shebang"], *one["directives"]]) + "\n" + body)
    programs = args.bin.resolve()
    refused = first_refusals(folder / "simulated", programs, scripts, chosen)
    if args.no_run:
        return summary(folder, chosen, refused, None)
    site = Site(folder / "real", programs, scripts, simulated=False)
    try:
        site.start()
        runs = Runs(site, args.at_once)
        for one in chosen:
            if not any(other is one for other, _ in refused):
                runs.start(one)
        runs.wait(0)
    finally:
        site.close()
        if not args.keep:
            shutil.rmtree(folder, ignore_errors=True)
    return summary(folder, chosen, refused, runs.failed)


def summary(folder, chosen, refused, failed):
    """`failed` None: nothing was run."""
    def percent(count, of):
        return round(100 * count / max(of, 1), 1)

    def told(pairs):
        return [{"script": one["name"], "why": why.replace(f"{folder}/", "")} for one, why in pairs]

    taken = len(chosen) - len(refused)
    templates = sum(is_template(one) for one, _ in refused)
    result = {"scripts": len(chosen), "accepted": taken, "accepted_percent": percent(taken, len(chosen)), "refused_templates": templates,
              "accepted_percent_without_templates": percent(taken, len(chosen) - templates), "refusals": told(refused)}
    if failed is not None:
        ran = taken - len(failed)
        result.update(ran_to_end=ran, ran_to_end_percent=percent(ran, taken), failures=told(failed))
    return result


def main():
    words = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    words.add_argument("directives", type=pathlib.Path)
    words.add_argument("--bin", type=pathlib.Path, default=ROOT / "build/release/bin")
    words.add_argument("--part", default="1/1", help="only this part of the scripts, by the checksum of their names")
    words.add_argument("--no-run", action="store_true", help="look only whether they are accepted")
    words.add_argument("--only", default="", help="only scripts with this in their names")
    words.add_argument("--at-once", type=int, default=6, help="scripts that run at the same time")
    words.add_argument("--keep", help="leave the scripts and their output in this new folder")
    words.add_argument("--out", type=pathlib.Path, help="write the result to this file")
    args = words.parse_args()
    if os.geteuid() != 0:
        raise SystemExit("run.py: only root can run nodes whose jobs are held to their resources")
    result = measure(args)
    text = json.dumps(result, indent=1)
    if args.out:
        args.out.write_text(text + "\n")
    print(text if not args.out else {key: value for key, value in result.items() if not isinstance(value, list)})
    kinds = collections.Counter(re.sub(r"\d+", "N", one["why"])[:100] for one in result["refusals"] + result.get("failures", []))
    for kind, count in kinds.most_common(20):
        print(f"{count:5} {kind}", file=sys.stderr)


if __name__ == "__main__":
    main()
