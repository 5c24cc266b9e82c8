#!/bin/sh
# The example with a poll() of its own, against the embedded API server.
#
#   tests/flow/test_example_event_loop.sh EXAMPLE PROGRAM
set -eu
example=$1
program=$2
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

for pod in web-1:web web-2:web db-1:db; do
    cat <<END
---
apiVersion: v1
kind: Pod
metadata: {name: ${pod%:*}, labels: {app: ${pod#*:}}}
spec: {containers: [{name: c, image: i}]}
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

printf 'web\nnothing\n' | "$example" "$url" | sort >"$work/out"
sort >"$work/expected" <<END
+ default/db-1
+ default/web-1
+ default/web-2
app=web: 2
  default/web-1
  default/web-2
app=nothing: 0
END
diff "$work/expected" "$work/out"
