#!/bin/sh
# Runs all checks, even after a failure, and names those that failed.
set -u
cd "$(dirname "$0")/.."

failed=
step() {
    name=$1
    shift
    echo "== $name"
    "$@" || failed="$failed $name"
}

step gcc scripts/build.sh gcc all kinformer_cluster_tests
step clang scripts/build.sh clang all kinformer_cluster_tests
step format scripts/format.sh --check
step text scripts/check_text.sh
step tidy scripts/check_tidy.sh
step generated scripts/check_generated.sh
step layers scripts/check_layers.py --objects build/gcc
step signposts scripts/check_signposts.py
step headers scripts/check_headers.sh
step api scripts/check_api.py
step conventions scripts/check_conventions.py
step asserts scripts/count_asserts.sh --minimum 0.30
step bindings scripts/check_bindings.sh build/gcc/libkinformer.so
step symbols scripts/check_symbols.sh build/gcc/libkinformer.so
step symbols-apiserver scripts/check_symbols.sh build/gcc/libkinformer-apiserver.so
step abi scripts/check_abi.sh build/gcc

if [ -n "$failed" ]; then
    echo "lint: failed:$failed" >&2
    exit 1
fi
echo "lint: all checks passed"
