"""Bodies for scripts of which only the directives are recorded: what real ones do, at least as often as they do it.

The shares are those of 1,155 public scripts (frequency file of the corpus). Variables, host names and mpirun are twice as frequent, because
they are what can fail. A body is the same at every call, as it depends on the name of its script alone. Each ends at the first command that
fails or variable that is not set, so that "ran to its end" says something.
"""

import random
import shlex

LAST_LINE = "END-OF-SCRIPT"
SCRIPTS = 1155  # of which the frequency file counts
WITH_SRUN = 606  # of these

# Option of srun, in how many scripts it stands, and values of it.
SRUN_OPTIONS = [
    ("-n {}", 174, ["$SLURM_NTASKS", "1"]),
    ("--jobid {}", 142, ["$SLURM_JOBID"]),
    ("--mpi={}", 96, ["pmi2", "pmix", "none"]),
    ("-c {}", 67, ["$SLURM_CPUS_PER_TASK"]),
    ("-N {}", 59, ["$SLURM_NNODES", "1"]),
    ("--container-image={}", 54, ["/images/train.sqsh --container-mounts=/data:/data"]),
    ("--ntasks={}", 50, ["$SLURM_NNODES", "1"]),
    ("--nodes={}", 48, ["$SLURM_NNODES", "1"]),
    ("-l", 47, [""]),
    ("--cpu-bind={}", 46, ["cores", "none", "verbose"]),
    ("--ntasks-per-node={}", 38, ["1"]),
    ("-w {}", 31, ['"$first"']),
    ("--exclusive", 20, [""]),
    ("--export={}", 19, ["ALL", "ALL,NCCL_DEBUG=INFO"]),
    ("--cpu_bind={}", 16, ["cores"]),
    ("--gpus-per-task={}", 16, ["1"]),
    ("--output={}", 15, ["step-%j-%t.txt"]),
    ("--kill-on-bad-exit={}", 15, ["1"]),
    ("-K", 13, [""]),
]

# Variable, in how many scripts it stands, and the options of a job of which Slurm makes it; none: of all.
VARIABLES = [
    ("SLURM_JOB_NODELIST", 257, ()), ("SLURM_JOBID", 168, ()), ("SLURM_JOB_ID", 165, ()), ("SLURM_PROCID", 161, ()),
    ("SLURM_NNODES", 133, ()), ("SLURM_CPUS_PER_TASK", 120, ("cpus-per-task",)), ("SLURM_SUBMIT_DIR", 97, ()),
    ("SLURM_ARRAY_TASK_ID", 80, ("array",)), ("SLURM_NTASKS", 72, ("ntasks", "ntasks-per-node")), ("SLURM_JOB_NUM_NODES", 59, ()),
    ("SLURM_NODELIST", 31, ()), ("SLURM_JOB_NAME", 23, ()), ("SLURM_NTASKS_PER_NODE", 17, ("ntasks-per-node",)),
    ("SLURM_GPUS_PER_NODE", 16, ("gpus-per-node",)), ("SLURM_ARRAY_JOB_ID", 13, ("array",)), ("SLURM_NODEID", 7, ()),
    ("SLURM_GPUS_ON_NODE", 6, ("gres", "gpus-per-node")), ("SLURM_LOCALID", 5, ()), ("SLURM_ARRAY_TASK_COUNT", 5, ("array",)),
    ("SLURM_CPUS_ON_NODE", 3, ()), ("SLURM_JOB_PARTITION", 3, ()), ("SLURM_JOB_GPUS", 2, ("gres", "gpus-per-node")),
    ("SLURM_JOB_QOS", 2, ()), ("SLURM_NPROCS", 2, ("ntasks",)), ("SLURM_ARRAY_TASK_MAX", 2, ("array",)),
    ("SLURM_MEM_PER_NODE", 1, ("mem",)), ("SLURM_MEM_PER_CPU", 1, ("mem-per-cpu",)), ("SLURM_GPUS_PER_TASK", 1, ("gpus-per-task",)),
]

# A command on a line of its own, and in how many scripts it stands.
COMMANDS = [
    ("nvidia-smi", 57), ("nvidia-smi --query-gpu=name --format=csv,noheader", 8), ("singularity exec --nv image.sif python run.py", 27),
    ("apptainer exec image.sif python run.py", 6), ("parallel -j 4 echo ::: a b c", 11), ("enroot list", 11),
    ("sacct -j $SLURM_JOB_ID --format=JobID,JobName,Elapsed,State", 5), ("squeue -j $SLURM_JOB_ID", 5), ("sinfo", 4),
    ("scontrol show job $SLURM_JOB_ID", 40), ("ray start --head", 5), ("rocm-smi", 2), ("accelerate launch train.py", 2),
    ("deepspeed train.py", 12), ("sbatch --dependency=afterany:$SLURM_JOB_ID --output=/dev/null --time=5 --wrap true", 53),
    ("trap 'echo signalled' USR1 TERM", 18),
]


class Body:
    def __init__(self, name, options):
        self.options = options
        self.random = random.Random(name)
        self.lines = ["", "set -eu"]

    def often(self, scripts, of=SCRIPTS):
        return self.random.random() < scripts / of

    def has(self, *names):
        return any(name in self.options for name in names)

    def add(self, *lines):
        self.lines += lines

    def prologue(self):
        if self.often(514):
            self.add("module purge", "module load gcc/12.2 cuda/12.1 openmpi")
        if self.often(117):
            self.add('eval "$(conda shell.bash hook)"', "conda activate training")
        if self.has("cpus-per-task"):
            self.add("export OMP_NUM_THREADS=$SLURM_CPUS_PER_TASK")
        for name, scripts, made_of in VARIABLES:
            if (not made_of or self.has(*made_of)) and self.often(2 * scripts):
                self.add(f'echo "{name}=${name}"')
        if self.often(97):
            self.add('cd "$SLURM_SUBMIT_DIR"')
        if self.often(2 * 251):
            self.add('nodes=$(scontrol show hostnames "$SLURM_JOB_NODELIST")', 'test "$(echo "$nodes" | wc -l)" -eq "$SLURM_NNODES"')
        self.add('first=$(scontrol show hostnames "$SLURM_JOB_NODELIST" | head -n 1)',
                 "export MASTER_ADDR=$first MASTER_PORT=$((10000 + SLURM_JOBID % 1000))")

    def options_of_srun(self):
        """Options that go together: none twice, and no more tasks than the nodes of the step have room for."""
        same = {"--ntasks": "-n", "--nodes": "-N", "--cpu_bind": "--cpu-bind", "-K": "--kill-on-bad-exit"}
        chosen = {}
        for form, scripts, values in SRUN_OPTIONS:
            kind = form.split("{")[0].strip(" =")
            value = self.random.choice(values)
            if not self.often(scripts, WITH_SRUN) or same.get(kind, kind) in chosen:
                continue
            if "CPUS_PER_TASK" in value and not self.has("cpus-per-task"):
                continue
            if "NTASKS" in value and not self.has("ntasks", "ntasks-per-node"):
                value = "1"
            if kind == "--gpus-per-task" and not self.has("gpus-per-task"):
                continue
            if same.get(kind, kind) in ("-N", "-w") and value != "$SLURM_NNODES":
                chosen.update({"-N": "-N 1", "-n": "-n 1"})
            if same.get(kind, kind) not in ("-N", "-n") or same.get(kind, kind) not in chosen:
                chosen[same.get(kind, kind)] = form.format(value).strip()
        if "-n" in chosen:
            chosen.pop("--ntasks-per-node", None)
        return chosen

    def srun(self):
        chosen = self.options_of_srun()
        words = list(chosen.values())
        counted = not {"-n", "-N", "--ntasks-per-node", "-w", "-l", "--output"} & set(chosen)
        program = self.random.choices(
            ["python train.py --epochs 3", "./a.out", "bash -c 'echo rank $SLURM_PROCID of $SLURM_NTASKS on $SLURM_NODEID'",
             "torchrun --nnodes $SLURM_NNODES --nproc_per_node 1 --rdzv_endpoint $MASTER_ADDR:$MASTER_PORT train.py", "hostname"],
            [50, 20, 15, 8, 7])[0]
        line = f"srun {' '.join(words)} {program}".replace("srun  ", "srun ")
        if counted and self.has("ntasks") and program != "hostname":
            self.add(f"{line} | tee ranks.$SLURM_JOB_ID", 'test "$(grep -c "^rank" ranks.$SLURM_JOB_ID)" -eq "$SLURM_NTASKS"')
        else:
            self.add(line)

    def main(self):
        if self.often(606):
            self.srun()
            while self.often(200):
                self.srun()
        elif self.often(2 * 63):
            self.add(f"mpirun {'-np $SLURM_NTASKS ' if self.has('ntasks') else ''}./a.out")
        elif self.often(14):
            self.add("mpiexec ./a.out")
        elif self.often(2 * 21):
            self.add("torchrun --nnodes $SLURM_NNODES --rdzv_endpoint $MASTER_ADDR:$MASTER_PORT train.py")
        else:
            self.add(self.random.choice(["python train.py", "./a.out", "python -u main.py --config run.yaml > run.$SLURM_JOB_ID.log 2>&1"]))

    def text(self):
        self.prologue()
        rest = [line for line, scripts in COMMANDS if self.often(scripts)]
        self.random.shuffle(rest)
        half = self.random.randrange(len(rest) + 1)
        self.add(*rest[:half])
        self.main()
        self.add(*rest[half:], f"echo {LAST_LINE}", "")
        return "\n".join(self.lines)


PYTHON = """
import os, subprocess
subprocess.run(["srun", "hostname"], check=True)
print(os.environ["SLURM_JOB_ID"])
print("{last}")
"""


def body_of(name, shebang, options):
    if "python" in shebang:
        return PYTHON.format(last=LAST_LINE)
    return Body(name, options).text()


SHORT = {"-p": "partition", "-C": "constraint", "-A": "account", "-w": "nodelist", "-q": "qos", "-x": "exclude", "-a": "array", "-D": "chdir",
         "-N": "nodes", "-n": "ntasks", "-c": "cpus-per-task", "-o": "output", "-e": "error", "-t": "time", "-J": "job-name", "-i": "input",
         "-d": "dependency", "out": "output", "err": "error"}


def options_of(directives):
    """The options of #SBATCH lines by their long names; the last of a name counts."""
    found = {}
    for line in (line for line in directives if line.startswith("#SBATCH")):
        try:
            words = shlex.split(line[7:], comments=True)
        except ValueError:
            words = line[7:].split()
        while words:
            word = words.pop(0)
            if word.startswith("--"):
                name, equals, value = word[2:].partition("=")
                name = SHORT.get(name, name)
            else:
                name, equals, value = SHORT.get(word[:2], word[:2]), word[2:], word[2:]
            if not equals and words and not words[0].startswith("-"):
                value = words.pop(0)
            found[name] = value
    return found
