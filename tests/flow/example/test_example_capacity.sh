#!/bin/sh
# The example that adds up amounts, against the embedded API server.
#
#   tests/flow/example/test_example_capacity.sh EXAMPLE PROGRAM
set -eu
example=$1
program=$2
. "$(dirname "$0")/../support/example_server.sh"

for claim in a:db:1Gi b:db:512Mi c:web:7; do
    rest=${claim#*:}
    cat <<END
---
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: ${claim%%:*}, labels: {app: ${rest%:*}}}
spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: "${rest#*:}"}}}
---
apiVersion: example.com/v1
kind: Widget
metadata: {name: ${claim%%:*}}
spec: {size: 250m}
END
done >"$work/objects.yaml"
cat >"$work/crd.yaml" <<END
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: widgets.example.com}
spec:
  group: example.com
  scope: Namespaced
  names: {plural: widgets, singular: widget, kind: Widget, shortNames: [wd]}
  versions:
  - {name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}}
END

start_server "$program" --load "$work/crd.yaml" --load "$work/objects.yaml" --kubeconfig-out "$work/kubeconfig"

expect() {
    output=$("$example" "$work/kubeconfig" "$1" "$2" "$3")
    [ "$output" = "$4" ] || { echo "expected \"$4\", got \"$output\"" >&2; exit 1; }
}
expect pvc /spec/resources/requests/storage 'app in (db)' '2 of 3 persistentvolumeclaims: 1610612736.000'
expect wd /spec/size '' '3 of 3 widgets: 0.750'
if "$example" "$work/kubeconfig" pvc /spec 'app in' 2>"$work/err"; then
    echo "a malformed selector was accepted" >&2
    exit 1
fi
grep -q '^capacity: ' "$work/err"
