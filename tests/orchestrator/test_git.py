import tempfile
import time
from pathlib import Path

import pytest

from orchestrator.errors import GitError, RepositoryError
from orchestrator.git import Git, last_words
from tests.exchange import start


@pytest.fixture
def bare(tmp_path: Path) -> Git:
    made = Git(tmp_path / "bare.git")
    made.run("init", "--bare", "--quiet", "--template=")
    return made


def program(tmp_path: Path, script: str) -> Path:
    """A program called git in a folder of its own."""
    (tmp_path / "bin").mkdir()
    path = tmp_path / "bin" / "git"
    path.write_text("#!/bin/sh\n" + script)
    path.chmod(0o755)
    return path.parent


def test_a_command_answers(bare: Git):
    assert bare.run("rev-parse", "--is-bare-repository") == b"true\n"
    assert bare.text("rev-parse", "--is-bare-repository") == "true"


def test_a_failure_is_told_in_git_s_own_words(bare: Git):
    with pytest.raises(GitError, match=r"^git cat-file failed: fatal: Not a valid object name x$"):
        bare.run("cat-file", "-t", "x")


def test_a_failure_can_be_an_answer(bare: Git):
    ended = bare.call("cat-file", "-t", "x")
    assert (ended.status, ended.stdout) == (128, b"")
    assert not bare.ok("cat-file", "-t", "x")


def test_input_larger_than_a_pipe_does_not_block(bare: Git):
    name = bare.text("hash-object", "-w", "--stdin", stdin=b"x" * 1_000_000)
    assert bare.run("cat-file", "blob", name) == b"x" * 1_000_000


def test_too_much_output_is_an_error(bare: Git):
    name = bare.text("hash-object", "-w", "--stdin", stdin=b"x" * 100_000)
    with pytest.raises(GitError, match="cat-file printed too much"):
        bare.run("cat-file", "blob", name, limit=99_999)


def test_a_late_command_is_ended_with_its_children(tmp_path: Path, monkeypatch):
    monkeypatch.setenv("PATH", str(program(tmp_path, SLOW)))
    began = time.monotonic()
    with pytest.raises(GitError, match="git log did not end in time"):
        Git(tmp_path).run("log", seconds=0.2)
    assert time.monotonic() - began < 10


SLOW = """
case $1 in version) echo git version 2.40.0;; *) /bin/sleep 60 & /bin/sleep 60;; esac
"""


def test_the_caller_s_environment_and_settings_do_not_count(bare: Git, monkeypatch):
    monkeypatch.setenv("GIT_DIR", "/elsewhere")
    monkeypatch.setenv("GIT_CONFIG_COUNT", "1")
    monkeypatch.setenv("GIT_CONFIG_KEY_0", "user.name")
    monkeypatch.setenv("GIT_CONFIG_VALUE_0", "Mallory")
    assert bare.text("var", "GIT_AUTHOR_IDENT").startswith("Orchestrator <orchestrator@localhost>")
    assert bare.text("rev-parse", "--absolute-git-dir") == str(bare.directory)
    assert not bare.ok("config", "user.name")


def test_no_hook_runs(bare: Git, tmp_path: Path):
    hooks = bare.directory / "hooks"
    hooks.mkdir()
    for name in ("reference-transaction", "post-index-change", "post-rewrite"):
        (hooks / name).write_text(f"#!/bin/sh\ntouch {tmp_path}/ran\n")
        (hooks / name).chmod(0o755)
    tree = bare.text("mktree")
    bare.run("update-ref", "refs/heads/x", bare.text("commit-tree", tree))
    assert not (tmp_path / "ran").exists()


def test_no_transport_is_open(bare: Git, tmp_path: Path):
    source = start(tmp_path / "source", {"a": b""})
    ended = bare.call("fetch", str(source))
    assert (ended.status, ended.message) == (128, "fatal: transport 'file' not allowed")


def test_a_missing_git_is_told(tmp_path: Path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(RepositoryError, match=r"^git was not found: install git 2.38 or later\.$"):
        Git(tmp_path).run("version")


def test_an_old_git_is_told(tmp_path: Path, monkeypatch):
    monkeypatch.setenv("PATH", str(program(tmp_path, "echo git version 2.30.2")))
    with pytest.raises(RepositoryError, match=r"^git 2.30.2 is too old: install git 2.38 or later"):
        Git(tmp_path).run("version")


def test_confined_commands_have_limits(tmp_path: Path, monkeypatch):
    script = (
        "case $1 in version) echo git version 2.40.0;; *) ulimit -f; ulimit -t; ulimit -v;; esac"
    )
    monkeypatch.setenv("PATH", f"{program(tmp_path, script)}")
    limits = Git(tmp_path, confined=True).run("log").split()
    assert limits == [b"8388608", b"60", b"2097152"]


def test_a_stream_can_be_left_early(bare: Git):
    name = bare.text("hash-object", "-w", "--stdin", stdin=b"x" * 10_000_000)
    output = bare.stream("cat-file", "blob", name)
    assert next(output).startswith(b"x")
    output.close()


def test_last_words_are_one_visible_line():
    complaint = b"warning: a\nfatal: bad \x1b[31mname\n\nhint: do this\n"
    assert last_words(complaint) == "fatal: bad ?[31mname"


def test_temporary_input_leaves_nothing(bare: Git, tmp_path: Path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "bare.git"))
    before = sorted(bare.directory.iterdir())
    bare.run("hash-object", "--stdin", stdin=b"x")
    assert sorted(bare.directory.iterdir()) == before


def test_last_words_of_a_failed_connection_are_those_of_ssh():
    said = b"joe@h: Permission denied (publickey).\n"
    complaint = said + b"fatal: Could not read from remote repository.\n\nPlease make sure\n"
    assert last_words(complaint) == said.decode().strip()
