#!/bin/sh
# Tests the embedded API server with third-party clients: kubectl, client-go's informer and leader election, the
# JavaScript informer, the Python client; and compares client-go's work queue and event correlator with ours.
#
#   scripts/test_clients.sh [kubectl] [go] [js] [python]     all four by default
#
# Go builds kubectl and the informer from its module proxy; without Go, a kubectl in $PATH is used. npm
# fetches the JavaScript client, pip the one for Python. All servers listen on loopback and are killed by
# process id.
# Exit status: 0 when all passed; 1 on failure; 77 when one could not be run, with the reason printed.
set -eu
cd "$(dirname "$0")/.."
[ $# -gt 0 ] || set -- kubectl go js python
preset=release
go_minor_min=26
python_minor_min=11
build_seconds_max=1200
folder=$PWD/build/clients
program=$folder/clients
no_connection='dial tcp|no such host|timeout|TLS|connection re(fused|set)|module lookup disabled|: 5[0-9][0-9] |ENOTFOUND|EAI_AGAIN|ECONNRE|ETIMEDOUT|ENETUNREACH|E5[0-9][0-9]|NewConnection|ConnectTimeout|name resolution|ProxyError|SSLError|Max retries|[Rr]ead timed out|ConnectionError|Client Error'
work=$(mktemp -d)
server_pid=
client_pid=

end_server() {
    [ -z "$server_pid" ] || kill "$server_pid" 2>/dev/null || true
    [ -z "$server_pid" ] || wait "$server_pid" || true
    server_pid=
}

end_all() {
    [ -z "$client_pid" ] || kill "$client_pid" 2>/dev/null || true
    end_server
    rm -rf "$work"
}
trap end_all EXIT
trap 'exit 1' HUP INT TERM

not_run() {
    echo "clients: $1 not run: $2"
    return 77
}

# ---- requirements ----

# get NAME LOG COMMAND...: 77 when a download fails; other failures are errors of this project
get() {
    what=$1
    log=$2
    shift 2
    status=0
    "$@" >"$log" 2>&1 || status=$?
    [ $status -ne 0 ] || return 0
    tail -n 20 "$log" >&2
    if [ $status -eq 124 ]; then
        not_run "$what" "building it has taken more than $build_seconds_max s"
    elif grep -qE "$no_connection" "$log"; then
        not_run "$what" "no connection to where its parts come from"
    else
        echo "clients: $what cannot be built" >&2
        return 1
    fi
}

has_go() {
    minor=$(go env GOVERSION 2>/dev/null | sed -nE 's/^go1\.([0-9]+).*/\1/p')
    [ "${minor:-0}" -ge $go_minor_min ]
}

build_go() {
    (cd tests/clients/go && timeout $build_seconds_max go build -trimpath -ldflags '-s -w' -o "$program" . &&
        go build -trimpath -o "$folder/workqueue" ./workqueue && go build -trimpath -o "$folder/events" ./events)
}

# Once for each lock file; Node looks for packages beside the program.
install_js() {
    mkdir -p "$folder/js"
    cp tests/clients/js/informer.js tests/clients/js/package.json "$folder/js" || return
    ! cmp -s tests/clients/js/package-lock.json "$folder/js/installed.json" || return 0
    cp tests/clients/js/package-lock.json "$folder/js"
    (cd "$folder/js" && timeout $build_seconds_max npm ci --ignore-scripts --no-audit --no-fund) || return
    cp tests/clients/js/package-lock.json "$folder/js/installed.json"
}

has_python() {
    python3 -c "import ensurepip, sys, venv; sys.exit(sys.version_info < (3, $python_minor_min))" 2>/dev/null
}

# Once for each file of versions.
install_python() {
    ! cmp -s tests/clients/python/requirements.txt "$folder/python/installed.txt" || return 0
    python3 -m venv --clear "$folder/python" || return
    timeout $build_seconds_max "$folder/python/bin/python" -m pip install --disable-pip-version-check \
        --no-deps --no-compile -r tests/clients/python/requirements.txt || return
    cp tests/clients/python/requirements.txt "$folder/python/installed.txt"
}

# ---- servers and clients ----

# with_server "FLAGS" COMMAND...: runs the command with the name of a kubeconfig as its last argument
with_server() {
    flags=$1
    shift
    # shellcheck disable=SC2086  # several flags
    "build/$preset/kinformer" apiserver --port 0 --debug --kubeconfig-out "$work/kubeconfig" $flags \
        >"$work/server.log" 2>&1 &
    server_pid=$!
    tries=0
    until grep -q listening "$work/server.log"; do
        tries=$((tries + 1))
        if [ $tries -ge 100 ] || [ ! -e "/proc/$server_pid" ]; then
            echo "clients: the server did not start: $(cat "$work/server.log")" >&2
            return 1
        fi
        sleep 0.1
    done
    # A shell handles a signal while it waits, but not while a foreground program runs.
    "$@" "$work/kubeconfig" &
    client_pid=$!
    status=0
    wait $client_pid || status=$?
    client_pid=
    [ -e "/proc/$server_pid" ] || status=1
    end_server
    [ $status -eq 0 ] || cp "$work/server.log" "$folder"
    return $status
}

test_kubectl() {
    if has_go; then
        get kubectl "$folder/go.log" build_go || return
        with_server '--tls --token secret' tests/clients/kubectl.sh "$program kubectl"
    elif command -v kubectl >/dev/null; then
        with_server '--tls --token secret' tests/clients/kubectl.sh kubectl
    else
        not_run kubectl "there is none, and no Go 1.$go_minor_min to build it"
    fi
}

test_go() {
    has_go || { not_run go "there is no Go 1.$go_minor_min"; return; }
    get go "$folder/go.log" build_go || return
    with_server '' "$program" codecs tests/clients/manifests/rich.yaml || return
    with_server '' "$program" informer json || return
    with_server '' "$program" informer protobuf || return
    with_server '--load examples/sample-controller/crd.yaml' "$program" leader "build/$preset/examples/sample-controller" || return
    test_workqueue && test_events
}

# client-go's work queue and ours, with different sequences each time. The seed is printed, so that a run can be repeated.
test_workqueue() {
    scripts/build.sh "$preset" test_workqueue_client_go || return
    seed=$(date +%s)
    "$folder/workqueue" record "$seed" 3000 >"$work/workqueue.jsonl" || return
    KI_WORKQUEUE_RECORD=$work/workqueue.jsonl "build/$preset/test_workqueue_client_go" >"$work/workqueue.log" 2>&1 || {
        cat "$work/workqueue.log" >&2
        echo "clients: the work queues differ; their calls: workqueue record $seed 3000" >&2
        return 1
    }
}

# The same for events.
test_events() {
    scripts/build.sh "$preset" test_correlator_client_go || return
    seed=$(date +%s)
    "$folder/events" "$seed" 3000 >"$work/events.jsonl" || return
    KI_EVENTS_RECORD=$work/events.jsonl "build/$preset/test_correlator_client_go" >"$work/events.log" 2>&1 || {
        cat "$work/events.log" >&2
        echo "clients: the event correlators differ; their events: events $seed 3000" >&2
        return 1
    }
}

test_js() {
    command -v node >/dev/null && command -v npm >/dev/null || { not_run js "there is no Node with npm"; return; }
    get js "$folder/js.log" install_js || return
    with_server '--tls --token secret' node "$folder/js/informer.js"
}

test_python() {
    has_python || { not_run python "there is no Python 3.$python_minor_min with venv"; return; }
    get python "$folder/python.log" install_python || return
    with_server '--tls --token secret' "$folder/python/bin/python" tests/clients/python/client.py \
        tests/clients/manifests/deployment.yaml
}

mkdir -p "$folder"
scripts/build.sh "$preset" kinformer_program sample_controller
start=$(date +%s)
result=0
for client; do
    status=0
    echo "clients: $client"
    "test_$client" || status=$?
    case $status in
    0) ;;
    77) [ $result -ne 0 ] || result=77 ;;
    *)
        echo "clients: $client failed; the server's log is in build/clients" >&2
        result=1 ;;
    esac
done
[ $result -ne 0 ] || echo "clients: all passed, $(($(date +%s) - start)) s"
exit $result
