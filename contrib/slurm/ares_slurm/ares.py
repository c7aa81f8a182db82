"""Running the commands of Ares, and saying their errors as Slurm does."""
import os
import re
import subprocess
import sys

# What Slurm says; the commands of Ares begin an error with the same words.
KNOWN = ["Invalid partition name specified", "Invalid feature specification", "Invalid node name specified",
         "Requested time limit is invalid (missing or exceeds some limit)", "Invalid account or account/partition combination specified",
         "Job violates accounting/QOS policy (job submit limit, user's size and/or time limits)", "Invalid qos specification",
         "Invalid license specification", "Job dependency problem", "Node count specification invalid",
         "More processors requested than permitted", "Access/permission denied", "Invalid job id specified", "Invalid user name specified",
         "Requested reservation is invalid", "Invalid job array specification",
         "Requested node configuration is not available"]  # which may precede one of the others
UNREACHABLE = re.compile(r"cannot (reach|connect)|no controller|did not answer|connection refused", re.IGNORECASE)
# Slurm's variables whose meaning is that of ours.
PREFIXES = {"aqueue": "SQUEUE_", "aacct": "SACCT_", "ainfo": "SINFO_", "acancel": "SCANCEL_", "arun": "SRUN_", "aalloc": "SALLOC_"}
# Not options, or handled here.
NOT_PASSED = {"SQUEUE_FORMAT", "SQUEUE_FORMAT2", "SACCT_FORMAT", "SINFO_FORMAT"}


def environment(program):
    """Slurm's variables for a command become those of the command of Ares."""
    out = dict(os.environ)
    prefix = PREFIXES.get(program)
    for name, value in os.environ.items():
        if prefix and name.startswith(prefix) and name not in NOT_PASSED:
            out.setdefault(f"{program.upper()}_{name[len(prefix):]}", value)
    if program == "asub":
        out.setdefault("ASUB_OUTPUT_PREFIX", "slurm")
    return out


def become(program, words, called=None):
    """Goes on as the command of Ares, which takes itself for `called`: signals and the terminal are its own."""
    try:
        os.execvpe(program, [called or program, *words], environment(program))
    except OSError as error:
        sys.exit(f"{program}: {error.strerror}; the commands of Ares have to be in PATH")


def ask(program, words):
    """Returns exit code, output and what it said on standard error."""
    try:
        done = subprocess.run([program, *words], env=environment(program), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True, errors="surrogateescape")
    except OSError as error:
        sys.exit(f"{program}: {error.strerror}; the commands of Ares have to be in PATH")
    return done.returncode, done.stdout, done.stderr


def run(program, words, say, stdin=None):
    """Runs it with our standard input and output; `say(message)` gets each of its messages. Returns the exit code."""
    try:
        process = subprocess.Popen([program, *words], env=environment(program), stdin=stdin, stderr=subprocess.PIPE, text=True,
                                   errors="surrogateescape")
    except OSError as error:
        sys.exit(f"{program}: {error.strerror}; the commands of Ares have to be in PATH")
    for line in process.stderr:
        say(message_of(program, line))
    code = process.wait()
    return code if code >= 0 else 128 - code


def message_of(program, line):
    return line.rstrip("\n").removeprefix(program + ": ")


def known_part(message):
    """Splits "Invalid partition name specified: nosuch" into Slurm's words and the rest. None, message: Slurm has no words for it."""
    if "invalid feature specification" in message:
        return "Invalid feature specification", message.partition(": ")[2]
    for text in KNOWN:
        at = message.find(text)
        if at >= 0:
            parts = (message[:at].strip(" :"), message[at + len(text):].strip(" :"))
            return text, ": ".join(part for part in parts if part and part not in KNOWN)
    if UNREACHABLE.search(message):
        return "Unable to contact slurm controller (connect failure)", message
    return None, message


def tell(text):
    print(text, file=sys.stderr, flush=True)
