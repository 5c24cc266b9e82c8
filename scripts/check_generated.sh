#!/bin/sh
# Checks that generated files are up to date.
set -eu
cd "$(dirname "$0")/.."
python3 scripts/generate_resources.py --check
python3 scripts/generate_apiserver_resources.py --check
python3 scripts/generate_schemas.py --check
python3 scripts/make_pictures.py --check

# The tables of protobuf come from Kubernetes' Go types, so this needs Go and its module proxy.
if ! command -v go >/dev/null; then
    echo "generated: src/proto/messages_table.c is not checked: there is no Go"
    exit 0
fi
program=build/tables
mkdir -p build
if (cd scripts/tables && go build -o ../../$program .) >build/tables.log 2>&1; then
    $program check src/proto/messages_table.c
elif grep -qE 'dial tcp|no such host|timeout|TLS|connection re(fused|set)|module lookup disabled|requires go|: 5[0-9][0-9] ' build/tables.log; then
    echo "generated: src/proto/messages_table.c is not checked: its program cannot be built here"
else
    cat build/tables.log >&2
    exit 1
fi
