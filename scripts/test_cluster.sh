#!/bin/sh
# Builds a control plane from the Go module proxy, starts it on loopback in its own directory, runs the tests
# of tests/cluster against it, and stops it.
#
#   scripts/test_cluster.sh [PRESET]
#
# Exit status: 0 when all passed; 1 on failure; 77 when there is no control plane to test with, with the
#              reason printed.
set -eu
cd "$(dirname "$0")/.."
preset=${1-release}
program=$PWD/build/cluster/controlplane

scripts/build_controlplane.sh
scripts/build.sh "$preset" kinformer_cluster_tests

KI_CONTROLPLANE=$PWD/tests/cluster/controlplane.sh
KI_CLUSTER=$(mktemp -d)
KI_EXAMPLES=$PWD/build/$preset/examples
KI_EXAMPLE_SOURCES=$PWD/examples
PATH=$KI_CLUSTER/bin:$PATH
export KI_CONTROLPLANE KI_CLUSTER KI_EXAMPLES KI_EXAMPLE_SOURCES PATH
test_pid=

# The list of ports is removed first: a server that a killed test was still starting finds no port, and exits.
end_all() {
    [ -z "$test_pid" ] || kill -KILL "$test_pid" || true
    rm -f "$KI_CLUSTER/ports"
    "$KI_CONTROLPLANE" stop || true
    rm -rf "$KI_CLUSTER"
}
trap end_all EXIT
trap 'exit 1' HUP INT TERM

# Each test program gets a fresh control plane.
run_test() {
    "$KI_CONTROLPLANE" prepare "$program"
    "$KI_CONTROLPLANE" start etcd
    "$KI_CONTROLPLANE" start kube-apiserver
    "$KI_CONTROLPLANE" start kube-controller-manager
    # A shell handles a signal while it waits, but not while a foreground program runs.
    "$1" &
    test_pid=$!
    status=0
    wait $test_pid || status=$?
    test_pid=
    "$KI_CONTROLPLANE" stop
    [ $status -eq 0 ] || cp "$KI_CLUSTER"/*.log build/cluster/
    rm -rf "${KI_CLUSTER:?}"/*
    return $status
}

start=$(date +%s)
failed=
for test in "build/$preset/cluster"/test_*; do
    run_test "$test" || failed="$failed $(basename "$test")"
done
if [ -n "$failed" ]; then
    echo "cluster: failed:$failed; the logs of the control plane are in build/cluster" >&2
    exit 1
fi
echo "cluster: all passed, $(($(date +%s) - start)) s"
