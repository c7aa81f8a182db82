"""Commands that need no translation but of their names. arun and aalloc see by their name that their messages are to be those of srun and salloc."""
from . import ares

SAME = {"srun": "arun", "salloc": "aalloc", "sattach": "aattach", "sbcast": "abcast"}


def command(name):
    return lambda words: ares.become(SAME[name], words, called=name if name in ("srun", "salloc") else None)
