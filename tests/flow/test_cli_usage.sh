#!/bin/sh
# The command line without a server: help, wrong usage, and what it ends with.
#
#   tests/flow/test_cli_usage.sh PROGRAM VERSION
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
expect_stdout 0 '20s when stdout is no terminal' help demo
for flag in kubeconfig context cluster user server token certificate-authority insecure-skip-tls-verify \
    tls-server-name as as-group namespace all-namespaces selector field-selector output request-timeout resync \
    page-size watch-list keep keep-managed-fields until-synced stats; do
    expect_stdout 0 " --$flag" watch --help
done

expect_refusal 'which command?'
expect_refusal 'no command "frob"' frob
expect_refusal 'no command "frob"' help frob
expect_refusal 'takes no arguments' version now
expect_refusal 'which resource?' watch
expect_refusal 'metadata.name=NAME' watch pods web
expect_refusal 'did you mean "pods"' watch podz
expect_refusal 'widgets.v1.example.com' watch widgets
expect_refusal '--namespace' watch pods --namspace web
expect_refusal 'lacks a unit' watch pods --resync 5
expect_refusal 'wants a value' watch pods -o
expect_refusal '-l (--selector)' watch pods -l 'a=('
expect_refusal '--keep' watch pods --keep spec
expect_refusal "$work/none" watch pods --kubeconfig "$work/none"
expect_refusal 'kinformer: ' watch pods
expect_refusal 'kinformer: ' watch pods --server 'http://'
expect_refusal 'kinformer: ' watch pods --server http://127.0.0.1:1 --certificate-authority "$work/none"

expect_refusal 'takes flags alone' demo now
expect_refusal '--pods' demo --pods 0
expect_refusal '--pods' demo --pods 1000000000
expect_refusal '--churn' demo --churn fast
expect_refusal '--churn' demo --churn -1/s
expect_refusal '--churn' demo --churn 50/h
expect_refusal '--churn' demo --churn 1e12/s
expect_refusal '--for' demo --for ever
expect_refusal '--trouble' demo --trouble 1ms
expect_refusal '--port' demo --port 70000

# A reader that has gone is no failure; a full disk is one.
got=0
{ "$program" --help 2>"$work/err" || echo $? >"$work/code"; } | true
[ ! -e "$work/code" ] || complain "--help fails without a reader"
"$program" --help >&- 2>"$work/err" || got=$?
[ $got -eq 0 ] || complain "--help ends with $got without a stdout"
"$program" --help >/dev/full 2>"$work/err" || got=$?
[ $got -eq 1 ] || complain "--help ends with $got on a full disk"

exit $failed
