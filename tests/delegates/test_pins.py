"""The programs that run are those whose lines are known; a new one has to be looked at."""

from pathlib import Path

import pytest

from containers import AGENTS
from orchestrator.delegates import claude, codex
from orchestrator.delegates.acp_agents import CLAUDE_AGENT_ACP_VERSION
from orchestrator.delegates.table import CLIS
from sandbox import Limits, open_box

PINS = {
    "claude": (claude.VERSION, "claude", f"{claude.VERSION} (Claude Code)"),
    "codex": (codex.VERSION, "bin/codex", f"codex-cli {codex.VERSION}"),
}


def test_the_programs_in_a_sandbox_are_of_the_pinned_versions(engine, image):
    kits = [cli.kit for cli in CLIS.values()]
    with open_box(engine, image, Limits(), run="test", purpose="work", kits=kits) as box:
        shown = {
            name: box.run([f"{CLIS[name].kit.place}/{program}", "--version"]).stdout.decode()
            for name, (_, program, _) in PINS.items()
        }
    assert shown == {name: f"{said}\n" for name, (_, _, said) in PINS.items()}


def rows():
    table = (Path(AGENTS).parent / "agents/table").read_text()
    return [row.split() for row in table.splitlines() if not row.startswith("#")]


@pytest.mark.parametrize("name", CLIS)
def test_every_machine_gets_the_pinned_version(name):
    found = {tuple(row[1:3]) for row in rows() if row[0] == name}
    assert found == {(machine, PINS[name][0]) for machine in ("x86_64", "aarch64")}


def test_the_adapter_of_claude_code_was_made_for_the_version_that_it_starts():
    found = [row[2:4] for row in rows() if row[0] == "claude-agent-acp"]
    assert {version for version, _ in found} == {CLAUDE_AGENT_ACP_VERSION}
    (library,) = [name for _, name in found if name.startswith("@anthropic-ai/claude-agent-sdk@")]
    assert library.rpartition(".")[2] == claude.VERSION.rpartition(".")[2]
