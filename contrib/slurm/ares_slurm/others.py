"""Commands that need no translation but of their names: their options and output are close to Slurm's; README.md says where they differ."""
from . import ares

SAME = {"srun": "arun", "salloc": "aalloc", "sattach": "aattach", "sbcast": "abcast"}


def command(name):
    return lambda words: ares.become(SAME[name], words)
