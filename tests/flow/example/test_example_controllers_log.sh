#!/bin/sh
# What the three controllers of examples/ print: which key has failed, what they wait for, who leads.
#
#   tests/flow/example/test_example_controllers_log.sh EXAMPLES PROGRAM SOURCE_FOLDER
set -eu
examples=$1
program=$2
sample=$3/examples/sample-controller
. "$(dirname "$0")/../support/example_server.sh"
pids=

end_controllers() {
    # shellcheck disable=SC2086  # words
    [ -z "$pids" ] || kill $pids 2>/dev/null || true
    for pid in $pids; do
        wait "$pid" || true
    done
    pids=
}
trap 'end_controllers; end_all' EXIT

# start NAME CONTROLLER ARGUMENT...: it writes to $work/NAME.
start() {
    name=$1
    controller=$2
    shift 2
    : >"$work/$name"
    "$examples/$controller" "$@" >>"$work/$name" 2>&1 &
    pids="$pids $!"
}

# expect NAME PATTERN
expect() {
    tries=0
    while ! grep -q "$2" "$work/$1"; do
        tries=$((tries + 1))
        [ $tries -lt 200 ] || { echo "$1 does not write \"$2\": $(cat "$work/$1")" >&2; exit 1; }
        sleep 0.1
    done
}

start_server "$program" --load "$sample/crd.yaml" --load "$sample/foo.yaml" \
    --fault status,on=write,code=500,path=/configmaps,times=1

start small small_controller "$url"
expect small '^controller: .* controller=settings key=[a-z-]*$'
end_controllers

# Nothing listens there.
mkfifo "$work/input"
: >"$work/loop"
"$examples/loop_controller" http://127.0.0.1:1 <"$work/input" >>"$work/loop" 2>&1 &
pids=$!
exec 4>"$work/input"
expect loop '^reflector: .* resource=namespaces'
echo >&4
expect loop '^waiting for namespaces'
exec 4>&-
wait "$pids" || { echo "loop_controller ends with $?" >&2; exit 1; }
pids=

start alone sample-controller --server "$url"
expect alone '^starting, --workers 2$'
end_controllers

start one sample-controller --server "$url" --leader-elect --leader-elect-identity one
expect one '^leading as one$'
start two sample-controller --server "$url" --leader-elect --leader-elect-identity two
expect two '^the leader is now one$'
! grep 'the leader is now' "$work/one"
