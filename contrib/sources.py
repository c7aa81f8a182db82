"""The project's sources, which of them were changed, and the options by which a compiler parses one without the build's precompiled
headers. Used by check_alone.py and check_threads.py."""

import json
import pathlib
import shlex
import subprocess

ROOT = pathlib.Path(__file__).resolve().parent.parent
FOLDERS = ["libcommon", "daemons", "commands", "plugins", "bench"]


def git(*arguments):
    return subprocess.run(["git", "-C", ROOT, *arguments], check=True, capture_output=True, text=True).stdout.splitlines()


def tracked():
    return of_folders(git("ls-files"))


def changed_since(commit=None):
    """Added or changed since the commit (default: ten commits ago, or as far back as the clone goes), the working tree included. A file
    that was moved without a change counts as unchanged."""
    commit = commit or git("rev-list", "--first-parent", "--max-count=11", "HEAD")[-1]
    changed = [line.split("\t") for line in git("diff", "--name-status", "-M", "--diff-filter=AMR", commit)]
    return of_folders([fields[-1] for fields in changed if fields[0] != "R100"] + git("ls-files", "--others", "--exclude-standard"))


def of_folders(paths):
    return sorted({p for p in paths if p.split("/")[0] in FOLDERS and p.endswith((".h", ".cc"))})


def system_includes(build):
    """The folders of headers that do not belong to the project, as the build gives them: generated ones and those of libraries."""
    folders = {build / "gen"}
    for entry in json.loads((build / "compile_commands.json").read_text()):
        words = shlex.split(entry["command"])
        folders.update(pathlib.Path(words[i + 1]) for i, word in enumerate(words) if word == "-isystem")
    return [word for folder in sorted(folders) for word in ("-isystem", str(folder))]


def parse(compiler, text, options):
    """The compiler's errors for this text; empty if there are none."""
    includes = ["-I" + str(ROOT / folder) for folder in FOLDERS]
    command = [compiler, "-std=c++20", "-fsyntax-only", "-pthread", '-DARES_VERSION=""', '-DARES_LIBDIR=""', f'-DARES_SOURCE_DIR="{ROOT}"']
    done = subprocess.run(command + includes + options + ["-x", "c++", "-"], input=text, capture_output=True, text=True)
    return "" if done.returncode == 0 else done.stderr


def including(path):
    """A source of one line, so that a header is not the main file to the compiler (which warns of "#pragma once" in one)."""
    return f'#include "{ROOT / path}"\n'
