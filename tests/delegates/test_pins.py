"""The programs that run are those whose lines are known; a new one has to be looked at."""

import re
from pathlib import Path

import pytest

from containers import AGENTS
from orchestrator.delegates import claude, codex
from orchestrator.delegates.acp_agents import CLAUDE_AGENT_ACP_VERSION
from orchestrator.delegates.table import CLIS
from orchestrator.owned_flags import problem
from sandbox import Limits, open_box

PINS = {
    "claude": (claude.VERSION, "claude", f"{claude.VERSION} (Claude Code)"),
    "codex": (codex.VERSION, "bin/codex", f"codex-cli {codex.VERSION}"),
}


FREE = {
    "claude": {
        *("--agent", "--betas", "-d", "--debug", "--debug-file", "--disable-slash-commands"),
        *("--disallowedTools", "--disallowed-tools", "--effort", "--fallback-model"),
        *("--exclude-dynamic-system-prompt-sections", "--no-chrome", "--system-prompt"),
    },
    "codex": {
        *("-c", "--config", "--enable", "--disable", "-i", "--image", "--strict-config"),
        *("--skip-git-repo-check", "--cyber-access-program", "--no-alt-screen"),
    },
}
"""Flags that mean nothing for how a run starts, watches and bounds the program."""
HELP = {
    "claude": [["--help"]],
    "codex": [["--help"], ["exec", "--help"], ["exec", "resume", "--help"]],
}
_OPTION = re.compile(r"(?m)^ {2,6}(-.*?)(?:  |[<\[]|$)")
_FLAG = re.compile(r"(?<!\w)--?[A-Za-z][\w-]*")


@pytest.fixture(scope="module")
def said(engine, image):
    """What a program says inside, by its name and further words."""
    kits = [cli.kit for cli in CLIS.values()]
    with open_box(engine, image, Limits(), run="test", purpose="work", kits=kits) as box:

        def said(name, *words):
            return box.run([f"{CLIS[name].kit.place}/{PINS[name][1]}", *words]).stdout.decode()

        yield said


def test_the_programs_in_a_sandbox_are_of_the_pinned_versions(said):
    shown = {name: said(name, "--version") for name in PINS}
    assert shown == {name: f"{said}\n" for name, (_, _, said) in PINS.items()}


def rows():
    table = (Path(AGENTS).parent / "agents/table").read_text()
    return [row.split() for row in table.splitlines() if not row.startswith("#")]


@pytest.mark.parametrize("name", CLIS)
def test_of_every_flag_of_a_program_it_is_known_whose_it_is(name, said):
    text = "\n".join(said(name, *words) for words in HELP[name])
    found = {flag for option in _OPTION.findall(text) for flag in _FLAG.findall(option)}
    refused = {flag for flag in found if problem(name, [flag, "a=b"])}
    assert (found - refused, refused & FREE[name]) == (FREE[name], set())


@pytest.mark.parametrize("name", CLIS)
def test_every_machine_gets_the_pinned_version(name):
    found = {tuple(row[1:3]) for row in rows() if row[0] == name}
    assert found == {(machine, PINS[name][0]) for machine in ("x86_64", "aarch64")}


def test_the_adapter_of_claude_code_was_made_for_the_version_that_it_starts():
    found = [row[2:4] for row in rows() if row[0] == "claude-agent-acp"]
    assert {version for version, _ in found} == {CLAUDE_AGENT_ACP_VERSION}
    (library,) = [name for _, name in found if name.startswith("@anthropic-ai/claude-agent-sdk@")]
    assert library.rpartition(".")[2] == claude.VERSION.rpartition(".")[2]
