"""sbatch and scancel, by asub and acancel. Their options, and those of #SBATCH lines, are the same."""
import re

from . import ares

BAD_OPTION = re.compile(r"(--[a-z-]+): ")
# Slurm's command does not look at these values itself.
FOUND_BY_CONTROLLER = ("Node count specification invalid", "Invalid job array specification", "Job dependency problem")
WOULD_START = re.compile(r"Job would start at (\S+) on nodes (\S+) in partition (\S+) with (\d+) CPUs?")


def say_submission(name, failed):
    def say(message):
        found = WOULD_START.fullmatch(message)
        if found:
            at, nodes, partition, cpus = found.groups()
            return ares.tell(f"{name}: Job 0 to start at {at} using {cpus} processors on nodes {nodes} in partition {partition}")
        if message.startswith("unknown option "):
            ares.tell(f"{name}: unrecognized option '{message.split()[2].rstrip(';')}'")
            return ares.tell(f'Try "{name} --help" for more information')
        if message.startswith("cannot read the batch script "):
            return ares.tell(f"{name}: error: Unable to open file {message.split('script ', 1)[1].split(': ')[0]}")
        text, rest = ares.known_part(message)
        option = BAD_OPTION.match(message)
        if option and text not in FOUND_BY_CONTROLLER:
            ares.tell(f"{name}: error: {message}")
            return ares.tell(f"{name}: error: Invalid {option[1]} specification")
        if text is None:
            return ares.tell(f"{name}: {message}" if message.startswith("warning") else f"{name}: error: {message}")
        if rest:
            ares.tell(f"{name}: error: {rest}")
        return ares.tell(f"{name}: error: {failed}: {text}")
    return say


def sbatch(words):
    wrong = []
    say = say_submission("sbatch", "Batch job submission failed")

    def listen(message):
        wrong.append(message.startswith("unknown option ") or
                     bool(BAD_OPTION.match(message)) and ares.known_part(message)[0] not in FOUND_BY_CONTROLLER)
        say(message)
    code = ares.run("asub", words, listen)
    return 255 if code and any(wrong) else code


def scancel(words):
    def say(message):
        found = re.match(r"job (\S+): (.*)", message)
        if found:
            return ares.tell(f"scancel: error: Kill job error on job id {found[1]}: {found[2]}")
        if message.startswith("unknown option "):
            ares.tell(f"scancel: unrecognized option '{message.split()[2].rstrip(';')}'")
            return ares.tell('Try "scancel --help" for more information')
        message = re.sub(r'invalid job id "(.*?)".*', r"Invalid job id \1", message)
        message = re.sub(r'no user is named "(.*?)"', r"Invalid user name: \1", message)
        return ares.tell(f"scancel: error: {message.replace(': name job ids, or filters such as --me', '')}")
    return ares.run("acancel", words, say)
