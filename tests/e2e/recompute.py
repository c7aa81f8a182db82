"""The expected values of reports about jobs that asim ran, computed from its jobs.csv without Ares: attempt by attempt, with integers.

The CSV has no nodes, so the jobs are placed here on any free CPUs. This always works, because asim never used more CPUs than there
are. The attempts are also written as rows of the accounting database, with fractions of seconds as real rows have them; these make
no difference, because reports round times down to seconds.
"""
import csv
import datetime
import heapq
import random
from collections import defaultdict

DAY = 86400
MEMORY_PER_CPU = 500  # MiB
TRES_IDS = {"cpu": 1, "mem": 2, "node": 4, "billing": 5}
COLUMNS = """job_id task own_id uid gid submitted eligible allocated started ended released user_cpu system_cpu max_rss time_limit cpus
tasks priority restarts cluster_id attempt exit_code exit_signal node_count superseded exclusive name user_name account qos partition state
reason node_list requested_tres allocated_tres tres_ids tres_counts node_ids node_shares work_dir submit_host submit_zone""".split()


class Attempt:
    """Times are seconds since 1970; `shares`: CPUs on each node, by the node's number from 0."""
    __slots__ = ("number", "user", "account", "qos", "submit", "start", "end", "state", "cpus", "shares")

    def length(self, lo, hi):
        return max(0, min(self.end, hi) - max(self.start, lo))

    def tres(self):
        return {"cpu": self.cpus, "mem": self.cpus * MEMORY_PER_CPU, "node": len(self.shares), "billing": self.cpus}


def attempts_of(path, origin, accounts=5):
    """The attempts in asim's jobs.csv, ordered by start; of the same second those with no run time first, whose CPUs the others can use.
    Each of the users u1, u2, … belongs to one account and one QOS."""
    found = []
    with open(path) as file:
        for row in csv.DictReader(file):
            if row["state"] == "REFUSED" or not row["start"]:
                continue
            assert int(row["restarts"]) == 0, "a job that ran twice has only one line"
            one = Attempt()
            one.number, user = int(row["job"]), int(row["user"])
            one.user, one.account, one.qos = f"u{user}", f"project{user % accounts}", ("normal", "urgent", "spare")[user % 3]
            one.submit, one.start, one.end = (origin + int(row[key]) for key in ("submit", "start", "end"))
            one.state, one.cpus = row["state"], int(row["cpus"])
            found.append(one)
    return sorted(found, key=lambda one: (one.start, one.end > one.start, one.number))


def place(attempts, nodes, cpus_each):
    """Places every attempt on the nodes with the lowest numbers that have free CPUs when it starts."""
    free = [cpus_each] * nodes
    ends = []
    for at, one in enumerate(attempts):
        while ends and ends[0][0] <= one.start:
            for node, cpus in attempts[heapq.heappop(ends)[1]].shares.items():
                free[node] += cpus
        one.shares, left = {}, one.cpus
        for node in range(nodes):
            took = min(left, free[node])
            if took:
                one.shares[node] = took
                free[node] -= took
                left -= took
        assert left == 0, f"job {one.number}: asim had more CPUs busy than there are"
        heapq.heappush(ends, (one.end, at))


def stamp(seconds):
    return datetime.datetime.fromtimestamp(seconds, datetime.timezone.utc).isoformat()


def copy_lines(attempts, first_job, first_node, seed=1):
    """Lines for COPY attempt_done (COLUMNS). Some attempts ended hours before they were released."""
    dice = random.Random(seed)
    array = lambda numbers: "{" + ",".join(map(str, numbers)) + "}"
    for one in attempts:
        job = first_job + one.number
        began, released = sorted((dice.random(), dice.random())) if one.start == one.end else (dice.random(), dice.random())
        ended = one.end + released - (dice.uniform(3600, 9000) if dice.random() < 0.02 else dice.random())
        tres = one.tres()
        text = ",".join(f"{name}={tres[name]}{'M' if name == 'mem' else ''}" for name in sorted(tres))
        names = ",".join(f"n{node + 1}" for node in one.shares)
        shares = [number for cpus in one.shares.values() for number in (cpus, cpus * MEMORY_PER_CPU, 1, cpus)]
        start = stamp(one.start + began)
        yield "\t".join(map(str, (
            job, -1, job, 5000 + int(one.user[1:]), 100, stamp(one.submit), stamp(one.submit), start, start,
            stamp(max(ended, one.start + began)), stamp(one.end + released), 0, 0, 0, 86400, one.cpus, one.cpus, 100, 0, 1, 1, 0, 0,
            len(one.shares), "f", "f", "job", one.user, one.account, one.qos, "main", one.state, "None", names, text, text,
            array(TRES_IDS.values()), array(tres[name] for name in TRES_IDS), array(first_node + node for node in one.shares),
            array(shares), "/", "login", "UTC"))) + "\n"


def node_rows(spans, first_node, cpus_each):
    """(node, from, state) as VALUES for node_span (node_id, began, state, name, tres_ids, tres_counts)."""
    counts = f"'{{{cpus_each},{cpus_each * MEMORY_PER_CPU},1,{cpus_each}}}'"
    return ", ".join(f"({first_node + node}, '{stamp(at)}', '{state}', 'n{node + 1}', "
                     f"'{{{','.join(map(str, TRES_IDS.values()))}}}', {counts})" for node, at, state in spans)


def usage(attempts, lo, hi, tres, key):
    """TRES-seconds of [lo, hi) by key(attempt), without zeros."""
    sums = defaultdict(int)
    for one in attempts:
        sums[key(one)] += one.tres()[tres] * one.length(lo, hi)
    return {name: amount for name, amount in sums.items() if amount}


def sizes(attempts, lo, hi, bounds):
    """By account: CPU-seconds and attempts in each range of CPUs, of attempts that had CPUs within [lo, hi)."""
    seconds, jobs = (defaultdict(lambda: [0] * (len(bounds) + 1)) for _ in range(2))
    for one in attempts:
        if one.length(lo, hi):
            at = sum(one.cpus >= bound for bound in bounds)
            seconds[one.account][at] += one.cpus * one.length(lo, hi)
            jobs[one.account][at] += 1
    return {account: (seconds[account], jobs[account]) for account in seconds}


class Capacity:
    """The state of the nodes at each second. A node's time is split into pieces in which neither its state nor its allocated CPUs change.
    No piece crosses the end of a day, so that a short time window has few pieces."""

    def __init__(self, attempts, spans, cpus_each, until):
        self.pieces = defaultdict(list)  # by day: (from, to, state, allocated CPUs, attempts) of every node
        self.cpus_each = cpus_each
        on_node = defaultdict(lambda: defaultdict(lambda: [None, 0, 0]))
        for node, at, state in spans:
            on_node[node][at][0] = state
        for one in attempts:
            for node, cpus in one.shares.items():
                for at, sign in ((one.start, 1), (one.end, -1)):
                    on_node[node][at][1] += sign * cpus
                    on_node[node][at][2] += sign
        for changes in on_node.values():
            changes[until][0] = "gone"
            for midnight in range(min(changes) // DAY * DAY, until, DAY):
                changes[midnight]
            state, held, jobs, since = "gone", 0, 0, None
            for at in sorted(changes):
                if since is not None and state != "gone":
                    self.pieces[since // DAY].append((since, at, state, held, jobs))
                assert 0 <= held <= cpus_each
                new, more, count = changes[at]
                state, held, jobs, since = new or state, held + more, jobs + count, at

    def between(self, lo, hi, tres):
        """The columns of areport's cluster utilization for [lo, hi)."""
        found = dict.fromkeys(("allocated", "down", "planned_down", "reserved", "idle", "over_committed"), 0)
        pieces = (piece for day in range(lo // DAY, (hi - 1) // DAY + 1) for piece in self.pieces.get(day, ()))
        for begin, end, state, held, jobs in pieces:
            length = min(end, hi) - max(begin, lo)
            if length <= 0:
                continue
            factor = {"cpu": 1, "mem": MEMORY_PER_CPU, "node": 1}[tres]
            count = 1 if tres == "node" else self.cpus_each
            busy = jobs if tres == "node" else held
            found["allocated"] += min(busy, count) * length * factor
            found["over_committed"] += max(busy - count, 0) * length * factor
            rest = {"down": "down", "drained": "planned_down", "up": "idle"}[state]
            found[rest] += max(count - busy, 0) * length * factor
        found["reported"] = sum(found[name] for name in ("allocated", "down", "planned_down", "reserved", "idle"))
        return found
