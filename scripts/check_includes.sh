#!/bin/sh
# Includes point downwards only: each folder of src/ may use the folders named here and no other, says which file
# it means from src/ on ("util/buf.h"), and takes public headers as <kinformer/...>.
#
#   scripts/check_includes.sh [SRC]     checks, after proving on a small tree that it can fail
set -eu
cd "$(dirname "$0")/.."

# "folder: folders it may include"; itself is allowed. Lowest first, in the order of the data.
rules='
util:
util/loop: util
util/yaml: util
json: util
json/kernel: util json
metrics: util
api/resource: util json
api/object: util json api/resource
api/selector: util api/resource api/object
api/decode: util json api/resource api/object
config: util util/loop util/yaml json
http: util util/loop metrics config
client: util util/loop metrics config http
rest: util util/loop json metrics api/resource api/object api/decode http client
reflector: util util/loop json metrics api/resource api/object api/selector api/decode http client
store: util util/loop api/object api/selector
queue: util util/loop api/object client store
handler: util util/loop metrics api/object store
informer: util util/loop metrics api/resource api/object api/decode client reflector store queue handler
feed: util util/loop metrics api/object api/decode client reflector store queue
workqueue: util util/loop metrics
controller: util util/loop json metrics api/resource api/object client rest informer workqueue
apiserver/value: util util/yaml
apiserver/kind: util apiserver/value
apiserver/kind/data: apiserver/kind
apiserver/validate: util apiserver/value apiserver/kind
apiserver/patch: util apiserver/value apiserver/kind
apiserver/object: util apiserver/value apiserver/kind
apiserver/storage: util apiserver/value apiserver/kind apiserver/object
apiserver/request: util apiserver/value apiserver/kind apiserver/object
apiserver/verbs: util apiserver/value apiserver/kind apiserver/validate apiserver/patch apiserver/object apiserver/storage
apiserver/show: util apiserver/value apiserver/kind
apiserver/serve: util util/loop apiserver/value apiserver/kind apiserver/object apiserver/storage apiserver/request apiserver/verbs apiserver/show
cli:
cli/demo: cli
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
                folder = part[1]; known[folder] = 1; allowed[folder, folder] = 1
                m = split(part[2], names, " ")
                for (j = 1; j <= m; j++) allowed[folder, names[j]] = 1
            }
        }
        {
            split($0, field, ":")
            file = field[1]; sub(/^\.\//, "", file)
            folder = file; sub(/\/[^\/]*$/, "", folder)
            target = $0; sub(/^[^"]*"/, "", target); sub(/".*/, "", target)
            where = file ":" field[2] ": \"" target "\""
            if (!(folder in known)) { print where ": " folder "/ has no rule in scripts/check_includes.sh"; next }
            if (target !~ /^[a-z]+\/[^.]/) { print where ": name it from src/ on, as \"util/buf.h\""; next }
            to = target; sub(/\/[^\/]*$/, "", to)
            if (!((folder, to) in allowed)) print where ": " folder "/ may not use " to "/"
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
    mkdir -p "$tree/util" "$tree/json" "$tree/apiserver/value" "$tree/apiserver/patch" "$tree/cli" "$tree/other"
    echo '#include "util/buf.h"' >"$tree/json/good.c"
    [ -z "$(violations "$tree")" ] || { echo "includes: self-test: a good tree was refused" >&2; exit 1; }
    expect_violation 'util/ may not use json/' util/bad.c '#include "json/scan.h"'
    expect_violation 'apiserver/value/ may not use json/' apiserver/value/bad.h '  #  include "json/scan.h"'
    expect_violation 'apiserver/value/ may not use apiserver/patch/' apiserver/value/bad.c '#include "apiserver/patch/patch.h"'
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
