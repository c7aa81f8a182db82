#!/usr/bin/env python3
"""Checks that every source includes only what its module may, and that no includes run in circles.

    contrib/check_includes.py [ROOT]       check a source tree (default: the one this file lies in)
    contrib/check_includes.py --modules    print each module, its folder and what it may include
    contrib/check_includes.py --self-test  check the checker on trees made up for it

Which modules there are, and what each may include, is what the CMakeLists.txt files say (ares_library, ares_program,
ares_plugin, ares_site_plugin: see cmake/AresModule.cmake). A unit is X.h with X.cc. A cycle between units, or between
modules, is a violation, and so is an include against the order of the scheduler's folders.
Folders may hold so many sources at most (MOST_FILES). Prints one line a violation and exits 1 if there is any.
"""

import pathlib
import re
import sys
import tempfile

# What a call of one of these in a CMakeLists.txt names, and the folder it stands for where no DIR is given.
CALL = re.compile(r"^\s*ares_(library|program|plugin|site_plugin)\(([^)]*)\)", re.MULTILINE)
KEYWORDS = {"DIR", "DEPENDS", "LINKS", "STATIC"}
CMAKE_FOLDERS = ["libcommon", "plugins", "daemons", "commands", "bench"]

# The most sources directly in one folder: the first prefix that fits counts.
MOST_FILES = [("libcommon/core", 30), ("libcommon/store", 30), ("daemons", 30), ("", 45)]

# Folders whose order of includes is fixed though they are one module: each may include those before it.
LAYERS = {"core/sched": ["index", "place", "time", "queue", "pass", "why"]}

PURE = ["model", "core", "node", "pmi"]  # with everything below them
# aresstepd is here because it must start in a millisecond, the others because they serve it or the core.
NO_BIG_LIBRARIES = ["base", "model", "core", "node", "pmi", "config", "auth", "plugin", "os", "exec_adapter", "exec_baremetal", "exec_mock", "aresstepd"]

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
    (PURE, r"\bthread_local\b|\b(?:Shared)?Mutex\b", THREADS),
    (NO_BIG_LIBRARIES, r"\bgoogle\s*::\s*protobuf\b|\bgrpc\s*::|\bPG(?:conn|result)\b|\bspdlog\s*::", EDGE),
]

SOURCE_SUFFIXES = {".h", ".hpp", ".cc", ".cpp"}
ROOTS = ["libcommon", "plugins", "daemons", "commands", "bench"]
# What only measures stands outside the layers.
UNCHECKED = ["bench/foundation", "bench/store", "bench/queries", "bench/micro", "bench/gaia", "bench/distributed",
             "bench/kubernetes_scale/programs"]
INCLUDE = re.compile(r'^\s*#\s*include\s*(?:"([^"]+)"|<([^>]+)>)')
COMMENTS_AND_LITERALS = re.compile(
    r'//[^\n]*|/\*.*?\*/|R"([^(\s]*)\(.*?\)\1"|"(?:\\.|[^"\\\n])*"|(?<![0-9a-zA-Z_])\'(?:\\.|[^\'\\\n])*\'', re.DOTALL)


def within(module, names):
    """Whether the module is one of these or lies below one of them."""
    return any(module == name or module.startswith(name + "/") for name in names)


class Modules:
    """The module graph, as CMake's files tell it."""

    def __init__(self, root):
        self.folder_of = {}  # by name: the folder, from ROOT
        self.depends = {}
        self.problems = []
        for top in CMAKE_FOLDERS:
            path = root / top / "CMakeLists.txt"
            if path.is_file():
                self._read(root, top, path.read_text(encoding="utf-8"))
        self._by_folder = sorted(((folder, name) for name, folder in self.folder_of.items()),
                                 key=lambda pair: -len(pair[0]))
        for name, needed in self.depends.items():
            # Generated code and libraries from outside are targets too, but no folders of ours.
            self.depends[name] = [n for n in needed if n in self.folder_of]
        self.may = {name: self._reachable(name) for name in self.depends}
        for name in self.depends:
            for other in self.depends[name]:
                if name in self.may[other]:
                    self.problems.append(f"modules {name} and {other} depend on each other")

    def _read(self, root, top, text):
        text = re.sub(r"#[^\n]*", "", text)
        for kind, arguments in CALL.findall(text):
            words = arguments.replace('"', "").split()
            count = 2 if kind in ("plugin", "site_plugin") else 1
            name = "_".join(words[:count])
            folder = f"{top}/{'/'.join(words[:count])}"
            depends, keyword = [], ""
            for word in words[count:]:
                if word in KEYWORDS:
                    keyword = word
                elif keyword == "DIR":
                    folder = word.replace("${CMAKE_CURRENT_SOURCE_DIR}", top).replace("${CMAKE_SOURCE_DIR}/", "")
                elif keyword == "DEPENDS":
                    depends.append(word)
            self.folder_of[name] = folder
            self.depends[name] = depends

    def _reachable(self, name):
        seen, waiting = {name}, list(self.depends[name])
        while waiting:
            one = waiting.pop()
            if one not in seen:
                seen.add(one)
                waiting += self.depends[one]
        return seen

    def of(self, path):
        """The module that a path from ROOT belongs to, or None."""
        for folder, name in self._by_folder:
            if path.startswith(folder + "/"):
                return name
        return None

    def of_include(self, name):
        """The module that an include, written from one of the roots, names, or None."""
        for top in ROOTS:
            module = self.of(f"{top}/{name}")
            if module:
                return module
        return None


def cycles(graph):
    """The strongly connected components of more than one node, each as a sorted list (Tarjan's algorithm, iterative)."""
    index, low, on_stack, stack, found = {}, {}, set(), [], []
    for start in sorted(graph):
        if start in index:
            continue
        work = [(start, iter(sorted(graph[start])))]
        index[start] = low[start] = len(index)
        stack.append(start)
        on_stack.add(start)
        while work:
            node, edges = work[-1]
            for other in edges:
                if other not in index:
                    index[other] = low[other] = len(index)
                    stack.append(other)
                    on_stack.add(other)
                    work.append((other, iter(sorted(graph.get(other, ())))))
                    break
                if other in on_stack:
                    low[node] = min(low[node], index[other])
            else:
                work.pop()
                if work:
                    low[work[-1][0]] = min(low[work[-1][0]], low[node])
                if low[node] == index[node]:
                    part = []
                    while True:
                        part.append(stack.pop())
                        on_stack.discard(part[-1])
                        if part[-1] == node:
                            break
                    if len(part) > 1:
                        found.append(sorted(part))
    return found


def blank(match):
    return re.sub(r"[^\n]", " ", match.group())


def without_comments(text):
    """The same lines with comments blanked out but literals, and with them the names of includes, kept."""
    return COMMENTS_AND_LITERALS.sub(lambda m: blank(m) if m.group().startswith(("//", "/*")) else m.group(), text)


def check_source(modules, module, text):
    """Yields (line, message) for one source."""
    for number, line in enumerate(without_comments(text).splitlines(), 1):
        match = INCLUDE.match(line)
        if not match:
            continue
        own, foreign = match.groups()
        if own:
            target = modules.of_include(own)
            if target is None:
                yield number, f'"{own}" names no module: write the path from libcommon/, plugins/, daemons/ or commands/'
            elif target not in modules.may[module]:
                allowed = ", ".join(sorted(modules.may[module] - {module})) or "nothing"
                yield number, f'{module} may not include {target} ("{own}"); it may include {allowed}'
        else:
            for names, pattern, why in FORBIDDEN_INCLUDES:
                if within(module, names) and re.fullmatch(pattern, foreign):
                    yield number, f"{module} may not include <{foreign}>: {why}"
    code = COMMENTS_AND_LITERALS.sub(blank, text)
    for names, pattern, why in FORBIDDEN_CODE:
        if within(module, names):
            for match in re.finditer(pattern, code):
                yield code.count("\n", 0, match.start()) + 1, f"{module} may not use {match.group()}: {why}"


def check_layers(name, text):
    """Yields (line, message) where a source includes against the order of the folders of its module."""
    for parent, order in LAYERS.items():
        match = re.search(f"/{re.escape(parent)}/([^/]+)/", "/" + name)
        if not match or match.group(1) not in order:
            continue
        own = order.index(match.group(1))
        for number, line in enumerate(without_comments(text).splitlines(), 1):
            include = re.match(r'\s*#\s*include\s*"' + re.escape(parent) + r"/([^/]+)/", line)
            if include and include.group(1) in order and order.index(include.group(1)) > own:
                yield number, f"{parent}/{order[own]} may not include {parent}/{include.group(1)}; the order is {' → '.join(order)}"


def check_folders(root):
    """Folders with more sources than one concept should need."""
    for top in ROOTS:
        for folder in sorted({path.parent for path in (root / top).rglob("*") if path.suffix in SOURCE_SUFFIXES}):
            name = folder.relative_to(root).as_posix()
            most = next(count for prefix, count in MOST_FILES if name.startswith(prefix))
            count = sum(path.suffix in SOURCE_SUFFIXES for path in folder.iterdir())
            if count > most:
                yield f"{name}:1: {count} sources in one folder, at most {most}; put what belongs together into a folder of its own"


def check_tree(root):
    """All violations below `root` as "path:line: message", in order."""
    modules = Modules(root)
    found = [f"CMakeLists.txt:1: {problem}" for problem in modules.problems]
    found += check_folders(root)
    units = {}  # name without suffix, from its include root -> names it includes
    for top in ROOTS:
        for path in sorted((root / top).rglob("*")):
            if path.suffix not in SOURCE_SUFFIXES:
                continue
            name = path.relative_to(root).as_posix()
            if name.startswith(tuple(folder + "/" for folder in UNCHECKED)):
                continue
            module = modules.of(name)
            if module is None:
                found.append(f"{name}:1: in no known module; add it to the CMakeLists.txt of {top}/")
                continue
            text = path.read_text(encoding="utf-8")
            violations = [*check_source(modules, module, text), *check_layers(name, text)]
            found += [f"{name}:{number}: {message}" for number, message in sorted(violations)]
            unit = path.relative_to(root / top).with_suffix("").as_posix()
            included = units.setdefault(unit, set())
            for line in without_comments(text).splitlines():
                match = INCLUDE.match(line)
                if match and match.group(1) and match.group(1).endswith((".h", ".hpp")):
                    included.add(match.group(1).rsplit(".", 1)[0])
    graph = {unit: {other for other in included if other in units and other != unit} for unit, included in units.items()}
    found += [f"{part[0]}:1: units include each other in a circle: {', '.join(part)}" for part in cycles(graph)]
    return found


# The CMake files of the trees below.
CMAKE = {
    "libcommon/CMakeLists.txt": "ares_library(base)\nares_library(model DEPENDS base)\nares_library(core/job DEPENDS model)\n"
                                "ares_library(core/sched DEPENDS core/job) # a comment (with brackets)\n"
                                "ares_library(proto DEPENDS model proto_gen LINKS ares_sodium)\nares_library(store DEPENDS model proto)\n"
                                "ares_library(auth DEPENDS base)\nares_library(rpc DEPENDS proto auth proto_grpc)\n"
                                "ares_library(plugin DEPENDS base)\nares_library(os DEPENDS base)\nares_library(cli DEPENDS rpc)\n",
    "plugins/CMakeLists.txt": 'ares_library(exec_adapter DIR "${CMAKE_CURRENT_SOURCE_DIR}/exec/adapter" DEPENDS plugin os)\n'
                              "ares_plugin(exec baremetal DEPENDS exec_adapter)\nares_plugin(exec mock DEPENDS exec_adapter)\n",
    "daemons/CMakeLists.txt": 'ares_program(aresctld DIR "${CMAKE_CURRENT_SOURCE_DIR}/aresctld"\n  DEPENDS core/sched store rpc LINKS x)\n'
                              'ares_program(aresd DIR "${CMAKE_CURRENT_SOURCE_DIR}/aresd" DEPENDS exec_mock rpc)\n'
                              'ares_program(aresstepd STATIC DIR "${CMAKE_CURRENT_SOURCE_DIR}/aresstepd" DEPENDS exec_baremetal)\n',
    "commands/CMakeLists.txt": 'ares_program(asub STATIC DIR "${CMAKE_CURRENT_SOURCE_DIR}/asub" DEPENDS cli)\n'
                               'ares_program(aqueue STATIC DIR "${CMAKE_CURRENT_SOURCE_DIR}/aqueue" DEPENDS cli)\n',
}

GOOD_TREE = {
    "libcommon/base/a.h": "#include <thread>\n#include <mutex>\nauto t = std::chrono::system_clock::now();\n",
    "libcommon/model/a.h": '#include "base/a.h"\n',
    "libcommon/core/job/a.h": '#include "base/a.h"\n#include "core/job/b.h"\n#include "model/a.h"\n#include <vector>\n',
    "libcommon/core/job/b.h": "int b;\n",
    "libcommon/core/job/a.cc": '#include "core/job/a.h"\n// #include <thread>, steady_clock::now\nauto s = "getenv";\n/*\n#include <mutex>\n*/\n'
                               'int n = 1\'000\'000; auto r = R"(getenv)";\n',
    "libcommon/core/sched/why/a.cc": '#include "core/sched/index/a.h"\n#include "core/job/a.h"\n',
    "libcommon/core/sched/index/a.h": "int a;\n",
    "libcommon/rpc/a.cc": '#include <grpcpp/grpcpp.h>\n#include "proto/gen/control.pb.h"\n#include "model/a.h"\n',
    "plugins/exec/mock/a.cc": '#include "exec/mock/a.h"\n#include "plugin/abi.h"\n',
    "daemons/aresd/main.cc": '#include "exec/mock/a.h"\n#include "aresd/a.h"\n#include "os/a.h"\n',
    "commands/asub/main.cc": '#include "asub/a.h"\n#include "base/a.h"\n#include "cli/a.h"\n',
    "libcommon/core/notes.md": "#include <thread>\n",
}

# path -> (text, what each violation must contain, in order)
BAD_TREE = {
    "libcommon/base/a.h": ('#include "model/a.h"\n', ["1: base may not include model"]),
    "libcommon/model/a.h": ('#include "core/job/a.h"\n#include "base/b.h"\n', ["1: model may not include core/job"]),
    "libcommon/core/job/a.h": ('\n#include <mutex>\n#  include <sys/time.h>\n#include "proto/gen/a.pb.h"\n#include "store/journal.h"\n',
                               ["2: core/job may not include <mutex>", "3: core/job may not include <sys/time.h>",
                                "4: core/job may not include proto", "5: core/job may not include store"]),
    "libcommon/core/job/b.cc": ('auto a = std::chrono::system_clock::now();\nauto b = std::getenv("HOME");\n'
                                'void f(const google::protobuf::Message&);\nPGconn* c;\nspdlog::info("x");\n',
                                ["1: core/job may not use system_clock::now", "2: core/job may not use getenv",
                                 "3: core/job may not use google::protobuf", "4: core/job may not use PGconn",
                                 "5: core/job may not use spdlog::"]),
    "libcommon/core/job/c.cc": ('const char* s = "// not a comment";\n#include <libpq-fe.h>\n#include <grpcpp/grpcpp.h>\n#include <ctime>\n'
                                '#include <random>\n#include <iostream>\n#include <google/protobuf/message.h>\n#include <spdlog/spdlog.h>\n',
                                [f"{line}: core/job may not include <" for line in range(2, 9)]),
    "libcommon/core/job/d.h": ('#include "core/sched/index/a.h"\n', ["1: core/job may not include core/sched"]),
    "libcommon/core/sched/index/a.h": ('#include "core/sched/place/b.h"\n', ["1: core/sched/index may not include core/sched/place"]),
    "libcommon/core/sched/place/b.h": ('#include "core/sched/place/c.h"\n', []),
    "libcommon/core/sched/place/c.h": ("int c;\n", []),
    "libcommon/core/sched/place/c.cc": ('#include "core/sched/place/b.h"\n', []),
    "libcommon/store/a.cc": ('#include "core/job/a.h"\n', ["1: store may not include core/job"]),
    "libcommon/auth/a.cc": ('#include "model/a.h"\n', ["1: auth may not include model"]),
    "libcommon/new/a.cc": ("int x;\n", ["1: in no known module"]),
    "plugins/exec/mock/a.cc": ('#include "exec/baremetal/a.h"\n', ["1: exec_mock may not include exec_baremetal"]),
    "daemons/aresctld/main.cc": ('#include "os/a.h"\n#include "a.h"\n', ["1: aresctld may not include os", '2: "a.h" names no module']),
    "daemons/aresstepd/main.cc": ('#include "rpc/a.h"\n#include <grpc/grpc.h>\n',
                                  ["1: aresstepd may not include rpc", "2: aresstepd may not include <grpc/grpc.h>"]),
    "commands/asub/main.cc": ('#include "core/job/a.h"\n#include "aqueue/a.h"\n',
                              ["1: asub may not include core/job", "2: asub may not include aqueue"]),
}
CROWDED = {f"libcommon/core/job/n{number}.h": "" for number in range(31)}
BAD_CIRCLES = ["core/sched/place/b, core/sched/place/c"]
BAD_MODULES = {"libcommon/CMakeLists.txt": "ares_library(base DEPENDS model)\nares_library(model DEPENDS base)\n"}


def check_made_up(files):
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder)
        for name, text in files.items():
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            (root / name).write_text(text, encoding="utf-8")
        return check_tree(root)


def self_test():
    failures = [f"accepted source refused: {line}" for line in check_made_up({**CMAKE, **GOOD_TREE})]
    found = check_made_up({**CMAKE, **{name: text for name, (text, _) in BAD_TREE.items()}})
    for name, (_, expected) in BAD_TREE.items():
        actual = [line for line in found if line.startswith(name + ":")]
        if len(actual) != len(expected) or any(f"{name}:{e}" not in a for e, a in zip(expected, actual)):
            failures.append(f"{name}: expected {expected}, found {actual}")
    for circle in BAD_CIRCLES:
        if not any("circle" in line and circle in line for line in found):
            failures.append(f"no circle found between {circle}")
    if not any("31 sources in one folder" in line for line in check_made_up({**CMAKE, **CROWDED})):
        failures.append("a folder of 31 sources was accepted")
    if not any("depend on each other" in line for line in check_made_up(BAD_MODULES)):
        failures.append("modules that depend on each other were accepted")
    for failure in failures:
        print(failure)
    print(f"check_includes: self-test, {len(failures)} failed")
    return 1 if failures else 0


def print_modules(root):
    modules = Modules(root)
    for name, folder in modules.folder_of.items():
        print(f"{name:16} {folder:28} {' '.join(sorted(modules.may[name] - {name}))}")
    return 0


def main(arguments):
    if arguments == ["--self-test"]:
        return self_test()
    if arguments == ["--modules"]:
        return print_modules(pathlib.Path(__file__).resolve().parent.parent)
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
