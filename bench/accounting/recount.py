#!/usr/bin/env python3
"""areport against a count from asim's jobs.csv alone, over a recorded workload: every day, every month, every hour.

  bench/accounting/recount.py LOG.swf[.gz] [--bin build/release/bin] [--zone Europe/Stockholm] [--out FILE]

Replays the log with asim on the machine that its header describes, as if it had begun in the same minute of another year, so that it ended
not long ago. The attempts go into the accounting tables of a private cluster, which sums them up. Then areport's cluster utilization and
accounts and users of each day and month of the zone, and all hours of the views, are compared with a count in Python that has nothing but
the CSV (tests/e2e/recompute.py). Any difference of a second ends it with a complaint. Prints how many figures were the same.
"""
import argparse
import datetime
import gzip
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from zoneinfo import ZoneInfo

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
sys.path += [str(HERE.parent), str(ROOT / "tests/e2e")]

import recompute  # noqa: E402
from lib.ares import Cluster  # noqa: E402
from lib.measure import machine  # noqa: E402
from run import Database  # noqa: E402

DAY = recompute.DAY
FIRST_JOB, FIRST_NODE = 100_000, 10_001


def shifted(log, path):
    """Copies the log to `path`, moved by whole years so that it ends before now. Returns the numbers of its header."""
    opened = gzip.open(log, "rt", errors="replace") if str(log).endswith(".gz") else open(log)
    with opened as file:
        lines = file.read().splitlines()
    header = {key: int(value) for key, value in re.findall(r"^; *(\w+): *(\d+)\s*$", "\n".join(lines), re.M)}
    length = max(int(line.split()[1]) for line in lines if line and line[0] != ";")
    began = datetime.datetime.fromtimestamp(header["UnixStartTime"], datetime.timezone.utc)
    origin = began.replace(year=datetime.datetime.now().year + 1)
    while origin.timestamp() + length > time.time() - 20 * DAY:
        origin = origin.replace(year=origin.year - 1)
    header["UnixStartTime"] = int(origin.timestamp())
    path.write_text("\n".join(re.sub(r"UnixStartTime:.*", f"UnixStartTime: {header['UnixStartTime']}", line) for line in lines) + "\n")
    return header


class Compared:
    def __init__(self):
        self.same = defaultdict(int)

    def equal(self, what, found, expected, where):
        if found != expected:
            different = {key for key in found.keys() | expected.keys() if found.get(key) != expected.get(key)}
            key = min(different, key=str)
            sys.exit(f"{what}, {where}: {len(different)} differ, such as {key}: {found.get(key)}, counted {expected.get(key)}")
        self.same[what] += len(expected)


class Counted:
    """Index of the attempts by the UTC days on which they ran."""

    def __init__(self, attempts):
        self.days = defaultdict(list)
        for one in attempts:
            for day in range(one.start // DAY, one.end // DAY + 1):
                self.days[day].append(one)

    def usage(self, lo, hi, tres="cpu"):
        seen = {one.number: one for day in range(lo // DAY, (hi - 1) // DAY + 1) for one in self.days.get(day, ())}
        return recompute.usage(seen.values(), lo, hi, tres, lambda one: (one.account, one.user))


def areport(cluster, zone, *words):
    done = subprocess.run([f"{cluster.bin}/areport", "--json", *words], env=dict(cluster.env, TZ=zone), check=True, stdout=subprocess.PIPE)
    return json.loads(done.stdout)


def compare_reports(cluster, compared, counted, capacity, zone, what, bounds):
    """Compares reports for each interval between consecutive `bounds` (naive local times)."""
    info = ZoneInfo(zone)
    for start, end in zip(bounds, bounds[1:]):
        lo, hi = (int(at.replace(tzinfo=info).timestamp()) for at in (start, end))
        words = [f"start={start.isoformat()}", f"end={end.isoformat()}"]
        answer = areport(cluster, zone, "-T", "cpu,mem,node", "cluster", "utilization",
                         "format=tres,allocated,down,planneddown,reserved,idle,overcommitted,reported", *words)
        assert (answer["start"], answer["end"]) == (lo * 10**6, hi * 10**6), (start, end)
        for row in answer["rows"]:
            expected = capacity.between(lo, hi, row["tres"])
            compared.equal(f"cluster utilization, {what}", {name: row[name] for name in expected}, expected, start)
        found = areport(cluster, zone, "cluster", "AccountUtilizationByUser", *words)["rows"]
        compared.equal(f"accounts and users, {what}", {(row["account"], row["user"]): row["used"] for row in found if row["user"]},
                       counted.usage(lo, hi), start)


def compare_hours(database, compared, counted, capacity, lo, hi):
    usage, cells = defaultdict(dict), {}
    for line in database.sql("SELECT extract(epoch FROM began)::bigint, account, user_name, sum(seconds)::bigint FROM ares_views.usage_hour "
                             "WHERE tres = 'cpu' GROUP BY 1, 2, 3").splitlines():
        at, account, user, amount = line.split("|")
        usage[int(at)][account, user] = int(amount)
    names = ("allocated", "down", "planned_down", "reserved", "idle")
    for line in database.sql("SELECT extract(epoch FROM began)::bigint, allocated::bigint, down::bigint, drained::bigint, reserved::bigint, "
                             "idle::bigint FROM ares_views.capacity_hour WHERE tres = 'cpu'").splitlines():
        at, *amounts = map(int, line.split("|"))
        cells[at] = dict(zip(names, amounts))
    for at in range(lo // 3600 * 3600, hi, 3600):
        compared.equal("accounts and users, each hour", usage[at], counted.usage(at, at + 3600), at)
        expected = capacity.between(at, at + 3600, "cpu")
        compared.equal("cluster utilization, each hour", cells.get(at, dict.fromkeys(names, 0)), {name: expected[name] for name in names}, at)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("log", type=pathlib.Path)
    parser.add_argument("--bin", default=str(ROOT / "build/release/bin"))
    parser.add_argument("--zone", default="Europe/Stockholm")
    parser.add_argument("--out")
    args = parser.parse_args()
    directory = pathlib.Path(tempfile.mkdtemp(prefix="ares-bench-"))
    directory.chmod(0o755)
    cluster = None
    try:
        header = shifted(args.log, directory / "log.swf")
        subprocess.run([f"{args.bin}/asim", "run", directory / "log.swf", "--cluster=swf", f"--out={directory / 'out'}"], check=True,
                       stdout=subprocess.DEVNULL)
        origin, nodes = header["UnixStartTime"], header["MaxNodes"]
        cpus_each = header["MaxProcs"] // nodes
        attempts = recompute.attempts_of(directory / "out/jobs.csv", origin, accounts=20)
        recompute.place(attempts, nodes, cpus_each)
        lo, hi = origin - DAY, max(one.end for one in attempts) + DAY
        spans = [(node, lo, "up") for node in range(nodes)]
        capacity, counted = recompute.Capacity(attempts, spans, cpus_each, hi), Counted(attempts)
        cluster = Cluster(os.path.abspath(args.bin), directory / "cluster", nodes=1, cpus=4, memory="8G")
        database = Database(cluster)
        database.sql(f"SELECT attempt_prepare('{recompute.stamp(lo)}', {(hi - lo) // DAY // 28 + 1})")
        copy = database.psql("-c", f"COPY attempt_done ({', '.join(recompute.COLUMNS)}) FROM STDIN", stdin=subprocess.PIPE)
        copy.communicate("".join(recompute.copy_lines(attempts, FIRST_JOB, FIRST_NODE)))
        if copy.returncode:
            sys.exit("COPY failed")
        database.sql("INSERT INTO node_span (node_id, began, state, name, tres_ids, tres_counts) VALUES "
                     + recompute.node_rows(spans, FIRST_NODE, cpus_each))
        database.sql(f"INSERT INTO node_span (node_id, began, state, name, tres_ids, tres_counts) SELECT node_id, '{recompute.stamp(hi)}', "
                     f"'gone', name, '{{}}', '{{}}' FROM node_span WHERE node_id >= {FIRST_NODE}")
        database.sql("VACUUM ANALYZE attempt_done, node_span")
        subprocess.run([f"{args.bin}/areport", "rollup", "now"], env=cluster.env, check=True, stdout=subprocess.DEVNULL)
        compared = Compared()
        first, last = (datetime.datetime.fromtimestamp(at, ZoneInfo(args.zone)).replace(hour=0, minute=0, second=0, microsecond=0, tzinfo=None)
                       for at in (lo, hi))
        days = [first + datetime.timedelta(days=more) for more in range((last - first).days + 2)]
        firsts = [day for day in days if day.day == 1]
        compare_reports(cluster, compared, counted, capacity, args.zone, "each day", days)
        compare_reports(cluster, compared, counted, capacity, args.zone, "each month", [first, *firsts, last])
        compare_reports(cluster, compared, counted, capacity, args.zone, "all of it", [first, last + datetime.timedelta(days=1)])
        compare_hours(database, compared, counted, capacity, lo, hi)
        report = {"machine": machine(), "log": args.log.name, "zone": args.zone, "attempts": len(attempts), "nodes": nodes, "days": len(days) - 1,
                  "origin": recompute.stamp(origin), "summed_up": database.sql("SELECT from_hour, to_hour FROM rollup"),
                  "cpu_seconds": sum(one.cpus * (one.end - one.start) for one in attempts), "figures_the_same": dict(compared.same),
                  "figures_different": 0}
        if args.out:
            pathlib.Path(args.out).write_text(json.dumps(report, indent=1) + "\n")
        print(f"{args.log.name}: {len(attempts)} attempts on {nodes} nodes, {report['cpu_seconds']} CPU-seconds")
        for what, count in compared.same.items():
            print(f"  {what:36} {count:9} figures, none different")
    finally:
        if cluster:
            cluster.down()
        shutil.rmtree(directory, ignore_errors=True)


if __name__ == "__main__":
    main()
