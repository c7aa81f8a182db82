#!/usr/bin/env python3
"""Measures how the cost of a pass grows with nodes, classes and pending jobs, and draws it.

    plan_growth.py run [--bin DIR] [--out DIR] [--ends N]
    plan_growth.py draw [--out DIR]

`run` counts the instructions of bench_plan's passes under callgrind, so other work on the machine does not matter: of one whole pass, and
the mean of passes after a job ended. It writes OUT/plan-growth.csv a line at a time; what is there already is not run again.
`draw` makes OUT/plan-growth.svg of it and prints the fitted exponents. Default of OUT: bench/reports.
"""

import argparse
import csv
import math
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
# The quantity that grows, and the sizes (nodes, pending, classes) that are measured.
SWEEPS = {
    "nodes": [(nodes, 20_000, 1_000) for nodes in (625, 1250, 2500, 5000, 10_000)],
    "classes": [(2_500, 20_000, classes) for classes in (250, 500, 1000, 2000, 4000, 8000)],
    "pending": [(2_500, pending, 1_000) for pending in (5_000, 10_000, 20_000, 40_000, 80_000)],
}
VARIES = {"nodes": 0, "pending": 1, "classes": 2}
COLUMNS = ["sweep", "nodes", "pending", "classes", "whole_pass", "starts", "after_end", "starts_after_end"]
SERIES = [("whole_pass", "a whole pass", "#1f77b4"), ("after_end", "after a job ended", "#d62728")]


def count(program, size, passes, ends):
    """Returns the instructions of the passes that bench_plan measures, and its output."""
    command = ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", "--toggle-collect=*measured*",
               str(program), *map(str, size), "--passes", str(passes), "--ends", str(ends)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return int(re.search(r"Collected : (\d+)", done.stderr).group(1)), done.stdout


def measure(program, size, ends):
    whole, text = count(program, size, 1, 0)
    starts = re.search(r"whole pass.*started ([\d.]+)", text).group(1)
    after, text = count(program, size, 0, ends)
    after_starts = re.search(r"after a job ended.*started ([\d.]+)", text).group(1)
    return [whole, starts, round(after / ends), after_starts]


def read(path):
    if not path.exists():
        return []
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def run(asked):
    path = asked.out / "plan-growth.csv"
    known = {tuple(int(row[column]) for column in COLUMNS[1:4]): [row[column] for column in COLUMNS[4:]]
             for row in read(path)}
    done = {(row["sweep"], int(row["nodes"]), int(row["pending"]), int(row["classes"])) for row in read(path)}
    with path.open("a", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        if not done:
            writer.writerow(COLUMNS)
        for sweep, sizes in SWEEPS.items():
            for size in sizes:
                if (sweep, *size) in done:
                    continue
                if size not in known:
                    known[size] = measure(asked.bin / "bench_plan", size, asked.ends)
                writer.writerow([sweep, *size, *known[size]])
                file.flush()
                print(sweep, *size, *known[size], flush=True)
    return 0


def slope(points):
    """The exponent of growth: least-squares fit of the logarithms."""
    xs, ys = ([math.log(point[axis]) for point in points] for axis in (0, 1))
    middle_x, middle_y = sum(xs) / len(xs), sum(ys) / len(ys)
    return (sum((x - middle_x) * (y - middle_y) for x, y in zip(xs, ys)) /
            sum((x - middle_x) ** 2 for x in xs))


# --- the chart --------------------------------------------------------------------------------------------------------


def label(x, y, text, anchor="middle", colour="#444"):
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" fill="{colour}">{text}</text>\n'


def short(number):
    for size, letter in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if number >= size:
            return f"{number / size:g}{letter}"
    return f"{number:g}"


WIDTH, HEIGHT, LEFT, TOP, PANEL = 1080, 420, 60, 60, 280


def panel(at, sweep, rows, low, high):
    """One chart with logarithmic axes. The dotted line shows linear growth."""
    left = LEFT + at * (PANEL + 60)
    bottom = HEIGHT - 60
    xs = [float(row[sweep]) for row in rows]

    def place(x, y):
        return (left + PANEL * (math.log(x / xs[0]) / math.log(xs[-1] / xs[0])),
                bottom - (bottom - TOP) * math.log(y / low) / math.log(high / low))

    out = label(left + PANEL / 2, HEIGHT - 20, sweep)
    for x in xs:
        out += label(place(x, low)[0], bottom + 18, short(x))
    for power in range(round(math.log10(low)), round(math.log10(high)) + 1):
        y = place(xs[0], 10**power)[1]
        out += f'<line x1="{left}" y1="{y:.1f}" x2="{left + PANEL}" y2="{y:.1f}" stroke="#ddd"/>\n'
        out += label(left - 6, y + 4, short(10**power), "end")
    for line, (column, name, colour) in enumerate(SERIES):
        points = [(x, float(row[column])) for x, row in zip(xs, rows)]
        drawn = " ".join("{:.1f},{:.1f}".format(*place(*point)) for point in points)
        out += f'<polyline fill="none" stroke="{colour}" stroke-width="2" points="{drawn}"/>\n'
        for point in points:
            out += '<circle cx="{:.1f}" cy="{:.1f}" r="3" fill="{}"/>\n'.format(*place(*point), colour)
        start, end = place(*points[0]), place(xs[-1], points[0][1] * xs[-1] / xs[0])
        out += (f'<line x1="{start[0]:.1f}" y1="{start[1]:.1f}" x2="{end[0]:.1f}" y2="{end[1]:.1f}" stroke="{colour}" '
                'stroke-dasharray="2 4"/>\n')
        out += label(left + 4, TOP - 8 - 16 * (len(SERIES) - 1 - line), f"{name}: exponent {slope(points):.2f}", "start", colour)
    return out


def draw(asked):
    rows = read(asked.out / "plan-growth.csv")
    values = [float(row[column]) for row in rows for column, *_ in SERIES]
    low, high = 10 ** math.floor(math.log10(min(values))), 10 ** math.ceil(math.log10(max(values)))
    out = (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" font-family="sans-serif" '
           'font-size="12">\n<rect width="100%" height="100%" fill="#fff"/>\n')
    out += label(WIDTH / 2, 20, "Instructions of a pass (dotted: in proportion)", colour="#000")
    for at, sweep in enumerate(SWEEPS):
        of_it = [row for row in rows if row["sweep"] == sweep]
        of_it.sort(key=lambda row: int(row[sweep]))
        if len(of_it) < 2:
            continue
        out += panel(at, sweep, of_it, low, high)
        for column, name, _ in SERIES:
            points = [(float(row[sweep]), float(row[column])) for row in of_it]
            print(f"{sweep}: {name}: exponent {slope(points):.2f}, of the last doubling {slope(points[-2:]):.2f}")
    (asked.out / "plan-growth.svg").write_text(out + "</svg>\n")
    return 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("action", choices=["run", "draw"])
    parser.add_argument("--bin", type=pathlib.Path, default=ROOT / "build" / "release" / "bin")
    parser.add_argument("--out", type=pathlib.Path, default=ROOT / "bench" / "reports")
    parser.add_argument("--ends", type=int, default=20, help="passes after a job ended")
    asked = parser.parse_args()
    return {"run": run, "draw": draw}[asked.action](asked)


if __name__ == "__main__":
    sys.exit(main())
