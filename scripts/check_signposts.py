#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""An internal header opens with a signpost: From, To, Locks, Not here. The files and folders that it names exist, and
what stands behind From uses the header: it includes it, directly or through a header of the folder of either.

    scripts/check_signposts.py [SRC [INCLUDE]]      after proving on a small tree that it can fail
"""
import pathlib
import re
import shutil
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent

SECTION = re.compile(r" \*   (From|To|Locks|Not here): +(.*)")
CONTINUED = re.compile(r" \*    +(.*)")
INCLUDE = re.compile(r'^\s*#\s*include\s*"([^"]*)"', re.M)
# "util/buf.c", "cli/cmd_*.c", "config/" or a bare "buf.c"; <kinformer/json.h>.
INTERNAL = re.compile(r"(?<![\w/<.~-])((?:[a-z0-9_]+/)+(?:[a-z0-9_*]+\.(?:c|h|tsv|txt|inc)\b|(?![\w*]))|[a-z0-9_]+\.[ch]\b)")
PUBLIC = re.compile(r"<(kinformer(?:/\w+)?\.hp{0,2})>")


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


class Tree:
    def __init__(self, src, include):
        self.src, self.include = src, include
        paths = [path for path in sorted(src.rglob("*")) if path.suffix in (".c", ".h", ".inc")]
        self.texts = {path.relative_to(src).as_posix(): path.read_text() for path in paths}
        self.includes = {file: set(INCLUDE.findall(text)) for file, text in self.texts.items()}

    def uses(self, file, header):
        folders = {pathlib.PurePosixPath(name).parent for name in (file, header)}
        seen, waiting = set(), [file]
        while waiting:
            for target in self.includes.get(waiting.pop(), ()):
                if target == header:
                    return True
                if target not in seen and pathlib.PurePosixPath(target).parent in folders:
                    seen.add(target)
                    waiting.append(target)
        return False

    def files(self, named):
        """What a name stands for: a file, those of a pattern, or those below a folder."""
        pattern = named + "**/*" if named.endswith("/") else named
        return [path.relative_to(self.src).as_posix() for path in self.src.glob(pattern) if path.is_file()]

    def problems(self, header):
        sections = read_signpost(self.texts[header])
        for section, text in sections.items():
            for named in PUBLIC.findall(text):
                if not (self.include / named).exists():
                    yield f"{section}: there is no <{named}>"
            for named in INTERNAL.findall(text):
                files = self.files(named)
                if "/" not in named:
                    yield f'{section}: {named}: name it from src/ on, as "util/buf.c"'
                elif not files:
                    yield f"{section}: there is no {named}"
                elif section == "From" and not any(self.uses(file, header) for file in files if file != header):
                    yield f"From: {named} does not use it"

    def violations(self):
        return [f"{header}: {problem}" for header in self.texts if header.endswith(".h") for problem in self.problems(header)]


def self_test(folder):
    def write(file, *lines):
        (folder / file).parent.mkdir(parents=True, exist_ok=True)
        (folder / file).write_text("\n".join(lines) + "\n")

    def signpost(*lines):
        write("src/util/buf.h", "/* buf - bytes.", " *", *lines, " */", "#define X")

    def violations():
        return Tree(folder / "src", folder / "include").violations()

    write("include/kinformer/error.h", "")
    write("src/util/buf_parts.h", '#include "util/buf.h"')
    write("src/util/buf.c", '#include "util/buf_parts.h"')
    write("src/json/scan.c", '#include "util/buf.h"')
    write("src/json/read.c", '#include "json/scan.h"')
    signpost(" *   From:     util/buf.c, json/scan.c, json/,", " *             json/s*.c   (io)",
             " *   To:       <kinformer/error.h>, util/buf_parts.h", " *   Not here: and/or")
    if violations():
        sys.exit("signposts: self-test: a good signpost was refused: " + violations()[0])
    for text, wanted in (("From:     json/read.c", "json/read.c does not use it"), ("From:     json/none.c", "there is no json/none.c"),
                         ("From:     json/scan.c,\n *             json/read.c", "json/read.c does not use it"),
                         ("From:     scan.c", "from src/ on"), ("To:       none/", "there is no none/"),
                         ("Not here: none (json/none.h)", "there is no json/none.h"),
                         ("To:       <kinformer/none.h>", "there is no <kinformer/none.h>")):
        signpost(" *   " + text)
        if not any(wanted in line for line in violations()):
            sys.exit(f"signposts: self-test: {text} was not refused")


def main():
    folder = pathlib.Path(tempfile.mkdtemp())
    try:
        self_test(folder)
    finally:
        shutil.rmtree(folder)
    paths = [pathlib.Path(name) for name in sys.argv[1:]]
    tree = Tree(*(paths + [ROOT / "src", ROOT / "include"][len(paths):]))
    found = tree.violations()
    for line in found:
        print(f"signposts: src/{line}", file=sys.stderr)
    sys.exit(1 if found else 0)


if __name__ == "__main__":
    main()
