#!/bin/sh
# An index and a lookup in 29 lines at most, against the embedded API server.
#
#   tests/flow/test_example_pod_by_ip.sh EXAMPLE PROGRAM SOURCE_FOLDER
set -eu
example=$1
program=$2
source=$3/examples/pod_by_ip.c
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

for number in 1 2; do
    cat <<END
---
apiVersion: v1
kind: Pod
metadata: {name: web-$number}
spec: {nodeName: node-$number, containers: [{name: c, image: i}]}
status: {podIPs: [{ip: 10.0.0.$number}, {ip: "fd00::$number"}]}
END
done >"$work/pods.yaml"

# What it writes is read up to its address: nothing sleeps.
mkfifo "$work/server"
"$program" apiserver --port 0 --load "$work/pods.yaml" >"$work/server" &
server_pid=$!
url=
exec 3<"$work/server"
while [ -z "$url" ] && read -r line <&3; do
    case $line in
    'listening at '*) url=${line#listening at } ;;
    esac
done

for address in 10.0.0.1 fd00::2 10.0.0.3; do
    "$example" "$address" "$url"
done >"$work/out"
cat >"$work/expected" <<END
default/web-1 on node-1
default/web-2 on node-2
no pod on no node
END
diff "$work/expected" "$work/out"
lines=$(wc -l <"$source")
if [ "$lines" -gt 29 ]; then
    echo "$source has $lines lines" >&2
    exit 1
fi
