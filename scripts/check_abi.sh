#!/bin/sh
# Compares the interface of the shared libraries of a build with the one recorded in abi/, with libabigail.
#
#   scripts/check_abi.sh BUILD_DIR            prints the differences
#   scripts/check_abi.sh --record BUILD_DIR   records the interface, after an intended change
#
# Differences are reported, not refused: before 1.0 a minor version may change the interface. It fails only when a
# symbol was removed and the soname is the same.
set -eu
cd "$(dirname "$0")/.."
record=0
if [ "$1" = --record ]; then
    record=1
    shift
fi
build=$1

command -v abidw >/dev/null || { echo "abi: abigail-tools is not installed: not checked"; exit 0; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# Types that no public header declares are left out, and so are paths.
describe() {
    abidw --no-corpus-path --no-comp-dir-path --no-show-locs --drop-private-types --headers-dir include \
        --no-parameter-names "$1"
}

failed=0
for name in libkinformer libkinformer-apiserver; do
    library=$build/$name.so
    if [ $record -eq 1 ]; then
        mkdir -p abi
        describe "$library" >"$work/$name.xml"
        gzip -9n <"$work/$name.xml" >"abi/$name.xml.gz"
        continue
    fi
    gzip -dc "abi/$name.xml.gz" >"$work/$name.xml"
    describe "$library" >"$work/now.xml"
    status=0
    abidiff "$work/$name.xml" "$work/now.xml" >"$work/report" 2>&1 || status=$?
    if [ $status -eq 0 ]; then
        echo "abi: $name is as recorded"
        continue
    fi
    cat "$work/report"
    if [ $((status & 3)) -ne 0 ]; then
        echo "abi: abidiff failed" >&2
        failed=1
    elif grep -qE '[1-9][0-9]* Removed (function|variable)' "$work/report" && ! grep -q SONAME "$work/report"; then
        echo "abi: symbols of $name were removed, and its soname is the same" >&2
        failed=1
    else
        echo "abi: $name differs from the record; if this is intended: scripts/check_abi.sh --record $build"
    fi
done
exit $failed
