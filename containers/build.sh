#!/bin/sh
# Builds the images every run needs, unless they are there and made by these very recipes.
set -eu
here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
base=orchestrator/base
toolbox=orchestrator/toolbox

say() {
    echo "images: $*" >&2
}

die() {
    say "$*"
    exit 1
}

# $1: what is done; the rest: the command, whose chatter is shown only when it fails.
timed() {
    say "$1 ..."
    shift
    start=$(date +%s)
    if ! "$@" >"$scratch/log" 2>&1; then
        tail -n 20 "$scratch/log" | sed 's/^/images:   | /' >&2
        return 1
    fi
    say "  done in $(($(date +%s) - start)) s"
}

# The host's certificate authorities, each once: many companies sit behind one of their own.
host_authorities() {
    for file in /etc/ssl/certs/ca-certificates.crt /etc/pki/tls/certs/ca-bundle.crt /etc/ssl/cert.pem \
        /usr/local/share/ca-certificates/*.crt "${SSL_CERT_FILE:-}"; do
        if [ -n "$file" ] && [ -r "$file" ]; then cat "$file" && echo; fi
    done | awk '
        /-----BEGIN CERTIFICATE-----/ { body = "" }
        { body = body $0 "\n" }
        /-----END CERTIFICATE-----/ && !(body in known) { known[body] = 1; printf "%s", body }
    '
}

# A hash of everything an image is made from; the tag that carries it says: nothing to do.
recipe() {
    cat "$@" | cksum | tr ' ' -
}

current() {
    id=$(docker image inspect -f '{{.Id}}' "$1:$2" 2>/dev/null) || return 1
    [ "$id" = "$(docker image inspect -f '{{.Id}}' "$1:1" 2>/dev/null)" ]
}

# Buildx is often missing next to a distribution's engine, so the classic builder it is.
build() {
    DOCKER_BUILDKIT=0 docker build --force-rm "$@"
}

# An older image that containers still use keeps its tag until the next time.
publish() {
    for old in $(docker image ls --filter "reference=$1:made-*" --format '{{.Repository}}:{{.Tag}}'); do
        docker image rm "$old" >/dev/null 2>&1 || :
    done
    docker tag "$1:1" "$1:$2"
}

pulled() {
    timed "fetching debian:bookworm-slim" timeout 120 docker pull -q debian:bookworm-slim &&
        timed "building $base:1" build --build-arg ROOTFS=debian:bookworm-slim -t "$base:1" "$scratch/base"
}

bootstrapped() {
    say "that failed: making it from this machine's own package sources instead"
    timed "bootstrapping a root file system" sh "$here/bootstrap.sh" "$here/base/packages" "$scratch/rootfs.tar" &&
        timed "importing it" docker import "$scratch/rootfs.tar" "$base:rootfs" &&
        timed "building $base:1" build --network none --build-arg "ROOTFS=$base:rootfs" -t "$base:1" "$scratch/base" &&
        docker image rm "$base:rootfs" >/dev/null
}

make_base() {
    mkdir "$scratch/base"
    cp "$here"/base/* "$scratch/base/"
    host_authorities >"$scratch/base/host-ca.crt"
    tag=made-$(recipe "$here/bootstrap.sh" "$scratch"/base/*)
    current "$base" "$tag" && return
    pulled || bootstrapped || die "$base:1 could not be built; the lines above say why"
    publish "$base" "$tag"
}

# The first stage gets a name only so that it can be removed again.
toolbox_stages() {
    set -- --network none --build-arg "BASE=$base:1" "$here/toolbox"
    build --target builder -t "$toolbox:builder" "$@" && build -t "$toolbox:1" "$@" &&
        docker image rm "$toolbox:builder"
}

make_toolbox() {
    docker image inspect -f '{{.Id}}' "$base:1" >"$scratch/base.id"
    tag=made-$(recipe "$scratch/base.id" "$here"/toolbox/*)
    current "$toolbox" "$tag" && return
    timed "building $toolbox:1" toolbox_stages || die "$toolbox:1 could not be built; the lines above say why"
    publish "$toolbox" "$tag"
}

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
docker version >/dev/null 2>&1 || die "no Docker Engine answers: run 'sh $here/engine.sh' or start one"
make_base
make_toolbox
