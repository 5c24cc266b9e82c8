#!/bin/sh
# Installs what build/release holds: scripts/install.sh DESTDIR PREFIX
set -eu
cd "$(dirname "$0")/.."
destdir=$1
prefix=$2

DESTDIR=$destdir cmake --install build/release --prefix "$prefix"
# The loader finds a new library in its default directories only after this.
if [ -z "$destdir" ] && [ "$(id -u)" -eq 0 ] && command -v ldconfig >/dev/null; then
    ldconfig
fi
