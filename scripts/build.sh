#!/bin/sh
# Configures (quietly) and builds a preset: scripts/build.sh PRESET [TARGET ...]
set -eu
cd "$(dirname "$0")/.."
preset=$1
shift

mkdir -p "build/$preset"
log=build/$preset/configure.log
if ! cmake --preset "$preset" >"$log" 2>&1; then
    cat "$log" >&2
    echo "build: configuring the preset $preset failed" >&2
    exit 1
fi
if [ $# -gt 0 ]; then
    cmake --build "build/$preset" --target "$@"
else
    cmake --build "build/$preset"
fi
