"""squeue, by aqueue."""
import os
import re
import sys
import time

from . import ares, table
from .argv import Options, words_of

OPTIONS = Options("a,all A,account= r,array array-unique M,clusters= federation o,format= O,Format= h,noheader hide help i,iterate= "
                  "j,jobs=? json L,licenses= local l,long me n,name= noconvert w,nodelist= node= P,priority q,qos= R,reservation= "
                  "sibling S,sort= start t,states= s,steps=? p,partition= u,user= usage v,verbose V,version yaml")
DEFAULT = "%.18i %.9P %.8j %.8u %.2t %.10M %.6D %R"
LONG = "%.18i %.9P %.8j %.8u %.8T %.10M %.9l %.6D %R"
START = "%.18i %.9P %.8j %.8u %.2t %.19S %.6D %20Y %R"
STEPS = "%.15i %.8j %.9P %.8u %.9M %N"
# Letters and names that have no meaning here: Slurm's header, and what Slurm prints of a job that did not ask for it.
LETTERS = {"O": ("CONTIGUOUS", "0"), "X": ("CORE_SPEC", "N/A"), "H": ("SOCKETS_PER_NODE", "*"),
           "I": ("CORES_PER_SOCKET", "*"), "J": ("THREADS_PER_CORE", "*"), "z": ("S:C:T", "*:*:*"), "s": ("SELECT_JOBINFO", "")}
NAMES = {"admincomment": ("ADMIN_COMMENT", ""), "allocsid": ("ALLOC_SID", "0"), "associd": ("ASSOC_ID", "0"),
         "boardspernode": ("BOARDS_PER_NODE", "N/A"), "burstbuffer": ("BURST_BUFFER", "N/A"),
         "burstbufferstate": ("BURST_BUFFER_STATE", ""), "clusterfeature": ("CLUSTER_FEATURES", "N/A"), "contiguous": ("CONTIGUOUS", "0"),
         "cores": ("CORES_PER_SOCKET", "*"), "corespec": ("CORE_SPEC", "N/A"), "delayboot": ("DELAY_BOOT", "0:00"),
         "hetjobid": ("HET_JOB_ID", ""), "hetjobidset": ("HET_JOB_ID_SET", ""), "hetjoboffset": ("HET_JOB_OFFSET", ""),
         "lastschedeval": ("LAST_SCHED_EVAL", "N/A"), "mcslabel": ("MCSLABEL", "(null)"),
         "network": ("NETWORK", "(null)"), "ntpercore": ("NTASKS_PER_CORE", "N/A"), "ntpersocket": ("NTASKS_PER_SOCKET", "N/A"),
         "ntperboard": ("NTASKS_PER_BOARD", "N/A"), "origin": ("ORIGIN", "N/A"), "originraw": ("ORIGIN_RAW", "N/A"),
         "profile": ("PROFILE", "N/A"), "reboot": ("REBOOT", "0"),
         "resizetime": ("RESIZE_TIME", "N/A"), "sct": ("S:C:T", "*:*:*"), "siblingsactive": ("ACTIVE_SIBLINGS", "N/A"),
         "siblingsviable": ("VIABLE_SIBLINGS", "N/A"), "sockets": ("SOCKETS_PER_NODE", "*"), "sperboard": ("SOCKETS_PER_BOARD", "*"),
         "systemcomment": ("SYSTEM_COMMENT", ""), "threads": ("THREADS_PER_CORE", "*"),
         "tresfreq": ("TRES_FREQ", "N/A"), "trespersocket": ("TRES_PER_SOCKET", "N/A")}
ONE_TASK = re.compile(r"_\[(\d+)(%\d+)?\]$")


def job_id(text):
    """What is left of an array is named as a list even if it is one task."""
    return ONE_TASK.sub(r"_\1", text)


def dependency(text):
    """Conditions that are met are not shown."""
    if text == "(null)":
        return text
    return ",".join(word if "(" in word else word + "(unfulfilled)" for word in text.split(","))


def null_for(word):
    return lambda text: "(null)" if text == word else text


def blank(text):
    return "" if text == "(null)" else text


# What makes Slurm's words of ours.
CONVERT = {"i": job_id, "jobarrayid": job_id, "E": dependency, "dependency": dependency, "v": null_for("N/A"), "w": null_for("N/A"),
           "reservation": null_for("N/A"), "wckey": null_for("N/A"), "comment": null_for("N/A"), "command": null_for("N/A"),
           "n": blank, "x": blank, "reqnodes": blank, "excnodes": blank, "exitcode": lambda text: text.split(":")[0]}
# Without effect here: all partitions are shown, there is one cluster, units are not converted.
IGNORED = {"all", "hide", "federation", "local", "sibling", "noconvert", "verbose", "array-unique", "priority"}
OWN = {"format", "Format", "noheader", "long", "start", "iterate", "node", "steps"} | IGNORED


ENDED = re.compile(r"; -t all lists (it|them)$")  # of jobs that Slurm would not list


def say(message):
    if ENDED.search(message):
        return
    text, rest = ares.known_part(message)
    if text == "Invalid job id specified":
        ares.tell("slurm_load_jobs error: Invalid job id specified")
    elif text == "Invalid user name specified":
        ares.tell(f"squeue: error: Invalid user: {rest}")
    elif "invalid job id" in message:
        ares.tell(f"squeue: error: Invalid job id: {message.split(chr(34))[1]}")
    else:
        ares.tell(f"squeue: error: {rest if rest and not text else message}")


def columns_of(given):
    """The columns of the last of the options that choose them, or of the variables, or Slurm's own."""
    choice = [(name, value) for name, value in given if name in ("format", "Format", "long", "start")]
    if not choice:
        for variable, name in (("SQUEUE_FORMAT2", "Format"), ("SQUEUE_FORMAT", "format")):
            if os.environ.get(variable):
                choice = [(name, os.environ[variable])]
    name, value = choice[-1] if choice else ("format", DEFAULT)
    for kind in ("format", "Format"):  # which precede --long and --start
        value, name = next(((v, n) for n, v in reversed(choice) if n == kind), (value, name))
    if name == "Format":
        return table.columns_of_names(value, NAMES, CONVERT), True
    return table.columns_of_letters({"long": LONG, "start": START}.get(name, value), LETTERS, CONVERT), False


def show(given, operands):
    names = [name for name, _ in given]
    words = words_of(given, OWN) + operands
    words += [f"--nodelist={value}" for name, value in given if name == "node"]
    steps = "steps" in names
    if steps:
        selected = [value for name, value in given if name == "steps" and value]
        words += ["--steps"] + [f"--jobs={value}" for value in selected]
        columns, by_name = table.columns_of_letters(STEPS, {}, {}), False
    else:
        columns, by_name = columns_of(given)
        asked = [column for column in columns if column.field]
        if not asked:
            columns.append(table.Column(field="jobid" if by_name else "i"))
            columns[-1].cell = lambda text: ""
        files = [column for column in columns if by_name and table.key_of(column.field or "") in ("stdout", "stderr", "stdin")]
        if files:  # their patterns are filled in here
            columns.append(table.Column(field="jobid", hidden=True))
        words += ["--start"] if "start" in names else []
        words += [f"--Format={table.names_to_ask(columns)}"] if by_name else [f"--format={table.letters_to_ask(columns)}"]
    code, output, errors = ares.ask("aqueue", words)
    if "long" in names and "noheader" not in names:
        print(time.strftime("%a %b %d %H:%M:%S %Y"))
    rows = [line.split() for line in output.splitlines()] if steps else table.rows_of(output)
    if by_name:
        rows = [row[:-1] for row in rows]  # each field ends with the separator
    if not steps and files:
        rows = rows[:1] + [[cell.replace("%j", row[-1]).replace("%A", row[-1]) for cell in row] for row in rows[1:]]
    for line in table.lines(columns, rows, "noheader" not in names):
        print(line)
    sys.stdout.flush()
    for line in errors.splitlines():
        say(ares.message_of("aqueue", line))
    return code


def main(words):
    given, operands = OPTIONS.read(words)
    names = [name for name, _ in given]
    if "help" in names or "usage" in names:
        ares.become("aqueue", ["--help"])
    if "json" in names or "yaml" in names:
        ares.become("aqueue", words_of(given, IGNORED) + operands)
    every = next((value for name, value in given if name == "iterate"), None)
    while True:
        code = show(given, operands)
        if every is None or code:
            return code
        time.sleep(max(float(every), 1))
        print()
