#!/bin/sh
# Installs a build to a temporary folder, then builds and runs programs against it: with pkg-config (shared,
# static, and the one that the README shows) and with find_package (shared, static), each also with the API
# server. Checks that kinformer.pc does not contain DESTDIR.
#
#   scripts/check_install.sh BUILD_DIR COMPILER VERSION
set -eu
cd "$(dirname "$0")/.."
build=$1
compiler=$2
version=$3
expected="$version KI_ERR_INVALID"

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# $1: what was built, $2: the program.
expect_output() {
    output=$(LD_LIBRARY_PATH=$libdir "$2") || { echo "install: $1: the program failed" >&2; exit 1; }
    if [ "$output" != "$expected" ]; then
        echo "install: $1: expected \"$expected\", got \"$output\"" >&2
        exit 1
    fi
}

cmake --install "$build" --prefix "$work/prefix" >/dev/null
pc=$(find "$work/prefix" -name kinformer.pc)
libdir=$(dirname "$(dirname "$pc")")
PKG_CONFIG_PATH=$(dirname "$pc")
export PKG_CONFIG_PATH

[ "$(pkg-config --modversion kinformer)" = "$version" ] || { echo "install: pkg-config: wrong version" >&2; exit 1; }
# shellcheck disable=SC2046  # lists of options
"$compiler" tests/headers/consumer/main.c -o "$work/shared" $(pkg-config --cflags --libs kinformer)
expect_output 'pkg-config, shared' "$work/shared"
# shellcheck disable=SC2046
"$compiler" tests/headers/consumer/main.c -o "$work/static" $(pkg-config --cflags kinformer) \
    $(pkg-config --static --libs kinformer | sed 's/-lkinformer/-l:libkinformer.a/')
expect_output 'pkg-config, static' "$work/static"

# The API server, without libkinformer.
expected='0 pods'
# shellcheck disable=SC2046
"$compiler" tests/headers/consumer/apiserver.c -o "$work/apiserver" $(pkg-config --cflags --libs kinformer-apiserver)
expect_output 'pkg-config, the API server, shared' "$work/apiserver"
# shellcheck disable=SC2046
"$compiler" tests/headers/consumer/apiserver.c -o "$work/apiserver_static" $(pkg-config --cflags kinformer-apiserver) \
    $(pkg-config --static --libs kinformer-apiserver | sed 's/-lkinformer-apiserver/-l:libkinformer-apiserver.a/')
expect_output 'pkg-config, the API server, static' "$work/apiserver_static"
expected="$version KI_ERR_INVALID"

# A program in C++, with kinformer.hpp.
if command -v g++ >/dev/null; then
    expected='kinformer.hpp: ok'
    # shellcheck disable=SC2046
    g++ -std=c++17 tests/headers/cxx/hpp.cpp -o "$work/cxx" $(pkg-config --cflags --libs kinformer kinformer-apiserver)
    expect_output 'pkg-config, C++' "$work/cxx"
    expected="$version KI_ERR_INVALID"
fi

# The program that the README shows.
sed -n '/^```c$/,/^```$/p' README.md | sed '/^```$/q' | sed '/^```/d' >"$work/first.c"
# shellcheck disable=SC2046
"$compiler" -std=c11 -Wall -Wextra -Wpedantic -Werror "$work/first.c" -o "$work/first" \
    $(pkg-config --cflags --libs kinformer)
# It watches the pods of a server until it is killed.
printf '{"apiVersion":"v1","kind":"Pod","metadata":{"name":"web","namespace":"default"},"spec":{"containers":[{"name":"c","image":"c"}]}}' >"$work/pod.json"
"$work/prefix/bin/kinformer" apiserver --port 0 --load "$work/pod.json" --kubeconfig-out "$work/kubeconfig" >"$work/said" &
server=$!
trap 'kill $server $first 2>/dev/null || true; rm -rf "$work"' EXIT
first=
wait_for() {
    tries=0
    while ! grep -q "$1" "$2" 2>/dev/null; do
        tries=$((tries + 1))
        [ $tries -lt 600 ] || { echo "install: README: the first program does not write \"$1\"" >&2; exit 1; }
        sleep 0.1
    done
}
wait_for 'listening at' "$work/said"
KUBECONFIG=$work/kubeconfig LD_LIBRARY_PATH=$libdir "$work/first" >"$work/events" &
first=$!
wait_for '^+ default/web$' "$work/events"
kill $first $server
server=
first=

cmake -G Ninja -S tests/headers/consumer -B "$work/consumer" \
    -DCMAKE_C_COMPILER="$compiler" -DCMAKE_PREFIX_PATH="$work/prefix" >"$work/log" &&
    cmake --build "$work/consumer" >>"$work/log" ||
    { cat "$work/log" >&2; echo "install: find_package: the consumer does not build" >&2; exit 1; }
expect_output 'find_package, shared' "$work/consumer/consumer_shared"
expect_output 'find_package, static' "$work/consumer/consumer_static"
expected='0 pods'
expect_output 'find_package, the API server, shared' "$work/consumer/consumer_apiserver"
expect_output 'find_package, the API server, static' "$work/consumer/consumer_apiserver_static"

# A component that does not exist.
mkdir "$work/nonsense"
printf 'cmake_minimum_required(VERSION 3.25)\nproject(nonsense LANGUAGES C)\nfind_package(kinformer REQUIRED COMPONENTS nonsense)\n' \
    >"$work/nonsense/CMakeLists.txt"
if cmake -G Ninja -S "$work/nonsense" -B "$work/nonsense/build" -DCMAKE_C_COMPILER="$compiler" \
    -DCMAKE_PREFIX_PATH="$work/prefix" >"$work/log" 2>&1; then
    echo "install: find_package: a component that does not exist was found" >&2
    exit 1
fi
if ! tr -s '\n ' ' ' <"$work/log" | grep -qF 'there is no component nonsense; the only one is apiserver'; then
    cat "$work/log" >&2
    echo "install: find_package: the message does not name the component" >&2
    exit 1
fi

DESTDIR=$work/stage cmake --install "$build" --prefix /usr >/dev/null
if ! grep -qx 'prefix=/usr' "$work/stage/usr/${libdir#"$work/prefix/"}/pkgconfig/kinformer.pc"; then
    echo "install: kinformer.pc below DESTDIR does not name the prefix" >&2
    exit 1
fi
echo "installed, and programs built against it"
