#!/bin/sh
# collect.sh TO: runs inside the base image and copies git and Python with everything they load.
set -eu
here=$(dirname "$0")
to=$1
mkdir -p "$to/bin" "$to/lib" "$to/libexec/git-core" "$to/share/templates"

# Left out: what links large libraries (TLS, SQLite, terminals), asks for a display, or only tests Python.
unwanted_modules='_ssl|_hashlib|_sqlite3|_curses.*|_dbm|_gdbm|_tkinter|_uuid|_crypt|nis|ossaudiodev|readline|_?xx.*|.*test.*|_codecs_.*|_multibytecodec'
unwanted_packages='config-*|test|idlelib|tkinter|turtledemo|turtle.py|lib2to3|ensurepip|distutils|pydoc_data|unittest|sqlite3|curses|dbm|xmlrpc|wsgiref|venv|__phello__*|LICENSE.txt|EXTERNALLY-MANAGED|sitecustomize.py|dist-packages'

copy_git() {
    cp "$(readlink -f "$(command -v git)")" "$to/libexec/git"
    cp "$here/git.wrapper" "$to/bin/git"
    ln -s ../../bin/git "$to/libexec/git-core/git" # git starts itself from here
}

copy_python() {
    python=$(readlink -f "$(command -v python3)")
    library=$(python3 -c 'import sysconfig; print(sysconfig.get_path("stdlib"))')
    stdlib=$to/lib/$(basename "$library")
    cp "$python" "$to/libexec/python"
    cp "$here/python.wrapper" "$to/bin/python"
    cp -RL "$library" "$stdlib"
    old=$IFS
    IFS='|'
    for name in $unwanted_packages; do
        # shellcheck disable=SC2086  # a pattern
        rm -rf "${stdlib:?}"/$name
    done
    IFS=$old
    find "$stdlib/lib-dynload" -type f | while read -r file; do
        if basename "$file" | grep -Eq "^($unwanted_modules)\."; then rm "$file"; fi
    done
    compile "$stdlib"
}

# Byte code only: the toolbox is mounted read-only, and sources would be read for nothing at each start.
compile() {
    find "$1" -name __pycache__ -prune -exec rm -rf {} +
    python3 -m compileall -q -b -s "$1" --invalidation-mode unchecked-hash "$1"
    find "$1" -name '*.py' -delete
}

libraries_of() {
    ldd "$@" | sed -n 's/.* => \(\/[^ ]*\) .*/\1/p' | sort -u
}

copy_libraries() {
    # shellcheck disable=SC2046  # library paths hold no spaces
    set -- "$to/libexec/git" "$to/libexec/python" $(find "$to/lib" -name '*.so')
    # shellcheck disable=SC2046
    cp -L $(libraries_of "$@") "$to/lib/"
    loader=$(ldd "$to/libexec/git" | sed -n 's/^[[:space:]]*\(\/[^ ]*ld-linux[^ ]*\) .*/\1/p')
    cp -L "$loader" "$to/lib/ld.so"
}

cp "$(command -v busybox)" "$to/bin/busybox"
copy_git
copy_python
copy_libraries
chmod -R u=rwX,go=rX "$to"
chmod 755 "$to"/bin/* "$to"/libexec/git "$to"/libexec/python "$to/lib/ld.so"
"$to/bin/git" --version >/dev/null
"$to/bin/python" -I -S -c 'import ctypes, hashlib, json, os, signal, subprocess'
