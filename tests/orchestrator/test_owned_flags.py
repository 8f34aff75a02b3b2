"""Which words for a program are refused: each in one sentence that names it."""

import pytest

from orchestrator.owned_flags import problem

OURS = "is not for settings: how it is started is ours"


@pytest.mark.parametrize(
    ("program", "words", "says"),
    [
        ("claude", ["--output-format", "text"], f"--output-format {OURS}"),
        ("claude", ["--output-format=text"], f"--output-format {OURS}"),
        ("claude", ["--effort", "low", "--permission-mode=plan"], f"--permission-mode {OURS}"),
        ("claude", ["-r"], f"-r {OURS}"),
        ("claude", ["--session-id", "x"], f"--session-id {OURS}"),
        ("claude", ["--mcp-config", "x"], f"--mcp-config {OURS}"),
        ("claude", ["--settings={}"], f"--settings {OURS}"),
        ("claude", ["--sdk-url", "x"], f"--sdk-url {OURS}"),
        ("claude", ["--safe-mode"], f"--safe-mode {OURS}"),
        ("claude", ["--bare"], f"--bare {OURS}"),
        ("claude", ["--task-budget", "9"], "for --task-budget there is the setting 'max_budget'"),
        ("claude", ["--model", "x"], "for --model there is the setting 'model'"),
        ("claude", ["--tools=Read"], "for --tools there is the setting 'allowed_tools'"),
        (
            "claude",
            ["-pc"],
            "write '-pc' as a long flag, its value as a word of its own",
        ),
        ("claude", ["--effort low"], '\'--effort low\' is one word; write "--effort", "low"'),
        ("claude", ["low"], "'low' is no flag, and the first word must be one"),
        ("claude", ["--betas", "--"], "'--' is no flag; the task is given by standard input"),
        ("claude", ["--betas", "a\0b"], "'a\\x00b' has a NUL character in it"),
        ("codex", ["--json"], f"--json {OURS}"),
        ("codex", ["-C", "/"], f"-C {OURS}"),
        ("codex", ["--sandbox=read-only"], f"--sandbox {OURS}"),
        ("codex", ["--oss"], f"--oss {OURS}"),
        ("codex", ["-m", "x"], "for -m there is the setting 'model'"),
        (
            "codex",
            ["-cmodel=x"],
            "write '-cmodel=x' as a long flag, its value as a word of its own",
        ),
        ("codex", ["-c", "model = 'x'"], "for the key 'model' there is the setting 'model'"),
        ("codex", ["--config=model_provider=x"], f"the key 'model_provider' {OURS}"),
        ("codex", ["-c", ' "model_provider" = "x"'], f"the key 'model_provider' {OURS}"),
        (
            "codex",
            ["-c", "model_providers.x.base_url=y"],
            f"the key 'model_providers.x.base_url' {OURS}",
        ),
        ("codex", ["-c", "mcp_servers={}"], f"the key 'mcp_servers' {OURS}"),
        (
            "codex",
            ["-c", "mcp_servers.orchestrator.url=x"],
            f"the key 'mcp_servers.orchestrator.url' {OURS}",
        ),
        ("codex", ["--ignore-rules"], f"--ignore-rules {OURS}"),
        ("codex", ["--trust"], f"--trust {OURS}"),
        ("codex", ["-c", "project_doc_max_bytes=9"], f"the key 'project_doc_max_bytes' {OURS}"),
        (
            "codex",
            ["-c", 'projects."/workspace".trust_level="trusted"'],
            f"the key 'projects./workspace.trust_level' {OURS}",
        ),
        ("codex", ["-c", "skills={}"], f"the key 'skills' {OURS}"),
        (
            "codex",
            ["-c", "tool_output_token_limit=100"],
            f"the key 'tool_output_token_limit' {OURS}",
        ),
        ("codex", ["-c", "features={}"], f"the key 'features' {OURS}"),
        ("codex", ["-c", "features.apps=true"], f"the key 'features.apps' {OURS}"),
        ("codex", ["--enable", "apps"], f"the feature 'apps' {OURS}"),
        ("codex", ["--enable=plugins"], f"the feature 'plugins' {OURS}"),
        (
            "codex",
            ["-c", "developer_instructions=x"],
            "for the key 'developer_instructions' there is the setting 'system_prompt'",
        ),
        ("codex", ["-c"], "-c takes one word more, as key=value"),
        ("codex", ["-c", "a"], "-c takes one word more, as key=value"),
        ("codex", ["-c", "=a"], "-c takes one word more, as key=value"),
    ],
)
def test_a_flag_that_is_ours_is_named(program, words, says):
    assert problem(program, words) == f"extra_flags: {says}"


@pytest.mark.parametrize(
    ("program", "words"),
    [
        ("claude", []),
        ("claude", ["--effort", "low"]),
        ("claude", ["--disallowedTools", "WebFetch", "Bash(rm *)"]),
        ("claude", ["--system-prompt", "--model is for others"]),
        ("claude", ["-d"]),
        ("codex", ["-c", "model_reasoning_effort=low"]),
        ("codex", ["--config", 'mcp_servers.other.command="x"']),
        ("codex", ["--disable", "shell_tool", "--enable=memories"]),
        ("codex", ["-c", "instructions=--json"]),
    ],
)
def test_all_others_are_the_programs_affair(program, words):
    assert problem(program, words) == ""
