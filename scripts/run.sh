#!/bin/sh
# Runs what there is to see: `kinformer demo`. On a terminal until Ctrl-C; elsewhere it ends by itself after 20 s.
#
#   scripts/run.sh [FLAG ...]
set -eu
cd "$(dirname "$0")/.."
exec build/release/kinformer demo "$@"
