#!/bin/sh
# The program in docs/controllers.md is examples/small_controller.c, and has no more than 75 lines. The lines of
# sample-controller are as many as the table in its README says.
#
#   tests/flow/example/test_example_docs.sh SOURCE_FOLDER
set -eu
example=$1/examples/small_controller.c
sample=$1/examples/sample-controller
work=$(mktemp)
trap 'rm -f "$work"' EXIT

fail() {
    echo "$1" >&2
    exit 1
}

sed -n '/^```c$/,/^```$/p' "$1/docs/controllers.md" | sed -e 1d -e '/^```$/,$d' >"$work"
diff "$example" "$work"
lines=$(wc -l <"$example")
[ "$lines" -le 75 ] || fail "$example has $lines lines"

# The last column of each row: a number, then the files in backticks. The total has no files, and is bold.
sed -nE 's/^\|.*\| \**([0-9]+)\**( \(.*\))? \|$/\1 \2/p' "$sample/README.md" >"$work"
sum=0
total=0
while read -r said rest; do
    files=$(echo "$rest" | grep -o '`[^`]*`' | tr -d '`') || files=
    if [ -z "$files" ]; then
        total=$said
        continue
    fi
    # shellcheck disable=SC2086  # several patterns
    lines=$(cd "$sample" && cat $files | wc -l)
    [ "$said" -eq "$lines" ] || fail "$sample/README.md: $said lines instead of $lines: $rest"
    sum=$((sum + lines))
done <"$work"
lines=$(cat "$sample"/*.[ch] | wc -l)
[ "$total" -eq "$sum" ] || fail "$sample/README.md: $total lines in all, but the rows have $sum"
[ "$total" -eq "$lines" ] || fail "$sample/README.md: $total lines in all instead of $lines"
