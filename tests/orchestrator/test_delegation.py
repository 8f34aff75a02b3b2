"""`[delegates.claude]` and `[delegates.codex]` as their writer meets them, and how flags do."""

import pytest

from orchestrator import planning, settings
from orchestrator.delegation import DelegateSettings, Delegation
from orchestrator.errors import SettingsError
from orchestrator.planning import Flags
from orchestrator.task import Limits

BOTH = """
[delegates]
tools = false

[delegates.claude]
model = "sonnet"
allowed_tools = ["Read", "mcp__orchestrator"]
system_prompt = "Say less."
max_budget = 0.5
timeout = 600
max_turns = 10
extra_flags = ["--effort", "low"]

[delegates.codex]
extra_flags = ["-c", "model_reasoning_effort=low"]
"""
CLAUDE = Delegation(
    model="sonnet",
    allowed_tools=("Read", "mcp__orchestrator"),
    system_prompt="Say less.",
    max_budget=0.5,
    timeout=600,
    max_turns=10,
    extra_flags=("--effort", "low"),
)
CODEX = Delegation(extra_flags=("-c", "model_reasoning_effort=low"))


def task(text: str, **flags: object):
    return planning.task("repo", "mend it", settings.read(text.encode()), Flags(**flags)).task


def limits(text: str, **flags: object) -> tuple[float | None, ...]:
    found = task(text, worker="claude", **flags).limits
    return found.cost, found.seconds, found.turns


def test_every_key_is_read():
    assert settings.read(BOTH.encode()).delegates == DelegateSettings(False, CLAUDE, CODEX)


def test_a_task_has_what_is_said_of_either_program():
    assert task(BOTH).delegations == {"claude": CLAUDE, "codex": CODEX}
    assert task("[delegates]\ntools = true").delegations == {}


def test_a_model_is_the_programs_own_and_a_flag_wins():
    said = f'model = "openai:gpt-6.1-sol"\n{BOTH}'
    assert [task(said, worker=each).model for each in ("agent", "claude", "codex")] == [
        "openai:gpt-6.1-sol",
        "anthropic:sonnet",
        "openai:gpt-6.1-sol",
    ]
    asked = task(said, worker="claude", model="anthropic:claude-opus-4-8")
    assert asked.model == "anthropic:claude-opus-4-8"


def test_of_two_limits_in_the_file_the_smaller_one_holds():
    assert limits(BOTH) == (0.5, 600, 10)
    assert limits(f"{BOTH}[limits]\ncost = 0.1\nseconds = 60\nturns = 2") == (0.1, 60, 2)


def test_a_flag_wins_over_both():
    assert limits(BOTH, cost=7.0, seconds=900, turns=20) == (7.0, 900, 20)


def test_another_worker_has_other_limits():
    assert task(BOTH).limits == task(BOTH, worker="codex").limits == Limits()


def test_a_run_without_a_limit_of_cost_gets_one():
    assert Limits(cost=None).within(CLAUDE) == Limits(cost=0.5, seconds=600, turns=10)


@pytest.mark.parametrize(
    ("tools", "lends"),
    [(None, True), ((), False), (("Read",), False), (CLAUDE.allowed_tools, True)],
)
def test_our_tools_are_lent_unless_others_alone_are_allowed(tools, lends):
    said = "" if tools is None else f"[delegates.claude]\nallowed_tools = {list(tools)}"
    assert task(said, worker="claude").lends is lends


@pytest.mark.parametrize(
    ("said", "says"),
    [
        ("claude]\nmodle = 'x'", "there is no setting 'delegates.claude.modle' (nearest: model)"),
        (
            "claude]\nmodel = 'anthropic:opus'",
            "delegates.claude.model is written without the provider, as 'opus'",
        ),
        ("claude]\nmodel = '-x'", "delegates.claude.model: '-x' is not the name of a model"),
        (
            'codex]\nsystem_prompt = "a\\u0000"',
            "delegates.codex.system_prompt has a NUL character in it, leave it out",
        ),
        (
            "claude]\nallowed_tools = ['Bash(git *)']",
            "delegates.claude.allowed_tools: 'Bash(git *)' is not the name of a tool",
        ),
        (
            "codex]\nallowed_tools = ['x']",
            "delegates.codex.allowed_tools: Codex has no list of its tools; extra_flags can switch"
            ' one off, such as ["--disable", "shell_tool"]',
        ),
        (
            "codex]\nmax_budget = 0",
            "delegates.codex.max_budget must be more than 0 dollars, not 0",
        ),
        (
            "codex]\ntimeout = 0.5",
            "delegates.codex.timeout must be between 1 and 604800 seconds, not 0.5",
        ),
        ("codex]\nmax_turns = 0", "delegates.codex.max_turns must be at least 1, not 0"),
        ("claude]\npermission_mode = 'plan'", "there is no setting"),
    ],
)
def test_a_wrong_table_is_refused_in_one_sentence(said, says):
    with pytest.raises(SettingsError) as error:
        settings.read(f"[delegates.{said}".encode())
    assert str(error.value).startswith(f".orchestrator.toml: {says}")
