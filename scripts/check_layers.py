#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Includes and calls point downwards only: each folder of src/ may use the folders named below and no other. An
include names its file from src/ on ("util/buf.h"); public headers are included as <kinformer/...>. A function that a
public header declares can hide a call upwards from the includes, so the symbols of the objects are checked by the
same rules. No folder of src/ or tests/ has more modules than one can survey.

    scripts/check_layers.py [--objects BUILD] [SRC]     after proving on a small tree that it can fail
"""
import argparse
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent

# "folder: folders it may use", besides itself. The lowest comes first, in the order of the flow of data.
RULES = """
util/text:
util: util/text
util/loop: util/text util
util/yaml: util/text util
json: util/text util
json/kernel: json
metrics: util/text util
api/resource: util/text util json
api/object: util/text util json api/resource
api/selector: util/text util json api/resource api/object
api/decode: util/text util json api/object
proto: util/text util json api/object api/decode
config: util/text util util/yaml json
credentials: util/text util util/loop json config
http: util/text util util/loop metrics config credentials
client: util/text util util/loop metrics config credentials http
rest: util/text util util/loop json api/resource api/object api/decode http client
reflector: util/text util util/loop metrics api/resource api/object api/selector api/decode proto http client
store: util/text util util/loop api/object api/selector
queue: util/text util util/loop api/object client store
handler: util/text util metrics api/object store
informer: util/text util util/loop metrics api/resource api/object api/decode client reflector store queue handler
feed: util/text util util/loop metrics api/object api/decode client reflector store queue
workqueue: util/text util util/loop metrics
controller: util/text util util/loop json metrics api/resource api/object api/decode client rest informer workqueue
apiserver/value: util/text util util/yaml
apiserver/kind: util/text util apiserver/value
apiserver/kind/data: apiserver/kind
apiserver/validate: util/text util apiserver/value apiserver/kind apiserver/kind/data
apiserver/patch: util/text util apiserver/value apiserver/kind
apiserver/object: util/text util apiserver/value apiserver/kind
apiserver/storage: util/text util apiserver/kind apiserver/object
apiserver/request: util/text util apiserver/value apiserver/kind apiserver/object
apiserver/verbs: util/text util apiserver/value apiserver/kind apiserver/validate apiserver/patch apiserver/object apiserver/storage
apiserver/show: util/text util apiserver/value apiserver/kind apiserver/kind/data
apiserver/serve: util/text util util/loop apiserver/value apiserver/kind apiserver/object apiserver/storage apiserver/request apiserver/verbs apiserver/show
cli:
cli/demo: cli
"""

# Symbols that a file uses although its folder may not: (file or folder, folder), and why.
EXCEPTIONS = {
    ("json/kernel.c", "json/kernel"): "chooses one of the kernels at run time, by what the processor can do",
    ("apiserver/kind", "apiserver/kind/data"): "generated tables: data of types that kind/ declares, no code",
    ("cli/commands.c", "cli/demo"): "the table of commands, `demo` among them",
}

# A module is a .c file with its header, or a script.
MODULES_MAX = 25

INCLUDE = re.compile(r'\s*#\s*include\s*"([^"]*)"')


def read_rules(text):
    rules = {}
    for line in text.strip().splitlines():
        folder, allowed = line.split(":")
        rules[folder] = {folder, *allowed.split()}
    return rules


def rule_violations(rules):
    """A rule may name only folders listed before its own, so that rules point downwards and have no cycles."""
    found, lower = [], set()
    for folder, allowed in rules.items():
        for to in sorted(allowed - {folder} - lower):
            found.append(f"the rule of {folder}/ points upwards, to {to}/" if to in rules
                         else f"the rule of {folder}/ names {to}/, which has none")
        lower.add(folder)
    return found


def folder_of(path):
    return path.rpartition("/")[0]


def check_include(rules, file, target):
    """What is wrong with an include, or None."""
    folder, to = folder_of(file), folder_of(target)
    if folder not in rules:
        return f"{folder}/ has no rule in scripts/check_layers.py"
    if not to or not re.match(r"[a-z]", target) or ".." in target:
        return 'name it from src/ on, as "util/buf.h"'
    return None if to in rules[folder] else f"{folder}/ may not use {to}/"


def include_violations(rules, src):
    found = []
    for path in sorted(src.rglob("*")):
        if path.suffix not in (".c", ".h", ".inc"):
            continue
        file = path.relative_to(src).as_posix()
        for number, line in enumerate(path.read_text().splitlines(), 1):
            include = INCLUDE.match(line)
            problem = include and check_include(rules, file, include.group(1))
            if problem:
                found.append(f'{file}:{number}: "{include.group(1)}": {problem}')
    return found


def size_violations(tree):
    folders = {}
    for path in tree.rglob("*"):
        if path.suffix in (".c", ".h", ".inc", ".cpp", ".sh"):
            folders.setdefault(path.parent, set()).add(path.stem)
    return [f"{folder.relative_to(tree.parent).as_posix()}/ has {len(modules)} modules; at most {MODULES_MAX} are allowed"
            for folder, modules in sorted(folders.items()) if len(modules) > MODULES_MAX]


def read_objects(build):
    """Source from src/ on: (symbols that it defines for others, symbols that it needs)."""
    pattern = re.compile(r"/CMakeFiles/kinformer\w*\.dir/src/(.*)\.o$")
    paths = [path.as_posix() for path in sorted(build.rglob("*.o")) if pattern.search(path.as_posix())]
    objects = {}
    text = subprocess.run(["nm", "-P", "-A", *paths], capture_output=True, text=True, check=True).stdout if paths else ""
    for line in text.splitlines():
        path, name, kind = line.split()[:3]
        defined, needed = objects.setdefault(pattern.search(path.rstrip(":")).group(1), (set(), set()))
        if kind == "U":
            needed.add(name)
        elif kind in "TDBRVWC":
            defined.add(name)
    return objects


def part_of(source):
    """The library, the API server and the program are linked separately; the first two both contain util/."""
    part = source.partition("/")[0]
    return part if part in ("util", "apiserver", "cli") else "library"


def symbol_violations(rules, objects, exceptions=EXCEPTIONS):
    homes = {}
    for source, (defined, _) in objects.items():
        for name in defined:
            homes.setdefault(name, []).append(source)
    found, used = [], set()
    for source, (_, needed) in sorted(objects.items()):
        for name in sorted(needed & set(homes)):
            near = [home for home in homes[name] if part_of(home) == part_of(source)]
            # The program can only call what the shared libraries export: the linker checks that.
            for home in near or ([] if part_of(source) == "cli" else homes[name]):
                to = folder_of(home)
                if to in rules.get(folder_of(source), ()):
                    continue
                excepted = {(source, to), (folder_of(source), to)} & set(exceptions)
                used |= excepted
                if not excepted:
                    found.append(f"{source}: {name} of {home}: {folder_of(source)}/ may not use {to}/")
    found += [f"{source}: the exception for {to}/ is not needed" for source, to in sorted(set(exceptions) - used)]
    return found


def expect(found, wanted, what):
    if not any(wanted in line for line in found) if wanted else found:
        sys.exit(f"layers: self-test: {what}: " + ("; ".join(found) or "was not refused"))


def test_rules():
    expect(rule_violations(read_rules("util:\njson: util\nhttp: util json")), None, "good rules")
    for text, wanted in (("util: json\njson:", "the rule of util/ points upwards, to json/"),
                         ("util: json\njson: util", "the rule of util/ points upwards, to json/"),
                         ("util:\njson: util other", "names other/, which has none")):
        expect(rule_violations(read_rules(text)), wanted, text)


def test_includes(rules, tree):
    def write(file, text):
        (tree / file).parent.mkdir(parents=True, exist_ok=True)
        (tree / file).write_text(text + "\n")

    write("json/good.c", '#include "util/buf.h"\n#include <kinformer/error.h>')
    expect(include_violations(rules, tree), None, "a good tree")
    for file, text, wanted in (
            ("util/bad.c", '#include "json/scan.h"', "util/ may not use json/"),
            ("apiserver/value/bad.h", '  #  include "json/scan.h"', "apiserver/value/ may not use json/"),
            ("apiserver/value/bad.c", '#include "apiserver/patch/patch.h"', "may not use apiserver/patch/"),
            ("cli/bad.c", '#include "util/buf.h"', "cli/ may not use util/"),
            ("json/bad.c", '#include "scan.h"', "from src/ on"),
            ("json/bad.c", '#include "../util/buf.h"', "from src/ on"),
            ("other/bad.c", '#include "util/buf.h"', "has no rule")):
        write(file, text)
        expect(include_violations(rules, tree), wanted, f"{text} in {file}")
        (tree / file).unlink()


def test_sizes(_rules, tree):
    (tree / "flow").mkdir()
    for number in range(MODULES_MAX):
        for suffix in (".c", ".h"):
            (tree / f"flow/test_{number}{suffix}").touch()
    expect(size_violations(tree), None, "a full folder")
    (tree / "flow/more.sh").touch()
    expect(size_violations(tree), f"/flow/ has {MODULES_MAX + 1} modules", "one module too many")


def test_symbols(rules, tree):
    """With a compiler and nm, as in a real build, because they decide how a symbol is written."""
    folder = tree / "CMakeFiles/kinformer_objects.dir/src"

    def compile_file(file, text):
        target = folder / (file + ".o")
        target.parent.mkdir(parents=True, exist_ok=True)
        subprocess.run(["cc", "-c", "-x", "c", "-", "-o", target], input=text, text=True, check=True)

    compile_file("util/buf.c", "void low(void) {} static void same(void) {} void (*low_user)(void) = same;")
    compile_file("json/scan.c", "void low(void); void high(void) { low(); } int table[2] = {1, 2};")
    compile_file("cli/main.c", "void high(void); int main(void) { high(); }")
    expect(symbol_violations(rules, read_objects(tree), {}), None, "good objects")
    compile_file("util/bad.c", "void high(void); void bad(void) { high(); }")
    expect(symbol_violations(rules, read_objects(tree), {}), "high of json/scan.c: util/ may not use json/", "a call upwards")
    for excepted in ("util/bad.c", "util"):
        expect(symbol_violations(rules, read_objects(tree), {(excepted, "json"): ""}), None, "an exception")
    compile_file("util/bad.c", "extern int table[]; int bad(void) { return table[1]; }")
    expect(symbol_violations(rules, read_objects(tree), {}), "table of json/scan.c", "data above")
    compile_file("util/bad.c", "void bad(void) {}")
    expect(symbol_violations(rules, read_objects(tree), {("util/bad.c", "json"): ""}), "is not needed", "an idle exception")


def self_test(with_objects):
    test_rules()
    rules = read_rules(RULES)
    for test in (test_includes, test_sizes) + ((test_symbols,) if with_objects else ()):
        tree = pathlib.Path(tempfile.mkdtemp())
        try:
            test(rules, tree)
        finally:
            shutil.rmtree(tree)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--objects", type=pathlib.Path, metavar="BUILD")
    parser.add_argument("src", nargs="?", type=pathlib.Path, default=ROOT / "src")
    arguments = parser.parse_args()
    self_test(arguments.objects)
    rules = read_rules(RULES)
    found = rule_violations(rules) + include_violations(rules, arguments.src)
    for tree in (arguments.src, arguments.src.parent / "tests"):
        found += size_violations(tree)
    if arguments.objects:
        objects = {source: symbols for source, symbols in read_objects(arguments.objects).items()
                   if (arguments.src / source).exists()}
        if not objects:
            found.append(f"no objects below {arguments.objects}")
        found += symbol_violations(rules, objects)
    for line in found:
        print(f"layers: {line}", file=sys.stderr)
    sys.exit(1 if found else 0)


if __name__ == "__main__":
    main()
