#!/bin/sh
# Runs kubectl against the API server of a kubeconfig, and checks its output.
#
#   tests/clients/kubectl.sh KUBECTL KUBECONFIG
#
# KUBECTL may be several words. The server must be new and empty. Exit status: 0 if all checks pass.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
kubectl=$1
work=$(mktemp -d)
watch_pid=
checks=0

end_all() {
    [ -z "$watch_pid" ] || kill "$watch_pid" 2>/dev/null || true
    rm -rf "$work"
}
trap end_all EXIT
trap 'exit 1' HUP INT TERM

KUBECONFIG=$2
HOME=$work # for the discovery cache
LC_ALL=C
export KUBECONFIG HOME LC_ALL
cp "$here"/manifests/*.yaml "$work"
cd "$work"

# ---- checks ----

fail() {
    echo "kubectl: $*" >&2
    echo "--- status $status, output:" >&2
    echo "$output" >&2
    exit 1
}

k() {
    # shellcheck disable=SC2086  # several words
    timeout 30 $kubectl "$@"
}

run() {
    status=0
    output=$(k "$@" 2>&1) || status=$?
    checks=$((checks + 1))
}

# is EXPECTED ARGUMENT...: it succeeds and prints exactly this
is() {
    expected=$1
    shift
    run "$@"
    [ $status -eq 0 ] && [ "$output" = "$expected" ] || fail "'$*' does not print: $expected"
}

# has PART ARGUMENT...: it succeeds and its output contains this; runs of blanks are one space
has() {
    expected=$1
    shift
    run "$@"
    [ $status -eq 0 ] || fail "'$*' fails"
    contains "$expected" || fail "'$*' does not print: $expected"
}

# refuses PART ARGUMENT...: it fails and its output contains this
refuses() {
    expected=$1
    shift
    run "$@"
    [ $status -ne 0 ] || fail "'$*' succeeds"
    contains "$expected" || fail "'$*' does not print: $expected"
}

contains() {
    case $(echo "$output" | tr '\t' ' ' | tr -s ' ') in
    *"$1"*) ;;
    *) return 1 ;;
    esac
}

# ---- discovery ----

is ok get --raw /readyz
has 'deployments deploy apps/v1 true Deployment' api-resources
has 'NAME SHORTNAMES APIVERSION NAMESPACED KIND' api-resources
has 'create,delete,deletecollection,get,list,patch,update,watch' api-resources -o wide
has 'nodes' api-resources --namespaced=false -o name
has 'jobs batch/v1 true Job' api-resources --api-group=batch
has 'apps/v1' api-versions
has 'rbac.authorization.k8s.io/v1' api-versions
has 'containers <[]Container> -required-' explain pod.spec
has 'rollingUpdate <RollingUpdateDeployment>' explain deployment.spec.strategy
has 'annotations <map[string]string>' explain --recursive configmap
has 'KIND: Deployment' explain deployment
has 'GROUP: apps' explain deployments.apps
has 'FIELD: image <string>' explain pod.spec.containers.image
refuses 'field "nothing" does not exist' explain pod.spec.nothing

# ---- create ----

# These are sent as protobuf.
is 'configmap/settings created' create configmap settings --from-literal=color=red
is 'secret/password created' create secret generic password --from-literal=word=hello
is 'namespace/team created' create namespace team
is 'deployment.apps/made created' create deployment made --image=registry/made:1 --replicas=2 --port=80
is 'job.batch/once created' create job once --image=registry/once:1 -- sleep 1
is 'role.rbac.authorization.k8s.io/reader created' create role reader --verb=get,list --resource=pods
is 'poddisruptionbudget.policy/half created' create poddisruptionbudget half --selector=a=b --min-available=50%
is aGVsbG8= get secret password -o 'jsonpath={.data.word}'
is '2 registry/made:1 80' get deployment made \
    -o 'jsonpath={.spec.replicas} {.spec.template.spec.containers[0].image} {.spec.template.spec.containers[0].ports[0].containerPort}'
is '50%' get poddisruptionbudget half -o 'jsonpath={.spec.minAvailable}'
# These are sent as JSON.
is 'pod/one created' run one --image=registry/one:1 --labels=app=one
is 'pod/two created' create -f pod.yaml
refuses 'pods "two" already exists' create -f pod.yaml
refuses 'unknown field "spec.containerz"' create -f unknown.yaml
refuses 'a lowercase RFC 1123 subdomain must consist of' create -f invalid.yaml
refuses 'namespaces "nowhere" not found' create -f pod.yaml -n nowhere

# ---- get ----

has 'NAME READY STATUS RESTARTS AGE' get pods
has 'one 0/1 Pending 0' get pods
has 'NOMINATED NODE READINESS GATES' get pods -o wide
has 'one 0/1 Pending 0' get pods --show-labels
has 'default one 0/1' get pods -A
is 'configmap/settings' get configmap settings -o name
is red get configmap settings -o 'jsonpath={.data.color}'
is 'one two ' get pods -o 'go-template={{range .items}}{{.metadata.name}} {{end}}'
is 'NAME       COLOR
settings   red' get configmaps -o custom-columns=NAME:.metadata.name,COLOR:.data.color
has 'data:
 color: red
kind: ConfigMap' get configmap settings -o yaml
has '"color": "red"' get configmap settings -o json
has 'kind: List' get pods -o yaml
has '"color": "red"' get configmap settings -o 'jsonpath-as-json={.data}'
has 'kind: "ConfigMap",' get configmap settings -o kyaml
echo '{.data.color}' >color.jsonpath
is red get configmap settings -o jsonpath-file=color.jsonpath
echo '{{.data.color}}' >color.template
is red get configmap settings -o go-template-file=color.template
printf 'NAME COLOR\nmetadata.name data.color\n' >color.columns
has 'settings red' get configmap settings -o custom-columns-file=color.columns
is 'pod/one
pod/two' get pods --sort-by='{.spec.containers[0].image}' -o name
has 'one 0/1 Pending 0' get pods --no-headers
has 'NAME READY STATUS RESTARTS AGE APP' get pods -L app
has 'pod/one 0/1' get pods --show-kind
has 'managedFields:' get configmap settings -o yaml --show-managed-fields
has 'deployment.apps/made 0/2' get deployments,pods
has 'pod/two 0/1 Pending' get all
is 'pod/two' get pods -l app=two -o name
is 'pod/two' get pods --field-selector=metadata.name=two -o name
is 'pod/one
pod/two' get pods --chunk-size=1 -o name
refuses 'pods "three" not found' get pod three
refuses 'field label not supported: spec.nothing' get pods --field-selector=spec.nothing=1
has 'Image: registry/two:1' describe pod two
has 'Replicas: 2 desired' describe deployment made
has 'color:
----
red' describe configmap settings
has 'Type: Opaque' describe secret password
has 'Status: Active' describe namespace team
has 'pods [] [] [get list]' describe role reader

# ---- events ----

uid=$(k get pod two -o 'jsonpath={.metadata.uid}')
sed "s/uid: .*}/uid: $uid}/" event.yaml >about.yaml
is 'event/two.started created' create -f about.yaml
has 'Started pod/two it runs at last' get events
has 'Started pod/two it runs at last' get events.events.k8s.io
is 'it runs at last' get events.events.k8s.io two.started -o 'jsonpath={.note}'
has 'Normal Started Pod/two it runs at last' events
has 'Normal Started' describe pod two

# ---- apply, diff ----

# Unknown fields are refused, reported or ignored, depending on --validate.
refuses 'unknown field "spec.containerz"' apply -f unknown.yaml
has 'Warning: unknown field "spec.containerz"' apply --validate=warn --dry-run=server -f unknown.yaml
is 'pod/unknown created (server dry run)' apply --validate=ignore --dry-run=server -f unknown.yaml
refuses '.spec.containerz: field not declared in schema' apply --server-side -f unknown.yaml
is 'pod/unknown created' apply --validate=ignore -f unknown.yaml
sed 's/containerz: .*/hostnam: h/' unknown.yaml >unknown2.yaml
refuses 'unknown field "spec.hostnam"' apply -f unknown2.yaml
has 'Warning: unknown field "spec.hostnam"' apply --validate=warn -f unknown2.yaml
is 'pod "unknown" deleted from default namespace' delete pod unknown

# Kinds that are not served.
sed 's/kind: .*/kind: Bogus/' deployment.yaml >bogus.yaml
refuses 'no matches for kind "Bogus" in version "apps/v1"' apply -f bogus.yaml
contains 'ensure CRDs are installed first' || fail "apply does not print a hint"
refuses 'no matches for kind "Bogus" in version "apps/v1"' create -f bogus.yaml
refuses 'no matches for kind "Widget" in version "example.com/v1"' apply -f widget.yaml
refuses 'no matches for kind "Widget" in version "example.com/v1"' apply --server-side -f widget.yaml

is 'deployment.apps/web created' apply -f deployment.yaml
is 'deployment.apps/web unchanged' apply -f deployment.yaml
sed 's/web:1/web:2/; /name: LEVEL/,+1d' deployment.yaml >changed.yaml
status=0
output=$(k diff -f changed.yaml 2>&1) || status=$?
[ $status -eq 1 ] && contains '- image: registry/web:1' && contains '+ image: registry/web:2' || fail "diff shows no change"
status=0
output=$(k diff --server-side --force-conflicts -f changed.yaml 2>&1) || status=$?
[ $status -eq 1 ] && contains '+ image: registry/web:2' || fail "diff --server-side shows no change"
is 'deployment.apps/web configured' apply -f changed.yaml
is '' diff -f changed.yaml
is 'registry/web:2 MODE ' get deployment web \
    -o 'jsonpath={.spec.template.spec.containers[0].image} {.spec.template.spec.containers[0].env[*].name} {.status.replicas}'
is 'configmap/applied serverside-applied' apply --server-side -f configmap.yaml
is 'configmap/applied serverside-applied' apply --server-side -f configmap.yaml
has 'operation: Apply' get configmap applied -o yaml --show-managed-fields
sed 's/one/two/' configmap.yaml >other.yaml
refuses 'Apply failed with 1 conflict' apply --server-side --field-manager=other -f other.yaml
is 'configmap/applied serverside-applied' apply --server-side --field-manager=other --force-conflicts -f other.yaml
is two get configmap applied -o 'jsonpath={.data.value}'
is 'configmap/applied serverside-applied (server dry run)' \
    apply --server-side --force-conflicts --dry-run=server -f configmap.yaml
is two get configmap applied -o 'jsonpath={.data.value}'

# ---- change ----

is 'deployment.apps/web patched' patch deployment web \
    -p '{"spec":{"template":{"spec":{"containers":[{"name":"web","env":[{"name":"EXTRA","value":"1"}]}]}}}}'
is 'EXTRA MODE' get deployment web -o 'jsonpath={.spec.template.spec.containers[0].env[*].name}'
is 'deployment.apps/web patched' patch deployment web --type merge -p '{"metadata":{"labels":{"tier":"front"}}}'
is 'deployment.apps/web patched' patch deployment web --type json -p '[{"op":"replace","path":"/spec/replicas","value":3}]'
refuses 'test failed' patch deployment web --type json -p '[{"op":"test","path":"/spec/replicas","value":9}]'
is '3 front' get deployment web -o 'jsonpath={.spec.replicas} {.metadata.labels.tier}'
KUBE_EDITOR='sed -i s/replicas:.3/replicas:\ 4/'
export KUBE_EDITOR
is 'deployment.apps/web edited' edit deployment web
is 'pod/one labeled' label pod one tier=front
refuses "'tier' already has a value (front)" label pod one tier=back
is 'pod/one labeled' label pod one tier=back --overwrite
is back get pod one -o 'jsonpath={.metadata.labels.tier}'
is 'pod/one unlabeled' label pod one tier-
is 'pod/one annotated' annotate pod one note=hello
is hello get pod one -o 'jsonpath={.metadata.annotations.note}'
refuses "already has a value (hello)" annotate pod one note=bye
is 'pod/one annotated' annotate pod one note=bye --overwrite
is bye get pod one -o 'jsonpath={.metadata.annotations.note}'
is 'pod/one annotated' annotate pod one note-
is '' get pod one -o 'jsonpath={.metadata.annotations.note}'
is 'pod/one labeled
pod/two labeled' label pods --all all=yes
is 'deployment.apps/web scaled' scale deployment web --current-replicas=4 --replicas=5
refuses 'Expected replicas to be 4, was 5' scale deployment web --current-replicas=4 --replicas=6
has 'horizontalpodautoscaler.autoscaling/web autoscaled' autoscale deployment web --max=5 --cpu-percent=60
has 'web Deployment/web 1 5 0' get hpa
is 5 get horizontalpodautoscalers.v1.autoscaling web -o 'jsonpath={.spec.maxReplicas}'
is 5 get horizontalpodautoscalers.v2.autoscaling web -o 'jsonpath={.spec.maxReplicas}'
is 5 get deployment web -o 'jsonpath={.spec.replicas}'
is 'deployment.apps/web restarted' rollout restart deployment web
is 'deployment.apps/web image updated' set image deployment/web web=registry/web:3
is 'service/web exposed' expose deployment web --port=80
is 'pod/two replaced' replace -f pod.yaml
is 'pod/two patched' patch pod two --subresource=status --type=merge \
    -p '{"status":{"phase":"Running","conditions":[{"type":"Ready","status":"True"}]}}'
has 'two 0/1 Running' get pod two

# ---- wait, watch ----

is 'pod/two condition met' wait pod two --for=condition=Ready --timeout=10s
is 'pod/one condition met' wait pod one --for='jsonpath={.status.phase}=Pending' --timeout=10s
is 'pod/one condition met' wait pod one --for=create --timeout=10s
refuses 'timed out waiting for the condition' wait pod one --for=condition=Ready --timeout=1s

await_line() {
    tries=0
    until tr -s ' ' <watched | grep -q "$1"; do
        tries=$((tries + 1))
        output=$(cat watched)
        [ $tries -lt 200 ] || fail "get -w does not print: $1"
        sleep 0.05
    done
    checks=$((checks + 1))
}

: >watched
# shellcheck disable=SC2086  # several words
$kubectl get configmaps -w --output-watch-events >watched 2>&1 &
watch_pid=$!
await_line '^ADDED settings 1'
k create configmap watched --from-literal=a=1 >/dev/null
await_line '^ADDED watched 1'
k patch configmap watched --type merge -p '{"data":{"b":"2"}}' >/dev/null
await_line '^MODIFIED watched 2'
k delete configmap watched >/dev/null
await_line '^DELETED watched 2'
kill "$watch_pid"
watch_pid=

# The output that people watch: a table with a line for each change.
: >watched
# shellcheck disable=SC2086  # several words
$kubectl get pods -w >watched 2>&1 &
watch_pid=$!
await_line '^one 0/1 Pending 0'
k patch pod one --subresource=status --type=merge -p '{"status":{"phase":"Failed"}}' >/dev/null
await_line '^one 0/1 Failed 0'
kill "$watch_pid"
watch_pid=

# ---- authorization ----

is 'yes' auth can-i delete pods
has 'admin' auth whoami
has '*.* [] [] [*]' auth can-i --list

# ---- subresources that need a node ----

refuses 'does not serve the subresource "log" of pods' logs two
refuses 'does not serve the subresource "exec" of pods' exec two -- true
refuses 'Metrics API not available' top pods

# ---- custom resources ----

is 'customresourcedefinition.apiextensions.k8s.io/widgets.example.com created' create -f crd.yaml
is 'customresourcedefinition.apiextensions.k8s.io/widgets.example.com condition met' \
    wait crd/widgets.example.com --for=condition=Established --timeout=10s
is 'widget.example.com/small created' create -f widget.yaml
has 'NAME SIZE AGE
small 3' get widgets
has 'small 3' get wd
has 'size <integer> -required-' explain widget.spec
is 'widget.example.com/small scaled' scale widget small --replicas=5
is '5 red' get widget small -o 'jsonpath={.spec.size} {.spec.color}'
refuses 'spec.size in body must be of type integer' patch widget small --type merge -p '{"spec":{"size":"x"}}'
refuses 'spec.size in body should be greater than or equal to 1' patch widget small --type merge -p '{"spec":{"size":0}}'
is 'customresourcedefinition.apiextensions.k8s.io "widgets.example.com" deleted' delete crd widgets.example.com
refuses 'the server could not find the requested resource' get widgets

# ---- delete ----

has 'pod "one" deleted' delete pod one
refuses 'pods "one" not found' get pod one
refuses 'pods "one" not found' delete pod one
is 'pod/two patched' patch pod two --type merge -p '{"metadata":{"finalizers":["example.com/hold"]}}'
has 'pod "two" deleted' delete pod two --wait=false
has 'two 0/1 Terminating' get pod two
is 'pod/two patched' patch pod two --type merge -p '{"metadata":{"finalizers":null}}'
is '' wait pod two --for=delete --timeout=10s
is 'pod/two created' create -f pod.yaml -n team
is 'configmap/applied serverside-applied' apply --server-side -f configmap.yaml -n team
is 'namespace "team" deleted' delete namespace team --timeout=20s
refuses 'namespaces "team" not found' get namespace team
is 'No resources found in team namespace.' get pods,configmaps -n team
has 'deployment.apps "made" deleted' delete deployments --all
is 'No resources found in default namespace.' get deployments

echo "ok: kubectl behaves as with a cluster, $checks checks"
