#!/usr/bin/env python3
"""Checks that every public function has a test, every public header an example that uses it, and that the table
"Call x thread" of docs/threading.md has every function.

A row of the table begins with names in backquotes: a full one, then further ones without the first words that they
share with it: `ki_informer_start`, `stop`. A name also covers those that begin with it: `ki_store_get` covers
ki_store_get_key. A * at its end matches anything."""
import glob
import os
import re
import sys

os.chdir(os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))


def without_comments(text):
    return re.sub(r"/\*.*?\*/|//[^\n]*", " ", text, flags=re.S)


def words_of(*patterns):
    words = set()
    for pattern in patterns:
        for path in glob.glob(pattern, recursive=True):
            with open(path, encoding="utf-8", errors="replace") as file:
                words |= set(re.findall(r"\b[Kk][Ii]_\w+", without_comments(file.read())))
    return words


def declared_in(path):
    """The functions of a header, and all other names that it declares."""
    with open(path, encoding="utf-8") as file:
        text = without_comments(file.read())
    code = re.sub(r"^[ \t]*#(?:.*\\\n)*.*$", "", text, flags=re.M)
    functions = [m.group(1) for m in re.finditer(r"\bKI_API\b[^;(]*?\b(ki_\w+)\s*\(", code)]
    others = set(re.findall(r"\b(?:KI_[A-Z0-9_]+|ki_\w+)\b", code)) - {"KI_API", "KI_NODISCARD", "KI_EXTERN_C_BEGIN"}
    return functions, others


def table_patterns():
    with open("docs/threading.md", encoding="utf-8") as file:
        text = file.read()
    section = text.split("\n## Call × thread\n", 1)[1].split("\n## ", 1)[0]
    for row in re.findall(r"^\| (`ki_.*?) \|", section, flags=re.M):
        full = None
        for name in re.findall(r"`([\w*]+)`", row):
            if name.startswith("ki_"):
                full = name
                yield {name}
            else:
                parts = full.split("_")
                yield {"_".join(parts[:i] + [name]) for i in range(2, len(parts))}


def is_in_table(function, patterns):
    return any(function == name or function.startswith(name + "_") or
               name.endswith("*") and function.startswith(name[:-1])
               for names in patterns for name in names)


def problems():
    tests = words_of("tests/**/*.c", "tests/**/*.cpp")
    examples = words_of("examples/**/*.c", "examples/**/*.h")
    patterns = list(table_patterns())
    count = 0
    for path in sorted(glob.glob("include/kinformer/*.h")):
        functions, others = declared_in(path)
        count += len(functions)
        if not set(functions or others) & examples:
            yield f"no example uses <{path[len('include/'):]}>"
        for function in functions:
            if function not in tests:
                yield f"{function}() has no test"
            if not is_in_table(function, patterns):
                yield f"{function}() is not in the table of docs/threading.md"
    if count < 300:
        yield f"only {count} functions were found in include/"


found = list(problems())
for problem in found:
    print("api: " + problem, file=sys.stderr)
sys.exit(1 if found else 0)
