"""Faults aimed at each phase of an attempt, a few of each kind; campaign.py can inject many."""
import pathlib
import re
import subprocess
import sys

CAMPAIGN = pathlib.Path(__file__).resolve().with_name("campaign.py")


def test_attempts_keep_their_promises_whatever_fails_in_which_phase():
    done = subprocess.run([sys.executable, str(CAMPAIGN), "--kinds", "matrix", "--faults", "14", "--seed", "44"], stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=600)
    print(done.stdout)
    assert done.returncode == 0, done.stdout
    left_out = re.findall(r"(?m)^left out: (.*)", done.stdout)
    print(f"{len(left_out)} kinds left out")
