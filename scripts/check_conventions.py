#!/usr/bin/env python3
"""Checks that the declarations in the public headers follow the rules that keep the interface uniform:

- no member or parameter has a name that is a keyword in C++, Lua, Python or Rust;
- every struct has reserved words at its end, or is listed below with the reason why it cannot grow;
- `user` is the last parameter; no function has "_with" in its name;
- a function that only reads has a pointer to const as its first parameter.
"""
import glob
import keyword
import os
import re
import sys

os.chdir(os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))

KEYWORDS = {
    "C++": """alignas alignof and and_eq asm auto bitand bitor bool break case catch char char16_t char32_t char8_t
        class co_await co_return co_yield compl concept const const_cast consteval constexpr constinit continue
        decltype default delete do double dynamic_cast else enum explicit export extern false float for friend goto if
        inline int long mutable namespace new noexcept not not_eq nullptr operator or or_eq private protected public
        register reinterpret_cast requires return short signed sizeof static static_assert static_cast struct switch
        template this thread_local throw true try typedef typeid typename union unsigned using virtual void volatile
        wchar_t while xor xor_eq""".split(),
    "Lua": """and break do else elseif end false for function goto if in local nil not or repeat return then true until
        while""".split(),
    "Python": keyword.kwlist,
    "Rust": """Self abstract as async await become box break const continue crate do dyn else enum extern false final fn
        for gen if impl in let loop macro match mod move mut override priv pub ref return self static struct super trait
        true try type typeof unsafe unsized use virtual where while yield""".split(),
}

WITHOUT_RESERVE = {
    "ki_str": "a pointer and a length, passed by value",
    "ki_json": "a ki_str with another type, passed by value",
    "ki_json_iter": "a position, returned by value",
    "ki_log_field": "a name and a value; an element of an array",
    "ki_log_record": "made by the library alone, which may add members at the end",
    "ki_deltas": "made by the library alone, which may add members at the end",
    "ki_status_cause": "as in metav1.StatusCause; an element of an array",
}

READING = (r"_(peek|copy|walk|list|len|count|bytes|holder|last_resource_version|timeout_ms|read_\w+|has_\w+|is_\w+|num_\w+)"
           "(_key|_one|_index|_keys|_values|_n)*$")


def declarations(path):
    with open(path, encoding="utf-8") as file:
        text = re.sub(r"/\*.*?\*/", " ", file.read(), flags=re.S)
    return re.sub(r"^[ \t]*#(?:.*\\\n)*.*$", "", text, flags=re.M)


def last_word(declaration):
    """The name in "const char *const *keep", "char message[480]", "void (*on_release)(void *user)"."""
    pointer = re.search(r"\(\*(\w+)\)", declaration)
    return pointer.group(1) if pointer else re.sub(r"\[.*", "", declaration).split()[-1].lstrip("*")


def names_keyword(where, name):
    for language, words in KEYWORDS.items():
        if name in words:
            yield f"{where}: {name} is a keyword in {language}"


def check_struct(name, body):
    members = [member.strip() for member in body.split(";") if member.strip()]
    for member in members:
        yield from names_keyword(name, last_word(member))
    has_reserve = any(last_word(member) == "reserved" for member in members)
    if has_reserve == (name in WITHOUT_RESERVE):
        yield f"{name}: reserved words, or a reason in scripts/check_conventions.py, but not both"


def check_parameters(name, text):
    outer = re.sub(r"\([^()]*\)(?=\s*[,)]|$)", "", text).split(",")
    parameters = [last_word(one) for one in outer if one.strip() not in ("", "void")]
    for parameter in parameters:
        yield from names_keyword(name, parameter)
    if "user" in parameters and parameters[-1] != "user":
        yield f"{name}: user is not the last parameter"


def check_function(name, text):
    yield from check_parameters(name, text)
    if re.search(r"_with(_|$)", name):
        yield f"{name}: a name without _with says the same"
    first = text.split(",")[0]
    if re.search(READING, name) and "*" in first and "const " not in first:
        yield f"{name}: only reads, so its first parameter points to const"


def problems():
    structs = functions = 0
    for path in sorted(glob.glob("include/kinformer/*.h")):
        text = declarations(path)
        for name, body in re.findall(r"struct (ki_\w+) \{(.*?)\n\}", text, flags=re.S):
            structs += 1
            yield from check_struct(name, body)
        for name, parameters in re.findall(r"\(\*(\w+)\)\(([^()]*(?:\([^()]*\)[^()]*)*)\)", text):
            yield from check_parameters(name, parameters)
        for name, parameters in re.findall(r"\bKI_API\b[^;(]*?\b(ki_\w+)\(((?:[^()]|\([^()]*\))*)\)", text):
            functions += 1
            yield from check_function(name, parameters)
    if structs < 60 or functions < 300:
        yield f"only {structs} structs and {functions} functions were found in include/"


found = list(problems())
for problem in found:
    print("conventions: " + problem, file=sys.stderr)
sys.exit(1 if found else 0)
