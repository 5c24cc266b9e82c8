#!/bin/sh
# Assertions per function, by folder: scripts/count_asserts.sh [DIRECTORY ...]   (all of src/ but apiserver/ and cli/)
# A function is a brace that stands alone in the first column, as .clang-format has it; an assertion is a call of assert()
# or of one of the KI_ASSERT_ macros outside comments and #defines.
set -eu
cd "$(dirname "$0")/.."

count() {
    files=$(find "$@" -name '*.c' -o -name '*.h' | sort)
    # shellcheck disable=SC2086
    cat $files | awk -v name="$1" '
        /^\{$/ { functions++ }
        /^#define/ || /^ \*/ || /^\/\*/ { next }
        { line = $0; asserts += gsub(/(^|[^a-z_])(assert|KI_ASSERT_[A-Z_]+)\(/, "", line) }
        END { printf "%-16s %5d functions %5d assertions  %.2f\n", name, functions, asserts, asserts / functions }'
}

if [ $# -gt 0 ]; then
    count "$@"
    exit 0
fi
all=$(find src -mindepth 1 -maxdepth 1 -type d ! -name apiserver ! -name cli | sort)
for directory in $all; do
    count "$directory"
done
# shellcheck disable=SC2086
set -- $all
echo "all of these:"
count "$@"
