#!/bin/sh
# Measures first lists of pods on a real kube-apiserver, over TLS on loopback: kinformer, client-go's informer and
# a download that is discarded, as JSON and as protobuf; one table with the CPU time and memory of both
# sides, and one with the ratios and their goals.
#
#   PODS=20000 ROUNDS=5 bench/real.sh [FLAGS]     FLAGS: -at-once 20, -only "default,download"
#
# The control plane is that of scripts/test_cluster.sh. Nothing else should run on the machine.
# Exit status: 0; 1 on failure; 77 when there is no control plane, after a line that says why.
set -eu
cd "$(dirname "$0")/.."
pods=${PODS-20000}
rounds=${ROUNDS-5}
real=$PWD/build/cluster/real
pods_folder=$PWD/build/cluster/pods

scripts/build_controlplane.sh
(cd tests/cluster/controlplane && go build -trimpath -o "$real" ./real)
scripts/build.sh bench kinformer_program generate_pods list_pods download

KI_CLUSTER=$(mktemp -d)
export KI_CLUSTER
controlplane=$PWD/tests/cluster/controlplane.sh
measure_pid=

end_all() {
    [ -z "$measure_pid" ] || kill "$measure_pid" || true
    "$controlplane" stop || true
    rm -rf "$KI_CLUSTER"
}
trap end_all EXIT
trap 'exit 1' HUP INT TERM

list=$(build/bench/bench/generate_pods --pods "$pods" --dir "$pods_folder" | head -n 1)
"$controlplane" prepare "$PWD/build/cluster/controlplane"
. "$KI_CLUSTER/ports"
"$controlplane" start etcd
"$real" load "http://127.0.0.1:$etcd_port" "$list"
"$controlplane" start kube-apiserver

# A shell handles a signal while it waits, but not while a program runs in the foreground.
"$real" measure -kubeconfig "$KI_CLUSTER/admin.kubeconfig" -rounds "$rounds" -pods "$pods" \
    -kinformer build/bench/kinformer -list-pods build/bench/bench/list_pods \
    -download build/bench/bench/download \
    -apiserver "$(cat "$KI_CLUSTER/kube-apiserver.pid")" -etcd "$(cat "$KI_CLUSTER/etcd.pid")" "$@" &
measure_pid=$!
status=0
wait $measure_pid || status=$?
measure_pid=
exit $status
