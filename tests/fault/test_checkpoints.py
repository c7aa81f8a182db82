"""Jobs that save their state are interrupted in each way once; checkpoints.py does it more often."""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

from checkpoints import KINDS, campaign  # noqa: E402


def test_interrupted_jobs_end_with_the_right_sum():
    summary, problems = campaign(len(KINDS), seed=7)
    print(summary)
    assert not problems, summary + "\n" + "\n".join(problems)
