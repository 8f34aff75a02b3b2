#!/bin/sh
# agents.sh [claude] [codex] [codex-acp] [claude-agent-acp]: builds the images that hold those
# programs, unless they are there; without a name, the first two.
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

# One row of the table: $1 package, $2 member, $3 strip, $4 sha512, $5 folder.
unpack() {
    say "fetching $1 ..."
    fetch "$1" </dev/null || die "$1 could not be fetched from npm's registry"
    [ "$(digest "$scratch/packed")" = "$4" ] || die "$1 is not the file that agents/table names"
    place=$scratch/image/opt/agents/$name/$5
    mkdir -p "$place"
    tar -xzf "$scratch/packed" -C "$place" --no-same-owner --strip-components "$3" \
        --exclude '*/codex-resources' "$2"
    rm "$scratch/packed"
}

build() {
    name=$1
    rows=$(grep -E "^$name ($(uname -m)|any) " "$here/agents/table") ||
        die "$name is not known for $(uname -m)"
    version=$(echo "$rows" | awk 'NR == 1 { print $3 }')
    image=orchestrator/$name:$version
    recipe=$({ cat "$0" "$here/agents/Dockerfile" && echo "$rows"; } | cksum | tr ' ' -)
    made=$(docker image inspect -f '{{index .Config.Labels "recipe"}}' "$image" 2>/dev/null) || made=
    [ "$made" = "$recipe" ] && return
    while read -r _ _ _ package member strip sha512 folder; do
        unpack "$package" "$member" "$strip" "$sha512" "$folder"
    done <<EOF
$rows
EOF
    chmod -R a+rx "$scratch/image/opt/agents/$name" # codex-acp is packed without that
    cp "$here/agents/Dockerfile" "$scratch/image/"
    DOCKER_BUILDKIT=0 docker build -q --label "recipe=$recipe" -t "$image" "$scratch/image" >/dev/null 2>"$scratch/log" || die "$image: $(cat "$scratch/log")"
    rm -rf "$scratch/image"
    say "built $image"
}

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
docker version >/dev/null 2>&1 || die "no Docker Engine answers: run 'sh $here/engine.sh' or start one"
[ $# -gt 0 ] || set -- claude codex
for wanted; do # not `name`, which is one of build
    [ "$wanted" != claude-agent-acp ] || build claude # which it starts
    build "$wanted"
done
