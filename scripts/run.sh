#!/bin/sh
# Runs `kinformer demo`: on a terminal until Ctrl-C, otherwise for 20 s.
#
#   scripts/run.sh [FLAG ...]
set -eu
cd "$(dirname "$0")/.."
exec build/release/kinformer demo "$@"
