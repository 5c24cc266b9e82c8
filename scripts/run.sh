#!/bin/sh
# Runs what there is to see: an informer that follows a recorded list and watch of pods.
set -eu
cd "$(dirname "$0")/.."

program=build/release/examples/replay
if [ ! -x "$program" ]; then
    echo "run: nothing to run yet: examples/replay.c is not there" >&2
    exit 1
fi
exec "$program" tests/fixtures/pods-list.http tests/fixtures/pods-watch.http
