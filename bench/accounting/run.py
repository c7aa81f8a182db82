#!/usr/bin/env python3
"""aacct and areport on a year's worth of jobs: whole processes, by the clock.

  bench/accounting/run.py [--bin build/release/bin] [--attempts 1000000] [--days 365] [--users 2000] [--accounts 300] [--nodes 500]
                          [--repeat 20] [--rounds 9] [--seconds 2] [--asked each-second,always] [--brief]
                          [--keep | --again FOLDER] [--out FILE]

Starts a private cluster, fills its accounting tables by COPY with finished attempts that look like a site's (10 % array tasks, some
requeued, skewed users and lengths), spread evenly over the days before now, then times the commands. One JSON object holds machine,
configuration, sizes and raw samples; a summary is printed. Nothing runs on the cluster meanwhile, but for the summing up of what was
filled in, which is waited for and timed, and the submission that is timed beside it. Then submission is measured with and without each of
the questions asked in a loop (beside.py), as fast as they are answered and once a second.

Beside the time there is the processor time of everything that had a part in it, where it can be counted (root, cgroups): on a machine that
others use that is what a figure is worth. --keep leaves the cluster up; --again measures on it once more, with nothing filled in.
"""
import argparse
import json
import os
import pathlib
import random
import re
import shutil
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
sys.path.insert(0, str(HERE.parent))

from beside import beside, print_beside  # noqa: E402
from lib.ares import Cluster  # noqa: E402
from lib.measure import CpuGroup, Others, fsync_latency, machine, summary  # noqa: E402

FIRST_JOB = 10_001
FIRST_NODE = 10_001
COLUMNS = """job_id task own_id uid gid submitted eligible allocated started ended user_cpu system_cpu max_rss time_limit cpus tasks
priority restarts cancelled_by cluster_id attempt exit_code exit_signal node_count superseded exclusive name user_name account qos
partition state reason node_list max_rss_node requested_tres allocated_tres tres_ids tres_counts array_spec work_dir submit_host
submit_zone comment std_out released node_ids""".split()
ENDS = [("COMPLETED", "None", 0)] * 16 + [("FAILED", "NonZeroExitCode", 1), ("TIMEOUT", "TimeLimit", 0),
                                          ("CANCELLED", "None", 0), ("OUT_OF_MEMORY", "OutOfMemory", 137)]
PARTITIONS = ["main", "gpu", "long", "debug"]


def stamp(seconds):
    return time.strftime("%Y-%m-%d %H:%M:%S", time.gmtime(seconds)) + f".{int(seconds % 1 * 1e6):06d}+00"


def attempts(count, days, users, accounts, nodes_there, seed=1):
    """Yields lines for COPY in order of end time. End times are spread evenly, so that each day has count/days of them."""
    random.seed(seed)
    now = time.time()
    begin = now - days * 86400
    number, array_left, array_id, array_index = FIRST_JOB, 0, 0, 0
    for i in range(count):
        ended = begin + (i + random.random()) * days * 86400 / count
        length = min(random.expovariate(1 / 1800), 7 * 86400)
        started = ended - length
        submitted = started - random.expovariate(1 / 600)
        if array_left == 0 and random.random() < 0.001:
            array_left, array_id, array_index = 100, number, 0
            number += 101
        if array_left:
            job, task, own, spec = array_id, array_index, array_id + 1 + array_index, "0-99"
            array_left, array_index = array_left - 1, array_index + 1
        else:
            job, task, own, spec = number, -1, number, r"\N"
            number += 1
        user = int(random.betavariate(1, 6) * users)
        cpus, nodes = random.choice([1, 1, 1, 2, 4, 8, 16]), 1
        memory = cpus * 500
        state, reason, code = random.choice(ENDS)
        by = str(1000 + user) if state == "CANCELLED" else r"\N"
        name = f"job-{random.randrange(3000)}"
        place = random.randrange(nodes_there)
        node = f"n{place}"
        tres = f"billing={cpus},cpu={cpus},mem={memory}M,node={nodes}"
        partition = PARTITIONS[0 if random.random() < 0.7 else random.randrange(4)]
        yield "\t".join(map(str, (
            job, task, own, 1000 + user, 100, stamp(submitted), stamp(submitted), stamp(started), stamp(started), stamp(ended),
            int(length * cpus * 8e5), int(length * 1e4), random.randrange(1 << 33), 86400, cpus, cpus, 100, 0, by, 1, 1, code, 0,
            nodes, "f", "f", name, f"user{user}", f"project{user % accounts}", "normal", partition, state, reason, node, node, tres, tres,
            "{1,2,4,5}", f"{{{cpus},{memory},{nodes},{cpus}}}", spec, f"/home/user{user}/runs/{name}", "login1.example.org", "UTC",
            r"\N", r"logs/%x-%j.out", stamp(ended + 0.5), f"{{{FIRST_NODE + place}}}"))) + "\n"


class Database:
    def __init__(self, cluster):
        text = cluster.configuration()
        section = text[text.index("database:"):]
        self.where = {key: re.search(rf'{key}: "?([^"\n]+)"?', section).group(1) for key in ("host", "port", "name", "user")}

    def psql(self, *words, **more):
        return subprocess.Popen(["psql", "-X", "-q", "-v", "ON_ERROR_STOP=1", "-h", self.where["host"], "-p", self.where["port"], "-U",
                                 self.where["user"], "-d", self.where["name"], *words], text=True, **more)

    def sql(self, statement):
        done = self.psql("-Atc", statement, stdout=subprocess.PIPE)
        out = done.communicate()[0]
        if done.returncode:
            sys.exit(f"psql: {statement}")
        return out.strip()

    def fill(self, count, days, users, accounts, nodes):
        self.sql(f"SELECT attempt_prepare(now() - interval '{days + 10} days', {days // 28 + 2})")
        copy = self.psql("-c", f"COPY attempt_done ({', '.join(COLUMNS)}) FROM STDIN", stdin=subprocess.PIPE)
        for line in attempts(count, days, users, accounts, nodes):
            copy.stdin.write(line)
        copy.stdin.close()
        if copy.wait():
            sys.exit("COPY failed")
        self.sql("VACUUM ANALYZE attempt_done")
        # Nodes of 64 CPUs; each is drained or down about once in three months.
        self.sql("INSERT INTO node_span (node_id, began, state, name, tres_ids, tres_counts) "
                 f"SELECT {FIRST_NODE} + i, now() - interval '{days + 5} days', 'up', 'n' || i, '{{1,2,4,5}}', '{{64,256000,1,64}}' "
                 f"FROM generate_series(0, {nodes - 1}) i")
        self.sql("INSERT INTO node_span (node_id, began, state, name, tres_ids, tres_counts) "
                 "SELECT s.node_id, s.began + g * interval '45 days' + s.node_id % 4000 * interval '15 minutes', "
                 "(ARRAY['up', 'drained', 'up', 'down'])[1 + g % 4], s.name, s.tres_ids, s.tres_counts "
                 f"FROM node_span s, generate_series(1, {days // 45}) g WHERE s.node_id >= {FIRST_NODE} "
                 f"AND s.began + g * interval '45 days' + s.node_id % 4000 * interval '15 minutes' < now()")

    def timed(self, statement):
        """Milliseconds of a statement as seen by its client."""
        begin = time.perf_counter()
        self.sql(statement)
        return (time.perf_counter() - begin) * 1e3


def submissions(cluster, seconds):
    """Submits held jobs one after the other for `seconds`. Returns the milliseconds of single submissions."""
    samples = []
    until = time.perf_counter() + seconds
    while time.perf_counter() < until:
        begin = time.perf_counter()
        subprocess.run([f"{cluster.bin}/asub", "-H", "--wrap", "true"], stdout=subprocess.DEVNULL, env=cluster.env, check=True)
        samples.append((time.perf_counter() - begin) * 1e3)
    return summary(samples)


def timed(cluster, words, repeat, program="aacct"):
    """Runs a command `repeat` times with its output in a file. Returns milliseconds of the whole process, the number of output lines, the
    CPU time of one run, and the share of the machine that other processes used; the last two are None if they cannot be counted."""
    samples, lines = [], 0
    path = f"{cluster.dir}/out"
    before = cluster.group.seconds()
    with Others(cluster.group) as others:
        for turn in range(repeat):
            argv = words(turn) if callable(words) else words
            with open(path, "w") as out:
                begin = time.perf_counter()
                subprocess.run([f"{cluster.bin}/{program}", *argv], stdout=out, env=cluster.env, check=True)
                samples.append((time.perf_counter() - begin) * 1e3)
    cpu = None if before is None else (cluster.group.seconds() - before) * 1e3 / repeat
    with open(path) as out:
        lines = sum(1 for _ in out)
    return {**summary(samples), "lines": lines, "cpu_ms": cpu, "others": others.share}


def line_of(name, one):
    cpu = "" if one["cpu_ms"] is None else f"   CPU {one['cpu_ms']:9.1f} ms"
    return f"{name:42} least {min(one['samples']):9.1f} ms   p50 {one['p50']:9.1f} ms   p95 {one['p95']:9.1f} ms{cpu}   {one['lines']} lines"


def day(ago):
    return time.strftime("%Y-%m-%d", time.gmtime(time.time() - ago * 86400))


def rollup_of_a_day():
    """Arguments that repeat the rollup of the UTC day three days ago: its hours, the day and the month."""
    return ["rollup", "again", f"start={day(3)}", f"end={day(2)}"]


def loads(cluster):
    """Queries that run in a loop while jobs are submitted: those that have goals."""
    return {
        "aacct, a user's 30 days": [f"{cluster.bin}/aacct", "-X", "-u", "1000", "-S", "now-30days"],
        "areport, the cluster's year": [f"{cluster.bin}/areport", "cluster", "utilization", "start=now-365days"],
        "areport, the cluster's day": [f"{cluster.bin}/areport", "cluster", "utilization"],
        "areport rollup again of a day": [f"{cluster.bin}/areport", *rollup_of_a_day()],
    }


def queries(report, cluster, database, args):
    """Times aacct; results go to report["cases_ms"]."""
    last = int(database.sql("SELECT max(job_id) FROM attempt_done"))
    random.seed(2)
    per_day = args.attempts // args.days
    window = max(1, 100_000 // per_day)
    cases = {
        "starts and stops": ["--version"],
        "one job": lambda _: ["-n", "-X", "-j", str(random.randint(FIRST_JOB, last))],
        "one job, all fields": lambda _: ["-n", "-X", "-j", str(random.randint(FIRST_JOB, last)), "-o", "all"],
        "a user's last day": lambda _: ["-X", "-u", str(1000 + random.randrange(100)), "-S", "now-1day"],
        "a user's last 30 days": lambda _: ["-X", "-u", str(1000 + random.randrange(100)), "-S", "now-30days"],
        f"all jobs of a day ({per_day})": ["-X", "-a", "-S", "now-1day"],
        f"all jobs of {window} days ({per_day * window})": ["-X", "-a", "-S", f"now-{window}days"],
        "the same with -P": ["-X", "-a", "-P", "-S", f"now-{window}days"],
        "the same, all fields": ["-X", "-a", "-P", "-o", "all", "-S", f"now-{window}days"],
        "the same as JSON": ["-X", "-a", "--json", "-S", f"now-{window}days"],
        f"what failed in {window} days": ["-X", "-a", "-s", "F,TO,OOM", "-S", f"now-{window}days"],
        "what runs": ["-X", "-a", "-s", "R"],
        f"everything ({args.attempts})": ["-X", "-a", "-P", "-S", "2000-01-01"],
    }
    if args.brief:
        cases = {name: cases[name] for name in ("starts and stops", "one job", "a user's last day", "a user's last 30 days")}
    report["cases_ms"] = {}
    for name, words in cases.items():
        heavy = any(part in name for part in ("same", "everything", "all jobs of"))
        timed(cluster, words, 1)
        found = report["cases_ms"][name] = timed(cluster, words, max(3, args.repeat // 4) if heavy else args.repeat)
        print(line_of(name, found), flush=True)


def sum_up(report, cluster, database, args):
    """Rolls up the generated attempts while jobs are submitted; results go to report["rollup"]."""
    found = report["rollup"]
    found["submission_alone_ms"] = submissions(cluster, 5)
    begin = time.perf_counter()
    rolling = subprocess.Popen([f"{cluster.bin}/areport", "rollup", "now"], stdout=subprocess.DEVNULL, env=cluster.env)
    found["submission_beside_ms"] = submissions(cluster, 5)
    if rolling.wait():
        sys.exit("areport rollup now failed")
    found["all_s"] = time.perf_counter() - begin
    database.sql("VACUUM ANALYZE usage_hour, usage_day, usage_month, usage_key, capacity_hour, capacity_day, capacity_month")
    print(f"summed up {args.days} days in {found['all_s']:.1f} s; a submission p50 {found['submission_alone_ms']['p50']:.1f} ms alone, "
          f"{found['submission_beside_ms']['p50']:.1f} ms beside it", flush=True)


def reports(report, cluster, database, args):
    """Times areport and the rollup of a day; results go to report["rollup"] and report["reports_ms"]."""
    found = report["rollup"]
    timed(cluster, rollup_of_a_day(), 1, "areport")
    found["one_day_ms"] = timed(cluster, rollup_of_a_day(), max(5, args.repeat // 2), "areport")
    print(line_of("rollup of a day", found["one_day_ms"]), flush=True)
    found["rows"] = {table: int(database.sql(f"SELECT count(*) FROM {table}")) for table in (
        "usage_hour", "usage_day", "usage_month", "capacity_hour", "usage_key")}
    year = ["start=now-365days"]
    cases = {
        "cluster utilization, a day": ["cluster", "utilization"],
        "cluster utilization, a year": ["cluster", "utilization", *year],
        "cluster utilization, a year, all TRES": ["-T", "ALL", "cluster", "utilization", *year],
        "users by account, a day": ["cluster", "UserUtilizationByAccount"],
        "users by account, a year": ["cluster", "UserUtilizationByAccount", *year],
        "top users, a year": ["user", "top", *year],
        "job sizes, a day": ["job", "sizes"],
        "efficiency, 30 days": ["job", "EfficiencyByAccount", "start=now-30days"],
    }
    if args.brief:
        cases = {name: words for name, words in cases.items() if name.startswith("cluster utilization")}
    report["reports_ms"] = {}
    for name, words in cases.items():
        timed(cluster, words, 1, "areport")
        one = report["reports_ms"][name] = timed(cluster, words, args.repeat, "areport")
        print(line_of(name, one), flush=True)


def besides(report, cluster, args):
    """Measures submission with and without concurrent queries; results go to report["beside"]."""
    report["beside"] = {}
    paces = {"always": (0, "without a pause"), "each-second": (1, "once a second")}
    for period, how in (paces[pace] for pace in args.asked.split(",")):
        for in_flight in (1, 64):
            title = f"{in_flight} in flight, asked {how}"
            report["beside"][title] = beside(cluster, loads(cluster), args.rounds, args.seconds, period, in_flight)
            print_beside(title, report["beside"][title])


def parent_of(pid):
    with open(f"/proc/{pid}/stat") as file:
        return int(file.read().rpartition(")")[2].split()[1])


def sizes(report, cluster, database):
    report["configuration"] = cluster.configuration()
    report["postgresql"] = {name: database.sql(f"SHOW {name}") for name in (
        "server_version", "shared_buffers", "work_mem", "effective_cache_size", "fsync", "max_parallel_workers")}
    of_all = "FROM pg_partition_tree('attempt_done')"
    report["table_bytes"] = int(database.sql(f"SELECT sum(pg_relation_size(relid)) {of_all}"))
    report["with_indexes_bytes"] = int(database.sql(f"SELECT sum(pg_total_relation_size(relid)) {of_all}"))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", default=str(ROOT / "build/release/bin"))
    parser.add_argument("--attempts", type=int, default=1_000_000)
    parser.add_argument("--days", type=int, default=365)
    parser.add_argument("--users", type=int, default=2000)
    parser.add_argument("--accounts", type=int, default=300)
    parser.add_argument("--nodes", type=int, default=500)
    parser.add_argument("--repeat", type=int, default=20)
    parser.add_argument("--rounds", type=int, default=9, help="of submission beside each load; 0 = none")
    parser.add_argument("--seconds", type=float, default=2, help="of a phase of submission")
    parser.add_argument("--asked", default="each-second,always", help="how often the loads ask; all jobs submitted stay, so a fast machine may "
                        "need a cluster for each (policy.max_jobs)")
    parser.add_argument("--brief", action="store_true", help="only what has a goal")
    parser.add_argument("--keep", action="store_true", help="leave the cluster running")
    parser.add_argument("--again", metavar="FOLDER", help="measure on the cluster that --keep has left there")
    parser.add_argument("--out")
    args = parser.parse_args()
    group = CpuGroup()
    directory = args.again or tempfile.mkdtemp(prefix="ares-bench-")
    os.chmod(directory, 0o755)
    cluster = None
    try:
        report = {"machine": machine(), "fsync_ms": summary(fsync_latency(directory)), "rollup": {},
                  "arguments": {k: v for k, v in vars(args).items() if k not in ("bin", "out", "keep", "again")}}
        if args.again:
            cluster = Cluster.left_by(os.path.abspath(args.bin), f"{directory}/cluster")
            group.take_in(parent_of(cluster.pid("aresctld")))  # the supervisor of the whole cluster
        else:
            cluster = Cluster(os.path.abspath(args.bin), f"{directory}/cluster", nodes=1, cpus=4, memory="8G")
        cluster.env["TZ"] = "UTC"
        cluster.group = group
        database = Database(cluster)
        if not args.again:
            begin = time.perf_counter()
            database.fill(args.attempts, args.days, args.users, args.accounts, args.nodes)
            report["filled_in_s"] = time.perf_counter() - begin
            sum_up(report, cluster, database, args)
        sizes(report, cluster, database)
        queries(report, cluster, database, args)
        reports(report, cluster, database, args)
        if args.rounds:
            besides(report, cluster, args)
        report["machine"]["load_after"] = os.getloadavg()[0]
        if args.out:
            pathlib.Path(args.out).write_text(json.dumps(report, indent=1) + "\n")
        print(f"fsync p50 {report['fsync_ms']['p50']:.2f} ms; table {report['table_bytes'] >> 20} MiB, with indexes "
              f"{report['with_indexes_bytes'] >> 20} MiB; load {report['machine']['load_before']:.1f} before, "
              f"{report['machine']['load_after']:.1f} after")
        if args.keep:
            print(f"left in {directory}")
    finally:
        if cluster and not args.keep:
            cluster.down()
        group.close()
        if not args.keep:
            shutil.rmtree(directory, ignore_errors=True)


if __name__ == "__main__":
    main()
