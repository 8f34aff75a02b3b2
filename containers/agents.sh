#!/bin/sh
# agents.sh [claude] [codex] [codex-acp]: builds the images that hold those programs, unless they are
# there; without a name, the first two.
# They come from npm's registry at the versions and checksums of agents/table; nothing of them is run.
set -eu
here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
registry=${npm_config_registry:-https://registry.npmjs.org}

say() {
    echo "agents: $*" >&2
}

die() {
    say "$*"
    exit 1
}

# npm knows about registries of companies and their logins; without it the public one is asked.
fetch() {
    if command -v npm >/dev/null; then
        (cd "$scratch" && npm pack --silent "$1" >/dev/null) && mv "$scratch"/*.tgz "$scratch/packed"
        return
    fi
    path=${1%@*}
    curl -fsSL -o "$scratch/packed" "${registry%/}/$path/-/${path##*/}-${1##*@}.tgz"
}

digest() {
    openssl dgst -sha512 -binary "$1" | openssl base64 -A
}

build() {
    name=$1
    row=$(grep "^$name $(uname -m) " "$here/agents/table") || die "$name is not known for $(uname -m)"
    # shellcheck disable=SC2086  # the columns
    set -- $row
    version=$3 package=$4 member=$5 strip=$6 sha512=$7
    image=orchestrator/$name:$version
    recipe=$(cat "$0" "$here/agents/Dockerfile" | cksum | tr ' ' -)
    made=$(docker image inspect -f '{{index .Config.Labels "recipe"}}' "$image" 2>/dev/null) || made=
    [ "$made" = "$recipe" ] && return
    say "fetching $package ..."
    fetch "$package" || die "$package could not be fetched from npm's registry"
    [ "$(digest "$scratch/packed")" = "$sha512" ] || die "$package is not the file that agents/table names"
    mkdir -p "$scratch/image/opt/agents/$name"
    tar -xzf "$scratch/packed" -C "$scratch/image/opt/agents/$name" --no-same-owner \
        --strip-components "$strip" --exclude '*/codex-resources' "$member"
    chmod -R a+rx "$scratch/image/opt/agents/$name" # codex-acp is packed without that
    cp "$here/agents/Dockerfile" "$scratch/image/"
    DOCKER_BUILDKIT=0 docker build -q --label "recipe=$recipe" -t "$image" "$scratch/image" >/dev/null 2>"$scratch/log" || die "$image: $(cat "$scratch/log")"
    rm -rf "$scratch/image" "$scratch/packed"
    say "built $image"
}

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
docker version >/dev/null 2>&1 || die "no Docker Engine answers: run 'sh $here/engine.sh' or start one"
[ $# -gt 0 ] || set -- claude codex
for name; do
    build "$name"
done
