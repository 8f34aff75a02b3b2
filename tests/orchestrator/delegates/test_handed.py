"""What programs are handed of a base commit."""

import io
import json
import tarfile
import tomllib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestrator.committed import Committed
from orchestrator.delegates import handed as room
from orchestrator.delegates.claude import Claude
from orchestrator.delegates.codex import Codex
from orchestrator.delegates.handed import handed, inline
from orchestrator.repository import Repository
from orchestrator.settings import Policy
from orchestrator.task import Handed, Task
from tests.conftest import tiny_repository

HOOKS = {"Stop": [{"hooks": [{"type": "command", "command": "make note"}]}]}
FILES = {
    ".claude/settings.json": json.dumps({"hooks": HOOKS, "model": "x", "env": {"A": "b"}}).encode(),
    ".claude/settings.local.json": json.dumps({"hooks": {"Stop": []}}).encode(),
    ".claude/agents/critic.md": b"Be stern.\n",
    ".claude/skills/sums/SKILL.md": b"Add.\n",
    ".claude/skills/sums/add.sh": b"#!/bin/sh\n",
    ".mcp.json": b'{"mcpServers": {"db": {"command": "db"}, "orchestrator": {"command": "x"}}}',
    ".codex/config.toml": b"model = 'x'\n[mcp_servers]\ndb = {command = 'db'}\norchestrator = {}\n",
}
VALUES = st.recursive(
    st.booleans() | st.integers(-(2**63), 2**63 - 1) | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=6,
)


@pytest.fixture
def found(tmp_path):
    def find(worker, files=FILES, **asked):
        user = tmp_path / "user"
        if not user.exists():
            tiny_repository(user, files)
        repository = Repository.open(str(user), tmp_path)
        base = repository.resolve("HEAD")
        pack = repository.pack(base, tmp_path / "packs")
        committed = Committed.of(repository, base, Policy(), pack)
        return handed(committed, Task("r", "mend it", worker=worker, **asked))

    return find


def handing(worker, **handed):
    return Task("r", "mend it", worker=worker, for_delegates={worker: Handed(**handed)})


def names(packed):
    with tarfile.open(fileobj=io.BytesIO(packed)) as archive:
        return archive.getnames()


def test_the_home_gets_agents_and_skills_and_no_settings(found):
    got = found("claude")
    assert names(got.handed.files) == [
        ".claude/agents/critic.md",
        ".claude/skills/sums/SKILL.md",
        ".claude/skills/sums/add.sh",
    ]
    assert (got.handed.hooks, got.handed.servers, got.warnings) == ({}, {}, ())
    assert found("codex").handed == Handed()


def test_the_same_files_are_the_same_archive(found):
    assert found("claude").handed.files == found("claude").handed.files


def test_of_settings_only_hooks_and_servers_are_taken(found):
    claude = found("claude", project_settings=True).handed
    assert (claude.hooks, claude.servers) == (HOOKS, {"db": {"command": "db"}})
    codex = found("codex", project_settings=True).handed
    assert (codex.hooks, codex.servers) == ({}, {"db": {"command": "db"}})


def test_hooks_are_off_where_none_are_wanted():
    def settings(**more):
        command = Claude().command(handing("claude", **more))
        return json.loads(command[command.index("--settings") + 1])

    assert settings() == settings(files=b"x") == {"disableAllHooks": True}
    assert settings(hooks=HOOKS) == {"hooks": HOOKS}


def test_our_server_is_said_after_theirs():
    command = list(Codex().command(handing("codex", servers={"db": {"command": "db"}})))
    theirs = command.index('mcp_servers={"db" = {"command" = "db"}}')
    ours = next(at for at, word in enumerate(command) if word.startswith("mcp_servers.orch"))
    assert theirs < ours


@pytest.mark.parametrize(("bound", "why"), [("FILES", "they are more than 2 files"), ("BYTES", "")])
def test_what_is_too_much_for_a_home_is_told(found, monkeypatch, bound, why):
    monkeypatch.setattr(room, bound, 2)
    got = found("claude")
    assert got.handed.files == b""
    (told,) = got.warnings
    assert told.startswith(f"The agents and skills of the repository are left out: {why}")


def test_what_is_too_long_for_a_command_line_is_told(found):
    servers = {"mcpServers": {"db": {"command": "x" * 60_000}}}
    got = found("claude", {".mcp.json": json.dumps(servers).encode()}, project_settings=True)
    assert got.handed.servers == {}
    (told,) = got.warnings
    assert told.endswith("left out: they are longer than 60,000 characters.")


def test_a_value_that_no_server_has_is_told(found):
    files = {".codex/config.toml": b"[mcp_servers.db]\nsince = 2026-01-01\n"}
    got = found("codex", files, project_settings=True)
    assert got.handed.servers == {}
    (told,) = got.warnings
    assert told.endswith("left out: there are values of a kind that none of them has.")


@given(st.dictionaries(st.text(), VALUES, max_size=4))
def test_what_is_written_in_a_line_of_toml_is_read_as_it_was(table):
    assert tomllib.loads(f"value = {inline(table)}")["value"] == table


def test_what_is_told_is_a_file_of_the_home(found):
    told = "AGENTS.md:\n| tabs"
    assert names(found("codex", told=told).handed.files) == [".codex/AGENTS.md"]
    claude = found("claude", told=told).handed
    assert claude.told == ".orchestrator/told.md"
    assert claude.told in names(claude.files)


def test_a_folder_that_is_a_link_is_told(found, tmp_path):
    (tmp_path / "user/.claude").mkdir(parents=True)
    (tmp_path / "user/.claude/skills").symlink_to("../shared")
    tiny_repository(tmp_path / "user", {"shared/SKILL.md": b"Add."})
    got = found("claude")
    assert (got.handed, got.warnings) == (
        Handed(),
        (".claude/skills is left out: it is a link to shared, which is no file.",),
    )
