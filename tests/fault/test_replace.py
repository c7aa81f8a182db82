"""Node daemons are replaced and restarted while jobs run; replace.py does it more often."""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

from replace import restarts  # noqa: E402


def test_jobs_go_on_while_their_daemons_are_replaced():
    summary, problems = restarts(5, seed=31)
    print(summary)
    assert not problems, summary + "\n" + "\n".join(problems)
