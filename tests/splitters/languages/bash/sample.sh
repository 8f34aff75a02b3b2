#!/usr/bin/env bash
# Backs up a shelf. fake() { is text here.
set -euo pipefail

readonly LIMIT=12
folder=${1:-/srv/shelf}

# Says it on stderr.
say() {
  printf '%s\n' "$*" >&2
}

function usage {
  cat <<'TEXT'
usage: shelf [folder]

not_here() {
}
TEXT
}

# Copies one jar,
# and tells when it cannot.
copy_jar() {
  local jar=$1
  if [[ ! -e $jar ]]; then
    say "no jar: $jar; function fake {"
    return 1
  fi
  cp -- "$jar" "$folder/" # function trailing() {
}

main() (
  count=0
  inner() {
    count=$((count + 1))
  }
  for jar in *.jar; do
    ((count < LIMIT)) || break
    copy_jar "$jar" && inner
  done
  say "copied $count"
)

case ${1:-} in
  -h | --help) usage ;;
  *) main "$@" ;;
esac
