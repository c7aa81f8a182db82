# Tests: watch_hub, job_changes, ended_log, follower, aacct/following, ended_rows, aqueue/watch, local_stream
"""aqueue --watch and aacct --follow: what users see when jobs change, the controller restarts or the reader is slow."""

import contextlib
import json
import os
import pty
import select
import signal
import subprocess
import threading

import pytest

from cluster import BIN, f1, stop_process, until


class Watch:
    """A running command; its lines are collected as they arrive."""

    def __init__(self, cluster, program, *words, user=None):
        who = {}
        if user:
            import pwd
            entry = pwd.getpwnam(user)
            who = {"user": entry.pw_uid, "group": entry.pw_gid, "extra_groups": []}
        self.process = subprocess.Popen([str(BIN / program), *words], env=cluster.environment(), text=True, cwd=cluster.work,
                                        stdout=subprocess.PIPE, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL, **who)
        self.lines, self.errors = [], []
        self.readers = [threading.Thread(target=self.read, args=pair, daemon=True)
                        for pair in ((self.process.stdout, self.lines), (self.process.stderr, self.errors))]
        for reader in self.readers:
            reader.start()

    @staticmethod
    def read(stream, into):
        for line in stream:
            into.append(line.rstrip("\n").replace("|", " "))

    def of(self, job):
        """The lines of a job: what follows its id."""
        return [line.split(maxsplit=1)[1] for line in list(self.lines) if line.split()[0] == job]

    def ends(self, job):
        """The same of aacct, without states that the listing had of a job that has not ended."""
        return [text for text in self.of(job) if text.split()[0] not in ("PENDING", "CONFIGURING", "RUNNING", "COMPLETING")]

    def wait_for(self, job, *states, seconds=30):
        def look():
            assert self.of(job) == list(states), (self.of(job), self.errors)
            return True
        until(look, seconds)

    def wait_last(self, job, state, seconds=30):
        until(lambda: self.of(job)[-1:] == [state], seconds)

    def end(self, how=signal.SIGINT):
        if self.process.poll() is None:
            self.process.send_signal(how)
        code = self.process.wait(20)
        for reader in self.readers:
            reader.join(10)
        return code


@pytest.fixture
def watch(cluster):
    made = []

    def start(program, *words, **more):
        made.append(Watch(more.pop("of", cluster), program, *words, **more))
        return made[-1]
    yield start
    for one in made:
        with contextlib.suppress(ProcessLookupError):
            one.process.kill()
        one.process.wait()


QUEUE = ("aqueue", "--watch", "-h", "-o", "%i %T")
ENDS = ("aacct", "--follow", "-X", "-n", "-P", "-o", "JobID,State")


def running(cluster, command="sleep 1000", *words, **more):
    job = cluster.wrap(command, *words, **more)
    cluster.wait_state(job, "RUNNING")
    return job


def test_watch_shows_each_change_of_listed_jobs(cluster, watch):
    job = running(cluster)
    seen = watch(*QUEUE)
    seen.wait_for(job, "RUNNING")
    later = cluster.wrap("sleep 1000", "-H")
    seen.wait_for(later, "PENDING")
    cluster.run("actl", "release", later)
    seen.wait_last(later, "RUNNING")
    cluster.cancel(job, later)
    seen.wait_last(job, "CANCELLED")
    seen.wait_last(later, "CANCELLED")
    assert seen.of(job).count("CANCELLED") == 1
    assert seen.end() == 0 and seen.errors == []


def test_watch_has_the_names_of_groups(cluster, watch):
    job = running(cluster)
    seen = watch("aqueue", "--watch", "-h", "-o", "%i %g")
    listed = cluster.run("aqueue", "-h", "-j", job, "-o", "%g").stdout.strip()
    seen.wait_for(job, listed)
    cluster.cancel(job)


def test_watch_has_one_header_and_the_filters_of_the_listing(cluster, watch):
    seen = watch("aqueue", "--watch", "-n", "wanted", "-o", "%i %T")
    other = cluster.wrap("true", "-J", "other")
    wanted = cluster.wrap("true", "-J", "wanted")
    seen.wait_last(wanted, "COMPLETED")
    cluster.wait_state(other, "COMPLETED")
    assert seen.of(other) == [] and seen.lines.count("JOBID STATE") == 1
    assert seen.end(signal.SIGTERM) == 0


def test_watch_prints_json_objects_one_a_line(cluster, watch):
    seen = watch("aqueue", "--watch", "--json")
    job = cluster.wrap("true")
    states = lambda: [one["state"] for one in map(json.loads, list(seen.lines)) if one["job_id"] == int(job)]
    until(lambda: states()[-1:] == ["COMPLETED"])
    assert states().count("COMPLETED") == 1
    assert seen.end() == 0


def test_watch_shows_waiting_tasks_in_one_line_and_cancelled_ones_with_their_numbers(cluster, watch):
    seen = watch(*QUEUE)
    array = cluster.wrap("true", "-H", "--array=0-5")
    seen.wait_for(f"{array}_[0-5]", "PENDING")
    cluster.cancel(array)
    seen.wait_last(f"{array}_[0-5]", "CANCELLED")


def test_watch_redraws_a_terminal_and_leaves_the_last_listing(cluster):
    job = cluster.wrap("sleep 1000", "-H", "-J", "drawn")
    leader, follower = pty.openpty()
    done = subprocess.Popen(["sh", "-c", f"stty cols 78 rows 12; exec {BIN}/aqueue --watch"], stdin=follower, stdout=follower,
                            env={**cluster.environment(), "TERM": "xterm", "NO_COLOR": "1"}, start_new_session=True)
    os.close(follower)
    text = ""

    def drawn(word):
        nonlocal text
        if select.select([leader], [], [], 0)[0]:
            text += os.read(leader, 65536).decode()
        return word in text
    until(lambda: drawn("(JobHeldUser)"))
    text = ""
    cluster.cancel(job)
    until(lambda: drawn("CA "))
    text = ""
    done.send_signal(signal.SIGINT)
    until(lambda: drawn("\x1b[?1049l"))
    assert done.wait(20) == 0
    os.close(leader)


def test_watch_ends_at_an_interrupt_while_the_controller_hangs(fresh, watch):
    cluster = fresh(config=f1())
    controller = cluster.pid("aresctld")
    stop_process(controller)
    try:
        seen = watch("aqueue", "--watch", "-P", of=cluster)

        def waits_for_signals():
            status = dict(line.split(":\t", 1) for line in open(f"/proc/{seen.process.pid}/status").read().splitlines() if ":\t" in line)
            return int(status["SigBlk"], 16) >> (signal.SIGINT - 1) & 1
        until(waits_for_signals)
        until(lambda: any("has not answered" in line for line in seen.errors), seconds=30)
        assert seen.end() == 0
    finally:
        os.kill(controller, signal.SIGCONT)


def test_watch_excludes_iterate_and_listings_that_are_not_of_jobs(cluster):
    for words in (("-i", "1"), ("-s",), ("--why", "1")):
        refused = cluster.run("aqueue", "--watch", *words, check=False)
        assert refused.returncode == 1 and "mutually exclusive" in refused.stderr
    assert cluster.run("aqueue", "--watch", "-p", "nowhere", check=False).stderr == \
        "aqueue: Invalid partition name specified: nowhere\n"


def test_follow_prints_rows_as_they_are_stored_behind_those_listed(cluster, watch):
    before = cluster.wrap("true")
    cluster.wait_state(before, "COMPLETED")
    seen = watch(*ENDS)
    seen.wait_for(before, "COMPLETED")
    job, failed = running(cluster), cluster.wrap("exit 3")
    seen.wait_last(failed, "FAILED")
    cluster.cancel(job)
    until(lambda: [text.split()[0] for text in seen.ends(job)] == ["CANCELLED"])
    never = cluster.wrap("true", "-H")
    cluster.cancel(never)
    until(lambda: seen.ends(never))
    for one in (before, failed, never):
        assert len(seen.ends(one)) == 1, seen.lines
    assert seen.end() == 0


def test_follow_has_the_rows_of_the_script_that_a_listing_has(cluster, watch):
    seen = watch("aacct", "--follow", "-n", "-P", "-o", "JobID,State")
    failed = cluster.wrap("exit 3")
    until(lambda: seen.ends(failed) == ["FAILED"] and seen.ends(f"{failed}.batch") == ["FAILED"])
    assert seen.end() == 0


def test_follow_has_the_rows_of_requeued_attempts_with_duplicates(cluster, watch):
    seen, every = watch(*ENDS), watch(*ENDS, "-D")
    job = running(cluster)
    cluster.run("actl", "requeue", job)
    until(lambda: every.ends(job) == ["REQUEUED"])
    cluster.cancel(job)
    until(lambda: len(every.ends(job)) == 2)
    until(lambda: [text.split()[0] for text in seen.ends(job)] == ["CANCELLED"])


def test_follow_refuses_an_end_of_its_window(cluster):
    refused = cluster.run("aacct", "--follow", "-E", "now", check=False)
    assert refused.returncode == 1 and "mutually exclusive" in refused.stderr


def test_users_see_what_their_queries_show(cluster, watch, others):
    mine, theirs = watch(*QUEUE, user=others[0]), watch(*ENDS, user=others[0])
    own = cluster.wrap("true", user=others[0])
    foreign = cluster.wrap("true", user=others[1])
    mine.wait_last(own, "COMPLETED")
    mine.wait_last(foreign, "COMPLETED")  # aqueue shows the jobs of all users
    theirs.wait_last(own, "COMPLETED")
    assert theirs.of(foreign) == [], "aacct shows a user's own jobs"


def test_stopped_watcher_delays_none_and_sees_the_newest_state(cluster, watch):
    slow, quick = watch(*QUEUE), watch(*QUEUE)
    job = running(cluster)
    slow.wait_last(job, "RUNNING")
    stop_process(slow.process.pid)
    array = cluster.wrap("sleep 1000", "-H", "--array=0-3")
    quick.wait_for(f"{array}_[0-3]", "PENDING")
    cluster.cancel(job, array)
    quick.wait_last(job, "CANCELLED")
    os.kill(slow.process.pid, signal.SIGCONT)
    slow.wait_last(job, "CANCELLED")
    slow.wait_last(f"{array}_[0-3]", "CANCELLED")
    assert slow.errors == []


def test_user_with_too_many_streams_is_told(cluster, watch):
    seen = [watch("aqueue", "--watch") for _ in range(32)]
    until(lambda: all(one.lines for one in seen), seconds=60)
    refused = cluster.run("aqueue", "--watch", check=False)
    assert refused.returncode == 1
    said = refused.stderr
    assert "you have 32 streams open" in said and "end one of them" in said


def test_streams_take_up_again_when_the_controller_was_killed(fresh, watch):
    cluster = fresh(config=f1())
    first, second = running(cluster), running(cluster)
    queue_seen, ends_seen = watch(*QUEUE, of=cluster), watch(*ENDS, "-D", of=cluster)
    queue_seen.wait_for(first, "RUNNING")
    ended = cluster.wrap("exit 1")
    ends_seen.wait_last(ended, "FAILED")
    os.kill(cluster.pid("aresctld"), signal.SIGKILL)
    until(lambda: any("reconnecting" in line for line in queue_seen.errors) and
          any("reconnecting" in line for line in ends_seen.errors))
    cluster.up()
    for seen in (queue_seen, ends_seen):
        until(lambda: any("connected to the controller again" in line for line in seen.errors), seconds=60)
    cluster.cancel(first)
    queue_seen.wait_last(first, "CANCELLED")
    until(lambda: ends_seen.ends(first))
    assert queue_seen.of(second) == ["RUNNING"], "what has not changed is not shown again"
    assert ends_seen.ends(ended) == ["FAILED"], "a row is printed once"
    cluster.cancel(second)
    queue_seen.wait_last(second, "CANCELLED")
    assert queue_seen.end() == 0 and ends_seen.end() == 0


def test_rows_are_listed_again_where_the_journal_does_not_reach_back(fresh, watch):
    cluster = fresh(config=f1())
    before = cluster.wrap("true")
    cluster.completed(before)
    job, later = running(cluster), running(cluster)
    seen = watch(*ENDS, of=cluster)
    until(lambda: seen.of(job))
    stop_process(seen.process.pid)
    cluster.cancel(job)
    cluster.wait_state(job, "CANCELLED")
    os.kill(cluster.pid("aresctld"), signal.SIGKILL)
    cluster.up()
    # What retention.journal does after its days.
    cluster.psql("DELETE FROM journal WHERE lsn < (SELECT max(lsn) FROM journal)")
    os.kill(seen.process.pid, signal.SIGCONT)
    until(lambda: seen.ends(job), seconds=60)
    assert any("listed again" in line and "retention.journal" in line for line in seen.errors), seen.errors
    assert len(seen.ends(before)) == 2, "before and with the second listing"
    cluster.cancel(later)
    until(lambda: seen.ends(later))
    assert len(seen.ends(job)) == 1 and seen.end() == 0


def test_what_ended_while_a_stream_was_broken_is_shown(fresh, watch):
    cluster = fresh(config=f1())
    job = running(cluster)
    queue_seen, ends_seen = watch(*QUEUE, of=cluster), watch(*ENDS, of=cluster)
    queue_seen.wait_for(job, "RUNNING")
    until(lambda: ends_seen.of(job))
    # The clients are stopped, so that they see neither the end nor the restart.
    for seen in (queue_seen, ends_seen):
        stop_process(seen.process.pid)
    os.kill(cluster.pid("aresctld"), signal.SIGKILL)
    cluster.up()
    cluster.cancel(job)
    cluster.wait_state(job, "CANCELLED")
    for seen in (queue_seen, ends_seen):
        os.kill(seen.process.pid, signal.SIGCONT)
    queue_seen.wait_last(job, "CANCELLED")
    until(lambda: ends_seen.ends(job))
    assert len(ends_seen.ends(job)) == 1
