"""Completion of options in the shells: what each offers for the beginning of an option is what the command says itself."""
import os
import shutil
import subprocess
import tempfile

import pytest

from cluster import BIN, ROOT

COMPLETIONS = ROOT / "contrib/completions"


def run(*words, given=""):
    with tempfile.TemporaryDirectory() as home:  # fish makes its folders there
        env = dict(os.environ, PATH=f"{BIN}:{os.environ['PATH']}", HOME=home, TERM="dumb")
        done = subprocess.run(words, input=given, env=env, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=60)
    assert done.returncode == 0, done.stderr
    return done.stdout


def offered_by_the_command(command, beginning):
    return sorted(word for word in run(str(BIN / command), "--help-completion").split() if word.startswith(beginning))


def in_bash(command, beginning):
    return run("bash", "-c", f"""
        source {COMPLETIONS}/ares.bash
        COMP_WORDS=({command} {beginning}) COMP_CWORD=1
        compopt() {{ :; }}
        _ares_complete {command}
        printf '%s\\n' "${{COMPREPLY[@]}}\"""").split()


def in_fish(command, beginning):
    lines = run("fish", "--no-config", "-c", f"source {COMPLETIONS}/ares.fish; complete -C '{command} {beginning}'").splitlines()
    return [line.split("\t")[0] for line in lines]


def in_zsh(command, beginning):
    # The function alone: what it gives to compadd, for the word that is being completed.
    return run("zsh", "-f", "-c", f"""
        words=({command} {beginning}) CURRENT=2
        compadd() {{ while [[ $1 != -- ]]; do shift; done; shift; for word in "$@"; do [[ $word == {beginning}* ]] && print -r -- $word; done; return 0 }}
        _files() {{ :; }}
        source {COMPLETIONS}/ares.zsh""").split()


@pytest.mark.parametrize("shell, offers", [("bash", in_bash), ("fish", in_fish), ("zsh", in_zsh)])
def test_options_are_offered(shell, offers):
    if not shutil.which(shell):
        pytest.skip(f"{shell} is not installed")
    for command, beginning in (("asub", "--ti"), ("aqueue", "--s"), ("await", "--q"), ("acancel", "--")):
        expected = offered_by_the_command(command, beginning)
        assert expected and sorted(set(offers(command, beginning))) == expected, (shell, command)


@pytest.mark.parametrize("file", ["ares.bash", "ares.zsh", "ares.fish"])
def test_every_command_is_completed(file):
    commands = {path.name for path in (ROOT / "commands").iterdir() if (path / "main.cc").exists()} - {"acluster", "adiag"}
    text = (COMPLETIONS / file).read_text()
    assert {command for command in commands if f" {command}" not in text} == set()
