"""Programs of the site fail while jobs are prepared, run and end; site_programs.py does it more often."""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

from site_programs import campaign  # noqa: E402


def test_failed_programs_harm_no_job():
    summary, problems = campaign(5, seed=7)
    print(summary)
    assert not problems, summary + "\n" + "\n".join(problems)
