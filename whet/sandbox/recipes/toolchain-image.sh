#!/bin/sh
# Builds a docker image with a toolchain of its own from Debian packages; no image registry is asked.
#
#   toolchain-image.sh [TAG [SUITE [MIRROR]]]
#
# A mirror of one day pins every package: http://snapshot.debian.org/archive/debian/20250601T000000Z
# Needs root, debootstrap and a docker engine. Prints the image's id, and what is in it as a label.
set -eu

tag=${1:-whet-toolchain:bookworm}
suite=${2:-bookworm}
mirror=${3:-http://deb.debian.org/debian}
packages=gcc,g++,libc6-dev,make,python3,python3-dev,python3-numpy,valgrind

for tool in debootstrap docker; do
    command -v "$tool" >/dev/null || { echo "$tool not found; apt-get install debootstrap docker.io" >&2; exit 1; }
done
root=$(mktemp -d)
trap 'rm -rf "$root"' EXIT
debootstrap --variant=minbase --include="$packages" "$suite" "$root" "$mirror" >&2
rm -rf "$root"/var/cache/apt/* "$root"/var/lib/apt/lists/* "$root"/usr/share/doc/* "$root"/usr/share/man/* \
    "$root"/usr/share/locale/*
chmod 0711 "$root/root"  # an interpreter of the host that lives in root's home is mounted there
versions=$(chroot "$root" dpkg-query -W -f '${Package}=${Version} ' gcc g++ libc6 python3 python3-numpy valgrind)
tar -C "$root" --numeric-owner -c . | docker import --change "LABEL whet.toolchain=\"$versions\"" - "$tag"
