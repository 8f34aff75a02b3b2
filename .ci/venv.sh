#!/bin/sh
# Makes .venv with the pinned dependencies; $PYTHON picks the interpreter.
set -eu
cd "$(dirname "$0")/.."

die() {
    echo "venv: $*" >&2
    exit 1
}

# Tried by running it: a name found on the PATH may be a shim for a version that is not there.
recent() {
    "$1" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null
}

find_python() {
    for name in ${PYTHON:-python3 python3.14 python3.13 python3.12 python3.11}; do
        if recent "$name"; then
            echo "$name"
            return
        fi
    done
    die "Python 3.11 or later is needed: install it, or name it with PYTHON=/path/to/python3"
}

# Debian keeps what `venv` needs in a package of its own.
add_venv_module() {
    version=$("$1" -c 'import sys; print("python%d.%d" % sys.version_info[:2])')
    if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
        echo "venv: installing $version-venv" >&2
        DEBIAN_FRONTEND=noninteractive apt-get install -qy "$version-venv" >/dev/null 2>&1 && return
    fi
    die "$1 cannot make virtual environments: install its venv module (Debian and Ubuntu: apt-get install $version-venv)"
}

git_version=$(git version 2>/dev/null | sed 's/[^0-9]*\([0-9]*\)\.\([0-9]*\).*/\1 \2/')
# shellcheck disable=SC2086  # two words
set -- ${git_version:-0 0}
[ "$1" -gt 2 ] || { [ "$1" -eq 2 ] && [ "$2" -ge 38 ]; } || die "git 2.38 or later is needed: install or upgrade it"

# One that works is kept: pip then only changes what differs.
if ! recent .venv/bin/python; then
    python=$(find_python)
    "$python" -c 'import ensurepip, venv' 2>/dev/null || add_venv_module "$python"
    echo "venv: $("$python" --version) in .venv" >&2
    "$python" -m venv --clear .venv
fi
echo "venv: installing the pinned dependencies" >&2
# The constraint also binds what is needed to build the package itself.
PIP_CONSTRAINT=$PWD/.ci/constraints.txt PIP_DISABLE_PIP_VERSION_CHECK=1 \
    .venv/bin/python -m pip install -q -e '.[dev]'
touch .venv/ready
