#!/bin/sh
# Assertions per function, by folder: scripts/count_asserts.sh [DIRECTORY ...]
# Without a directory: all of src/, with lines for the library, the API server and the command, and their total.
# A function is a brace that stands alone in the first column, as .clang-format has it; an assertion is a call of assert()
# or of one of the KI_ASSERT_ macros outside comments and #defines.
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
