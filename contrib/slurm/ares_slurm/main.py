"""The entry of all commands."""
import sys

from . import argv, ares

# What tools read to find out which Slurm this is: the release whose options and formats are followed.
RELEASE = "22.05.8"
ASKS_VERSION = ("-V", "--version", "--versio")


def main(name, words):
    try:
        sys.stdout.reconfigure(errors="surrogateescape")
        if any(word in ASKS_VERSION for word in words[:1]):
            print(f"slurm-wlm {RELEASE}")
            return 0
        return command(name)(words) or 0
    except argv.Wrong as wrong:
        ares.tell(f"{name}: {wrong}")
        if name != "sacct":
            ares.tell(f'Try "{name} --help" for more information')
        return 255 if name == "sbatch" else 1
    except ValueError as wrong:  # a number that is none
        ares.tell(f"{name}: error: {wrong}")
        return 1
    except KeyboardInterrupt:
        return 130


def command(name):
    # Each is read only when it is called: a start takes about 20 ms.
    if name == "squeue":
        from .queue import main
    elif name == "sinfo":
        from .info import main
    elif name == "sacct":
        from .account import main
    elif name == "scontrol":
        from .control import main
    elif name == "sprio":
        from .priority import main
    elif name == "sshare":
        from .share import main
    elif name == "sstat":
        from .stat import main
    elif name == "sreport":
        from .report import main
    elif name == "sacctmgr":
        from .manage import main
    elif name in ("sbatch", "scancel"):
        from . import submit
        main = submit.sbatch if name == "sbatch" else submit.scancel
    else:
        from . import others
        main = others.command(name)
    return main
