#!/bin/sh
# The main job on a real defect of a real project; `make demo` runs this after its set-up.
# MODEL=provider:name picks the model.
set -eu
here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
root=$(dirname "$(dirname "$here")")
python=$root/.venv/bin/python
orchestrator=$root/.venv/bin/orchestrator

title() {
    printf '\n== %s\n' "$*"
}

# Shows a command as a person would type it, then runs it.
typed() {
    printf '\n$ orchestrator'
    for word in "$@"; do
        case $word in
        *' '*) printf " '%s'" "$word" ;;
        *) printf ' %s' "$word" ;;
        esac
    done
    printf '\n'
    "$orchestrator" "$@"
}

# requirements.txt holds the hash of the release: pip refuses any other file.
fetch() {
    "$python" -m pip download -q --disable-pip-version-check --no-deps --no-binary sqlparse \
        --require-hashes -r "$here/requirements.txt" -d "$folder"
    tar -xzf "$folder"/sqlparse-*.tar.gz -C "$folder"
    mv "$folder"/sqlparse-*/ "$repository"
}

commit() {
    git -C "$repository" add -A
    git -C "$repository" -c user.name=Demo -c user.email=demo@localhost -c commit.gpgSign=false \
        commit -q -m "$1"
}

make_repository() {
    git -C "$repository" init -q -b main
    commit 'sqlparse 0.5.5, as released'
    cp "$here/test_long_names.py" "$repository/tests/"
    commit 'A test for names with more than two parts'
    git -C "$repository" --no-pager log --oneline
}

# Without --model, the key that is set decides.
choose_model() {
    if [ -n "${MODEL:-}" ]; then
        echo "$MODEL, as you said; it may spend 1 US dollar at most."
    elif [ -n "${ANTHROPIC_API_KEY:-}${OPENAI_API_KEY:-}" ]; then
        echo "A real one, since an API key is set; it may spend 1 US dollar at most."
    else
        MODEL=scripted:$here/script.json
        echo "No API key is set, so a script plays the model's part: $here/script.json."
        echo "All else is real: the sandbox, the commits, the guardrails, the tests."
        echo "Set ANTHROPIC_API_KEY or OPENAI_API_KEY to watch a real model work."
    fi
}

next_commands() {
    cat <<END
  export PATH=$root/.venv/bin:\$PATH
  cd $repository
  git log -p main..agent/$run
  git merge --no-ff agent/$run
  orchestrator doctor
The demo's project goes away with: rm -rf $folder
END
}

folder=$(mktemp -d "${TMPDIR:-/tmp}/orchestrator-demo.XXXXXX")
repository=$folder/sqlparse
title 'The project: sqlparse 0.5.5 from PyPI, its own tests, and one more for a defect it really had'
fetch
make_repository
title 'The task'
cat "$here/task.txt"
title 'The model'
choose_model

cd "$repository"
title 'The run'
status=0
typed run --task-file "$here/task.txt" ${MODEL:+--model "$MODEL"} --max-cost 1 \
    --setup 'pip install -q pytest==8.4.2' --setup-network \
    --check 'python3 -m pytest -q --tb=line' || status=$?
run=$(git for-each-ref --format='%(refname:lstrip=3)' refs/heads/agent)
if [ -z "$run" ]; then
    echo "The run left no branch; '$orchestrator list' and '$orchestrator show' say more." >&2
    exit "$status"
fi
title 'What came out'
typed log "$run"
typed diff "$run"
title 'What you can type next'
next_commands
exit "$status"
