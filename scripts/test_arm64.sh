#!/bin/sh
# Builds everything for 64-bit ARM and runs all suites under qemu, to test the NEON kernel on other machines.
# Much slower than `make test`, and without sanitizers.
set -eu
cd "$(dirname "$0")/.."

scripts/arm64_sysroot.sh
exec scripts/test.sh arm64
