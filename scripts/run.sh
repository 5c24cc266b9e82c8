#!/bin/sh
# Runs what there is to see: the example that decodes a recorded list of pods.
set -eu
cd "$(dirname "$0")/.."

program=build/release/examples/decode
if [ ! -x "$program" ]; then
    echo "run: nothing to run yet: examples/decode.c is not there" >&2
    exit 1
fi
exec "$program" tests/fixtures/pods-list.http
