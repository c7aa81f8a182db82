"""Runs a command to its end."""
import pwd
import subprocess


class CommandFailed(RuntimeError):
    pass


def run(*argv, env=None, cwd=None, user=None):
    """Returns the standard output. Raises CommandFailed with all output if the exit status is not 0. `user` needs root."""
    more = {"user": user, "group": pwd.getpwnam(user).pw_gid, "extra_groups": []} if user is not None else {}
    done = subprocess.run(argv, env=env, cwd=cwd, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                          **more)
    if done.returncode != 0:
        raise CommandFailed(f"{' '.join(map(str, argv))}: exit {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout
