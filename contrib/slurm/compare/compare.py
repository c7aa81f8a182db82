#!/usr/bin/env python3
"""Gives the same command lines to Debian's Slurm and to Ares behind the wrappers, and compares what they answer, field by field.

    bench/peers/slurm/setup.sh                    # once: Debian's packages; starts no service
    contrib/slurm/compare/compare.py              # prints what differs; exit code 1 if a difference has no reason
    contrib/slurm/compare/compare.py --out FILE   # the same as a report
    contrib/slurm/compare/compare.py --only TEXT  # compares only lines with this text, but gives all of them

Both clusters are private (peers.py). commands.txt has the lines, reasons.txt why a difference is meant. Runs as root.
"""
import argparse
import pathlib
import re
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

import peers  # noqa: E402

NAME = re.compile(r"\{([A-Z])\}")
CAPTURE = re.compile(r"([A-Z]) <- (.+)")
TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d")
ELAPSED = re.compile(r"(\d\d:)?0?\d?\d:\d\d(\.\d+)?")
DATE = re.compile(r"[A-Z][a-z]{2} [A-Z][a-z]{2} +\d+ \d\d:\d\d:\d\d \d{4}")


class Answers:
    """What one cluster said to every line: (exit code, output, errors), with the names of jobs in place of their ids."""

    def __init__(self, cluster):
        self.cluster, self.ids, self.of = cluster, {}, {}

    def run(self, line):
        line = NAME.sub(lambda found: self.ids[found[1]], line)
        done = subprocess.run(["timeout", "20", "sh", "-c", line], env=self.cluster.env, cwd=self.cluster.work, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        return done.returncode, done.stdout, done.stderr

    def named(self, text):
        for name, number in self.ids.items():
            text = re.sub(rf"\b{number}(?!\d)", f"<{name}>", text)
        return DATE.sub("<date>", text.replace(str(self.cluster.work), "<work>"))

    def follow(self, lines):
        for line in lines:
            capture = CAPTURE.fullmatch(line)
            if capture:
                code, output, errors = self.run(capture[2])
                if code:
                    raise RuntimeError(f"{self.cluster.name}: {line}: {errors}")
                self.ids[capture[1]] = output.strip()
            elif line.startswith("until "):
                self.wait(*line.split()[1:])
            else:
                code, output, errors = self.run(line)
                self.of[line] = code, self.named(output), self.named(errors)

    def wait(self, state, name):
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline:
            _, output, _ = self.run(f"squeue -h -j {{{name}}} -o %t")
            states = set(output.split())
            if state in states or (state == "GONE" and not states & {"PD", "R", "CG", "CF", "S"}):
                return
            time.sleep(0.1)
        raise RuntimeError(f"{self.cluster.name}: job {name} is not {state} but {states}")


def same(one, other):
    """Two fields that differ only in when they were asked for."""
    return one == other or bool(TIME.fullmatch(one) and TIME.fullmatch(other)) or bool(ELAPSED.fullmatch(one) and ELAPSED.fullmatch(other))


def keys_of(text):
    found = {}
    for at in re.finditer(r"(?:^|\s)([A-Za-z][\w/:]*)=(\S*)", text):
        found.setdefault(at[1], at[2])
    return found


def differences(line, slurm, ares):
    """Yields (what of Slurm, what of Ares) for each field that differs."""
    if slurm[0] != ares[0]:
        yield f"exit {slurm[0]}", f"exit {ares[0]}"
    for number, stream in ((1, ""), (2, "error: ")):
        one, other = slurm[number], ares[number]
        if number == 1 and line.startswith("scontrol") and " show " in line and "=" in one and "=" in other:
            before, after = keys_of(one), keys_of(other)
            for key in [*before, *(key for key in after if key not in before)]:
                a, b = before.get(key), after.get(key)
                if a is None or b is None or not same(a, b):
                    yield f"{key}={a}" if a is not None else "", f"{key}={b}" if b is not None else ""
            continue
        lines = [text.split("\n") for text in (one.rstrip("\n"), other.rstrip("\n"))]
        if number == 2:
            while lines[0] and lines[1] and lines[0][-1] == lines[1][-1]:
                lines = [side[:-1] for side in lines]
            if lines[0] != lines[1]:
                yield stream + " / ".join(lines[0]), stream + " / ".join(lines[1])
            continue
        for at in range(max(map(len, lines))):
            a, b = (side[at] if at < len(side) else None for side in lines)
            if a is None or b is None:
                yield a or "", b or ""
                continue
            fields = [re.split(r"[\s|]+", text.strip()) for text in (a, b)]
            if len(fields[0]) != len(fields[1]):
                yield a, b
                continue
            for first, second in zip(*fields):
                if not same(first, second):
                    yield first, second
            alike = "".join(fields[0]) == "".join(fields[1]) and "<work>" not in a  # whose length differs
            if alike and a.rstrip() != b.rstrip():
                yield "layout: " + a, "layout: " + b


def read_reasons():
    """(pattern of the line, of Slurm's text, of ours, reason)."""
    rules = []
    for number, line in enumerate((HERE / "reasons.txt").read_text().splitlines(), 1):
        if line and not line.startswith("#"):
            parts = [part.strip() for part in line.split(" ~ ")]
            if len(parts) != 4:
                raise SystemExit(f"reasons.txt:{number}: expected LINE ~ SLURM ~ ARES ~ REASON")
            rules.append((*map(re.compile, parts[:3]), parts[3]))
    return rules


def reason_for(rules, used, line, slurm, ares):
    for rule in rules:
        if rule[0].search(line) and rule[1].fullmatch(slurm) and rule[2].fullmatch(ares):
            used.add(rule)
            return rule[3]
    return None


def main():
    options = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    options.add_argument("--out", type=pathlib.Path)
    options.add_argument("--only", default="")
    options = options.parse_args()
    lines = [line for line in (HERE / "commands.txt").read_text().splitlines() if line and not line.startswith("#")]
    with tempfile.TemporaryDirectory(prefix="ares-compare-") as folder:
        pathlib.Path(folder).chmod(0o755)
        answers = {}
        for kind in (peers.SlurmCluster, peers.AresCluster):
            with kind(pathlib.Path(folder)) as cluster:
                answers[cluster.name] = Answers(cluster)
                answers[cluster.name].follow(lines)
    return report(lines, answers["slurm"].of, answers["ares"].of, options)


def report(lines, slurm, ares, options):
    rules, used, text, counts = read_reasons(), set(), [], {"equal": 0, "explained": 0, "open": 0}
    for line in lines:
        if line not in slurm or options.only not in line:
            continue
        found = [(a, b, reason_for(rules, used, line, a, b)) for a, b in differences(line, slurm[line], ares[line])]
        kind = "equal" if not found else "explained" if all(reason for _, _, reason in found) else "open"
        counts[kind] += 1
        if found:
            text.append(f"    {line}\n")
            for a, b, reason in found:
                text.append(f"* `{a}` → `{b}`: {reason or '**no reason**'}")
            text.append("")
    total = sum(counts.values())
    head = (f"{total} command lines: {counts['equal']} answered alike in every field, {counts['explained']} with differences that are "
            f"meant, {counts['open']} with others.")
    body = "\n".join(text)
    if options.out:
        options.out.write_text(f"# Slurm's commands and the wrappers, side by side\n\nBy contrib/slurm/compare/compare.py, with Slurm 22.05 of "
                               f"Debian 12. {head}\n\nBelow: each line with a difference; what Slurm said → what the wrapper said: why.\n\n"
                               f"{body}\n")
    else:
        print(body)
    print(head)
    if not options.only:
        for rule in rules:
            if rule not in used:
                print(f"no longer needed: {rule[0].pattern} ~ {rule[1].pattern} ~ {rule[2].pattern}")
    return 1 if counts["open"] else 0


if __name__ == "__main__":
    sys.exit(main())
