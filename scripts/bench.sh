#!/bin/sh
# Runs the benchmarks of the preset `bench`, one after the other; arguments go to each of them.
#
#   scripts/bench.sh [--quick] [--pods N] [--seconds S]
#   BENCH="store pipeline"     only these
#
# All of them are run, whether or not one misses what it should reach; then it fails.
set -eu
cd "$(dirname "$0")/.."
code=0

for source in bench/bench_*.c; do
    name=$(basename "$source" .c)
    case " ${BENCH-${name#bench_}} " in
    *" ${name#bench_} "*)
        echo "== $name"
        build/bench/bench/"$name" "$@" || code=1 ;;
    esac
done
exit $code
