#!/bin/sh
# Writes src/proto/messages_table.c from the Go types of the release of Kubernetes that scripts/tables/go.mod names.
set -eu
cd "$(dirname "$0")/.."
mkdir -p build
(cd scripts/tables && go build -o ../../build/tables .)
build/tables write src/proto/messages_table.c
