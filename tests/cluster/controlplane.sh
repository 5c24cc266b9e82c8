#!/bin/sh
# Starts and stops the parts of the control plane in $KI_CLUSTER, a folder that `prepare` fills.
#
#   controlplane.sh prepare PROGRAM     writes keys, tokens, kubeconfigs and unused ports of 127.0.0.1
#   controlplane.sh start PART          starts it, and returns when it answers
#   controlplane.sh kill PART           kills it, and returns when it has ended
#   controlplane.sh compact             compacts the history of etcd up to now
#   controlplane.sh forget              deletes the data of etcd, which must not be running
#   controlplane.sh stop                stops all parts, by their process ids
#
# PART is etcd, kube-apiserver or kube-controller-manager. A part's process id is in PART.pid.
set -eu
cluster=${KI_CLUSTER:?names the folder of the control plane}
program=$cluster/bin/controlplane
pause=0.1

fail() {
    echo "controlplane: $*" >&2
    exit 1
}

# ---- files ----

write_kubeconfig() {
    cat >"$cluster/$1.kubeconfig" <<END
apiVersion: v1
kind: Config
clusters: [{name: local, cluster: {server: "https://127.0.0.1:$apiserver_port", certificate-authority: certs/apiserver.crt}}]
users: [{name: $1, user: {token: $2}}]
contexts: [{name: local, context: {cluster: local, user: $1}}]
current-context: local
END
}

prepare() {
    mkdir -p "$cluster/bin" "$cluster/certs"
    ln -sf "$1" "$program"
    printf '#!/bin/sh\nexec "%s" kubectl --kubeconfig "%s" "$@"\n' \
        "$program" "$cluster/admin.kubeconfig" >"$cluster/bin/kubectl"
    chmod +x "$cluster/bin/kubectl"
    # shellcheck disable=SC2046  # one word a port
    set -- $("$program" free-ports 3)
    printf 'etcd_port=%s\npeer_port=%s\napiserver_port=%s\n' "$@" >"$cluster/ports"
    . "$cluster/ports"
    "$program" key "$cluster/service-account.key"
    printf 'admin-token,admin,1,system:masters\nbob-token,bob,2\n' >"$cluster/tokens.csv"
    # Only the requests of the sample-controller's account are logged.
    printf '%s\n' 'apiVersion: audit.k8s.io/v1' 'kind: Policy' 'omitStages: [RequestReceived]' 'rules:' \
        '- {level: Metadata, users: ["system:serviceaccount:sample-controller:sample-controller"]}' \
        '- {level: None}' >"$cluster/audit.yaml"
    write_kubeconfig admin admin-token
    write_kubeconfig bob bob-token
}

# ---- processes ----

# A zombie process has no executable any more.
runs() {
    [ -e "$cluster/$1.pid" ] && [ -n "$(readlink "/proc/$(cat "$cluster/$1.pid")/exe")" ]
}

start() {
    part=$1
    shift
    ! runs "$part" || fail "$part is already running"
    "$program" "$part" "$@" </dev/null >>"$cluster/$part.log" 2>&1 &
    echo $! >"$cluster/$part.pid"
}

# Half a minute is much more than any part needs, even on a busy machine.
wait_until() {
    part=$1
    shift
    tries=0
    until "$@" >/dev/null 2>&1; do
        runs "$part" || fail "$part has ended: $(tail -n 3 "$cluster/$part.log")"
        tries=$((tries + 1))
        [ $tries -lt 300 ] || fail "$part is not ready: $(tail -n 3 "$cluster/$part.log")"
        sleep $pause
    done
}

end() {
    ! runs "$1" || kill -KILL "$(cat "$cluster/$1.pid")"
    while runs "$1"; do
        sleep $pause
    done
    rm -f "$cluster/$1.pid"
}

is_ready() {
    "$cluster/bin/kubectl" --request-timeout 5s get --raw /readyz
}

# ---- parts ----

start_etcd() {
    start etcd --name local --data-dir "$cluster/etcd" --unsafe-no-fsync --log-level warn \
        --listen-client-urls "$etcd" --advertise-client-urls "$etcd" \
        --listen-peer-urls "http://127.0.0.1:$peer_port" \
        --initial-advertise-peer-urls "http://127.0.0.1:$peer_port" \
        --initial-cluster "local=http://127.0.0.1:$peer_port"
    # kube-apiserver must run for the check; if it starts later, it waits for etcd itself.
    ! runs kube-apiserver || wait_until etcd is_ready
}

# With the service account plug-in, every pod would wait for an account that is never created.
start_apiserver() {
    start kube-apiserver --etcd-servers "$etcd" --bind-address 127.0.0.1 --secure-port "$apiserver_port" \
        --advertise-address 127.0.0.1 --endpoint-reconciler-type none --cert-dir "$cluster/certs" \
        --service-account-key-file "$cluster/service-account.key" \
        --service-account-signing-key-file "$cluster/service-account.key" \
        --service-account-issuer "https://127.0.0.1:$apiserver_port" \
        --token-auth-file "$cluster/tokens.csv" --authorization-mode RBAC \
        --service-cluster-ip-range 10.0.0.0/24 --disable-admission-plugins ServiceAccount \
        --audit-policy-file "$cluster/audit.yaml" --audit-log-path "$cluster/audit.log"
    wait_until kube-apiserver is_ready
}

start_controller_manager() {
    start kube-controller-manager --kubeconfig "$cluster/admin.kubeconfig" --leader-elect=false \
        --secure-port 0 --service-account-private-key-file "$cluster/service-account.key" \
        --controllers 'deployment-controller,replicaset-controller,namespace-controller,garbage-collector-controller,endpointslice-controller'
}

if [ -e "$cluster/ports" ]; then
    . "$cluster/ports"
fi
etcd=http://127.0.0.1:${etcd_port-}
case $* in
'prepare '*) prepare "$2" ;;
'start etcd') start_etcd ;;
'start kube-apiserver') start_apiserver ;;
'start kube-controller-manager') start_controller_manager ;;
'kill '*) end "$2" ;;
compact) "$program" compact "$etcd" ;;
forget)
    ! runs etcd || fail "etcd is running"
    rm -rf "$cluster/etcd" ;;
stop)
    for part in kube-controller-manager kube-apiserver etcd; do
        end "$part"
    done ;;
*) fail "unknown command: $*" ;;
esac
