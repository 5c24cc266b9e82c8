#!/bin/sh
# Builds a control plane from the Go module proxy, starts it on loopback in its own directory, runs the tests
# of tests/cluster against it, and stops it.
#
#   scripts/test_cluster.sh [PRESET]
#
# Exit status: 0 when all passed; 1 on failure; 77 when there is no control plane to test with, after a line
#              that says why.
set -eu
cd "$(dirname "$0")/.."
preset=${1-release}
go_minor_min=26
build_seconds_max=1200
program=$PWD/build/cluster/controlplane
log=$PWD/build/cluster/build.log

not_run() {
    echo "cluster tests not run: $*"
    exit 77
}

go_version=$(go env GOVERSION 2>/dev/null || true)
[ -n "$go_version" ] || not_run "there is no Go"
minor=$(echo "$go_version" | sed -nE 's/^go1\.([0-9]+).*/\1/p')
[ "${minor:-0}" -ge $go_minor_min ] || not_run "Go is $go_version, and 1.$go_minor_min is needed"

# Some minutes the first time, seconds from Go's cache.
build_controlplane() {
    cd tests/cluster/controlplane
    timeout $build_seconds_max go build -trimpath -ldflags '-s -w' -o "$program" .
}

mkdir -p build/cluster
echo "cluster: building the control plane ($go_version); the first time takes minutes"
status=0
(build_controlplane) >"$log" 2>&1 || status=$?
if [ $status -ne 0 ]; then
    tail -n 20 "$log" >&2
    [ $status -ne 124 ] || not_run "building it has taken more than $build_seconds_max s"
    # Without the packages there is nothing to test; any other failure is an error.
    if grep -qE 'dial tcp|no such host|timeout|TLS|connection re(fused|set)|module lookup disabled|: 5[0-9][0-9] ' "$log"; then
        not_run "no connection to where Go gets modules from"
    fi
    echo "cluster: the control plane cannot be built" >&2
    exit 1
fi

scripts/build.sh "$preset" kinformer_cluster_tests

KI_CONTROLPLANE=$PWD/tests/cluster/controlplane.sh
KI_CLUSTER=$(mktemp -d)
KI_EXAMPLES=$PWD/build/$preset/examples
KI_EXAMPLE_SOURCES=$PWD/examples
PATH=$KI_CLUSTER/bin:$PATH
export KI_CONTROLPLANE KI_CLUSTER KI_EXAMPLES KI_EXAMPLE_SOURCES PATH
test_pid=

# Ports first: a server that a killed test was still starting finds none, and exits.
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
    # A shell hears of a signal while it waits, and not while a program runs.
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
