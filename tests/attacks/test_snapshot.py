"""What an agent plants in its own sandbox neither runs at a snapshot nor hides what it did."""

import pytest

from sandbox.errors import CrossingError
from sandbox.snapshot import rehash, reset

OWN = "/var/lib/orchestrator/snapshot"
HONEST = "echo honest >honest"
TRAP = "printf '#!/bin/sh\\necho sprung >>/tmp/sprung\\ncat\\n' >/tmp/trap; chmod +x /tmp/trap"

PLANTED = {
    "hooks": "mkdir -p .git/hooks; for h in pre-commit post-checkout post-index-change "
    "reference-transaction; do cp /tmp/trap .git/hooks/$h; done",
    "fsmonitor": "git config core.fsmonitor /tmp/trap",
    "filter": "git config filter.x.clean /tmp/trap; echo '* filter=x' >.gitattributes",
    "process": "git config filter.x.process /tmp/trap; echo '* filter=x' >.gitattributes",
    "textconv": "git config diff.x.textconv /tmp/trap; echo '* diff=x' >.gitattributes",
    "settings beside the index": f"printf '[core]\\nfsmonitor=/tmp/trap\\n' >{OWN}/config",
    "settings of the user": "printf '[core]\\nfsmonitor=/tmp/trap\\n' >~/.gitconfig",
    "program in the path": "mkdir -p ~/bin; cp /tmp/trap ~/bin/git",
}


@pytest.mark.parametrize("plant", PLANTED.values(), ids=PLANTED.keys())
def test_nothing_planted_runs(record, plant):
    record(f"{TRAP}; {plant}; {HONEST}")
    assert record.files()["honest"] == b"honest\n"
    assert rehash(record.box.channel) == record.tree
    assert not record.box.run(["test", "-e", "/tmp/sprung"]).exit.ok


OWN_GIT = {
    "removed": "rm -rf .git",
    "a file": "rm -rf .git; echo gitdir: /etc >.git",
    "a symlink": "rm -rf .git; ln -s /etc .git",
    "another work tree": "git config core.worktree /home/agent",
    "everything excluded": "echo '*' >>.git/info/exclude",
    "other attributes": "echo '* text eol=crlf' >.git/info/attributes",
    "an empty index": "git rm -rq --cached .",
    "assumed unchanged": "git update-index --assume-unchanged README; echo x >README",
    "other history": "git checkout -q --orphan x; git commit -qam x; git branch -qD main",
    "replaced objects": "git replace HEAD:README $(echo x | git hash-object -w --stdin)",
    "no objects": "rm -rf .git/objects",
}


@pytest.mark.parametrize("plant", OWN_GIT.values(), ids=OWN_GIT.keys())
def test_what_the_agent_does_to_its_own_git_does_not_matter(record, plant):
    record(f"{plant}; {HONEST}")
    shown = record.box.run(["cat", "README"]).stdout
    assert record.files() == record.original | {"honest": b"honest\n", "README": shown}


@pytest.mark.parametrize("flag", ["--assume-unchanged", "--skip-worktree"])
def test_a_forged_index_does_not_pass_the_rehash(record, flag):
    git = f"cp /var/lib/orchestrator/git/sharedindex.* {OWN}/; GIT_INDEX_FILE={OWN}/index git"
    recorded = record(f"{git} update-index {flag} README; echo hidden >README")
    assert rehash(record.box.channel) != recorded.tree


@pytest.mark.parametrize(
    "path", ["git/config", "git/HEAD", "git/info/attributes", "objects/x", "left", "links"]
)
def test_what_decides_about_the_record_is_out_of_reach(record, path):
    tried = record.box.run(["sh", "-c", f"echo x >>/var/lib/orchestrator/{path}"])
    moved = record.box.run(["mv", "/var/lib/orchestrator/git", "/tmp/git"])
    assert (tried.exit.ok, moved.exit.ok) == (False, False)


def test_toolbox_and_programs_are_out_of_reach(record):
    tried = record.box.run(["sh", "-c", "echo x >>/opt/orchestrator/inside/snapshot.py"])
    assert b"Permission denied" in tried.stderr


def test_objects_borrowed_from_elsewhere_still_travel(record):
    record(
        "git init -q --bare /home/agent/other; echo far >far;"
        "GIT_DIR=/home/agent/other git hash-object -w far;"
        f"mkdir -p {OWN}/objects/info;"
        f"echo /home/agent/other/objects >{OWN}/objects/info/alternates"
    )
    assert record.files()["far"] == b"far\n"


def test_an_object_with_wrong_content_is_not_taken_for_the_file(record):
    record(HONEST)
    record(
        f"cd {OWN}/objects; for f in ??/*; do chmod u+w $f; echo junk >$f; done; cd /workspace;"
        "echo more >>honest"
    )
    assert record.files()["honest"] == b"honest\nmore\n"


def test_an_endless_rule_file_ends_at_the_deadline_and_the_box_lives(record):
    with pytest.raises(CrossingError, match="within 2 seconds"):
        record("rm .gitignore; mkfifo .gitignore", seconds=2)
    record(f"rm .gitignore; {HONEST}")
    assert record.files()["honest"] == b"honest\n"


def test_a_pack_that_is_none_is_refused_and_the_files_stay(record):
    taken = record(HONEST)
    taken.pack.write_bytes(b"no pack")
    with pytest.raises(CrossingError, match="index-pack"):
        reset(record.box.channel, taken.pack, "2" * 40)
    assert rehash(record.box.channel) == record.tree
