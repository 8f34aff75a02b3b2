#!/bin/sh
# Runs inside the image being built: installs what is missing and makes the host's authorities known.
set -eu
here=$(dirname "$0")

missing() {
    while read -r package; do
        dpkg-query -W -f '${Status}\n' "$package" 2>/dev/null | grep -q ' installed$' || echo "$package"
    done <"$here/packages"
}

install_packages() {
    packages=$(missing)
    [ -n "$packages" ] || return 0 # a bootstrapped root file system is complete, and has no network here
    apt-get update -q
    # shellcheck disable=SC2086  # one word per package
    apt-get install -qy --no-install-recommends $packages
    rm -rf /var/lib/apt/lists/* /var/cache/apt/*.bin
}

# Only certificates the distribution does not ship, each in a file of its own: that is what
# update-ca-certificates reads, so a later upgrade of ca-certificates keeps them.
add_host_authorities() {
    awk -v folder=/usr/local/share/ca-certificates '
        /-----BEGIN CERTIFICATE-----/ { body = ""; inside = 1 }
        inside { body = body $0 "\n" }
        /-----END CERTIFICATE-----/ && inside {
            inside = 0
            if (!(body in known) && FNR != NR) {
                file = sprintf("%s/host-%03d.crt", folder, ++count)
                printf "%s", body > file
                close(file)
            }
            known[body] = 1
        }
    ' /etc/ssl/certs/ca-certificates.crt "$here/host-ca.crt"
    update-ca-certificates >/dev/null
}

too_old() {
    ! python3 -c 'import sys; sys.exit(sys.version_info < (3, 11))'
}

install_packages
add_host_authorities
if too_old; then
    echo "This distribution's Python is older than 3.11: use Debian 12, Ubuntu 24.04 or later." >&2
    exit 1
fi
