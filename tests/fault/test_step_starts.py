"""No task of a step begins twice, whatever fails while it starts; step_starts.py does it more often."""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

from step_starts import starts  # noqa: E402


def test_tasks_begin_once_whatever_fails_while_they_start():
    summary, problems = starts(25, seed=18)
    print(summary)
    assert not problems, summary + "\n" + "\n".join(problems)
