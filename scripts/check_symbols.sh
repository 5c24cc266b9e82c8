#!/bin/sh
# Checks that a shared library exports exactly what the public headers declare with KI_API, with the version of its
# soname: KINFORMER_0.1 in libkinformer.so.0.1, also in a program that is linked with it. The functions
# ki_apiserver_* belong to libkinformer-apiserver, all others to libkinformer.
#
#   scripts/check_symbols.sh LIBRARY
set -eu
cd "$(dirname "$0")/.."
library=$1

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# In a copy of the headers KI_API becomes a word that the preprocessor does not expand. A declaration is then
# the text from that word to the semicolon; its name is before "(" or "[", or else at the end.
cp -R include "$work/include"
find "$work/include" -name '*.h' -exec sed -i '/# *define  *KI_API/!s/\bKI_API\b/KI_EXPORTED/g' {} +
for header in include/kinformer/*.h; do
    echo "#include <${header#include/}>"
done | gcc -E -P -x c -I"$work/include" - >"$work/text"
tr '\n' ' ' <"$work/text" | sed 's/;/;\n/g' | sed -n 's/.*\bKI_EXPORTED\b//p' |
    sed -E 's/__attribute__ *\(\(([^()]|\([^()]*\))*\)\)//g; s/ *[([;].*//; s/.*[ *]//' |
    sort -u >"$work/all"
case $library in
*apiserver*) node=KINFORMER_APISERVER_ link=-lkinformer-apiserver probe=ki_apiserver_url ;;
*) node=KINFORMER_ link=-lkinformer probe=ki_version ;;
esac
case $library in
*apiserver*) grep '^ki_apiserver_' "$work/all" >"$work/declared" || true ;;
*) grep -v '^ki_apiserver_' "$work/all" >"$work/declared" || true ;;
esac
nm -D --defined-only "$library" | awk '$2 != "A" { sub(/@.*/, "", $NF); print $NF }' | sort -u >"$work/exported"

[ -s "$work/declared" ] || { echo "symbols: no KI_API declaration found in include/" >&2; exit 1; }

comm -23 "$work/declared" "$work/exported" | sed 's/^/symbols: declared, not exported: /' >"$work/problems"
comm -13 "$work/declared" "$work/exported" | sed 's/^/symbols: exported, not declared: /' >>"$work/problems"

# The soname ends with the version of the symbols.
node=$node$(readelf -d "$library" | sed -nE 's/.*\(SONAME\).*\.so\.([0-9.]+)\]/\1/p')
nm -D --defined-only --with-symbol-versions "$library" | awk '$2 != "A" { print $NF }' | grep -v "@@$node\$" |
    sed "s/^/symbols: without the version $node: /" >>"$work/problems" || true
printf 'const char *%s(void);\nint main(void) { return %s() == 0; }\n' $probe $probe |
    gcc -x c - -o "$work/program" -L"$(dirname "$library")" $link
nm -D --undefined-only --with-symbol-versions "$work/program" | grep -qF "$probe@$node" ||
    echo "symbols: a program that uses $probe does not ask for $node" >>"$work/problems"
if [ -s "$work/problems" ]; then
    cat "$work/problems" >&2
    exit 1
fi
