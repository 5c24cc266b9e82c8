# Sourced by tests of examples: a folder $work that is also $HOME, no other cluster, and the embedded API server.
work=$(mktemp -d)
server_pid=

end_all() {
    [ -z "$server_pid" ] || kill "$server_pid" 2>/dev/null || true
    rm -rf "$work"
}
trap end_all EXIT
HOME=$work
export HOME
unset KUBECONFIG KUBERNETES_SERVICE_HOST KUBERNETES_SERVICE_PORT 2>/dev/null || true

# start_server PROGRAM FLAG...: sets $url. Reads the output of the server up to its address, so nothing has to sleep.
start_server() {
    program=$1
    shift
    mkfifo "$work/server"
    "$program" apiserver --port 0 "$@" >"$work/server" &
    server_pid=$!
    url=
    exec 3<"$work/server"
    while [ -z "$url" ] && read -r line <&3; do
        case $line in
        'listening at '*) url=${line#listening at } ;;
        esac
    done
}
