"""Short campaigns of kill -9; campaign.py can run long ones."""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

from campaign import kills  # noqa: E402


def test_no_promise_is_broken_by_kills_under_the_supervisor():
    summary, problems = kills(30, seed=11, supervised=True)
    print(summary)
    assert not problems, summary + "\n" + "\n".join(problems)


def test_no_promise_is_broken_by_kills_without_the_supervisor():
    summary, problems = kills(15, seed=12, supervised=False)
    print(summary)
    assert not problems, summary + "\n" + "\n".join(problems)
