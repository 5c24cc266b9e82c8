#!/bin/sh
# Writes the declarations of the public headers without attributes and standard headers, as cffi and LuaJIT read them.
#
#   scripts/declarations.sh >FILE
set -eu
cd "$(dirname "$0")/.."

empty=$(mktemp -d)
trap 'rm -rf "$empty"' EXIT
touch "$empty/stddef.h" "$empty/stdint.h" "$empty/stdarg.h"
gcc -E -P -nostdinc -I"$empty" -Iinclude '-D__attribute__(x)=' include/kinformer.h
