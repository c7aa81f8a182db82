"""sprio, by aprio."""
import json
import re

from . import ares, table
from .argv import Options, words_of

OPTIONS = Options("federation h,noheader help usage j,jobs= l,long local M,cluster= M,clusters= n,norm o,format= p,partition= sibling S,sort= u,user= "
                  "v,verbose V,version w,weights json")
IGNORED = {"federation", "local", "sibling", "cluster", "clusters", "sort", "verbose"}
HEADERS = {"a": "AGE", "b": "ASSOC", "c": "CLUSTER", "f": "FAIRSHARE", "i": "JOBID", "j": "JOBSIZE", "N": "NICE", "n": "QOSNAME", "o": "ACCOUNT",
           "p": "PARTITION", "q": "QOS", "r": "PARTITION", "S": "SITE", "t": "TRES", "u": "USER", "y": "PRIORITY"}
# Letters of factors, and what aprio calls them. A small letter stands for the factor from 0 to 1, a large one for what it adds.
FACTORS = {"a": "AGE", "b": "ASSOC", "f": "FAIRSHARE", "j": "JOBSIZE", "p": "PARTITION", "q": "QOS", "t": "TRES"}
HIGHEST = 0xffffffff
LETTER = re.compile(r"%(\.?)(\d*)([a-zA-Z])")


class Listing:
    def __init__(self, answer):
        self.lines, self.factors, self.weights = answer["lines"], answer["factors"], answer["weights"]

    def weight(self, factor):
        return self.weights[self.factors.index(factor)] if factor in self.factors else 0

    def of(self, line, key, factor):
        return line[key][self.factors.index(factor)] if factor in self.factors else 0

    def usual_format(self, names):
        """Slurm's own columns: of factors those that weigh something, with --long all."""
        every, norm = "long" in names, "norm" in names
        text = "%.15i %9r" + (" %.8u" if every or "user" in names else "") + (" %10y" if norm else " %.10Y %.10S")
        for letter, factor in FACTORS.items():
            # The weights of TRES are in its factor.
            counts = any(self.of(line, "weighted", factor) for line in self.lines) if letter == "t" else self.weight(factor)
            if every or counts:
                width = 20 if letter == "t" else 10
                text += f" %{width}{letter}" if norm else f" %.{width}{letter.upper()}"
        return text

    def cell(self, letter, line):
        if letter == "i":
            task = line["job"].get("task")
            return str(line["job"]["job"]) + ("" if task is None else f"_{task}")
        if letter in "run" + "o":
            return line[{"r": "partition", "u": "user", "n": "qos", "o": "account"}[letter]]
        if letter in "yY":
            return f"{line['value'] / HIGHEST:.8f}" if letter == "y" else str(line["value"])
        if letter in "SN":
            return f"{self.of(line, 'weighted', {'S': 'SITE', 'N': 'NICE'}[letter]) + 0:.0f}".replace("-0", "0")
        factor = FACTORS.get(letter.lower())
        if not factor:
            return ""
        return f"{self.of(line, 'normalised', factor):.7f}" if letter.islower() else f"{self.of(line, 'weighted', factor):.0f}"

    def weight_cell(self, letter):
        factor = {**FACTORS, "s": "SITE"}.get(letter.lower())
        return "Weights" if letter == "i" else f"{self.weight(factor):.0f}" if factor else ""


def main(words):
    given, operands = OPTIONS.read(words)
    names = [name for name, _ in given]
    if operands:
        raise ValueError(f"Unrecognized option: {operands[0]}")
    if "help" in names or "usage" in names:
        ares.become("aprio", ["--help"])
    passed = words_of(given, IGNORED | {"noheader", "long", "norm", "weights", "format", "json"})
    if "json" in names:
        ares.become("aprio", ["--json", *passed])
    code, output, errors = ares.ask("aprio", ["--json", *passed])
    for line in errors.splitlines():
        ares.tell(f"sprio: error: {ares.message_of('aprio', line)}")
    if code:
        return code
    answer = json.loads(output)
    if not answer["multifactor"]:
        ares.tell("You are not running a supported priority plugin\nOnly 'priority/multifactor' is supported.")
        return 1
    listing = Listing(answer)
    chosen = next((value for name, value in reversed(given) if name == "format"), None) or listing.usual_format(names)
    columns, at = [], 0
    for found in LETTER.finditer(chosen):
        dot, width, letter = found.groups()
        if letter.lower() not in HEADERS and letter not in HEADERS:
            ares.tell(f"sprio: error: Invalid job format specification: {letter}")
            at = found.end()
            continue
        header = HEADERS.get(letter) or HEADERS[letter.lower()]
        columns.append((letter, table.Column(header=header, width=int(width or 0), right=bool(dot), before=chosen[at:found.start()])))
        at = found.end()
    rows = [[listing.weight_cell(letter) for letter, _ in columns]] if "weights" in names else [
        [listing.cell(letter, line) for letter, _ in columns] for line in listing.lines]
    if "noheader" not in names:
        rows.insert(0, [column.header for _, column in columns])
    for row in rows:
        print("".join(column.cell(text) for (_, column), text in zip(columns, row)) + chosen[at:])
    return 0
