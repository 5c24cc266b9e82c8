#!/bin/sh
# Assertions per function, by folder: scripts/count_asserts.sh [--minimum RATIO] [DIRECTORY ...]
# Without a directory: all of src/, with lines for the library, the API server and the command, and their total.
# With a minimum: only the total. Fails if it is lower, after a self-test.
# A function is a brace alone in the first column, as .clang-format places it. An assertion is a call of assert() or of
# one of the KI_ASSERT_ macros outside comments and #defines.
set -eu
cd "$(dirname "$0")/.."

count() {
    name=$1
    shift
    files=$(find "$@" -name '*.c' -o -name '*.h' | sort)
    # shellcheck disable=SC2086
    cat $files | awk -v name="$name" '
        /^\{$/ { functions++ }
        /^#define/ || /^ \*/ || /^\/\*/ { next }
        { line = $0; asserts += gsub(/(^|[^a-z_])(assert|KI_ASSERT_[A-Z_]+)\(/, "", line) }
        END { printf "%-24s %5d functions %5d assertions  %.2f\n", name, functions, asserts, asserts / functions }'
}

# Reads a line of count(): is_enough MINIMUM
is_enough() { awk -v minimum="$1" '{ exit $NF >= minimum ? 0 : 1 }'; }

self_test() {
    tree=$(mktemp -d)
    trap 'rm -rf "$tree"' EXIT
    printf 'int f(int a)\n{\n    assert(a);\n}\nint g(void)\n{\n}\n' >"$tree/half.c"
    count half "$tree" | is_enough 0.50 || { echo "asserts: self-test: enough assertions were refused" >&2; exit 1; }
    ! count half "$tree" | is_enough 0.51 || { echo "asserts: self-test: too few were not refused" >&2; exit 1; }
}

if [ "${1-}" = --minimum ]; then
    minimum=$2
    shift 2
    self_test
    total=$(count total "${@:-src}")
    echo "$total"
    echo "$total" | is_enough "$minimum" || { echo "asserts: fewer than $minimum assertions per function" >&2; exit 1; }
    exit 0
fi
if [ $# -gt 0 ]; then
    count "$1" "$@"
    exit 0
fi
# Prints a line for each of several folders, and one for all of them: count_part NAME DIRECTORY ...
count_part() {
    part=$1
    shift
    if [ $# -gt 1 ]; then
        for directory in "$@"; do
            count "$directory" "$directory"
        done
    fi
    count "$part" "$@"
    echo
}
# shellcheck disable=SC2046
count_part library $(find src -mindepth 1 -maxdepth 1 -type d ! -name apiserver ! -name cli | sort)
# shellcheck disable=SC2046
count_part apiserver $(find src/apiserver -mindepth 1 -maxdepth 1 -type d | sort)
count_part cli src/cli
count total src
