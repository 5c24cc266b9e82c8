#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""An internal header opens with a signpost: From (its users), To, Locks, Not here. The files and folders that it names
exist, and those under From use the header: they include it, directly or through a header of the folder of either, or call
one of its functions. A file after "by callback" calls it through a pointer. From omits no folder of src/ whose files
include the header, except the header's own, and no .c file of src/ that calls one of its functions, except those that
define functions of it, unless it begins with "all code".

Every header of src/ has a From. It names files or folders ("util/buf.c", "cli/cmd_*.c", "cli/"), all from src/ on, or says
"all code that …". A header of the tests or the benchmarks may go without one; it may also name files from the root or
from tests/ on, or by their name alone if they are in its folder.

    scripts/check_signposts.py [ROOT]      after proving on a small tree that it can fail
"""
import pathlib
import re
import shutil
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
FOLDERS = ("src", "tests", "bench", "fuzz")

SECTION = re.compile(r" \*   (From|To|Locks|Not here): +(.*)")
CONTINUED = re.compile(r" \*    +(.*)")
INCLUDE = re.compile(r'^\s*#\s*include\s*"([^"]*)"', re.M)
# "util/buf.c", "cli/cmd_*.c", "config/" or a bare "buf.c"; <kinformer/json.h>.
INTERNAL = re.compile(r"(?<![\w/<.~$*-])((?:[a-z0-9_]+/)+(?:[a-z0-9_*]+\.(?:c|h|cpp|tsv|txt|inc)\b|(?![\w*]))|[a-z0-9_*]+\.(?:[ch]|cpp)\b)")
PUBLIC = re.compile(r"<(kinformer(?:/\w+)?\.hp{0,2})>")
COMMENT = re.compile(r"/\*.*?\*/", re.S)
WORD = re.compile(r"\b(?:ki|cli)_\w+")
# "KI_NODISCARD int ki_buf_reserve(" at the beginning of a line, declared or defined.
FUNCTION = re.compile(r"^(?!return\b|static (?!inline\b))\w[\w ]*[ *]((?:ki|cli)_\w+)\(", re.M)
BRACES = re.compile(r"[\w/]\{[^}]*,[^}]*\}")


def read_signpost(text):
    """The lines of each section, joined; {} without a signpost."""
    comment = text[:text.find("\n#")]
    sections, name = {}, None
    for line in comment.splitlines():
        begin, more = SECTION.match(line), CONTINUED.match(line)
        if begin:
            name = begin.group(1)
            sections[name] = begin.group(2)
        elif more and name:
            sections[name] += " " + more.group(1)
        else:
            name = None
    return sections


def folder_of(file):
    return file.rpartition("/")[0]


class Tree:
    """Files by their path from the root on."""

    def __init__(self, root):
        self.root = root
        paths = [path for folder in FOLDERS for path in sorted((root / folder).rglob("*"))]
        paths = [path for path in paths if path.suffix in (".c", ".h", ".cpp", ".inc")]
        self.texts = {path.relative_to(root).as_posix(): path.read_text() for path in paths}
        self.includes = {file: {self.included(file, target) for target in INCLUDE.findall(text)}
                         for file, text in self.texts.items()}

        code = {file: COMMENT.sub(" ", text) for file, text in self.texts.items() if file.startswith("src/")}
        self.functions = {file: set(FUNCTION.findall(text)) for file, text in code.items()}
        self.called = {file: set(WORD.findall(text)) - self.functions[file] for file, text in code.items()}

    def included(self, file, target):
        places = [f"{folder}/{target}" for folder in (folder_of(file), "src", "tests")]
        return next((place for place in places if place in self.texts), None)

    def calls(self, file, header):
        return not self.functions.get(header, set()).isdisjoint(self.called.get(file, ()))

    def uses(self, file, header):
        if self.calls(file, header):
            return True
        folders = {folder_of(file), folder_of(header)}
        seen, waiting = set(), [file]
        while waiting:
            for target in self.includes.get(waiting.pop(), ()):
                if target == header:
                    return True
                if target and target not in seen and folder_of(target) in folders:
                    seen.add(target)
                    waiting.append(target)
        return False

    def files(self, named, header):
        """What a name stands for: a file, those of a pattern, or those below a folder."""
        pattern = named + "**/*" if named.endswith("/") else named
        starts = ["src"] if header.startswith("src/") else ["src", "tests", ".", folder_of(header)]
        for start in starts:
            found = [path for path in (self.root / start).glob(pattern) if path.is_file()]
            if found:
                return [path.relative_to(self.root).as_posix() for path in found]
        return []

    def problems_of_name(self, header, section, named):
        files = self.files(named, header)
        if "/" not in named and header.startswith("src/"):
            yield f'{section}: {named}: name it from src/ on, as "util/buf.c"'
        elif not files:
            yield f"{section}: there is no {named}"
        elif section == "From" and not any(self.uses(file, header) for file in files if file != header):
            yield f"From: {named} does not use it"

    def problems_of_omission(self, header, users):
        """The folders of src/ that include a header, and that From names neither itself nor by a file or a parent folder."""
        files = {file for name in INTERNAL.findall(users) for file in self.files(name, header)}
        named = {folder_of(file) for file in files}
        folders = {folder_of(file) for file in self.texts if file.startswith("src/") and header in self.includes[file]}
        for folder in sorted(folders - named - {folder_of(header)}):
            yield f"From omits {folder.removeprefix('src/')}/, which includes it"
        for file in sorted(self.called):
            defines = not self.functions[file].isdisjoint(self.functions[header])
            if file.endswith(".c") and file not in files and not defines and self.calls(file, header):
                yield f"From omits {file.removeprefix('src/')}, which calls it"

    def problems(self, header):
        sections = read_signpost(self.texts[header])
        users, by_callback, callers = sections.get("From", "").partition("by callback")
        if by_callback:
            sections["From"] = users
            sections["From by callback"] = callers
        if header.startswith("src/") and not INTERNAL.search(users) and not users.startswith("all code that "):
            yield 'From names no file and no folder (a folder ends with "/"), and does not say "all code that …"'
        if header.startswith("src/") and not users.startswith("all code"):
            yield from self.problems_of_omission(header, users)
        for section, text in sections.items():
            if BRACES.search(text):
                yield f"{section}: write the names out, without braces"
            for named in PUBLIC.findall(text):
                if not (self.root / "include" / named).exists():
                    yield f"{section}: there is no <{named}>"
            for named in INTERNAL.findall(text):
                yield from self.problems_of_name(header, section, named)

    def violations(self):
        return [f"{header}: {problem}" for header in self.texts if header.endswith(".h") for problem in self.problems(header)]


GOOD = (" *   From:     util/buf.c, json/scan.c, json/,", " *             json/s*.c   (io)",
        " *   To:       <kinformer/error.h>, util/buf_parts.h", " *   Not here: and/or {a, b}")

# Text of a signpost in src/util/buf.h, and the problem it has.
BAD = (("From:     json/read.c", "json/read.c does not use it"), ("From:     json/none.c", "there is no json/none.c"),
       ("From:     json/scan.c,\n *             json/read.c", "json/read.c does not use it"),
       ("From:     scan.c", "from src/ on"), ("From:     api/", "api/ does not use it"), ("From:     none/", "there is no none/"),
       ("From:     json/{scan,read}.c", "without braces"), ("From:     json", "names no file"), ("Locks:    none", "names no file"),
       ("From:     util/buf.c", "omits json/"), ("To:       none/", "there is no none/"), ("Not here: none (json/none.h)", "there is no json/none.h"),
       ("To:       <kinformer/none.h>", "there is no <kinformer/none.h>"))

# The same in a header of the tests, which src/ is not allowed to name.
BAD_IN_TESTS = (("From:     test_none.c", "there is no test_none.c"), ("From:     unit/test_scan.c", "does not use it"),
                ("From:     tests/unit/none/", "there is no tests/unit/none/"))


def self_test(root):
    def write(file, *lines):
        (root / file).parent.mkdir(parents=True, exist_ok=True)
        (root / file).write_text("\n".join(lines) + "\n")

    def signpost(*lines, header="src/util/buf.h"):
        write(header, "/* buf - bytes.", " *", *lines, " */", "#define X")

    def expect(text, wanted):
        found = Tree(root).violations()
        if not any(wanted in line for line in found) if wanted else found:
            sys.exit(f"signposts: self-test: {text}: " + ("; ".join(found) or "was not refused"))

    write("include/kinformer/error.h", "")
    write("src/util/buf_parts.h", "/* parts", " *", " *   From:     util/buf.c", " */", '#include "util/buf.h"')
    write("src/util/buf.c", '#include "util/buf_parts.h"')
    write("src/json/scan.c", '#include "util/buf.h"')
    write("src/json/read.c", '#include "json/scan.h"')
    write("src/api/list.c", '#include "json/scan.h"')
    write("tests/unit/test_buf.c", '#include "support/rig.h"')
    write("tests/unit/test_scan.c", '#include "util/buf.h"')
    for text in BAD:
        signpost(" *   " + text[0])
        expect(*text)
    for good in ((" *   From:     all code that collects bytes",), GOOD):
        signpost(*good)
        expect("a good signpost", None)
    write("src/json/write.c", "    return ki_buf_put();")
    for text in (("From:     json/scan.c", "omits json/write.c"), ("From:     json/scan.c, json/write.c", None),
                 ("From:     json/, by callback, api/list.c", None), ("From:     json/, by callback, api/none.c", "no api/none.c")):
        signpost(" *   " + text[0])
        path = root / "src/util/buf.h"
        path.write_text(path.read_text() + "KI_NODISCARD int ki_buf_put(void);\n")
        expect(*text)
    signpost(" *   From:     json/scan.c")
    for text in BAD_IN_TESTS:
        signpost(" *   " + text[0], header="tests/support/rig.h")
        expect(*text)
    for good in ("From:     unit/test_buf.c, tests/unit/", "From:     tests of bytes", "To:       rig.h"):
        signpost(" *   " + good, header="tests/support/rig.h")
        expect(good, None)


def main():
    folder = pathlib.Path(tempfile.mkdtemp())
    try:
        self_test(folder)
    finally:
        shutil.rmtree(folder)
    found = Tree(pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT).violations()
    for line in found:
        print(f"signposts: {line}", file=sys.stderr)
    sys.exit(1 if found else 0)


if __name__ == "__main__":
    main()
