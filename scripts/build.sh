#!/bin/sh
# Configures (quietly) and builds the given presets.
set -eu
cd "$(dirname "$0")/.."

for preset in "$@"; do
    mkdir -p "build/$preset"
    log=build/$preset/configure.log
    if ! cmake --preset "$preset" >"$log" 2>&1; then
        cat "$log" >&2
        echo "build: configuring the preset $preset failed" >&2
        exit 1
    fi
    cmake --build "build/$preset"
done
