#!/bin/sh
# Checks that the tools and libraries of the given groups are installed, and installs missing ones. Prints nothing if all are
# installed.
#
#   scripts/deps.sh [--list | --optional] build test lint bench fuzz coverage arm64 distro loops bindings
#
# With --optional, a package that cannot be installed is only reported: the tests and checks that need it are not run.
#
# A tool or library counts as installed when it works, wherever it comes from. Missing ones are installed from
# Debian packages, as root or through a sudo that needs no password. Where that is not possible, the script
# reports what is missing and the command to install it.
set -eu

# One "probe argument package" per line.
needs() {
    case $1 in
    build)
        echo 'compiler gcc gcc
compiler gcc libc6-dev
command cmake cmake
command ninja ninja-build
command pkg-config pkg-config
library libcurl libcurl4-openssl-dev
library openssl libssl-dev
library zlib zlib1g-dev
library yaml-0.1 libyaml-dev
library libmicrohttpd libmicrohttpd-dev
library gnutls libgnutls28-dev
library jansson libjansson-dev
library libpcre2-8 libpcre2-dev' ;;
    test)
        echo 'library cmocka libcmocka-dev
daemon nghttpx nghttp2-proxy' ;;
    lint)
        echo 'compiler clang clang
compiler g++ g++
command clang-format clang-format
command clang-tidy clang-tidy
command nm binutils
command python3 python3' ;;
    bench)
        echo 'compiler g++ g++
library jansson libjansson-dev
library libcjson libcjson-dev
library simdjson libsimdjson-dev
command curl curl' ;;
    fuzz)
        echo 'compiler clang clang
clang_runtime fuzzer libclang-rt-dev' ;;
    coverage)
        echo 'command gcovr gcovr' ;;
    loops)
        echo 'library libuv libuv1-dev
library libevent libevent-dev
library glib-2.0 libglib2.0-dev' ;;
    bindings)
        echo 'command bindgen bindgen
python cffi python3-cffi
command luajit luajit
command abidw abigail-tools' ;;
    distro)
        echo 'daemon debootstrap debootstrap' ;;
    arm64)
        echo 'compiler aarch64-linux-gnu-gcc gcc-aarch64-linux-gnu
compiler aarch64-linux-gnu-gcc libc6-dev-arm64-cross
command qemu-aarch64 qemu-user' ;;
    *)
        echo "deps: no such group: $1" >&2
        exit 2 ;;
    esac
}

has_command() { command -v "$1" >/dev/null 2>&1; }
# Directories that are not in every $PATH.
has_daemon() { has_command "$1" || has_command "/usr/sbin/$1"; }
has_library() { has_command pkg-config && pkg-config --exists "$1"; }
has_python() { has_command python3 && python3 -c "import $1" 2>/dev/null; }
# A compiler needs the C library's headers.
has_compiler() { has_command "$1" && echo '#include <stdlib.h>' | "$1" -E -x c - >/dev/null 2>&1; }
has_clang_runtime() {
    has_command clang || return 1
    for file in "$(clang -print-runtime-dir)/libclang_rt.$1"*.a; do
        [ -e "$file" ] && return 0
    done
    return 1
}

missing_packages() {
    for group in "$@"; do
        needs "$group"
    done | sort -u | while read -r probe argument package; do
        "has_$probe" "$argument" || echo "$package"
    done | sort -u | tr '\n' ' ' | sed 's/ $//'
}

all_packages() {
    for group in "$@"; do
        needs "$group"
    done | cut -d ' ' -f 3 | sort -u
}

as_root() {
    if [ "$(id -u)" -eq 0 ]; then
        "$@"
    else
        sudo -n "$@"
    fi
}

can_install() {
    has_command apt-get || return 1
    [ "$(id -u)" -eq 0 ] || { has_command sudo && sudo -n true 2>/dev/null; }
}

install_packages() {
    as_root env DEBIAN_FRONTEND=noninteractive apt-get install -qq -y --no-install-recommends "$@" \
        </dev/null >/dev/null
}

# Package lists are empty on a fresh machine, and may name removed versions on an old one.
has_package_lists() { ls /var/lib/apt/lists/*_Packages* >/dev/null 2>&1; }

list=0
optional=0
case ${1-} in
--list)
    list=1
    shift ;;
--optional)
    optional=1
    shift ;;
esac
for group in "$@"; do
    needs "$group" >/dev/null
done
if [ $list -eq 1 ]; then
    all_packages "$@"
    exit 0
fi

# The command for a user with the necessary rights; the packages are the arguments.
line_to_type() {
    who='type:  '
    run='apt-get'
    if [ "$(id -u)" -ne 0 ] && has_command sudo; then
        run='sudo apt-get'
    elif [ "$(id -u)" -ne 0 ]; then
        who='type as root:  '
    fi
    has_package_lists || who="$who$run update && "
    echo "$who$run install -y --no-install-recommends $*"
}

missing=$(missing_packages "$@")
[ -n "$missing" ] || exit 0

# One attempt with the present package lists, so that a machine without a network does not wait.
if [ $optional -eq 1 ]; then
    # shellcheck disable=SC2086
    can_install && install_packages $missing 2>/dev/null || true
    missing=$(missing_packages "$@")
    [ -z "$missing" ] || echo "deps: not installed, so the tests that need them are not run: $missing"
    exit 0
fi

if ! has_command apt-get; then
    echo "deps: missing (names of Debian packages): $missing" >&2
    echo "deps: there is no apt-get; install them with this system's package manager" >&2
    exit 1
fi
# shellcheck disable=SC2086  # lists of words, below as well
if ! can_install; then
    echo "deps: missing: $missing" >&2
    echo "deps: to install, $(line_to_type $missing)" >&2
    exit 1
fi
echo "deps: installing $missing"
if ! { has_package_lists && install_packages $missing 2>/dev/null; }; then
    # An update without a network warns but succeeds; the installation then reports what it cannot find.
    if ! { as_root apt-get update -qq && install_packages $missing; }; then
        echo "deps: apt-get failed, see above; is the network available?" >&2
        echo "deps: missing: $missing" >&2
        echo "deps: to try again, $(line_to_type $missing)" >&2
        exit 1
    fi
fi

still_missing=$(missing_packages "$@")
if [ -n "$still_missing" ]; then
    echo "deps: installed but not found: $still_missing" >&2
    exit 1
fi
