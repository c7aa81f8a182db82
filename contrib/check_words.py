#!/usr/bin/env python3
"""Refuses retired identifiers in code and retired phrases in comments, string literals, test names and documents.

    contrib/check_words.py [ROOT]          check a source tree (default: the one this file lies in)
    contrib/check_words.py --count [ROOT]  print the number of violations for each folder instead
    contrib/check_words.py --ratchet       fail only where a folder has more violations than contrib/words/remaining.txt allows
    contrib/check_words.py --self-test     check the checker on made-up trees

Prints one line for each violation, `path:line: "whom": say ...`, and exits 1 if there is any. The lists are in
contrib/words: identifiers.txt, phrases.txt, and allowed.txt with the exceptions and their reasons.
"""

import collections
import fnmatch
import os
import pathlib
import re
import sys
import tempfile

FOLDERS = ["libcommon", "plugins", "daemons", "commands", "bench", "tests", "sql", "man", "doc", "cmake", "contrib", "etc", ".ci"]
SKIPPED = ["contrib/words/*", "contrib/check_words.py"]
CODE = {".h", ".hpp", ".cc", ".cpp", ".c", ".proto"}
HASH_COMMENTS = {".sh", ".cmake", ".yaml", ".supp"}
MAN_PAGE = re.compile(r"\.[1-8]")

CPP = re.compile(r'//[^\n]*|/\*.*?\*/|R"([^(\s]*)\(.*?\)\1"|"(?:\\.|[^"\\\n])*"|(?<![0-9a-zA-Z_])\'(?:\\.|[^\'\\\n])*\'', re.DOTALL)
SQL = re.compile(r"--[^\n]*|/\*.*?\*/|'[^']*'", re.DOTALL)
PYTHON = re.compile(r'"""(?:\\.|[^\\])*?"""|\'\'\'(?:\\.|[^\\])*?\'\'\'|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'|\#[^\n]*', re.DOTALL)
HASH = re.compile(r"(?:^|(?<=[ \t]))#[^\n]*", re.MULTILINE)
INCLUDE = re.compile(r"^[ \t]*#[ \t]*include[^\n]*", re.MULTILINE)
WORD = re.compile(r"[A-Za-z_]\w*")
# Marks of comments, quotes and escapes, which do not separate the words of a sentence.
MARKS = re.compile(r'^[ \t]*(?://+|\*+|\#+|--+)|/[/*]|\*/|\\f[birp]|\\.|"', re.MULTILINE)
TEST_NAME = re.compile(r"\bTEST(?:_F|_P)?\(\s*(\w+),\s*(\w+)\s*\)|^[ \t]*def (test_\w+)", re.MULTILINE)
NAME_PART = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|\d+")


class Lists:
    """The checked-in lists of one tree."""

    def __init__(self, folder):
        self.identifiers = dict(fields for fields in self.rows(folder / "identifiers.txt", None, 2))
        phrases = list(self.rows(folder / "phrases.txt", "\t", 2))
        patterns = [pattern.replace(" ", r"\s+") for pattern, _ in phrases]
        self.phrases = re.compile(rf"\b(?:{'|'.join(patterns)})\b" if patterns else r"(?!)")
        self.advice = [(re.compile(rf"\b(?:{pattern})\b"), advice) for pattern, (_, advice) in zip(patterns, phrases)]
        self.allowed = [(re.compile(pattern, re.IGNORECASE), glob)
                        for pattern, glob, _ in self.rows(folder / "allowed.txt", "\t", 3)]

    def advice_for(self, text, match):
        """What to say in place of a hit of `phrases` in `text`."""
        return next(advice for pattern, advice in self.advice if pattern.match(text, match.start()))

    @staticmethod
    def rows(path, separator, count):
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            if not line.strip() or line.startswith("#"):
                continue
            fields = [field.strip() for field in line.split(separator, count - 1) if field.strip()]
            if len(fields) != count:
                sys.exit(f"{path}:{number}: {count} fields expected, {len(fields)} found")
            yield fields

    def is_allowed(self, name, line, start, end):
        """Whether an exception covers the columns from start to end of the line."""
        return any(fnmatch.fnmatch(name, glob) and
                   any(hit.start() <= start and end <= hit.end() for hit in pattern.finditer(line))
                   for pattern, glob in self.allowed)


def masked(text, kept):
    """Text of the same length in which everything outside the kept spans is NUL, except line ends."""
    parts, end = [], 0
    for start, stop in kept:
        parts += [re.sub(r"[^\n]", "\0", text[end:start]), text[start:stop]]
        end = stop
    parts.append(re.sub(r"[^\n]", "\0", text[end:]))
    return "".join(parts)


def prose_and_code(path, text):
    """Two texts of the same length as `text`: sentences (comments, literals, documents) and code. Either may be None."""
    if path.suffix == ".md" or MAN_PAGE.fullmatch(path.suffix):
        return text, None
    if path.suffix in CODE:
        includes = {match.start() for match in INCLUDE.finditer(text)}
        spans = [match.span() for match in CPP.finditer(text)]
        if includes:
            spans = [span for span in spans
                     if text.startswith("/", span[0]) or text.rfind("\n", 0, span[0]) + 1 not in includes]
        code = list(text)
        for start, end in spans:
            code[start:end] = ["\n" if c == "\n" else " " for c in text[start:end]]
        return masked(text, spans), "".join(code)
    if path.suffix == ".sql":
        return masked(text, [m.span() for m in SQL.finditer(text) if not m.group().startswith("'")]), None
    if path.suffix == ".py":
        return masked(text, [m.span() for m in PYTHON.finditer(text) if m.group().startswith(("#", '"""', "'''"))]), None
    return masked(text, [m.span() for m in HASH.finditer(text)]), None


def is_checked(path):
    return (path.suffix in CODE | HASH_COMMENTS | {".md", ".sql", ".py"} or MAN_PAGE.fullmatch(path.suffix)
            or path.name == "CMakeLists.txt" or path.parent.name == ".ci")


def sources(root):
    """The paths to check, relative to root, in order."""
    found = [path.name for path in root.iterdir() if path.is_file()]
    for top in FOLDERS:
        for folder, folders, names in os.walk(root / top):
            folders[:] = sorted(name for name in folders if name not in ("results", "__pycache__"))
            found += [os.path.relpath(os.path.join(folder, name), root) for name in names]
    return sorted(name for name in found if is_checked(pathlib.PurePosixPath(name))
                  and not any(fnmatch.fnmatch(name, glob) for glob in SKIPPED))


def check_source(name, text, lists):
    """Violations of one source as (line number, message)."""
    path = pathlib.PurePosixPath(name)
    retired = path.suffix in CODE and any(word in lists.identifiers for word in set(WORD.findall(text)))
    lower = text.lower()
    if not retired and not lists.phrases.search(MARKS.sub(lambda m: " " * len(m.group()), lower)) \
            and not TEST_NAME.search(text):
        return []
    found = []
    lines = text.splitlines()

    def report(start, end, message):
        line = text.count("\n", 0, start)
        column = start - (text.rfind("\n", 0, start) + 1)
        if not lists.is_allowed(name, lines[line], column, column + end - start):
            found.append((line + 1, message))

    prose, code = prose_and_code(path, text)
    prose = MARKS.sub(lambda m: re.sub(r"[^\n]", " ", m.group()), prose.lower())
    for match in lists.phrases.finditer(prose):
        said = " ".join(match.group().split())
        first_line = prose.find("\n", match.start(), match.end())
        end = match.end() if first_line < 0 else first_line
        report(match.start(), end, f'"{said}": {lists.advice_for(prose, match)}')
    for match in TEST_NAME.finditer(text):
        test = match.group(2) or match.group(3)
        parts = " ".join(NAME_PART.findall(test)).lower()
        hit = lists.phrases.search(parts)
        if hit:
            start = match.start(2 if match.group(2) else 3)
            report(start, start + len(test), f'"{test}" has "{hit.group()}": {lists.advice_for(parts, hit)}')
    if retired and code is not None:
        for match in WORD.finditer(code):
            if match.group() in lists.identifiers:
                report(*match.span(), f'"{match.group()}": say {lists.identifiers[match.group()]}')
    return sorted(found)


def check_tree(root):
    """All violations below `root` as (path, line number, message)."""
    lists = Lists(root / "contrib" / "words")
    return [(name, number, message) for name in sources(root)
            for number, message in check_source(name, (root / name).read_text(encoding="utf-8"), lists)]


def ratchet(root, found):
    """1 if a folder (two levels deep) has more violations than remaining.txt allows; it may only shrink."""
    allowed = {}
    for line in (root / "contrib" / "words" / "remaining.txt").read_text(encoding="utf-8").splitlines():
        if line and not line.startswith("#"):
            count, folder = line.split()
            allowed[folder] = int(count)
    by_folder = collections.defaultdict(list)
    for name, number, message in found:
        parts = name.split("/")
        by_folder["/".join(parts[:2]) if len(parts) > 2 else parts[0]].append(f"{name}:{number}: {message}")
    failed = 0
    for folder in sorted(set(by_folder) | set(allowed)):
        count, most = len(by_folder.get(folder, [])), allowed.get(folder, 0)
        if count > most:
            failed = 1
            print("\n".join(by_folder[folder]))
            print(f"{folder}: {count} violations, {most} allowed")
        elif count < most:
            print(f"{folder}: {count} violations left of {most}; write {count} into contrib/words/remaining.txt")
    print(f"check_words: {len(found)} violations left, {'more than' if failed else 'no folder has more than'} contrib/words/remaining.txt allows")
    return failed


def print_counts(found):
    """A line for each folder with its number of violations, most first."""
    counts = collections.Counter(os.path.dirname(name) or "." for name, _, _ in found)
    for folder, count in sorted(counts.items(), key=lambda item: (-item[1], item[0])):
        print(f"{count:6} {folder}")


LISTS = {
    "contrib/words/identifiers.txt": "# retired  say\nEarmark PreemptionClaim\nmake_room preempt\n",
    "contrib/words/phrases.txt": 'whoever\tsay "the user"\nwhom\tsay "which"\nhis\tsay "its"\nis no number\tsay "is not a number"\n'
                                 'nobody\tsay "no user"\n',
    "contrib/words/allowed.txt": "user nobody\t*\tthe account of Unix\nstorage::Earmark\tlibcommon/proto/*\ta stored name\n",
}

# path -> (text, what each violation must be, in order)
TREE = {
    "libcommon/a.cc": ('// Frees the nodes of whoever\n// ends. Text is no\n// number.\nEarmark e;  // Earmark\n'
                       'auto s = "for whom"; auto t = "Earmark";\n#include "his/whom.h"\nint his = 0;\nauto r = R"(x\nwhom)";\n',
                       ['1: "whoever": say "the user"', '2: "is no number"', '4: "Earmark": say PreemptionClaim', '5: "whom"',
                        '9: "whom"']),
    "libcommon/b.h": ("// It is\nint x;  // no number\n// history, Whomever, this\nstd::string earmarked, remake_room;\n", []),
    "libcommon/proto/c.cc": ("storage::Earmark a;\nEarmark b;\n// runs as the user nobody; nobody else\n",
                             ['2: "Earmark"', '3: "nobody"']),
    "tests/unit/d.cc": ("TEST_F(Suite, HisJobEnds) {}\nTEST(Whom, WaitsForThisNode) {}\n", ['1: "HisJobEnds" has "his"']),
    "tests/e2e/e.py": ('"""Whom it\nconcerns."""\ns = "his"\nx = 1  # his\ndef test_whom_it_ends():\n    pass\n',
                       ['1: "whom"', '4: "his"', '5: "test_whom_it_ends" has "whom"']),
    "sql/f.sql": ("-- his row\nSELECT 'whom';\n", ['1: "his"']),
    "doc/g.md": ("A job\nis no\nnumber, `make_room`.\n", ['2: "is no number"']),
    "man/man7/h.7": (".B his\n\\fBwhom\\fR\n", ['1: "his"', '2: "whom"']),
    "contrib/i.sh": ("echo his\n# his\n", ['2: "his"']),
    "libcommon/proto/j.proto": ("// For whom.\nmessage Earmarked {}\n", ['1: "whom"']),
    "bench/x/results/k.md": ("his\n", []),
    "README.md": ("his\n", ['1: "his"']),
}


def self_test():
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder)
        for name, text in [*LISTS.items(), *((name, text) for name, (text, _) in TREE.items())]:
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            (root / name).write_text(text, encoding="utf-8")
        found = check_tree(root)
    failures = []
    for name, (_, expected) in TREE.items():
        actual = [f"{number}: {message}" for path, number, message in found if path == name]
        if len(actual) != len(expected) or any(not a.startswith(e) for e, a in zip(expected, actual)):
            failures.append(f"{name}: expected {expected}, found {actual}")
    failures += [f"not in the tree: {path}" for path, _, _ in found if path not in TREE]
    for failure in failures:
        print(failure)
    print(f"check_words: self-test, {len(failures)} failed")
    return 1 if failures else 0


def main(arguments):
    if arguments == ["--self-test"]:
        return self_test()
    if arguments[:1] == ["--help"]:
        print(__doc__)
        return 0
    count = arguments[:1] == ["--count"]
    ratcheted = arguments[:1] == ["--ratchet"]
    if count or ratcheted:
        arguments = arguments[1:]
    if len(arguments) > 1 or any(argument.startswith("-") for argument in arguments):
        print(__doc__)
        return 2
    root = pathlib.Path(arguments[0]) if arguments else pathlib.Path(__file__).resolve().parent.parent
    if not (root / "contrib" / "words").is_dir():
        print(f"{root}: no contrib/words folder there; give the root of the source tree")
        return 2
    found = check_tree(root)
    if ratcheted:
        return ratchet(root, found)
    if count:
        print_counts(found)
    else:
        for name, number, message in found:
            print(f"{name}:{number}: {message}")
    print(f"check_words: {len(found)} violations")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
