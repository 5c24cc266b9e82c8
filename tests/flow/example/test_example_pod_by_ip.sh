#!/bin/sh
# An index and a lookup in 29 lines at most, against the embedded API server.
#
#   tests/flow/example/test_example_pod_by_ip.sh EXAMPLE PROGRAM SOURCE_FOLDER
set -eu
example=$1
program=$2
source=$3/examples/pod_by_ip.c
. "$(dirname "$0")/../support/example_server.sh"

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

start_server "$program" --load "$work/pods.yaml"

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
