#!/bin/sh
# Formats all C and C++ files that we wrote; with --check says which ones are not formatted.
set -eu
cd "$(dirname "$0")/.."

files=$(find include src tests fuzz bench examples -type f \
    \( -name '*.c' -o -name '*.h' -o -name '*.cpp' -o -name '*.hpp' \) 2>/dev/null | sort)
[ -n "$files" ] || { echo "format: no files found" >&2; exit 1; }

if [ "${1-}" != --check ]; then
    echo "$files" | xargs clang-format -i
    exit 0
fi
unformatted=$(echo "$files" | while read -r file; do
    clang-format --dry-run --Werror "$file" 2>/dev/null || echo "format: $file"
done)
if [ -n "$unformatted" ]; then
    echo "$unformatted" >&2
    echo "format: not as .clang-format wants it; run: make format" >&2
    exit 1
fi
