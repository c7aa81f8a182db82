"""sinfo, by ainfo."""
import math
import os
import sys
import time

from . import ares, table
from .argv import Options, words_of

OPTIONS = Options("a,all d,dead e,exact federation o,format= O,Format= h,noheader help hide i,iterate= json local l,long M,clusters= "
                  "n,nodes= noconvert N,Node p,partition= T,reservation r,responding R,list-reasons s,summarize S,sort= t,states= usage "
                  "v,verbose V,version yaml")
DEFAULT = "%#P %.5a %.10l %.6D %.6t %N"
LONG = "%#P %.5a %.10l %.10s %.4r %.8h %.10g %.6D %.11T %N"
NODES = "%#N %.6D %#P %6t"
NODES_LONG = "%#N %.6D %#P %.11T %4c %.8z %.6m %.8d %.6w %.8f %20E"
SUMMARY = "%#P %.5a %.10l %.16F %N"
REASONS = "%20E %9u %19H %N"
# Letters and names that have no meaning here, with what Slurm prints where nothing is configured.


def parts(text):
    """Sockets, cores and threads, of "CPUS;SOCKETS:CORES:THREADS". Where the node has not told them, or has another number of CPUs in
    its configuration, each CPU is a socket, as Slurm has it without more."""
    cpus, _, told = (word.strip() for word in text.partition(";"))
    numbers = told.split(":")
    if len(numbers) == 3 and (not cpus.isdigit() or math.prod(map(int, numbers)) == int(cpus)):
        return numbers
    return [cpus, "1", "1"]


def derived(field):
    """By letter or by name: `field` gives the text of parts()."""
    return [table.Derived("S:C:T", field, lambda text: ":".join(parts(text))), table.Derived("SOCKETS", field, lambda text: parts(text)[0]),
            table.Derived("CORES", field, lambda text: parts(text)[1]), table.Derived("THREADS", field, lambda text: parts(text)[2])]


LETTERS = {"w": ("WEIGHT", "1"), "r": ("ROOT", "no"), "S": ("ALLOCNODES", "all"), **dict(zip("zXYZ", derived("c;%z")))}
NAMES = {"weight": ("WEIGHT", "1"),
         "root": ("ROOT", "no"), "allocnodes": ("ALLOCNODES", "all"),
         **dict(zip(("socketcorethread", "sockets", "cores", "threads"), derived(f"cpus:{table.WIDEST};,socketcorethread")))}
IGNORED = {"all", "hide", "federation", "local", "noconvert", "verbose"}
OWN = {"format", "Format", "noheader", "long", "Node", "summarize", "list-reasons", "iterate"} | IGNORED


def say(message):
    ares.tell(f"sinfo: error: {message}")


def columns_of(given, names):
    for kind in ("format", "Format"):
        value = next((value for name, value in reversed(given) if name == kind), None)
        if value is not None:
            return (table.columns_of_names(value, NAMES, {}), True) if kind == "Format" else (table.columns_of_letters(value, LETTERS, {}), False)
    if "list-reasons" in names:
        text = REASONS
    elif "summarize" in names:
        text = SUMMARY
    elif "Node" in names:
        text = NODES_LONG if "long" in names else NODES
    else:
        text = LONG if "long" in names else os.environ.get("SINFO_FORMAT") or DEFAULT
    return table.columns_of_letters(text, LETTERS, {}), False


def fit(columns, rows):
    """Columns of automatic width are as wide as their widest text."""
    at = 0
    for column in columns:
        if column.field is None:
            continue
        if column.automatic:
            column.width = max([len(row[at]) for row in rows if at < len(row)] + [column.width])
        at += 1


def show(given, operands):
    names = [name for name, _ in given]
    columns, by_name = columns_of(given, names)
    words = words_of(given, OWN) + operands
    words += [f"--{name}" for name in ("Node", "list-reasons") if name in names]
    words += [f"--Format={table.names_to_ask(columns)}"] if by_name else [f"--format={table.letters_to_ask(columns)}"]
    code, output, errors = ares.ask("ainfo", words)
    rows = table.rows_of(output)
    if by_name:
        rows = [row[:-1] for row in rows]  # each field ends with the separator
    fit(columns, rows)
    if "Node" in names and not by_name:
        for column in columns:
            if column.field == "P" and column.automatic:
                column.right = True  # as Slurm does where a line is a node
    if "long" in names and "noheader" not in names:
        print(time.strftime("%a %b %d %H:%M:%S %Y"))
    for line in table.lines(columns, rows, "noheader" not in names):
        print(line)
    sys.stdout.flush()
    for line in errors.splitlines():
        say(ares.message_of("ainfo", line))
    return code


def main(words):
    given, operands = OPTIONS.read(words)
    names = [name for name, _ in given]
    if "help" in names or "usage" in names:
        ares.become("ainfo", ["--help"])
    if "json" in names or "yaml" in names:
        ares.become("ainfo", words_of(given, IGNORED) + operands)
    if "reservation" in names:
        ares.become("ainfo", ["--reservation"] + (["--noheader"] if "noheader" in names else []))
    every = next((value for name, value in given if name == "iterate"), None)
    while True:
        code = show(given, operands)
        if every is None or code:
            return code
        time.sleep(max(float(every), 1))
        print()
