#!/bin/sh
# bootstrap.sh PACKAGES OUT.tar: a Debian or Ubuntu root file system from the host's own package sources.
set -eu
packages=$(paste -s -d , "$1")
out=$2

die() {
    echo "$*" >&2
    exit 1
}

[ -r /etc/os-release ] && . /etc/os-release
case ${ID:-} in
debian | ubuntu) ;;
*) die "No registry answers, and only Debian and Ubuntu hosts can bootstrap an image: make debian:bookworm-slim pullable." ;;
esac

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

# The distribution's own sources only: files it named itself, and of the lines in its old-style list,
# where people add others, those for `main` of this very release.
own_sources() {
    for file in /etc/apt/sources.list.d/*debian.sources /etc/apt/sources.list.d/*ubuntu.sources; do
        if [ -r "$file" ]; then echo "$file"; fi
    done
    cat /etc/apt/sources.list /etc/apt/sources.list.d/*sources.list 2>/dev/null |
        grep -E "^deb +(\[[^]]*\] +)?[^ ]+ +$VERSION_CODENAME(-updates|-security|/updates)? +(.* )?main( |\$)" \
            >"$scratch/sources.list" || return 0
    echo "$scratch/sources.list"
}

have() {
    command -v "$1" >/dev/null
}

# $1: one of the two programs; Ubuntu keeps both in `universe`, which may be switched off.
install() {
    [ "$(id -u)" = 0 ] || return 1
    { apt-get install -qy "$1" || { apt-get update -q && apt-get install -qy "$1"; }; } >"$scratch/apt.log" 2>&1
}

from_mmdebstrap() {
    # Cloud images name their mirrors in a file, which the sources then point at.
    [ -d /etc/apt/mirrors ] && set -- --customize-hook='copy-in /etc/apt/mirrors /etc/apt'
    # shellcheck disable=SC2046  # file names of our own making
    mmdebstrap --quiet --variant=minbase --include="$packages" \
        --dpkgopt='path-exclude=/usr/share/man/*' --dpkgopt='path-exclude=/usr/share/locale/*' \
        --dpkgopt='path-exclude=/usr/share/doc/*' --dpkgopt='path-include=/usr/share/doc/*/copyright' \
        "$@" "$VERSION_CODENAME" "$out" $(own_sources)
}

# debootstrap takes a single mirror: the first one named.
from_debootstrap() {
    # shellcheck disable=SC2046
    mirror=$(sed -n 's/^URIs: *\([^ ]*\).*/\1/p; s/^deb  *\(\[[^]]*\]\)* *\([^ ]*\).*/\2/p' $(own_sources) | head -n 1)
    components=main
    [ "$ID" = ubuntu ] && components=main,universe
    debootstrap --variant=minbase --components="$components" --include="$packages" \
        "$VERSION_CODENAME" "$scratch/root" "$mirror" >"$scratch/debootstrap.log" 2>&1 ||
        { tail -n 20 "$scratch/debootstrap.log" >&2 && return 1; }
    rm -rf "$scratch"/root/var/cache/apt/archives/*.deb "$scratch"/root/var/lib/apt/lists/*
    tar -C "$scratch/root" --numeric-owner --one-file-system -cf "$out" .
}

[ -n "$(own_sources)" ] || die "No package source of $ID $VERSION_CODENAME itself is set up under /etc/apt: add one."
if have mmdebstrap || install mmdebstrap; then
    from_mmdebstrap
elif have debootstrap || install debootstrap; then
    from_debootstrap
else
    [ -r "$scratch/apt.log" ] && tail -n 5 "$scratch/apt.log" >&2
    die "No registry answers and mmdebstrap is missing: install it (apt-get install mmdebstrap) and try again."
fi
