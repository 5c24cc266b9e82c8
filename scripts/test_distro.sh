#!/bin/sh
# Builds and tests the project in a clean Debian of another release.
#
#   scripts/test_distro.sh trixie|bookworm|sid [PRESET ...]     runs `make test`, or the given presets
#
# The system is installed once, in build/distro/NAME, by debootstrap from the mirror that this machine's apt
# uses. The sources are copied into it each time; builds are incremental. Needs root. Its mounts are private
# and disappear with its processes.
# Exit status: 0 when all passed; 1 on failure; 77 when it could not be run, with the reason printed.
set -eu
cd "$(dirname "$0")/.."
distro=${1-}
case $distro in
bookworm | trixie | sid)
    shift ;;
*)
    echo "usage: scripts/test_distro.sh trixie|bookworm|sid [PRESET ...]" >&2
    exit 2 ;;
esac
root=$PWD/build/distro/$distro
log=$PWD/build/distro/$distro.log

not_run() {
    echo "distro: $distro not run: $1"
    exit 77
}

# ---- the system ----

# The package sources of apt, each once.
mirrors() {
    apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' | awk '!seen[$0]++'
}

# The key files that the sources of apt are signed with.
keyring() {
    sed -n -E 's/^Signed-By: *//p; s/.*signed-by=([^] ]*).*/\1/p' /etc/apt/sources.list /etc/apt/sources.list.d/*.list \
        /etc/apt/sources.list.d/*.sources 2>/dev/null | while read -r file; do
        [ ! -r "$file" ] || echo "$file"
    done | head -n 1
}

# Proxies and similar settings, as on this machine.
copy_apt_options() {
    apt-config dump | grep -E '^Acquire::' | grep -vE '^Acquire::(IndexTargets|cdrom|Changelogs|Languages|CompressionTypes)' \
        >"$1/etc/apt/apt.conf.d/90host" || true
}

private_mounts() { exec unshare --mount --propagation private --pid --fork --kill-child "$@"; }

make_system() {
    keys=$(keyring)
    for mirror in $(mirrors); do
        rm -rf "$root.new"
        if (private_mounts debootstrap --variant=minbase --include=make,ca-certificates \
            ${keys:+--keyring="$keys"} "$distro" "$root.new" "$mirror") >>"$log" 2>&1; then
            copy_apt_options "$root.new"
            mv "$root.new" "$root"
            return 0
        fi
    done
    rm -rf "$root.new"
    tail -n 5 "$log"
    return 1
}

# ---- the project in it ----

# File times are kept, so that unchanged files are not built again.
copy_sources() {
    mkdir -p "$root/src"
    find "$root/src" -mindepth 1 -maxdepth 1 ! -name build -exec rm -rf {} +
    tar --exclude=./build --exclude=./.git -cf - . | tar -xf - -C "$root/src"
}

# go_inside COMMAND: replaces this process by COMMAND, in the clean system, in the source directory
go_inside() {
    # shellcheck disable=SC2016  # the arguments are those of the inner shell
    private_mounts sh -euc '
        mount -t proc proc "$1/proc"
        mount --rbind /dev "$1/dev"
        mount -t tmpfs tmpfs "$1/dev/shm"
        mount -t tmpfs tmpfs "$1/tmp"
        exec chroot "$1" env -i HOME=/root LANG=C.UTF-8 PATH=/usr/sbin:/usr/bin:/sbin:/bin \
            ${http_proxy:+http_proxy="$http_proxy"} ${https_proxy:+https_proxy="$https_proxy"} \
            sh -euc "cd /src; $2"' sh "$root" "$1" </dev/null
}

inside() { (go_inside "$1"); }

# Some packages may not exist in that release; this is not an error of the mirror.
install_packages() {
    inside 'scripts/deps.sh build test' && return 0
    inside 'apt-get update -qq --error-on=any' || not_run "the mirror of this machine's apt cannot be reached"
    inside 'scripts/deps.sh build test'
}

# ---- main ----

[ "$(id -u)" -eq 0 ] || not_run "root is needed for a system of its own"
command -v apt-get >/dev/null || not_run "there is no apt, whose mirror is needed"
scripts/deps.sh distro || not_run "there is no debootstrap"
(private_mounts true) 2>/dev/null || not_run "this machine allows no mounts"

mkdir -p build/distro
if [ ! -d "$root" ]; then
    echo "distro: making $distro in build/distro/$distro"
    : >"$log"
    make_system || not_run "debootstrap could not make it, as $log says"
fi
copy_sources
inside true || not_run "this machine allows no mounts"
install_packages
echo "distro: $distro, libcurl $(inside 'pkg-config --modversion libcurl')"
if [ $# -gt 0 ]; then
    go_inside "scripts/test.sh $*"
else
    go_inside 'make test'
fi
