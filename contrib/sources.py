"""The project's sources, which of them were changed, and the options by which a compiler parses one without the build's precompiled
headers. Used by check_alone.py, check_threads.py and check_tidy.py."""

import json
import pathlib
import shlex
import subprocess

ROOT = pathlib.Path(__file__).resolve().parent.parent
OFTEN_USED = ["algorithm", "chrono", "functional", "map", "memory", "optional", "span", "string", "variant", "vector", "tl/expected.hpp"]
FOLDERS = ["libcommon", "daemons", "commands", "plugins", "bench"]


def git(*arguments):
    return subprocess.run(["git", "-C", ROOT, *arguments], check=True, capture_output=True, text=True).stdout.splitlines()


def tracked(folders=FOLDERS):
    return of_folders(git("ls-files"), folders)


def changed_since(commit=None):
    """Added or changed since the commit (default: ten commits ago, or as far back as the clone goes), the working tree included. A file
    that was moved without a change counts as unchanged."""
    commit = commit or git("rev-list", "--first-parent", "--max-count=11", "HEAD")[-1]
    changed = [line.split("\t") for line in git("diff", "--name-status", "-M", "--diff-filter=AMR", commit)]
    return of_folders([fields[-1] for fields in changed if fields[0] != "R100"] + git("ls-files", "--others", "--exclude-standard"))


def of_folders(paths, folders=FOLDERS):
    return sorted({p for p in paths if p.split("/")[0] in folders and p.endswith((".h", ".cc"))})


def system_includes(build):
    """The folders of headers that do not belong to the project, as the build gives them: generated ones and those of libraries."""
    folders = {build / "gen"}
    for entry in json.loads((build / "compile_commands.json").read_text()):
        words = shlex.split(entry["command"])
        folders.update(pathlib.Path(words[i + 1]) for i, word in enumerate(words) if word == "-isystem")
    return [word for folder in sorted(folders) for word in ("-isystem", str(folder))]


# As cmake/AresToolchain.cmake has them.
WARNINGS = ["-Wall", "-Wextra", "-Wshadow"]


def options_of_compiler():
    """By which any of the sources can be parsed, beside system_includes()."""
    return ["-std=c++20", "-fsyntax-only", "-pthread", '-DARES_VERSION=""', '-DARES_LIBDIR=""', f'-DARES_SOURCE_DIR="{ROOT}"',
            *("-I" + str(ROOT / folder) for folder in FOLDERS)]


def definitions_for_tests(build):
    """The folders of the headers of tests, and the names of files that the builds define for sources of tests."""
    words = {word for entry in json.loads((build / "compile_commands.json").read_text()) for word in shlex.split(entry["command"])}
    known = {option.split("=")[0] for option in options_of_compiler()}
    folders = [f"-I{ROOT / 'tests'}", "-iquote", str(ROOT / "tests/tools")]
    return folders + sorted(w for w in words if w.startswith("-DARES_") and '="' in w and w.split("=")[0] not in known)


def parse(compiler, text, options):
    """The compiler's errors for this text; empty if there are none."""
    command = [compiler, *options_of_compiler(), *options, "-x", "c++", "-"]
    done = subprocess.run(command, input=text, capture_output=True, text=True)
    return "" if done.returncode == 0 else done.stderr


def text_of(path):
    """What has the compiler parse the source as if it was the main file, or include the header."""
    return f'#line 1 "{path}"\n{(ROOT / path).read_text()}' if path.endswith(".cc") else including(path)


def precompiled(compiler, options, headers, folder):
    """Options that give the sources these headers, and those of the standard library that most use, already parsed."""
    header = pathlib.Path(folder) / "headers.h"
    header.write_text("".join(f"#include <{name}>\n" for name in [*OFTEN_USED, *headers]))
    parsed = header.with_suffix(".pch")
    options = [option for option in options if option != "-fsyntax-only"]
    subprocess.run([compiler, *options, "-x", "c++-header", str(header), "-o", str(parsed)], check=True)
    return ["-include-pch", str(parsed)]


def including(path):
    """A source of one line, so that a header is not the main file to the compiler (which warns of "#pragma once" in one)."""
    return f'#include "{ROOT / path}"\n'
