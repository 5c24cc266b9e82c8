#!/bin/sh
# The program in docs/controllers.md is examples/small_controller.c, and has no more than 75 lines.
#
#   tests/flow/example/test_example_docs.sh SOURCE_FOLDER
set -eu
example=$1/examples/small_controller.c
work=$(mktemp)
trap 'rm -f "$work"' EXIT
sed -n '/^```c$/,/^```$/p' "$1/docs/controllers.md" | sed -e 1d -e '/^```$/,$d' >"$work"
diff "$example" "$work"
lines=$(wc -l <"$example")
if [ "$lines" -gt 75 ]; then
    echo "$example has $lines lines" >&2
    exit 1
fi
