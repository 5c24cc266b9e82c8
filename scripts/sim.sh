#!/bin/sh
# Runs the informer simulation for a range of seeds on all cores, and reports how many passed and which
# failed.
#
#   scripts/sim.sh [COUNT | FROM-TO] [PRESET]
#
# To run one failing seed again, with a full log: build/PRESET/sim_informer --seed N --verbose
set -eu
cd "$(dirname "$0")/.."
seeds=${1-1-100000}
preset=${2-release}
case $seeds in
*-*) ;;
*) seeds=1-$seeds ;;
esac
from=${seeds%-*}
to=${seeds#*-}
case $from$to in
*[!0-9]* | '') echo "sim: $seeds is not a range of seeds, such as 1-100000" >&2; exit 2 ;;
esac
started=$(date +%s)

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
chunk=5000
first=$from
while [ "$first" -le "$to" ]; do
    last=$((first + chunk - 1))
    [ "$last" -le "$to" ] || last=$to
    echo "$first-$last"
    first=$((last + 1))
done | xargs -P "$(nproc)" -I '{}' sh -c \
    "build/$preset/sim_informer --seeds {} >$work/{} 2>&1 || echo \"{}: ended with \$?\" >$work/{}.failed"

cat "$work"/*[0-9] | grep '^seed ' | sort -t ' ' -k 2 -n || true
# A crashed program has no last line.
for failed in "$work"/*.failed; do
    [ -e "$failed" ] || continue
    grep -q 'seeds passed' "${failed%.failed}" || { cat "${failed%.failed}" "$failed"; }
done
passed=$(cat "$work"/*[0-9] | sed -n 's/^\([0-9]*\) seeds passed.*/\1/p' | awk '{ n += $1 } END { print n + 0 }')
echo "sim: $passed of $((to - from + 1)) seeds passed, in $(($(date +%s) - started)) s"
[ "$passed" -eq $((to - from + 1)) ]
