#!/bin/sh
# Builds everything for 64-bit ARM and runs all suites under qemu, which is how the NEON kernel is tested on other
# machines. Slower than `make test` by far, and without sanitizers.
set -eu
cd "$(dirname "$0")/.."

scripts/arm64_sysroot.sh
exec scripts/test.sh arm64
