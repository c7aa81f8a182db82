#!/usr/bin/env python3
"""Checks that every source includes only what the section "Layers" of ARCHITECTURE.md allows its module.

    contrib/check_includes.py [ROOT]       check a source tree (default: the one this file lies in)
    contrib/check_includes.py --self-test  check the checker on trees made up for it

Prints one line a violation and exits 1 if there is any. What a module may include, its dependencies' dependencies
included, is the first table; what the pure modules may not touch is the second.
"""

import pathlib
import re
import sys
import tempfile

# Module or program -> the modules it may include. Libraries first, then plugins, daemons, commands.
ALLOWED = {
    "base": [],
    "model": ["base"],
    "core": ["model"],
    "config": ["model"],
    "proto": ["model"],
    "store": ["model", "proto"],
    "auth": ["base"],
    "rpc": ["proto", "auth"],
    "plugin": ["base"],
    "os": ["base"],
    "cli": ["rpc", "config"],
    "exec/glue": ["plugin", "core", "os"],
    "exec/baremetal": ["exec/glue", "plugin", "core", "os"],
    "exec/mock": ["exec/glue", "plugin", "core", "os"],
    "sched/glue": ["plugin", "core"],
    "sched/min_nvlink": ["plugin"],
    "aresctld": ["core", "config", "store", "rpc", "plugin", "cli", "sched/glue"],
    "aresd": ["core", "proto", "rpc", "plugin", "os", "config", "exec/glue", "exec/baremetal", "exec/mock"],
    "aresstepd": ["core", "os", "exec/baremetal"],
    "asub": ["cli"],
    "aqueue": ["cli"],
    "acancel": ["cli"],
    "aacct": ["cli"],
    "areport": ["cli"],
    "aacctmgr": ["cli", "core"],
    "ainfo": ["cli"],
    "actl": ["cli", "core"],
    "adiag": ["cli"],
    "ashare": ["cli"],
    "aprio": ["cli"],
    "acluster": ["cli", "os", "core"],
    "asim": ["core", "config", "cli", "proto", "sched/glue"],
}

PURE = ["model", "core"]
# aresstepd is here because it must start in a millisecond, the others because they serve it or the core.
NO_BIG_LIBRARIES = ["base", "model", "core", "config", "auth", "plugin", "os", "exec/glue", "exec/baremetal", "exec/mock", "aresstepd"]

CLOCKS = "time is an argument here"
THREADS = "pure code has no threads"
WORLD = "pure code does not touch the world"
EDGE = "it stays at the edge: proto, rpc, store and the daemons"

# (modules, pattern of an <include>, why not)
FORBIDDEN_INCLUDES = [
    (PURE, r"thread|mutex|shared_mutex|atomic|condition_variable|future|semaphore|latch|barrier|stop_token", THREADS),
    (PURE, r"pthread\.h|sched\.h|semaphore\.h", THREADS),
    (PURE, r"ctime|time\.h|random", CLOCKS + "; so is chance"),
    (PURE, r"sys/.*|unistd\.h|fcntl\.h|poll\.h|netinet/.*|arpa/.*|netdb\.h|pwd\.h|grp\.h", WORLD),
    (PURE, r"iostream|fstream|filesystem|dlfcn\.h|spdlog/.*", WORLD),
    (NO_BIG_LIBRARIES, r"libpq-fe\.h|postgresql/.*|google/protobuf/.*|grpc.*", EDGE),
]

# (modules, pattern in code outside comments and literals, why not)
FORBIDDEN_CODE = [
    (PURE, r"\b(?:system_clock|steady_clock|high_resolution_clock|utc_clock)\s*::\s*now\b", CLOCKS),
    (PURE, r"\b(?:clock_gettime|gettimeofday|localtime(?:_r)?|gmtime(?:_r)?|mktime)\b", CLOCKS),
    (PURE, r"\b(?:secure_)?getenv\b", WORLD),
    (PURE, r"\bthread_local\b", THREADS),
    (NO_BIG_LIBRARIES, r"\bgoogle\s*::\s*protobuf\b|\bgrpc\s*::|\bPG(?:conn|result)\b|\bspdlog\s*::", EDGE),
]

SOURCE_SUFFIXES = {".h", ".hpp", ".cc", ".cpp"}
ROOTS = ["libcommon", "plugins", "daemons", "commands", "bench"]
# What only measures stands outside the layers.
UNCHECKED = ["bench/foundation", "bench/store", "bench/queries", "bench/micro", "bench/gaia", "bench/distributed"]
INCLUDE = re.compile(r'^\s*#\s*include\s*(?:"([^"]+)"|<([^>]+)>)')
COMMENTS_AND_LITERALS = re.compile(
    r'//[^\n]*|/\*.*?\*/|R"([^(\s]*)\(.*?\)\1"|"(?:\\.|[^"\\\n])*"|(?<![0-9a-zA-Z_])\'(?:\\.|[^\'\\\n])*\'', re.DOTALL)


def reachable(table):
    """The table with the dependencies of dependencies added."""

    def collect(module, seen):
        for dependency in table[module]:
            if dependency not in seen:
                seen.add(dependency)
                collect(dependency, seen)
        return seen

    return {module: collect(module, {module}) for module in table}


def module_of(path):
    """The module that a path below one of the include roots belongs to, or None."""
    parts = pathlib.PurePosixPath(path).parts
    for length in (2, 1):
        name = "/".join(parts[:length])
        if len(parts) > length and name in ALLOWED:
            return name
    return None


def blank(match):
    return re.sub(r"[^\n]", " ", match.group())


def without_comments(text):
    """The same lines with comments blanked out but literals, and with them the names of includes, kept."""
    return COMMENTS_AND_LITERALS.sub(lambda m: blank(m) if m.group().startswith(("//", "/*")) else m.group(), text)


def check_source(name, module, text, may):
    """Yields (line, message) for one source."""
    for number, line in enumerate(without_comments(text).splitlines(), 1):
        match = INCLUDE.match(line)
        if not match:
            continue
        own, foreign = match.groups()
        if own:
            target = module_of(own)
            if target is None:
                yield number, f'"{own}" names no module: write the path from libcommon/, plugins/, daemons/ or commands/'
            elif target not in may[module]:
                allowed = ", ".join(sorted(may[module] - {module})) or "nothing"
                yield number, f'{module} may not include {target} ("{own}"); it may include {allowed}'
        else:
            for modules, pattern, why in FORBIDDEN_INCLUDES:
                if module in modules and re.fullmatch(pattern, foreign):
                    yield number, f"{module} may not include <{foreign}>: {why}"
    code = COMMENTS_AND_LITERALS.sub(blank, text)
    for modules, pattern, why in FORBIDDEN_CODE:
        if module in modules:
            for match in re.finditer(pattern, code):
                yield code.count("\n", 0, match.start()) + 1, f"{module} may not use {match.group()}: {why}"


def check_tree(root):
    """All violations below `root` as "path:line: message", in order."""
    may = reachable(ALLOWED)
    found = []
    for top in ROOTS:
        for path in sorted((root / top).rglob("*")):
            if path.suffix not in SOURCE_SUFFIXES:
                continue
            name = path.relative_to(root).as_posix()
            if name.startswith(tuple(folder + "/" for folder in UNCHECKED)):
                continue
            module = module_of(path.relative_to(root / top).as_posix())
            if module is None:
                found.append(f"{name}:1: in no known module; add it to the table of contrib/check_includes.py")
                continue
            violations = check_source(name, module, path.read_text(encoding="utf-8"), may)
            found += [f"{name}:{number}: {message}" for number, message in sorted(violations)]
    return found


GOOD_TREE = {
    "libcommon/base/a.h": "#include <thread>\n#include <mutex>\nauto t = std::chrono::system_clock::now();\n",
    "libcommon/core/engine/a.h": '#include "base/a.h"\n#include "core/engine/b.h"\n#include "model/a.h"\n#include <vector>\n',
    "libcommon/core/engine/a.cc": '// #include <thread>, steady_clock::now\nauto s = "getenv";\n/*\n#include <mutex>\n*/\n'
                                  'int n = 1\'000\'000; auto r = R"(getenv)";\n',
    "libcommon/rpc/a.cc": '#include <grpcpp/grpcpp.h>\n#include "proto/gen/control.pb.h"\n#include "model/a.h"\n',
    "plugins/exec/mock/a.cc": '#include "exec/mock/a.h"\n#include "plugin/abi.h"\n',
    "daemons/aresd/main.cc": '#include "exec/mock/a.h"\n#include "aresd/a.h"\n#include "os/a.h"\n',
    "commands/asub/main.cc": '#include "asub/a.h"\n#include "base/a.h"\n#include "cli/a.h"\n',
    "libcommon/core/notes.md": '#include <thread>\n',
}

# path -> (text, what each complaint must contain, in order)
BAD_TREE = {
    "libcommon/base/a.h": ('#include "model/a.h"\n', ["1: base may not include model"]),
    "libcommon/model/a.h": ('#include "core/a.h"\n#include "base/a.h"\n', ["1: model may not include core"]),
    "libcommon/core/a.h": ('\n#include <mutex>\n#  include <sys/time.h>\n#include "proto/gen/a.pb.h"\n#include "store/journal.h"\n',
                           ["2: core may not include <mutex>", "3: core may not include <sys/time.h>",
                            "4: core may not include proto", "5: core may not include store"]),
    "libcommon/core/b.cc": ('auto a = std::chrono::system_clock::now();\nauto b = std::getenv("HOME");\n'
                            'void f(const google::protobuf::Message&);\nPGconn* c;\nspdlog::info("x");\n',
                            ["1: core may not use system_clock::now", "2: core may not use getenv",
                             "3: core may not use google::protobuf", "4: core may not use PGconn", "5: core may not use spdlog::"]),
    "libcommon/core/c.cc": ('const char* s = "// not a comment";\n#include <libpq-fe.h>\n#include <grpcpp/grpcpp.h>\n#include <ctime>\n'
                            '#include <random>\n#include <iostream>\n#include <google/protobuf/message.h>\n#include <spdlog/spdlog.h>\n',
                            [f"{line}: core may not include <" for line in range(2, 9)]),
    "libcommon/store/a.cc": ('#include "core/a.h"\n', ["1: store may not include core"]),
    "libcommon/auth/a.cc": ('#include "model/a.h"\n', ["1: auth may not include model"]),
    "libcommon/new/a.cc": ("int x;\n", ["1: in no known module"]),
    "plugins/exec/mock/a.cc": ('#include "exec/baremetal/a.h"\n', ["1: exec/mock may not include exec/baremetal"]),
    "daemons/aresctld/main.cc": ('#include "os/a.h"\n#include "a.h"\n', ["1: aresctld may not include os", '2: "a.h" names no module']),
    "daemons/aresstepd/main.cc": ('#include "rpc/a.h"\n#include <grpc/grpc.h>\n',
                                  ["1: aresstepd may not include rpc", "2: aresstepd may not include <grpc/grpc.h>"]),
    "commands/asub/main.cc": ('#include "core/a.h"\n#include "aqueue/a.h"\n',
                              ["1: asub may not include core", "2: asub may not include aqueue"]),
}


def check_made_up(files):
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder)
        for name, text in files.items():
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            (root / name).write_text(text, encoding="utf-8")
        return check_tree(root)


def self_test():
    failures = [f"accepted source refused: {line}" for line in check_made_up(GOOD_TREE)]
    found = check_made_up({name: text for name, (text, _) in BAD_TREE.items()})
    for name, (_, expected) in BAD_TREE.items():
        actual = [line for line in found if line.startswith(name + ":")]
        if len(actual) != len(expected) or any(f"{name}:{e}" not in a for e, a in zip(expected, actual)):
            failures.append(f"{name}: expected {expected}, found {actual}")
    for failure in failures:
        print(failure)
    print(f"check_includes: self-test, {len(failures)} failed")
    return 1 if failures else 0


def main(arguments):
    if arguments == ["--self-test"]:
        return self_test()
    if len(arguments) > 1 or arguments[:1] == ["--help"]:
        print(__doc__)
        return 0 if arguments[:1] == ["--help"] else 2
    root = pathlib.Path(arguments[0]) if arguments else pathlib.Path(__file__).resolve().parent.parent
    if not (root / "libcommon").is_dir():
        print(f"{root}: no libcommon folder there; give the root of the source tree")
        return 2
    found = check_tree(root)
    for line in found:
        print(line)
    print(f"check_includes: {len(found)} violations")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
