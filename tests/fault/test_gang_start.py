"""A few faults while jobs of eight nodes start; gang_start.py injects 300."""
from gang_start import GangStart


def test_no_rank_runs_unless_the_whole_job_was_told_to_go():
    gang = GangStart(faults=10, seed=1)
    try:
        assert gang.run() == []
        assert gang.fates["completed"] > 0, gang.summary()
    finally:
        gang.close()
