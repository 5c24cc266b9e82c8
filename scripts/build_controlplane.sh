#!/bin/sh
# Builds a control plane from the Go module proxy: build/cluster/controlplane.
#
#   scripts/build_controlplane.sh
#
# Exit status: 0 when it is built; 1 on failure; 77 when it cannot be built here, after a line with the reason.
set -eu
cd "$(dirname "$0")/.."
go_minor_min=26
build_seconds_max=1200
program=$PWD/build/cluster/controlplane
log=$PWD/build/cluster/build.log

not_built() {
    echo "there is no control plane: $*"
    exit 77
}

go_version=$(go env GOVERSION 2>/dev/null || true)
[ -n "$go_version" ] || not_built "there is no Go"
minor=$(echo "$go_version" | sed -nE 's/^go1\.([0-9]+).*/\1/p')
[ "${minor:-0}" -ge $go_minor_min ] || not_built "Go is $go_version, and 1.$go_minor_min is needed"

# Takes minutes the first time, and seconds with Go's cache.
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
    [ $status -ne 124 ] || not_built "building it has taken more than $build_seconds_max s"
    # Without the packages there is nothing to build; any other failure is an error.
    if grep -qE 'dial tcp|no such host|timeout|TLS|connection re(fused|set)|module lookup disabled|: 5[0-9][0-9] ' "$log"; then
        not_built "no connection to where Go gets modules from"
    fi
    echo "cluster: the control plane cannot be built" >&2
    exit 1
fi
