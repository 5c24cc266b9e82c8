#!/bin/sh
# Builds the programs in tests/headers/cxx with g++ and clang++, as C++17 and C++20, without a warning, against the
# shared libraries of a build, and runs them.
#
#   scripts/check_cxx.sh BUILD_DIR
#
# Exit status 77: there is no C++ compiler.
set -eu
cd "$(dirname "$0")/.."
build=$(cd "$1" && pwd)
warnings='-Wall -Wextra -Wpedantic -Wshadow -Wconversion -Werror'

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

names() {
    sed -nE 's/^(typedef )?struct (ki_[a-z_]+) \{.*/STRUCT(\2)/p' include/kinformer/*.h
    sed -nE 's/^typedef .*\(\*(ki_[a-z_]+_cb)\)\(.*/\1 of_/p' include/kinformer/*.h
}
names >"$work/names"
missing=$(while read -r name; do
    grep -qF "$name" tests/headers/cxx/idioms.cpp || echo "$name"
done <"$work/names")
if [ -n "$missing" ]; then
    echo "cxx: not in tests/headers/cxx/idioms.cpp:" $missing >&2
    exit 1
fi

programs=0
for compiler in g++ clang++; do
    command -v $compiler >/dev/null || { echo "cxx: there is no $compiler"; continue; }
    for standard in c++17 c++20; do
        for source in tests/headers/cxx/*.cpp; do
            # shellcheck disable=SC2086  # a list of options
            $compiler -std=$standard -g $warnings -Iinclude "$source" -o "$work/program" -pthread \
                -L"$build" -Wl,-rpath,"$build" -lkinformer -lkinformer-apiserver
            "$work/program" >"$work/out" || { echo "cxx: $source failed: $compiler, $standard" >&2; exit 1; }
            programs=$((programs + 1))
        done
    done
done
[ $programs -gt 0 ] || exit 77
echo "$programs programs in C++ built and run"
