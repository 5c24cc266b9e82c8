#!/bin/sh
# Fills build/arm64-sysroot with the arm64 libraries that the library and its tests need. Prints nothing if they are already
# there.
#
# They come from this machine's apt sources, with separate lists and a separate cache. They are unpacked, not installed, so
# the system's packages and architectures do not change, and root is not needed.
set -eu
cd "$(dirname "$0")/.."

packages='libcurl4-openssl-dev zlib1g-dev libyaml-dev libcmocka-dev libjansson-dev libssl-dev'
sysroot=$PWD/build/arm64-sysroot

# Written last, so that an interrupted fetch is repeated.
[ "$(cat "$sysroot/packages" 2>/dev/null)" != "$packages" ] || exit 0

for tool in apt-get dpkg-deb; do
    command -v $tool >/dev/null || { echo "arm64: $tool is missing; it is needed to fetch, for arm64: $packages" >&2; exit 1; }
done

echo "arm64: fetching $packages to build/arm64-sysroot"
rm -rf "$sysroot"
mkdir -p "$sysroot"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
chmod 755 "$work"
mkdir -p "$work/lists/partial" "$work/cache/archives/partial"
: >"$work/status"
# No hooks: the system is not changed.
cat >"$work/apt.conf" <<EOT
#clear APT::Architectures;
#clear APT::Update::Pre-Invoke;
#clear APT::Update::Post-Invoke;
#clear APT::Update::Post-Invoke-Success;
APT::Architecture "arm64";
APT::Architectures { "arm64"; };
Acquire::Languages "none";
Acquire::IndexTargets::deb::DEP-11::DefaultEnabled "false";
Dir::State "$work";
Dir::State::status "$work/status";
Dir::Cache "$work/cache";
EOT

# With their dependencies.
# shellcheck disable=SC2086  # a list of words
if ! { apt-get -c "$work/apt.conf" update -qq &&
        apt-get -c "$work/apt.conf" install -qq -y --no-install-recommends --download-only \
            -o Debug::NoLocking=1 $packages; } \
        >"$work/log" 2>&1; then
    cat "$work/log" >&2
    echo "arm64: not found in the apt sources of this machine, for arm64: $packages" >&2
    exit 1
fi
# The C library comes with the cross compiler.
for package in "$work"/cache/archives/*.deb; do
    case ${package##*/} in
    libc6* | libc-dev* | linux-libc-dev* | libcrypt* | libgcc* | gcc-*) ;;
    *) dpkg-deb -x "$package" "$sysroot" ;;
    esac
done
echo "$packages" >"$sysroot/packages"
