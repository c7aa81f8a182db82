"""Adds up what several parts of a campaign have printed."""
import collections
import pathlib
import re

from .aimed import MATRIX
from .kinds import KINDS

NUMBERS = re.compile(r"(\d+) submissions with (\d+) jobs and tasks acknowledged, (\d+) attempts in accounting, (\d+) starts "
                     r"\((\d+) again after accepted roll-backs\): (.*)")


class Part:
    """One output of campaign.py. ValueError if it did not come to its end."""

    def __init__(self, text):
        heading = re.match(r"seed (\d+), \d+ faults, as (\S+)", text)
        found = NUMBERS.search(text)
        if not heading or not found:
            raise ValueError("not a whole output of campaign.py")
        self.seed, self.user = heading.groups()
        table = dict(re.findall(r"(?m)^(\S.*?) +(\d+) *.*$", text[text.index("\nkind "):text.index(" submissions with ")]))
        self.injected = collections.Counter({kind.name: int(table[kind.name]) for kind in KINDS + MATRIX if kind.name in table})
        names = ["submissions", "jobs and tasks", "attempts", "starts", "starts again after a roll-back"]
        self.counts = collections.Counter(dict(zip(names, map(int, found.groups()))))
        self.counts["accepted roll-backs"] = len(re.findall(r"(?m)^roll-back \d+: ", text))
        self.verdict = collections.Counter({name: int(number) for number, name in re.findall(r"(\d+) ([^,\n]+)", found.group(6))})


def added_up(files):
    """A table in Markdown: root and other users, and together."""
    parts = [Part(pathlib.Path(file).read_text()) for file in files]
    root = [part for part in parts if part.user == "root"]
    others = [part for part in parts if part.user != "root"]

    def line(name, of):
        numbers = [sum((of(part)[name] for part in some), 0) for some in (root, others, parts)]
        return f"| {name} | {numbers[0]} | {numbers[1]} | {numbers[2]} |"

    lines = ["| | as root | as a user | together |", "|---|---|---|---|"]
    lines += [line(kind.name, lambda part: part.injected) for kind in KINDS + MATRIX if any(kind.name in part.injected for part in parts)]
    totals = [sum(sum(part.injected.values()) for part in some) for some in (root, others, parts)]
    lines.append(f"| **faults** | **{totals[0]}** | **{totals[1]}** | **{totals[2]}** |")
    lines += [line(name, lambda part: part.counts) for name in parts[0].counts]
    lines += [line(f"{name}", lambda part: part.verdict) for name in dict.fromkeys(n for part in parts for n in part.verdict)]
    return "\n".join(lines)
