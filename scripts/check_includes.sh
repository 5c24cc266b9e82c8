#!/bin/sh
# Includes point downwards only: each room of src/ may use the rooms named here and no other, says which file
# it means from src/ on ("util/buf.h"), and takes public headers as <kinformer/...>.
#
#   scripts/check_includes.sh [SRC]     checks, after proving on a small tree that it can fail
set -eu
cd "$(dirname "$0")/.."

# "room: rooms it may include"; itself is allowed. Lower rooms first.
rules='
util:
json: util
metrics: util
config: util json
http: util config metrics
api: util json
cache: util json config http api metrics
rest: util json http api cache metrics
workqueue: util metrics
controller: util json api cache rest workqueue metrics
apiserver: util
cli:
'

# Prints one line a violation.
violations() {
    ( cd "$1" && find . -type f \( -name '*.c' -o -name '*.h' -o -name '*.inc' \) | sort |
        xargs grep -nE '^[[:space:]]*#[[:space:]]*include[[:space:]]*"' /dev/null ) |
    awk -v rules="$rules" '
        BEGIN {
            n = split(rules, lines, "\n")
            for (i = 1; i <= n; i++) {
                if (split(lines[i], part, ":") < 2) continue
                room = part[1]; known[room] = 1; allowed[room, room] = 1
                m = split(part[2], names, " ")
                for (j = 1; j <= m; j++) allowed[room, names[j]] = 1
            }
        }
        {
            split($0, field, ":")
            file = field[1]; sub(/^\.\//, "", file)
            room = file; sub(/\/.*/, "", room)
            target = $0; sub(/^[^"]*"/, "", target); sub(/".*/, "", target)
            where = file ":" field[2] ": \"" target "\""
            if (!(room in known)) { print where ": " room "/ has no rule in scripts/check_includes.sh"; next }
            if (target !~ /^[a-z]+\/[^.]/) { print where ": name it from src/ on, as \"util/buf.h\""; next }
            to = target; sub(/\/.*/, "", to)
            if (!((room, to) in allowed)) print where ": " room "/ may not use " to "/"
        }'
}

expect_violation() {
    printf '%s\n' "$3" >"$tree/$2"
    found=$(violations "$tree")
    rm "$tree/$2"
    case $found in
    *"$1"*) ;;
    *) echo "includes: self-test: $3 in $2 was not refused" >&2; exit 1 ;;
    esac
}

self_test() {
    tree=$(mktemp -d)
    trap 'rm -rf "$tree"' EXIT
    mkdir "$tree/util" "$tree/json" "$tree/apiserver" "$tree/cli" "$tree/other"
    echo '#include "util/buf.h"' >"$tree/json/good.c"
    [ -z "$(violations "$tree")" ] || { echo "includes: self-test: a good tree was refused" >&2; exit 1; }
    expect_violation 'util/ may not use json/' util/bad.c '#include "json/scan.h"'
    expect_violation 'apiserver/ may not use json/' apiserver/bad.h '  #  include "json/scan.h"'
    expect_violation 'cli/ may not use util/' cli/bad.c '#include "util/buf.h"'
    expect_violation 'from src/ on' json/bad.c '#include "scan.h"'
    expect_violation 'from src/ on' json/bad.c '#include "../util/buf.h"'
    expect_violation 'has no rule' other/bad.c '#include "util/buf.h"'
}

self_test
found=$(violations "${1-src}")
if [ -n "$found" ]; then
    echo "$found" | sed 's/^/includes: /' >&2
    exit 1
fi
