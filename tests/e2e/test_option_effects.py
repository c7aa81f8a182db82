"""The table of options that real job scripts give, and of the tests that show their effects."""

import re
import subprocess

from cluster import ROOT


def test_nearly_all_options_of_real_scripts_have_an_effect_that_a_test_shows():
    done = subprocess.run([ROOT / "contrib/slurm/corpus/effects.py"], text=True, capture_output=True, timeout=60, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    share = re.search(r"of (\d+) occurrences of options have an effect that a test shows, (\S+) %", done.stdout)
    assert int(share[1]) > 6900 and float(share[2]) >= 99.8


def test_too_small_a_share_is_an_error(tmp_path):
    lines = tmp_path / "lines.tsv"
    lines.write_text("9\t#SBATCH -N 2 --gres=gpu:1  # two\n1\t#SBATCH --gres-flags=enforce-binding\n4\t#SBATCH --time=${LIMIT}\n1\t##SBATCH -N1\n")
    done = subprocess.run([ROOT / "contrib/slurm/corpus/effects.py", lines], text=True, capture_output=True, timeout=60, check=False)
    assert done.returncode == 1 and "less than 99.5 % have an effect" in done.stderr
    assert "1 without effect: gres-flags=enforce-binding\n18 of 19 occurrences" in done.stdout.replace("     1 ", "1 ")
