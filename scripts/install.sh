#!/bin/sh
# Installs build/release: scripts/install.sh DESTDIR PREFIX
set -eu
cd "$(dirname "$0")/.."
destdir=$1
prefix=$2

DESTDIR=$destdir cmake --install build/release --prefix "$prefix"
# The loader does not find a new library in its default directories before this.
if [ -z "$destdir" ] && [ "$(id -u)" -eq 0 ] && command -v ldconfig >/dev/null; then
    ldconfig
fi
