#!/bin/sh
# Makes sure a Docker Engine answers: the one that does, else the distribution's own, installed and started.
set -eu
patience=60 # seconds a new engine may take to answer
daemon=''    # its process id, when it was started by hand

say() {
    echo "engine: $*" >&2
}

die() {
    say "$*"
    exit 1
}

answers() {
    docker version >/dev/null 2>&1
}

is_debian() {
    command -v apt-get >/dev/null && [ -r /etc/debian_version ]
}

# Newer releases keep the command in a package of its own.
install_engine() {
    say "no Docker Engine here: installing this distribution's docker.io ..."
    log=$(mktemp)
    apt-get update -q >"$log" 2>&1 || say "the package lists could not be brought up to date; trying with the old ones"
    packages=docker.io
    if apt-cache show docker-cli >/dev/null 2>&1; then packages="docker.io docker-cli"; fi
    # shellcheck disable=SC2086  # one word per package
    DEBIAN_FRONTEND=noninteractive apt-get install -qy $packages >>"$log" 2>&1 || {
        tail -n 20 "$log" >&2
        die "docker.io could not be installed; the lines above say why"
    }
    rm "$log"
}

start_engine() {
    if [ -d /run/systemd/system ]; then
        say "starting it: systemctl start docker"
        systemctl start docker
    else
        say "starting it: dockerd, logging to /var/log/dockerd.log"
        setsid dockerd </dev/null >>/var/log/dockerd.log 2>&1 &
        daemon=$!
    fi
}

died() {
    [ -n "$daemon" ] && ! kill -0 "$daemon" 2>/dev/null
}

wait_for_answer() {
    left=$patience
    until answers; do
        left=$((left - 1))
        if died; then
            tail -n 3 /var/log/dockerd.log >&2
            die "dockerd ended; the lines above, from /var/log/dockerd.log, say why"
        fi
        [ "$left" -gt 0 ] || die "the engine does not answer after $patience s; see /var/log/dockerd.log or 'journalctl -u docker'"
        sleep 1
    done
    say "Docker Engine $(docker version -f '{{.Server.Version}}') answers"
}

answers && exit 0
[ -z "${DOCKER_HOST:-}" ] || die "nothing answers at DOCKER_HOST=$DOCKER_HOST: start it, or unset DOCKER_HOST"
if docker version 2>&1 | grep -qi 'permission denied'; then
    die "you may not use the Docker Engine: run 'sudo usermod -aG docker \$USER' and log in again"
fi
[ "$(id -u)" = 0 ] || die "no Docker Engine answers: start one ('sudo systemctl start docker'), or run this once as root"
command -v dockerd >/dev/null || {
    is_debian || die "no Docker Engine here: install one, see https://docs.docker.com/engine/install/"
    install_engine
}
answers || start_engine
wait_for_answer
