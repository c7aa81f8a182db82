#!/usr/bin/env python3
"""Joins the sources of one target into few, each of which includes several (ARES_UNITY): headers are read once for all of them.

    unity_groups.py --into FOLDER --target NAME [--size N] SOURCE...

Writes FOLDER/NAME_0.cc, NAME_1.cc and so on, and prints what to compile, separated by semicolons. Names in unnamed namespaces and macros
belong to one source, so two sources are joined only if neither uses a name that belongs to the other, and no header of it declares such a
name. At most N sources are joined. The result depends on the names and contents of the sources only, and the paths in it are relative, so a
compiler cache serves every checkout.
"""

import argparse
import functools
import os
import pathlib
import re

COMMENT_OR_TEXT = re.compile(r'//[^\n]*|/\*.*?\*/|R"(\w*)\(.*?\)\1"|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', re.DOTALL)
MACRO = re.compile(r"^#define (\w+)", re.MULTILINE)
MAIN = re.compile(r"^int (main)\(", re.MULTILINE)
TYPE = re.compile(r"(?:template <.*> *)?(?:struct|class|enum class|enum|union|using|concept) (\w+)")
# Two sources may say the same of these, and GoogleTest's macros make names of a test's two names.
NOT_OWN = re.compile(r"using (?:::)?\w+(?:::\w+)+;|using namespace|namespace|[A-Z_]+\(|template <.*>$|public:|private:|protected:|extern ")
NAMESPACE_END = "}  // namespace"
# Not members and qualified names, which are found in their own scope.
WORD = re.compile(r"(?<![\w.:>])[A-Za-z_]\w*|(?<=[^-]>)[A-Za-z_]\w*|(?<=[^:]:)[A-Za-z_]\w*")
INCLUDE = re.compile(r'^#include "([^"]+)"', re.MULTILINE)
CONSTANT = re.compile(r"\b(k[A-Z]\w*)(?=\s*[{=\[])")
# Sources that name one of these are compiled alone: the first is defined for them only, and with the second a source is compiled again for a
# module that also links the archive.
ALONE = ("ARES_SOURCE_DIR", "ARES_PLUGIN_MODULE")
ROOT = pathlib.Path(__file__).resolve().parent.parent
FOLDERS = [ROOT / name for name in ("libcommon", "daemons", "commands", "plugins", "bench", "tests")]


def own_names(text):
    """Names that the source declares in unnamed namespaces, its macros, and main."""
    names = set(MACRO.findall(text)) | set(MAIN.findall(text))
    inside = False
    for line in text.splitlines():
        if line.startswith("namespace {"):
            inside = True
            continue
        if line.startswith(NAMESPACE_END):
            inside = False
        if not inside or not re.match(r"[A-Za-z_]", line) or NOT_OWN.match(line):
            continue
        declared = TYPE.match(line)
        if declared:
            names.add(declared.group(1))
            continue
        if line.startswith("constexpr"):
            names.update(CONSTANT.findall(line))
        # The last word before a parameter list, an initialiser or the end.
        before = re.split(r"[({=;\[]", re.sub(r"<[^()]*>", "", line), maxsplit=1)[0]
        words = re.findall(r"\w+", before)
        if words:
            names.add(words[-1])
    return names


@functools.cache
def types_of_header(name):
    """Names of types that the project's header and all that it includes declare."""
    path = next((folder / name for folder in FOLDERS if (folder / name).exists()), None)
    if path is None:
        return frozenset()
    text = path.read_text()
    types = {match.group(1) for match in map(TYPE.match, text.splitlines()) if match}
    return frozenset(types.union(*map(types_of_header, INCLUDE.findall(text))))


class Source:
    def __init__(self, path):
        whole = pathlib.Path(path).read_text()
        self.path = path
        self.alone = any(word in whole for word in ALONE)
        # Ends of namespaces are recognised by their comments, which stay.
        marked = whole.replace(NAMESPACE_END, "}\x00")
        text = COMMENT_OR_TEXT.sub(" ", marked).replace("}\x00", NAMESPACE_END)
        self.own = own_names(text)
        # A header that another source of the group includes later sees this one's names.
        self.used = set(WORD.findall(text)).union(*map(types_of_header, INCLUDE.findall(whole)))

    def clashes(self, other):
        return bool(self.own & other.used or other.own & self.used)


def groups_of(paths, size):
    alone, groups = [], []
    for path in sorted(paths):
        source = Source(path)
        if source.alone:
            alone.append([source])
            continue
        for group in groups:
            if len(group) < size and not any(source.clashes(other) for other in group):
                group.append(source)
                break
        else:
            groups.append([source])
    return alone + groups


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--into", type=pathlib.Path, required=True)
    parser.add_argument("--target", required=True)
    parser.add_argument("--size", type=int, default=8)
    parser.add_argument("sources", nargs="+")
    asked = parser.parse_args()
    asked.into.mkdir(parents=True, exist_ok=True)
    compiled = []
    for group in groups_of(asked.sources, asked.size):
        if len(group) == 1:
            compiled.append(group[0].path)
            continue
        file = asked.into / f"{asked.target}_{len(compiled)}.cc"
        text = "".join(f'#include "{os.path.relpath(source.path, asked.into)}"\n' for source in group)
        if not file.exists() or file.read_text() != text:
            file.write_text(text)
        compiled.append(str(file))
    print(";".join(compiled), end="")


if __name__ == "__main__":
    main()
