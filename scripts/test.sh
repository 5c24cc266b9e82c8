#!/bin/sh
# Builds the given presets, runs all suites in each, and reports how many passed and failed.
set -eu
cd "$(dirname "$0")/.."

# ThreadSanitizer of gcc 12 fails with the widest address space randomisation, so it is switched off. Where
# personality() is forbidden, the tests run without this.
no_aslr=
if [ "$(uname -s)" = Linux ] && setarch "$(uname -m)" -R true 2>/dev/null; then
    no_aslr="setarch $(uname -m) -R"
fi

# Three slots per processor: a test that computes uses two, one that waits uses one
# (cmake/KinformerTests.cmake).
jobs=$((3 * $(nproc)))

summary=
passed_all=0
failed_all=0
for preset in "$@"; do
    echo "== $preset: build"
    scripts/build.sh "$preset"
    echo "== $preset: test"
    log=build/$preset/ctest.log
    launcher=
    [ "$preset" = tsan ] && launcher=$no_aslr
    # The status of ctest is read from its count: the pipe hides it, and every preset must run.
    $launcher ctest --preset "$preset" --parallel "$jobs" 2>&1 | tee "$log"
    line=$(grep -aE 'tests passed, [0-9]+ tests failed out of [0-9]+' "$log" | tail -n 1)
    if [ -z "$line" ]; then
        echo "test: ctest printed no result for the preset $preset" >&2
        exit 1
    fi
    failed=$(echo "$line" | sed -E 's/.*, ([0-9]+) tests failed.*/\1/')
    total=$(echo "$line" | sed -E 's/.*out of ([0-9]+).*/\1/')
    passed=$((total - failed))
    passed_all=$((passed_all + passed))
    failed_all=$((failed_all + failed))
    summary="$summary$(printf '%-10s %d passed, %d failed' "$preset:" "$passed" "$failed")
"
done

echo
printf '%s' "$summary"
echo "$passed_all passed, $failed_all failed"
[ "$failed_all" -eq 0 ]
