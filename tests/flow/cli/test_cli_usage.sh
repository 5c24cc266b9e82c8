#!/bin/sh
# The command line without a server: help, wrong usage, and exit statuses.
#
#   tests/flow/cli/test_cli_usage.sh PROGRAM VERSION
set -eu
program=$1
version=$2
failed=0
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
HOME=$work
unset KUBECONFIG KUBERNETES_SERVICE_HOST KUBERNETES_SERVICE_PORT 2>/dev/null || true
export HOME

complain() {
    echo "cli: $1" >&2
    failed=1
}

# $1 exit code, $2 a part of stdout, the rest: arguments.
expect_stdout() {
    code=$1
    part=$2
    shift 2
    got=0
    "$program" "$@" >"$work/out" 2>"$work/err" || got=$?
    [ $got -eq "$code" ] || complain "'$*' ends with $got, not $code"
    grep -qF -e "$part" "$work/out" || complain "'$*' does not write '$part'"
    [ ! -s "$work/err" ] || complain "'$*' says on stderr: $(cat "$work/err")"
}

# Wrong usage: 2, nothing on stdout, one line on stderr with the part $1.
expect_refusal() {
    part=$1
    shift
    got=0
    "$program" "$@" >"$work/out" 2>"$work/err" || got=$?
    [ $got -eq 2 ] || complain "'$*' ends with $got, not 2"
    [ ! -s "$work/out" ] || complain "'$*' writes to stdout"
    [ "$(wc -l <"$work/err")" -eq 1 ] || complain "'$*' does not say one line: $(cat "$work/err")"
    grep -qF -e "$part" "$work/err" || complain "'$*' does not say '$part': $(cat "$work/err")"
}

expect_stdout 0 'watch RESOURCE' --help
expect_stdout 0 'watch RESOURCE' -h
expect_stdout 0 'watch RESOURCE' help
expect_stdout 0 'watch RESOURCE' help help
expect_stdout 0 '--until-synced' watch --help
expect_stdout 0 '--until-synced' watch pods -h
expect_stdout 0 '--until-synced' help watch
expect_stdout 0 "kinformer $version" version
expect_stdout 0 "kinformer $version" --version
expect_stdout 0 'usage: kinformer version' version --help
expect_stdout 0 '--churn' demo --help
expect_stdout 0 '20s when stdout is not a terminal' help demo
for flag in kubeconfig context cluster user server token token-file password-file certificate-authority insecure-skip-tls-verify \
    allow-plaintext-credentials \
    tls-server-name client-certificate client-key username password as as-uid as-group disable-compression \
    namespace all-namespaces selector field-selector output request-timeout resync page-size watch-list wire \
    keep keep-managed-fields until-synced timeout quiet stats; do
    expect_stdout 0 " --$flag" watch --help
done

expect_stdout 0 'A number is the name of a member' watch --help

code=0
"$program" watch --help >/dev/full 2>"$work/err" || code=$?
[ $code -eq 1 ] || complain "a full disk ends it with $code, not 1"
grep -qF 'stdout: ' "$work/err" || complain "a full disk is not mentioned: $(cat "$work/err")"

expect_stdout 0 '--kubeconfig-out' apiserver --help
expect_stdout 0 'A FAULT is' help apiserver
for flag in port bind tls tls-cert-file tls-private-key-file token token-file kubeconfig-out load history objects-max watches-max \
    body-max object-max history-bytes in-flight-max allow-host bookmarks fault debug seed simulate; do
    expect_stdout 0 " --$flag" apiserver --help
done

expect_refusal 'unexpected argument "pods"' apiserver pods
expect_refusal '65535' apiserver --port 70000
expect_refusal 'is not an address' apiserver --port 0 --bind nowhere
expect_refusal 'must be used together' apiserver --port 0 --tls-cert-file "$work/none"
expect_refusal 'not a certificate and its key' \
    apiserver --port 0 --tls-cert-file /etc/passwd --tls-private-key-file /etc/passwd
expect_refusal "$work/none" apiserver --port 0 --load "$work/none"
printf 'kind: Pod\n' >"$work/pod.yaml"
expect_refusal 'document 1: has no apiVersion' apiserver --port 0 --load "$work/pod.yaml"
expect_refusal 'unknown action "frob"' apiserver --port 0 --fault frob
expect_refusal 'no action given' apiserver --port 0 --fault times=3
expect_refusal 'on= lacks a value' apiserver --port 0 --fault reset,on=
expect_refusal 'method= lacks a value' apiserver --port 0 --fault reset,method=
expect_refusal 'on=nobody' apiserver --port 0 --fault reset,on=nobody
expect_refusal 'needs a code' apiserver --port 0 --fault status
expect_refusal 'delay needs a duration' apiserver --port 0 --fault delay
expect_refusal 'stale needs a number' apiserver --port 0 --fault stale,on=list
expect_refusal 'one action per fault' apiserver --port 0 --fault close,reset
expect_refusal '"delay" does not use it' apiserver --port 0 --fault delay,delay=1s,after-bytes=3
expect_refusal 'it applies to watch, streamed-list' apiserver --port 0 --fault no-bookmarks,on=list
expect_refusal 'it applies to streamed-list' apiserver --port 0 --fault no-end-marker,on=watch
expect_refusal 'unknown setting "aftr-bytes"' apiserver --port 0 --fault close,aftr-bytes=3
expect_refusal 'PUT is never used by list requests' apiserver --port 0 --fault reset,on=list,method=put
expect_refusal 'method=FROB: must be GET' apiserver --port 0 --fault reset,method=PUT+FROB
expect_refusal 'watch requests never have one' apiserver --port 0 --fault reset,on=watch,subresource=status
expect_refusal '"here" is not an address' apiserver --port 0 --fault reset,user-agent=a,remote=here
expect_refusal '"pods" cannot be simulated' apiserver --port 0 --simulate pods
expect_refusal 'token is empty' apiserver --port 0 --token ''

# It prints its address, writes a kubeconfig, and ends with 0 on a signal.
"$program" apiserver --port 0 --tls --token secret --kubeconfig-out "$work/kubeconfig" >"$work/out" 2>"$work/err" &
server=$!
tries=0
while ! grep -q 'kubectl --kubeconfig' "$work/out" && [ $tries -lt 200 ]; do
    tries=$((tries + 1))
    sleep 0.1
done
grep -q '^listening at https://127.0.0.1:' "$work/out" || complain "apiserver does not print its address"
[ "$(stat -c %a "$work/kubeconfig")" = 600 ] || complain "apiserver writes a kubeconfig that others can read"
"$program" watch namespaces --kubeconfig "$work/kubeconfig" --until-synced -o name >"$work/names" 2>"$work/err" ||
    complain "watch does not reach apiserver: $(cat "$work/err")"
grep -qx 'namespace/kube-system' "$work/names" || complain "watch of apiserver does not write kube-system"
kill "$server"
got=0
wait "$server" || got=$?
[ $got -eq 0 ] || complain "apiserver ends with $got after a signal"

# Secrets are hidden on the command line, and need not be passed there.
expect_hidden() {
    tr '\0' ' ' <"/proc/$1/cmdline" >"$work/line"
    grep -q kinformer "$work/line" || complain "$2 has no command line"
    ! grep -q hush "$work/line" || complain "$2 shows: $(cat "$work/line")"
}
wait_for_line() {
    tries=0
    while ! grep -q "$1" "$2" && [ $tries -lt 200 ]; do
        tries=$((tries + 1))
        sleep 0.1
    done
}
echo hush-of-file >"$work/token"
: >"$work/out" # the background process may truncate it after the loop has begun to read it
"$program" apiserver --port 0 --tls --token hush-one --token=hush-two --token-file "$work/token" \
    --kubeconfig-out "$work/kubeconfig" >"$work/out" 2>"$work/err" &
server=$!
wait_for_line 'kubectl --kubeconfig' "$work/out"
expect_hidden "$server" apiserver
for line in '--token hush-two' '--token=hush-one' "--token-file $work/token"; do
    # shellcheck disable=SC2086  # words
    timeout 20 "$program" watch namespaces --kubeconfig "$work/kubeconfig" $line --until-synced -o name \
        >"$work/names" 2>"$work/err" || complain "watch $line: $(cat "$work/err")"
    grep -qx 'namespace/kube-system' "$work/names" || complain "watch $line writes no kube-system"
done
KINFORMER_TOKEN=hush-of-file timeout 20 "$program" watch namespaces --kubeconfig "$work/kubeconfig" --until-synced \
    -o name >"$work/names" 2>"$work/err" || complain "watch with KINFORMER_TOKEN: $(cat "$work/err")"
for line in '--token hush-two' '--username jane --password hush' '--username jane --password=hush'; do
    : >"$work/err"
    # shellcheck disable=SC2086  # words
    "$program" watch namespaces --kubeconfig "$work/kubeconfig" $line >"$work/names" 2>"$work/err" &
    watch=$!
    wait_for_line namespaces "$work/err"
    expect_hidden "$watch" "watch $line"
    kill "$watch"
    wait "$watch" || complain "watch $line ends with $?"
done
kill "$server"
wait "$server" || complain "apiserver ends with $?"
: >"$work/out"
KINFORMER_APISERVER_TOKEN=hush-three "$program" apiserver --port 0 >"$work/out" 2>"$work/err" &
server=$!
wait_for_line 'to use kubectl' "$work/out"
! grep '^kubectl' "$work/out" || complain "apiserver recommends a kubectl that sends no token"
grep -qx 'to use kubectl with a token, restart with --tls --kubeconfig-out FILE: it sends no token over http' "$work/out" ||
    complain "apiserver without TLS does not say that kubectl sends no token: $(cat "$work/out")"
url=$(sed -n 's/^listening at //p' "$work/out")
timeout 20 "$program" watch namespaces --server "$url" --allow-plaintext-credentials --token hush-three --until-synced \
    -o name >"$work/names" 2>"$work/err" || complain "the token of the environment: $(cat "$work/err")"
: >"$work/err"
"$program" watch namespaces --server "$url" >"$work/names" 2>"$work/err" &
watch=$!
wait_for_line Unauthorized "$work/err"
grep -q Unauthorized "$work/err" || complain "the token of the environment is not required: $(cat "$work/err")"
kill "$watch"
wait "$watch" || complain "watch without a token ends with $?"
: >"$work/err"
"$program" watch namespaces --server "$url" --token hush-three >"$work/names" 2>"$work/err" &
watch=$!
wait_for_line Unauthorized "$work/err"
for line in 'credentials are withheld: .*in ki_client_options); use --allow-plaintext-credentials' \
    'Unauthorized: .*; retrying .* (use --allow-plaintext-credentials to send them anyway)'; do
    grep -q "$line" "$work/err" || complain "watch over http does not write '$line': $(cat "$work/err")"
done
kill "$watch"
wait "$watch" || complain "watch whose token is withheld ends with $?"
kill "$server"
wait "$server" || complain "apiserver ends with $?"
: >"$work/out"
"$program" apiserver --port 0 --token hush --kubeconfig-out "$work/kubeconfig" >"$work/out" 2>"$work/err" &
server=$!
wait_for_line kubectl "$work/out"
[ "$(sed 1d "$work/out")" = 'to use kubectl with a token, restart with --tls: it sends no token over http' ] ||
    complain "apiserver without TLS recommends its kubeconfig: $(cat "$work/out")"
kill "$server"
wait "$server" || complain "apiserver ends with $?"
expect_refusal 'cannot be used together' watch pods --server https://k --token a --token-file "$work/token"
expect_refusal 'cannot be used together' watch pods --server https://k --username a --password b --password-file "$work/token"
expect_refusal 'No such file' watch pods --server https://k --username a --password-file "$work/none"
expect_refusal 'first line is empty' watch pods --server https://k --username a --password-file /dev/null
expect_refusal "token-file: $work/none: No such file" watch pods --server https://k --token-file "$work/none"
expect_refusal 'No such file' apiserver --port 0 --token-file "$work/none"

expect_refusal 'no command given'
expect_refusal 'unknown command "frob"' frob
expect_refusal 'unknown command "frob"' help frob
expect_refusal 'takes no arguments' version now
expect_refusal 'no resource given' watch
expect_refusal 'unexpected argument "api"' watch pods web api
expect_refusal 'needs a single resource' watch pods,services web
expect_refusal 'together with a selector' watch pods web -l app=web
expect_refusal 'together with a selector' watch pods web --field-selector metadata.name=web
expect_refusal 'together with -A' watch pods web -A
expect_refusal 'is not a valid object name' watch pods a/b
expect_refusal 'is not a valid object name' watch pods ''
expect_refusal 'is not a valid object name' watch pods ..
expect_refusal 'is not a valid object name' watch pods .
expect_refusal 'is not a valid object name' watch pods a%b
expect_refusal 'is not a valid object name' watch pods "$(printf 'a\377')"
expect_refusal 'is not a valid object name' watch pods "$(printf '%0254d' 0)"
expect_refusal 'is not a valid namespace' watch pods -n a/b
expect_refusal 'is not a valid namespace' watch pods -n ..
expect_refusal 'is not a valid namespace' watch pods -n 'a b'
expect_refusal 'is not a valid namespace' watch pods -n "$(printf 'a\377')"
expect_refusal 'is not a valid namespace' watch pods -n "$(printf '%064d' 0)"
expect_refusal '--field-selector: expected UTF-8' watch pods --field-selector "$(printf 'a=\377')"
expect_refusal 'watch pod web-0' watch pod/web-0
expect_refusal '-n (--namespace) and -A (--all-namespaces) cannot be used together' watch pods -n web -A
expect_refusal '--timeout can only be used together with --until-synced' watch pods --timeout 3s
expect_refusal '--timeout can only be used together with --until-synced' watch pods --timeout 0
expect_refusal 'lacks a unit' watch pods --until-synced --timeout 3
expect_refusal 'did you mean "pods"' watch podz
expect_refusal 'widgets.v1.example.com' watch widgets
expect_refusal '--namespace' watch pods --namspace web
expect_refusal 'lacks a unit' watch pods --resync 5
expect_refusal 'unknown unit "x"' watch pods --resync 5x
expect_refusal 'needs a value' watch pods -o
expect_refusal '-l (--selector)' watch pods -l 'a=('
expect_refusal '--keep' watch pods --keep spec
expect_refusal "$work/none" watch pods --kubeconfig "$work/none"
expect_refusal 'context "nope" not found: there is no kubeconfig' watch pods --context nope -s http://127.0.0.1:1
expect_refusal '/dev/null: current-context: is missing' watch pods --kubeconfig /dev/null
expect_refusal 'kinformer: ' watch pods
expect_refusal 'kinformer: ' watch pods --server 'http://'
expect_refusal 'kinformer: ' watch pods --server http://127.0.0.1:1 --certificate-authority "$work/none"
expect_refusal 'certificate-authority: /etc/passwd: has no certificate' \
    watch pods --server https://127.0.0.1:1 --certificate-authority /etc/passwd
printf '%s\n' '-----BEGIN CERTIFICATE-----' junk '-----END CERTIFICATE-----' >"$work/junk"
expect_refusal "$work/junk: has an invalid certificate" \
    watch pods --server https://127.0.0.1:1 --certificate-authority "$work/junk"

expect_refusal 'unexpected argument "now"' demo now
expect_refusal '--pods' demo --pods 0
expect_refusal '--pods' demo --pods 1000000000
expect_refusal '--churn' demo --churn fast
expect_refusal '--churn' demo --churn -1/s
expect_refusal '--churn' demo --churn 50/h
expect_refusal '--churn' demo --churn 1e12/s
expect_refusal '--for' demo --for ever
expect_refusal '--trouble' demo --trouble 1ms
expect_refusal '--port' demo --port 70000

# Without a stdout there is nothing to do.
got=0
timeout 20 "$program" watch pods --server http://127.0.0.1:1 >&- 2>"$work/err" || got=$?
[ $got -eq 0 ] || complain "watch ends with $got without a stdout"
[ ! -s "$work/err" ] || complain "watch prints without a stdout: $(cat "$work/err")"

# A reader that has gone away is not a failure; a full disk is.
got=0
{ "$program" --help 2>"$work/err" || echo $? >"$work/code"; } | true
[ ! -e "$work/code" ] || complain "--help fails without a reader"
"$program" --help >&- 2>"$work/err" || got=$?
[ $got -eq 0 ] || complain "--help ends with $got without a stdout"
"$program" --help >/dev/full 2>"$work/err" || got=$?
[ $got -eq 1 ] || complain "--help ends with $got on a full disk"

exit $failed
