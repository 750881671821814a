# SPDX-License-Identifier: Apache-2.0
"""What tools/lint checks of the tree's structure: who may include and call whom, and that things are said once.

The rules are not here. ARCHITECTURE.md states them in two blocks, which this module reads: `layers` (which module may
use which) and `order` (inside a module: which folder may use which). So the picture that people read is the one that
is checked.
"""
import collections
import json
import os
import re
import subprocess

SOURCES = (".c", ".h", ".cl")
FOLDER_FILES = 25  # .c files a folder

# A library's name in ARCHITECTURE.md -> the first words of its headers.
LIBRARY_HEADERS = {
    "libuv": {"uv.h"}, "libmicrohttpd": {"microhttpd.h"}, "nettle": {"nettle"}, "libyaml": {"yaml.h"}, "protobuf-c": {"protobuf-c"},
    "cJSON": {"cjson"}, "xxhash": {"xxhash.h"}, "libseccomp": {"seccomp.h"}, "OpenCL": {"CL"}, "Open MPI": {"mpi.h"},
    "JNI": {"jni.h"}, "Python": {"Python.h"}, "utf8proc": {"utf8proc.h"}, "RE2": {"re2"}, "zlib": {"zlib.h"}, "libzstd": {"zstd.h"},
    "codecs": {"snappy-c.h", "zstd.h", "lz4.h", "libdeflate.h", "brotli"},
}
OWNED = set().union(*LIBRARY_HEADERS.values()) | {"cmocka.h"}
TEST_LIBRARIES = {"cmocka.h", "cjson"}
GENERATED = re.compile(r"(\.pb-c\.h|kernel_sources\.h|_table\.inc)$")
# Headers that are part of libhac's interface whichever module defines what is in them.
API = "hac.h"


def is_test(name):
    return bool(re.search(r"(_test\.c$|/tests?/|/test_|/fuzz/|^tests/|^bench/|^docs/)", name))


class Tree:
    """The tracked files and the rules of ARCHITECTURE.md."""

    def __init__(self, root, files):
        self.root, self.files, self.all = root, files, set(files)
        self.text = {}
        page = self.read("ARCHITECTURE.md")
        self.layers, self.libraries = self.parse_layers(self.block(page, "layers"))
        self.order = self.parse_order(self.block(page, "order"))
        self.modules = sorted(self.layers, key=len, reverse=True)
        self.public = {f.split("/include/", 1)[1]: f for f in files if "/include/" in f and f.endswith((".h", ".def"))}

    def read(self, name):
        if name not in self.text:
            with open(os.path.join(self.root, name), encoding="utf-8", errors="replace") as f:
                self.text[name] = f.read()
        return self.text[name]

    @staticmethod
    def block(page, name):
        found = re.search(r"```" + name + r"\n(.*?)```", page, re.S)
        return found[1].strip("\n").split("\n") if found else []

    @staticmethod
    def parse_layers(lines):
        layers, libraries = {}, {}
        for line in lines:
            module, uses = (part.strip() for part in line.split(":", 1))
            names = [u.strip() for u in uses.split(",") if u.strip()]
            layers[module] = {u for u in names if u not in LIBRARY_HEADERS}
            libraries[module] = set().union(*(LIBRARY_HEADERS[u] for u in names if u in LIBRARY_HEADERS), set())
        return layers, libraries

    @staticmethod
    def parse_order(lines):
        order = {}
        for line in lines:
            module, rest = line.split(":", 1)
            ranks = [[f.strip() for f in group.split(",")] for group in rest.split("<")]
            order[module.strip()] = {f: rank for rank, group in enumerate(ranks) for f in group}
        return order

    def module(self, name):
        return next((m for m in self.modules if name.startswith(m + "/")), None)

    def roots(self, module):
        return [module + "/src", module + "/codelets", module + "/tests", module]

    def resolve(self, name, header):
        """The file that `name` means by a quoted include, or None."""
        here = os.path.normpath(os.path.join(os.path.dirname(name), header))
        if here in self.all:
            return here
        module = self.module(name)
        for root in self.roots(module) if module else ():
            if root + "/" + header in self.all:
                return root + "/" + header
        if header in self.public:
            return self.public[header]
        return next((r + "/" + header for m in self.layers for r in self.roots(m) if r + "/" + header in self.all), None)

    def includes(self, name):
        for line, text in enumerate(self.read(name).split("\n"), 1):
            found = re.match(r'\s*#\s*include\s+([<"])([^>"]+)[>"]', text)
            if found:
                yield line, found[1], found[2]


def check_layers(tree):
    problems = []
    for name in tree.files:
        module = tree.module(name)
        if not name.endswith(SOURCES) or not module:
            continue
        test = is_test(name)
        for line, quote, header in tree.includes(name):
            target = tree.resolve(name, header)
            if target is None:
                first = header.split("/")[0]
                allowed = tree.libraries[module] | (TEST_LIBRARIES if test else set())
                if quote == "<" and first in OWNED and first not in allowed:
                    problems.append(f"{name}:{line}: layers: {module} may not include <{header}>: it is not among its libraries "
                                    "in ARCHITECTURE.md; ask the module that owns the library")
                elif quote == '"' and not GENERATED.search(header):
                    problems.append(f"{name}:{line}: layers: no file is called {header}")
                continue
            other = tree.module(target)
            if test or other == module:
                continue
            uses = tree.layers[module]
            folder = os.path.relpath(os.path.dirname(target), other) if other else ""
            if target.split("/include/", 1)[-1] == API and API in uses:
                continue
            if f"{other}/{folder.split('/')[-1]}" in uses or target in uses:
                continue
            if other not in uses:
                problems.append(f"{name}:{line}: layers: {module} may not use {other or target} ({header}); it may use "
                                f"{', '.join(sorted(uses)) or 'nothing'}. Move what is shared below both, or take a callback")
            elif "/include/" not in target and not target.endswith(".cl"):
                problems.append(f"{name}:{line}: layers: {header} is private to {other}; use a header of {other}/include")
    for module in tree.layers:
        if not any(f.startswith(module + "/") for f in tree.files):
            problems.append(f"ARCHITECTURE.md: layers: there is no folder {module}")
    return problems


# ---- folders inside a module -----------------------------------------------------------------------------


def folder_in(tree, place, name):
    """Which folder of `place` a file lies in ("." for its own files), or None."""
    if not name.startswith(place + "/"):
        return None
    rest = name[len(place) + 1:].split("/")
    if len(rest) == 1:
        return "."
    if rest[0] == "include":
        return None
    return rest[0] if rest[0] in tree.order[place] or rest[0] not in ("tests", "fuzz", "kernels") else None


def order_text(tree, place):
    groups = collections.defaultdict(list)
    for folder, rank in tree.order[place].items():
        groups[rank].append(folder)
    return " < ".join(",".join(groups[r]) for r in sorted(groups))


def check_order(tree, calls):
    problems, seen = [], set()

    def look(place, name, where, target, how):
        a, b = folder_in(tree, place, name), folder_in(tree, place, target)
        ranks = tree.order[place]
        if a is None or b is None or a == b or (name, target) in seen or is_test(name) or is_test(target):
            return
        missing = {a, b} - set(ranks)
        problems.extend(f"{place}/{folder}: order: this folder is missing from the order in ARCHITECTURE.md" for folder in missing)
        if not missing and ranks[b] >= ranks[a]:
            seen.add((name, target))
            problems.append(f"{where}: order: {a} may not use {target[len(place) + 1:]}{how} ({order_text(tree, place)}); "
                            "call it through a callback, or move what is used below both")

    for place in tree.order:
        for name in tree.files:
            if name.startswith(place + "/") and name.endswith((".c", ".h")):
                for line, _, header in tree.includes(name):
                    target = tree.resolve(name, header)
                    if target:
                        look(place, name, f"{name}:{line}", target, "")
        for name, targets in calls.items():
            for target, symbols in targets.items():
                look(place, name, name, target, f" ({', '.join(sorted(symbols)[:3])})")
        missing = [f for f in tree.order[place] if f != "." and not any(n.startswith(f"{place}/{f}/") for n in tree.files)]
        problems += [f"ARCHITECTURE.md: order: there is no folder {place}/{f}" for f in missing]
    return sorted(set(problems))


# ---- calls, from the symbols of object files -------------------------------------------------------------


def source_of(build, path):
    found = re.match(r"(.*)/CMakeFiles/[^/]+\.dir/(.*)\.o$", os.path.relpath(path, build))
    return os.path.normpath(os.path.join(found[1], found[2].replace("__", ".."))) if found else None


def calls_between_files(tree, build):
    """file -> file -> the symbols of the second that the first uses: tables and what macros make included."""
    build = os.path.join(tree.root, build)
    with open(os.path.join(build, "compile_commands.json"), encoding="utf-8") as f:
        outputs = [re.search(r" -o (\S+\.c\.o)\b", entry["command"]) for entry in json.load(f)]
    objects = [os.path.join(build, found[1]) for found in outputs if found]
    objects = [o for o in objects if os.path.exists(o)]  # of what the default target does not build
    sources = {o: s for o in objects if (s := source_of(build, o)) in tree.all and not is_test(s)}
    defined, wanted = {}, collections.defaultdict(set)
    names = sorted(sources)
    for i in range(0, len(names), 200):
        out = subprocess.run(["nm", "-A", *names[i:i + 200]], capture_output=True, text=True, check=True).stdout
        for line in out.splitlines():
            path, _, rest = line.partition(":")
            kind, symbol = rest.split()[-2:]
            if kind == "U":
                wanted[sources[path]].add(symbol)
            elif kind in "TDBRVWC":
                defined.setdefault(symbol, sources[path])
    calls = collections.defaultdict(lambda: collections.defaultdict(set))
    for name, symbols in wanted.items():
        for symbol in symbols:
            if defined.get(symbol, name) != name:
                calls[name][defined[symbol]].add(symbol)
    return calls


def circles(calls):
    """Tarjan's strongly connected components of more than one file."""
    index, low, stack, found = {}, {}, [], []

    def visit(start):
        work = [(start, iter(list(calls.get(start, ()))))]
        index[start] = low[start] = len(index)
        stack.append(start)
        while work:
            node, targets = work[-1]
            for target in targets:
                if target not in index:
                    index[target] = low[target] = len(index)
                    stack.append(target)
                    work.append((target, iter(list(calls.get(target, ())))))
                    break
                if target in stack:
                    low[node] = min(low[node], index[target])
            else:
                work.pop()
                if work:
                    low[work[-1][0]] = min(low[work[-1][0]], low[node])
                if low[node] == index[node]:
                    at = stack.index(node)
                    found.append(stack[at:])
                    del stack[at:]

    for name in list(calls):
        if name not in index:
            visit(name)
    return [sorted(c) for c in found if len(c) > 1]


def one_way_round(calls, members):
    """A shortest way from a member back to itself: what is printed of a circle."""
    best = None
    for start in sorted(members):
        before, queue = {start: None}, [start]
        for node in queue:
            for target in calls.get(node, ()):
                if target == start and (best is None or len(before) < best[0]):
                    way = [node]
                    while before[way[-1]] is not None:
                        way.append(before[way[-1]])
                    best = (len(before), list(reversed(way)))
                if target in members and target not in before:
                    before[target] = node
                    queue.append(target)
    first = best[1].index(min(best[1]))
    return best[1][first:] + best[1][:first]


def check_circles(calls):
    problems = []
    for members in circles(calls):
        way = one_way_round(calls, set(members))
        steps = [f"{a} -> {os.path.basename(b)} ({', '.join(sorted(calls[a][b])[:3])})"
                 for a, b in zip(way, way[1:] + way[:1])]
        problems.append(f"{way[0]}: circles: {len(members)} files call each other: {'; '.join(steps)}. "
                        "Move what both need into a third file, or hand the caller down as a callback")
    return sorted(problems)


# ---- said once -------------------------------------------------------------------------------------------


def check_flat(tree):
    count = collections.Counter(os.path.dirname(f) for f in tree.files if f.endswith(".c") and not is_test(f))
    flat = re.compile(r"/kernels$|^base/src$|^backends/host$")
    return [f"{folder}: flat: {n} files in one folder, at most {FOLDER_FILES}: give its parts folders of their own"
            for folder, n in sorted(count.items()) if n > FOLDER_FILES and tree.module(folder + "/") and not flat.search(folder)]


def type_names(tree, names):
    """name -> file:line of each definition: structs, unions and enums with a body, typedefs of other types."""
    out = subprocess.run(["ctags", "--languages=C", "--langmap=C:.c.h", "--kinds-C=sgut", "--fields=+n", "--output-format=json",
                          "-f", "-", *names], cwd=tree.root, capture_output=True, text=True, check=True).stdout
    found = collections.defaultdict(set)
    for line in out.splitlines():
        tag = json.loads(line)
        same = tag["kind"] == "typedef" and tag.get("typeref", "").split(":")[-1] == tag["name"]
        if not same and not tag["name"].startswith("__anon"):
            found[tag["name"]].add((tag["path"], tag["line"]))
    return found


def evaluate(text):
    """The value of a constant's text, where it is a plain number."""
    text = re.sub(r"/\*.*?\*/|//.*", "", text).strip().strip("()")
    text = re.sub(r"\b(0x[0-9a-fA-F]+|\d+)[uUlL]+\b", r"\1", text)
    if not re.fullmatch(r"[\dxa-fA-F\s()<+*-]+", text):
        return None
    try:
        return eval(text, {"__builtins__": {}})  # digits and operators only
    except (SyntaxError, TypeError, ValueError, NameError):
        return None


def enumerators(text):
    """(name, value) of the enumerators of a header, counted on as C does."""
    for body in re.findall(r"\benum\b[^{;]*\{(.*?)\}", re.sub(r"/\*.*?\*/", "", text, flags=re.S), re.S):
        value = -1
        for part in body.split(","):
            name, _, given = part.partition("=")
            number = evaluate(given) if given.strip() else value + 1
            if not name.strip() or number is None:
                continue
            value = number
            yield name.strip(), value


def check_once(tree):
    product = [f for f in tree.files if f.endswith((".c", ".h")) and tree.module(f) and not is_test(f)]
    problems = []
    for name, places in sorted(type_names(tree, product).items()):
        if len({p for p, _ in places}) > 1:
            first, *others = sorted(places)
            problems += [f"{p}:{n}: once: type {name} is defined in {first[0]}:{first[1]} already; give it its file's noun"
                         for p, n in others]
    shared = {}
    for header in (f for f in product if re.match(r"base/include/hac/", f)):
        for name, value in enumerators(tree.read(header)):
            shared.setdefault((name.split("_")[-1], value), (name, header))
    limits = "base/include/base/limits.h"
    known = {}
    if limits in tree.all:
        for name, text in re.findall(r"^#define\s+HAC_(\w+_MAX)\s+(.+?)\s*(?:/\*.*)?$", tree.read(limits), re.M):
            if (value := evaluate(text)) is not None:
                known[value] = "HAC_" + name
    for file in product:
        if file.startswith("base/include/"):
            continue
        for line, text in enumerate(tree.read(file).split("\n"), 1):
            found = re.match(r"\s*#\s*define\s+(\w+)\s+(\S.*)$", text)
            value = evaluate(found[2]) if found else None
            if value is None:
                continue
            words = found[1].split("_")
            if len(words) > 1 and (words[-1], value) in shared and words[-1] not in ("NONE", "MAX"):
                name, header = shared[(words[-1], value)]
                problems.append(f"{file}:{line}: once: {found[1]} {value} is {name} ({header})")
            if value >= 200 and value in known and set(words) & set(known[value].split("_")[1:-1]):
                problems.append(f"{file}:{line}: once: {found[1]} {value} is {known[value]} ({limits})")
    return problems
