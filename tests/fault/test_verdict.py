"""The verdict of a campaign notices what it is there to notice. Files of starts are made up; no cluster runs."""
import collections
import os
import pathlib
import sys
import types

import pytest

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "e2e")]

from faults.restore import Copy, Rollback  # noqa: E402
from faults.verdict import Verdict  # noqa: E402
from faults.workload import Submission  # noqa: E402


class Story:
    """What happened, told in a few lines, and what is made of it."""

    def __init__(self, folder):
        self.out = folder
        for name in ("starts", "beats"):
            (folder / name).mkdir()
        self.acknowledged, self.rows, self.rollbacks, self.killed = {}, {}, [], set()

    def submit(self, job, code=0, requeue=True, at=10, tasks=0, ends=()):
        self.acknowledged[job] = Submission(len(self.acknowledged) + 1, code, requeue, tasks, frozenset(ends), at, job)

    def start(self, job, attempt, begin, end, submission=None):
        number = submission or self.acknowledged[job.split("_")[0]].number
        name = f"{job}.{attempt}.{number}.{len(os.listdir(self.out / 'starts'))}"
        (self.out / "starts" / name).touch()
        os.utime(self.out / "starts" / name, (begin, begin))
        (self.out / "beats" / name).write_text(f"{begin}\n{end}\n7")

    def account(self, job, *ends):
        self.rows[job] = [(*end.split(" "), "") for end in ends]

    def roll_back(self, dumped_at, accepted_at, first_id, jobs, attempts):
        copy = Copy(min(first_id, 100), jobs, attempts)
        self.rollbacks.append(Rollback(len(self.rollbacks) + 1, dumped_at, accepted_at, copy, first_id, "refused"))

    def counts(self):
        workload = types.SimpleNamespace(out=self.out, acknowledged=self.acknowledged, refused={}, given_twice=[])
        campaign = types.SimpleNamespace(target=None, workload=workload, rollbacks=self.rollbacks, ended_by_kill=self.killed)
        verdict = Verdict(campaign)
        verdict._accounting = lambda: collections.defaultdict(list, self.rows)
        verdict.compare()
        self.verdict = verdict
        return {count: number for count, number in verdict.counts().items() if number}


@pytest.fixture
def story(tmp_path):
    return Story(tmp_path)


def test_a_job_that_runs_again_after_a_lost_attempt_is_fine(story):
    story.submit("1", code=3)
    story.start("1", 1, 10, 12)
    story.start("1", 2, 12.5, 14)
    story.account("1", "NODE_FAIL 0:0", "FAILED 3:0")
    assert story.counts() == {}


def test_starts_twice_of_one_attempt_are_noticed(story):
    story.submit("1")
    story.start("1", 1, 10, 11)
    story.start("1", 1, 12, 13)
    story.account("1", "COMPLETED 0:0")
    assert story.counts() == {"started twice": 1}


def test_attempts_at_the_same_time_are_noticed(story):
    story.submit("1")
    story.start("1", 1, 10, 13)
    story.start("1", 2, 12, 14)
    story.account("1", "NODE_FAIL 0:0", "COMPLETED 0:0")
    assert story.counts() == {"overlapping": 1}


def test_lost_jobs_are_noticed(story):
    story.submit("1")
    story.submit("2", tasks=2)
    story.account("2_0", "COMPLETED 0:0")
    story.start("2_0", 1, 10, 11)
    assert story.counts() == {"lost": 2}


def test_ends_without_a_start_and_wrong_ends_are_noticed(story):
    for job in ("1", "2", "3"):
        story.submit(job)
    story.account("1", "COMPLETED 0:0")
    story.account("2", "FAILED 0:9")
    story.account("3", "RUNNING 0:0")
    assert story.counts() == {"lost": 1, "wrong exit codes": 1, "stuck": 1}


def test_a_job_whose_end_was_brought_about_ends_like_that(story):
    for job in ("1", "2"):
        story.submit(job, code=3, ends=["CANCELLED"])
        story.start(job, 1, 10, 11)
    story.account("1", "CANCELLED 0:15")
    story.account("2", "FAILED 3:0")
    assert story.counts() == {"wrong exit codes": 1}


def test_a_job_that_may_not_be_requeued_ends_with_its_node_or_runs_once(story):
    for job in ("1", "2"):
        story.submit(job, requeue=False)
        story.start(job, 1, 10, 11)
    story.start("2", 2, 12, 13)
    story.account("1", "NODE_FAIL 0:0")
    story.account("2", "NODE_FAIL 0:0", "COMPLETED 0:0")
    assert story.counts() == {"started twice": 1}


def test_one_submission_under_two_ids_is_noticed(story):
    story.submit("1")
    story.start("1", 1, 10, 11)
    story.start("2", 1, 12, 13, submission=1)
    story.account("1", "COMPLETED 0:0")
    story.account("2", "COMPLETED 0:0")
    assert story.counts() == {"started twice": 1}


def test_a_roll_back_explains_only_what_is_later_than_its_copy(story):
    story.submit("1", at=5)  # pending in the copy; it ran, which the copy does not know
    story.start("1", 1, 21, 22)
    story.start("1", 1, 41, 42)
    story.account("1", "COMPLETED 0:0")
    story.submit("2", at=25)  # after the copy
    story.start("2", 1, 26, 27)
    story.submit("3", at=15)  # before the copy, which does not have it
    story.submit("4", at=5)  # attempt 1 is in the copy
    story.start("4", 1, 15, 16)
    story.start("4", 1, 41, 42)
    story.account("4", "COMPLETED 0:0")
    story.submit("1001", at=45)  # afterwards
    story.roll_back(dumped_at=20, accepted_at=40, first_id=1000, jobs={"1": "PENDING", "4": "RUNNING"}, attempts={("4", 1): "RUNNING"})
    assert story.counts() == {"lost": 2, "started twice": 1}
    (_, fates), = story.verdict.fates()
    assert fates == {"kept pending, ran again": ["1"], "unknown: later than the copy": ["2", "3"], "kept: went on": ["4"]}
