#!/bin/sh
# Runs the libFuzzer programs of the preset `fuzz`, or adds what they found to the corpus.
#
#   scripts/fuzz.sh run SECONDS   runs each target that long, from fuzz/corpus/<name>; new inputs go to
#                                 build/fuzz/work
#   scripts/fuzz.sh merge         inputs of at most 4 KB that reach new code go into fuzz/corpus/<name>
#   FUZZ_TARGETS="scan pointer"   only these
set -eu
cd "$(dirname "$0")/.."
action=$1
seconds=${2-60}
max_len=4096

targets=${FUZZ_TARGETS-$(for source in fuzz/fuzz_*.c; do
    [ -e "$source" ] && basename "$source" .c | sed 's/^fuzz_//'
done)}
[ -n "$targets" ] || { echo "fuzz: no fuzz/fuzz_*.c found" >&2; exit 1; }

run_target() {
    mkdir -p "$work" "$artifacts"
    log=build/fuzz/$1.log
    dictionary=
    [ -e "fuzz/$1.dict" ] && dictionary=-dict=fuzz/$1.dict
    if ! build/fuzz/fuzz_"$1" -max_total_time="$seconds" -max_len=$max_len -timeout=10 -rss_limit_mb=2048 \
        -print_final_stats=1 -artifact_prefix="$artifacts/" $dictionary "$work" "$corpus" >"$log" 2>&1; then
        tail -n 40 "$log" >&2
        echo "fuzz: $1 failed; the input is in $artifacts, the log is $log" >&2
        return 1
    fi
    executed=$(sed -n 's/^stat::number_of_executed_units: *//p' "$log")
    printf '%-20s %s inputs, %s new, no failure\n' "$1" "$executed" "$(find "$work" -type f | wc -l)"
}

merge_target() {
    if [ ! -d "$work" ]; then
        echo "fuzz: $1 has found nothing yet; run: make fuzz"
        return 0
    fi
    before=$(find "$corpus" -type f | wc -l)
    log=build/fuzz/$1.merge.log
    if ! build/fuzz/fuzz_"$1" -merge=1 -max_len=$max_len "$corpus" "$work" >"$log" 2>&1; then
        tail -n 40 "$log" >&2
        echo "fuzz: merging $1 failed; the log is $log" >&2
        return 1
    fi
    printf '%-20s %d inputs, %d of them new\n' "$1" "$(find "$corpus" -type f | wc -l)" \
        "$(($(find "$corpus" -type f | wc -l) - before))"
}

failed=0
for name in $targets; do
    corpus=fuzz/corpus/$name
    work=build/fuzz/work/$name
    artifacts=build/fuzz/artifacts/$name
    mkdir -p "$corpus"
    "${action}_target" "$name" || failed=1
done
exit $failed
