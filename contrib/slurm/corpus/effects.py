#!/usr/bin/python3
"""Of the options in recorded job scripts: how many have an effect, and which test shows it.

  contrib/slurm/corpus/effects.py [DIRECTIVES] [--least 99.5] [--list]

DIRECTIVES is a file of scripts as run.py takes it (.jsonl or .jsonl.gz), or one of lines with their counts (.tsv; the default is
tests/data/directives/sbatch.tsv). effects.tsv has a row for each option that has an effect: its names, the file and the function of a test
that shows the effect, and a condition. "values=REGEX" means that only such values have it, "beside=A|B" that it has one only beside one of
these options of the same script. An option that is refused, or of which a warning says that it has no effect, has no row.

An occurrence counts unless its value is one that another program fills in, such as {{ nodes }} or ${NODES}. --list prints how often each option
occurs. Exits with 1 if less than --least per cent of the occurrences have an effect, or if a test does not exist or does not name its option.
"""
import argparse
import ast
import collections
import gzip
import json
import pathlib
import re
import shlex
import sys

from bodies import SHORT

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[2]
FILLED_IN = re.compile(r"\{\{|\}\}|\$\{|\{ ?[A-Za-z_.]+ ?\}|<[A-Za-z_ ]+>|\$[A-Z_]+$")
LETTERS = {**{name: letter for letter, name in SHORT.items() if letter.startswith("-")}, "overcommit": "-O", "gpus": "-G", "licenses": "-L",
           "distribution": "-m"}


class Effect:
    """A row of effects.tsv."""

    def __init__(self, line):
        names, self.file, self.test, *rest = line.split("\t")
        self.names = names.split(",")
        kind, _, value = (rest or ["="])[0].partition("=")
        self.values = re.compile(value, re.IGNORECASE) if kind == "values" else None
        self.beside = set(value.split("|")) if kind == "beside" else None

    def holds(self, value, others):
        """`others`: the options of the script; None: not known."""
        if self.values and not self.values.fullmatch(value):
            return False
        return not self.beside or others is None or bool(self.beside & others)


def effects():
    rows = [Effect(line) for line in (HERE / "effects.tsv").read_text().splitlines()]
    return {name: row for row in rows for name in row.names}


def scripts(file):
    """(how often, its directives, whether these are all of a script)"""
    with (gzip.open if file.suffix == ".gz" else open)(file, "rt") as lines:
        for line in lines:
            if file.suffix == ".tsv":
                times, _, directive = line.rstrip("\n").partition("\t")
                yield int(times), [directive], False
            else:
                yield 1, json.loads(line)["directives"], True


def given(directives):
    """(option, value) of #SBATCH lines; values that are filled in later are None."""
    for line in directives:
        if not line.startswith("#SBATCH"):
            continue
        if FILLED_IN.search(line.split(" #")[0]):
            yield "", None
            continue
        words = shlex.split(line[7:], comments=True)
        while words:
            word = words.pop(0)
            if word.startswith("--"):
                name, equals, value = word[2:].partition("=")
            else:
                name, equals, value = SHORT.get(word[:2], word), word[2:], word[2:]
            if not equals and words and not words[0].startswith("-"):
                value = words.pop(0)
            yield name, value


def full_name(name, known):
    """Long names may be shortened."""
    begun = [one for one in known if one.startswith(name)]
    return name if name in known or len(begun) != 1 else begun[0]


def count(file, known):
    """Counters of the occurrences that have an effect, of those that have none, and the number of those that are filled in later."""
    good, bad, later = collections.Counter(), collections.Counter(), 0
    for times, directives, whole in scripts(file):
        options = [(full_name(name, known), value) for name, value in given(directives)]
        others = {name for name, _ in options} if whole else None
        for name, value in options:
            if value is None:
                later += times
            elif name in known and known[name].holds(value, others):
                good[name] += times
            else:
                bad[f"{name}={value}" if value else name] += times
    return good, bad, later


def text_of(file, test):
    """The test, and what it uses of its file."""
    source = (ROOT / file).read_text()
    found = {}
    for node in ast.parse(source).body:
        lines = source.splitlines()[min([node.lineno] + [one.lineno for one in getattr(node, "decorator_list", [])]) - 1:node.end_lineno]
        for name in [getattr(node, "name", None)] + [getattr(target, "id", None) for target in getattr(node, "targets", [])]:
            found[name] = (node, "\n".join(lines))
    if test not in found:
        return None
    used = {one.id for one in ast.walk(found[test][0]) if isinstance(one, ast.Name)}
    return "\n".join([found[test][1]] + [text for name, (_, text) in found.items() if name in used])


def mistakes(known):
    """Rows whose test does not exist, or does not give the option."""
    for name, row in known.items():
        text = text_of(row.file, row.test) if (ROOT / row.file).exists() else None
        letter = LETTERS.get(row.names[0])
        if text is None:
            yield f"{row.file} has no test {row.test}, which is to show --{name}"
        elif f"--{name}" not in text and not (letter and re.search(rf"{letter}(?![a-z-])", text)):
            yield f"{row.file}: {row.test} does not give --{name}"


def main():
    words = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    words.add_argument("directives", nargs="?", type=pathlib.Path, default=ROOT / "tests/data/directives/sbatch.tsv")
    words.add_argument("--least", type=float, default=99.5, help="per cent of the occurrences that have an effect")
    words.add_argument("--list", action="store_true", help="print how often each option occurs, and its test")
    args = words.parse_args()
    known = effects()
    good, bad, later = count(args.directives, known)
    if args.list:
        for name, times in good.most_common():
            print(f"{times:6} {name:20} {known[name].file}::{known[name].test}")
    for name, times in bad.most_common():
        print(f"{times:6} without effect: {name}")
    total = good.total() + bad.total()
    share = 100 * good.total() / max(total, 1)
    print(f"{good.total()} of {total} occurrences of options have an effect that a test shows, {share:.2f} %; {later} lines are filled in later")
    wrong = list(mistakes(known))
    for line in wrong:
        print(f"effects.tsv: {line}", file=sys.stderr)
    if share < args.least:
        print(f"effects.py: less than {args.least} % have an effect", file=sys.stderr)
    return 1 if wrong or share < args.least else 0


if __name__ == "__main__":
    sys.exit(main())
