#!/bin/sh
# Builds a docker image of a worker: whet with Ray, compilers and bubblewrap, from Debian packages and a wheel of whet;
# no image registry is asked.
#
#   worker-image.sh WHEEL [TAG [SUITE [MIRROR]]]
#
# Needs root, debootstrap, a docker engine, and a python3 with pip of the suite's own minor version (or one named by
# PYTHON), which fetches what whet needs. A worker must have the driver's versions of whet and Ray: make the wheel
# from the driver's whet.
set -eu

wheel=$(realpath "${1:?the wheel of whet is missing; make one with: pip wheel --no-deps .}")
tag=${2:-whet-worker:bookworm}
suite=${3:-bookworm}
mirror=${4:-http://deb.debian.org/debian}
python=${PYTHON:-python3}
packages=gcc,g++,libc6-dev,make,python3,python3-dev,python3-venv,valgrind,bubblewrap,util-linux

for tool in debootstrap docker "$python"; do
    command -v "$tool" >/dev/null || { echo "$tool not found; apt-get install debootstrap docker.io" >&2; exit 1; }
done
root=$(mktemp -d)
trap 'rm -rf "$root"' EXIT
debootstrap --variant=minbase --include="$packages" "$suite" "$root" "$mirror" >&2
"$python" -m pip wheel --quiet --wheel-dir "$root/wheels" "$wheel[ray]" >&2
chroot "$root" python3 -m venv /opt/whet
chroot "$root" /opt/whet/bin/pip install --quiet --no-index --find-links /wheels "/wheels/$(basename "$wheel")[ray]" >&2
rm -rf "$root/wheels" "$root"/var/cache/apt/* "$root"/var/lib/apt/lists/* "$root"/usr/share/doc/* \
    "$root"/usr/share/man/* "$root"/usr/share/locale/*
# Ray wants the driver's Python to the last digit, which Debian's seldom is; the minor version is what matters to it.
tar -C "$root" --numeric-owner -c . | docker import \
    --change 'ENV PATH=/opt/whet/bin:/usr/sbin:/usr/bin:/sbin:/bin' \
    --change 'ENV RAY_DEFAULT_PYTHON_VERSION_MATCH_LEVEL=minor' \
    --change 'ENTRYPOINT ["ray", "start", "--block", "--disable-usage-stats"]' - "$tag"
