#!/bin/sh
# The example with a poll() of its own, against the embedded API server.
#
#   tests/flow/example/test_example_event_loop.sh EXAMPLE PROGRAM
set -eu
example=$1
program=$2
. "$(dirname "$0")/../support/example_server.sh"

for pod in web-1:web web-2:web db-1:db; do
    cat <<END
---
apiVersion: v1
kind: Pod
metadata: {name: ${pod%:*}, labels: {app: ${pod#*:}}}
spec: {containers: [{name: c, image: i}]}
END
done >"$work/pods.yaml"

start_server "$program" --load "$work/pods.yaml"

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
