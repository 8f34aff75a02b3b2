"""What a worker plants around git in its container: none of it runs, moves or hides anything here.

Each attack would leave a mark at a path of this machine if any program of the host ran it. Each
test asserts both that it failed and that the honest work beside it survived.
"""

import pytest

from orchestrator.outcome import Outcome
from tests.orchestrator.run.conftest import Desk, desk

__all__ = ["desk"]

EVIL = "printf '#!/bin/sh\\ntouch {mark}\\n' > .evil; chmod +x .evil\n"
HONEST = "echo honest >> README.md\n"

ATTACKS = {
    "hooks": """
        mkdir -p .git/hooks
        for hook in pre-commit post-checkout reference-transaction post-index-change; do
            cp .evil .git/hooks/$hook
        done""",
    "fsmonitor": "git config core.fsmonitor '{mark_dir}/evil'",
    "filter": """
        git config filter.x.clean 'touch {mark}; cat'
        git config filter.x.smudge 'touch {mark}; cat'
        mkdir -p .git/info; echo '* filter=x' > .git/info/attributes""",
    "textconv": """
        git config diff.x.textconv 'touch {mark}; cat'
        git config diff.external 'touch {mark}; true'
        mkdir -p .git/info; echo '* diff=x' > .git/info/attributes""",
    "merge driver": """
        git config merge.x.driver 'touch {mark}; true'
        mkdir -p .git/info; echo '* merge=x' > .git/info/attributes""",
    "core.worktree": "git config core.worktree {mark_dir}/repository",
    "pager, editor, ssh": """
        git config core.pager 'touch {mark}'; git config core.editor 'touch {mark}'
        git config core.sshCommand 'touch {mark}'; git config core.askPass 'touch {mark}'""",
    "alternates to the host": """
        mkdir -p .git/objects/info
        echo {mark_dir}/repository/.git/objects > .git/objects/info/alternates""",
    "git file elsewhere": "rm -rf .git; echo 'gitdir: {mark_dir}/repository/.git' > .git",
    "git link elsewhere": "rm -rf .git; ln -s {mark_dir}/repository/.git .git",
    "no git at all": "rm -rf .git",
    "replaced objects": """
        blob=$(echo forged | git hash-object -w --stdin)
        git replace -f $(git rev-parse HEAD:README.md) $blob || true""",
    "private git damaged": "rm -rf /var/lib/orchestrator/snapshot/* || true",
    "private git configured": """
        git --git-dir=/var/lib/orchestrator/snapshot config core.fsmonitor 'touch {mark}' || true
        git --git-dir=/var/lib/orchestrator/snapshot config core.worktree / || true""",
}


def _script(name: str, desk: Desk) -> str:
    mark_dir = desk.repository.parent
    text = EVIL + ATTACKS[name] + "\nrm -f .evil\n" + HONEST
    return text.replace("{mark_dir}", str(mark_dir)).replace("{mark}", str(mark_dir / "mark"))


@pytest.mark.parametrize("name", ATTACKS)
def test_nothing_planted_runs_and_the_honest_change_is_published(desk, name):
    ran = desk.run(_script(name, desk))
    assert not (desk.repository.parent / "mark").exists()
    assert ran.record.outcome is Outcome.DONE, ran.record
    assert ran.git("diff", "--name-only", "main", ran.record.branch) == "README.md"
    assert ran.git("show", f"{ran.record.branch}:README.md") == "# Tiny\nhonest"


def test_a_history_of_its_own_is_data_only(desk):
    forge = """
        git config user.name Root; git config user.email root@example.org
        git checkout -q --orphan other; git commit -qam 'forged by Root'
        git branch -f main; git tag v1; git update-ref refs/heads/agent/forged HEAD
        """
    ran = desk.run(forge + HONEST)
    assert ran.git("for-each-ref", "--format=%(refname)").splitlines() == [
        f"refs/heads/{ran.record.branch}",
        "refs/heads/main",
    ]
    assert ran.git("log", "--format=%an", f"main..{ran.record.branch}") == "Orchestrator"
    assert ran.git("merge-base", "main", ran.record.branch) == ran.git("rev-parse", "main")


@pytest.mark.parametrize("target", ["/etc/passwd", "../../outside", ".git/config"])
def test_a_link_out_of_the_tree_is_never_published(desk, target):
    ran = desk.run(f"ln -s {target} link; " + HONEST)
    assert (ran.record.outcome, ran.record.branch) == (Outcome.BLOCKED, "")
    assert "link" in {finding.path for finding in ran.record.findings}


def test_a_command_in_the_box_has_nothing_of_the_host(desk, monkeypatch):
    monkeypatch.setenv("ANTHROPIC_API_KEY", "key-of-the-host")
    ran = desk.run("env > seen.txt; ls -a / /var/run >> seen.txt; cat /proc/mounts >> seen.txt")
    seen = ran.git("show", f"{ran.record.branch}:seen.txt")
    assert "key-of-the-host" not in seen
    assert "docker.sock" not in seen
    assert str(desk.repository.parent) not in seen
