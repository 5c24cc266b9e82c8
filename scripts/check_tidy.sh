#!/bin/sh
# Runs clang-tidy on every source of src/ that is compiled here; one process per file. Uses the flags of the
# debug build, so that the analyzer sees assertions.
set -eu
cd "$(dirname "$0")/.."
build=build/debug

mkdir -p $build
cmake --preset debug >$build/configure.log 2>&1 || { cat $build/configure.log >&2; exit 1; }
files=$(grep -o '"file": "[^"]*/src/[^"]*\.c"' $build/compile_commands.json | cut -d '"' -f 4 | sort -u)
[ -n "$files" ] || { echo "tidy: no sources in $build/compile_commands.json" >&2; exit 1; }

# stderr contains only the number of warnings in system headers.
if ! echo "$files" | xargs -n 1 -P "$(nproc)" sh -c '
        clang-tidy -p "$0" --quiet "$1" 2>/dev/null || { echo "tidy: $1" >&2; exit 1; }' $build; then
    echo "tidy: clang-tidy found problems" >&2
    exit 1
fi
