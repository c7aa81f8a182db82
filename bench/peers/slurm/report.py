"""Makes a table from raw rounds: medians over rounds, ratios to the better of Slurm's settings, goals."""
import statistics

from figures import FIGURES

COLUMNS = ["ares", "slurm", "slurm-tuned", "slurm-cgroup", "loop", "loops"]
SLURM = ["slurm", "slurm-tuned"]  # goals are against the better of these
CONTAINED = "slurm-cgroup"


def medians(rounds):
    """key -> system -> median over the rounds that have the figure."""
    samples = {}
    for one in rounds:
        for key, value in one.get("figures", {}).items():
            if value is not None:
                samples.setdefault(key, {}).setdefault(one["system"], []).append(value)
    return {key: {system: statistics.median(values) for system, values in by.items()} for key, by in samples.items()}


def rows(rounds):
    """One dict for each measured figure: values by system, Slurm's best, the ratio (above 1: Ares is better), the ratio to Slurm with
    control groups, the goal, and whether it is met (None: cannot be decided)."""
    found = medians(rounds)
    out = []
    for figure in FIGURES:
        values = found.get(figure.key)
        if not values:
            continue
        mine = values.get("ares")
        theirs = [values[name] for name in SLURM if name in values]
        best = (max if figure.higher_is_better else min)(theirs) if theirs else None

        def ratio_to(other):
            if mine is None or other is None or min(mine, other) <= 0:
                return None
            return mine / other if figure.higher_is_better else other / mine

        met = figure.goal.met(mine, best, values) if figure.goal and mine is not None else None
        out.append({"workload": figure.workload, "key": figure.key, "text": figure.text, "unit": figure.unit, "values": values,
                    "slurm_best": best, "ratio": ratio_to(best), "contained_ratio": ratio_to(values.get(CONTAINED)), "goal": figure.goal.text if figure.goal else None, "met": met})
    return out


def number(value):
    if value is None:
        return "-"
    return f"{value:,.0f}" if abs(value) >= 100 or value == int(value) else f"{value:.1f}" if abs(value) >= 10 else f"{value:.2f}"


def table(rounds):
    """Returns the report as text."""
    head = ["", "unit", *COLUMNS, "ratio", "to cgroup", "goal", ""]
    lines, workload = [head], None
    for row in rows(rounds):
        if row["workload"] != workload:
            workload = row["workload"]
            lines.append([f"[{workload}]"] + [""] * (len(head) - 1))
        verdict = {True: "met", False: "NOT MET", None: "" if row["goal"] is None else "?"}[row["met"]]
        lines.append([row["text"], row["unit"], *(number(row["values"].get(name)) for name in COLUMNS),
                      *("-" if row[ratio] is None else f"{row[ratio]:.2f}x" for ratio in ("ratio", "contained_ratio")),
                      row["goal"] or "", verdict])
    widths = [max(len(line[i]) for line in lines) for i in range(len(head))]
    left = {0, 1, len(head) - 2, len(head) - 1}
    return "\n".join("  ".join(cell.ljust(width) if i in left else cell.rjust(width)
                               for i, (cell, width) in enumerate(zip(line, widths))).rstrip() for line in lines)
