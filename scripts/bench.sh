#!/bin/sh
# Runs the benchmarks of the preset `bench`, one after the other; arguments go to each of them.
#
#   scripts/bench.sh [--quick] [--pods N] [--seconds S]
#   BENCH="store pipeline"     only these
#
# All benchmarks are run, even if one fails its check; then the script fails.
#
# If Go is installed, client-go is measured too: its work queue in bench_workqueue, its protobuf decoder in bench_proto, its
# informer in bench_http. Lookups from LuaJIT and Python (BENCH=bindings) need LuaJIT and cffi.
set -eu
cd "$(dirname "$0")/.."
code=0

case " ${BENCH-workqueue} " in
*" workqueue "*)
    if command -v go >/dev/null &&
        (cd tests/clients/go && go build -o ../../../build/bench/go_workqueue ./workqueue) 2>/dev/null; then
        export KI_GO_WORKQUEUE="$PWD/build/bench/go_workqueue"
    else
        echo "bench: client-go's work queue is left out: it cannot be built here"
    fi ;;
esac

case " ${BENCH-proto} " in
*" proto "*)
    if command -v go >/dev/null &&
        (cd scripts/tables && go build -o ../../build/bench/go_tables .) 2>/dev/null; then
        export KI_GO_TABLES="$PWD/build/bench/go_tables"
    else
        echo "bench: client-go's protobuf decoder is left out: it cannot be built here"
    fi ;;
esac

case " ${BENCH-http} " in
*" http "*)
    if command -v go >/dev/null &&
        (cd tests/clients/go && go build -o ../../../build/bench/go_watch ./watch) 2>/dev/null; then
        export KI_GO_WATCH="$PWD/build/bench/go_watch"
    else
        echo "bench: client-go's informer is left out: it cannot be built here"
    fi ;;
esac

for source in bench/bench_*.c; do
    name=$(basename "$source" .c)
    case " ${BENCH-${name#bench_}} " in
    *" ${name#bench_} "*)
        echo "== $name"
        build/bench/bench/"$name" "$@" || code=1 ;;
    esac
done

lookups() { # $1: an interpreter, $2: a script
    echo "== $2"
    "$1" "$2" build/bench/libkinformer.so "$declarations" || code=1
}

case " ${BENCH-bindings} " in
*" bindings "*)
    declarations=$(mktemp)
    trap 'rm -f "$declarations"' EXIT
    scripts/declarations.sh >"$declarations"
    if luajit -v >/dev/null 2>&1; then
        lookups luajit bench/bindings/lookups.lua
    else
        echo "bench: lookups from LuaJIT are left out: it is not installed"
    fi
    if python3 -c 'import cffi' 2>/dev/null; then
        lookups python3 bench/bindings/lookups.py
    else
        echo "bench: lookups from Python are left out: cffi is not installed"
    fi ;;
esac
exit $code
