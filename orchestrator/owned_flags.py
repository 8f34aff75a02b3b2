"""Flags of a delegate's program that no `extra_flags` may say: how we start and watch it."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Owned:
    """Of one program."""

    flags: frozenset[str]
    """What the run says itself, and what leads out of the run or to another way of talking."""
    instead: Mapping[str, str]
    """Settings of ours, by the flags that they stand for."""
    config: str = ""
    """The long flag for `key=value`; empty: it has none."""
    keys: frozenset[str] = frozenset()
    """Keys of those that are ours, each with all below it; a part of one is ours, too."""
    switches: frozenset[str] = frozenset()
    """Features that are ours, for the flags that switch one."""


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


def _flags(text: str) -> frozenset[str]:
    return frozenset(f"--{name}" if len(name) > 1 else f"-{name}" for name in text.split())


_FEATURES = _words("unbounded_connection_retries apps plugins remote_plugin tool_suggest code_mode")
_FEATURE_KEYS = frozenset(f"features.{name}" for name in _FEATURES)
_CLAUDE = Owned(
    _flags(
        "p print verbose input-format output-format include-partial-messages replay-user-messages"
        " permission-mode permission-prompt-tool dangerously-skip-permissions"
        " allow-dangerously-skip-permissions enable-auto-mode plan-mode-required"
        " settings managed-settings setting-sources mcp-config strict-mcp-config channels"
        " dangerously-load-development-channels session-id c continue r resume resume-session-at"
        " rewind-files fork-session from-pr no-session-persistence session-mirror reply-on-resume"
        " parent-session-id sdk-url remote cloud remote-control rc teleport bg background chrome"
        " remote-control-session-name-prefix n name workload deep-link-cwd-b64 deep-link-origin"
        " deep-link-repo deep-link-last-fetch prefill prefill-b64 advisor enable-auth-status"
        " agent-color agent-id agent-name agent-type team-name teammate-mode"
        " include-hook-events prompt-suggestions json-schema brief ax-screen-reader"
        # These name or shut out settings, servers and hooks, ours among them.
        " safe-mode bare agents plugin-dir plugin-dir-no-mcp plugin-url cowork add-dir"
        " ide tmux w worktree init init-only maintenance file h help v version"
    ),
    {
        "--model": "model",
        "--tools": "allowed_tools",
        "--allowedTools": "allowed_tools",
        "--allowed-tools": "allowed_tools",
        "--append-system-prompt": "system_prompt",
        "--append-system-prompt-file": "system_prompt",
        "--max-budget-usd": "max_budget",
        "--task-budget": "max_budget",
        "--max-turns": "max_turns",
    },
)
_CODEX = Owned(
    _flags(
        "json o output-last-message C cd s sandbox approve-for-me full-auto"
        " dangerously-bypass-approvals-and-sandbox dangerously-bypass-hook-trust oss"
        " local-provider p profile trust worktree ephemeral last all h help V version add-dir"
        " a ask-for-approval ignore-rules ignore-user-config search thread-source output-schema"
        " color remote remote-auth-token-env no-daemon"
    ),
    {"-m": "model", "--model": "model"},
    config="--config",
    keys=_FEATURE_KEYS
    | _words(
        "model_provider model_providers openai_base_url chatgpt_base_url oss_provider profile"
        " profiles sandbox_mode sandbox_workspace_write approval_policy approvals_reviewer"
        " default_permissions permissions analytics check_for_update_on_startup"
        " mcp_servers.orchestrator project_doc_max_bytes skills.include_instructions sqlite_home"
        # Of a folder that is trusted it reads settings and hooks: those of the work tree.
        " projects"
        # Our tools go by how much of a result it shows its model.
        " tool_output_token_limit"
    ),
    switches=_FEATURES,
)
_OWNED = {"claude": _CLAUDE, "codex": _CODEX}
_KEYS_INSTEAD = {"model": "model", "developer_instructions": "system_prompt"}
_SHORT_CONFIG = "-c"


def problem(program: str, words: Sequence[str]) -> str:
    """What is wrong with these words, as the rest of a sentence on a table; empty: nothing."""
    owned = _OWNED[program]
    return next(filter(None, _problems(owned, words)), "")


def _problems(owned: Owned, words: Sequence[str]) -> Iterator[str]:
    if words and not words[0].startswith("-"):
        yield f"extra_flags: {words[0]!r} is no flag, and the first word must be one"
    for at, word in enumerate(words):
        # Behind a flag it may be a value, whatever it looks like.
        if word.startswith("--") and not (at and words[at - 1].startswith("-")):
            yield _problem_of_spaces(word)
        following = words[at + 1] if at + 1 < len(words) else ""
        yield _problem(owned, word, following)


def _problem(owned: Owned, word: str, following: str) -> str:
    if "\0" in word:
        return f"extra_flags: {word!r} has a NUL character in it"
    if not word.startswith("-"):
        return ""
    if word in ("-", "--"):
        return f"extra_flags: {word!r} is no flag; the task is given by standard input"
    if not word.startswith("--") and len(word) > 2:
        return f"extra_flags: write {word!r} as a long flag, its value as a word of its own"
    flag, _, value = word.partition("=")
    if flag in owned.instead:
        return f"extra_flags: for {flag} there is the setting {owned.instead[flag]!r}"
    if flag in owned.flags:
        return f"extra_flags: {flag} is not for settings: how it is started is ours"
    value = value or following
    if owned.config and flag in (owned.config, _SHORT_CONFIG):
        return _problem_of_key(owned, value)
    if owned.switches and flag in ("--enable", "--disable") and value in owned.switches:
        return f"extra_flags: the feature {value!r} is not for settings: how it is started is ours"
    return ""


def _problem_of_spaces(word: str) -> str:
    if len(word.partition("=")[0].split()) < 2:
        return ""
    apart = ", ".join(f'"{each}"' for each in word.split())
    return f"extra_flags: {word!r} is one word; write {apart}"


def _problem_of_key(owned: Owned, assigned: str) -> str:
    key, equals, _ = assigned.partition("=")
    path = ".".join(part.strip(" \t\"'") for part in key.split("."))
    if not equals or not path:
        return "extra_flags: -c takes one word more, as key=value"
    if instead := _KEYS_INSTEAD.get(path):
        return f"extra_flags: for the key {path!r} there is the setting {instead!r}"
    for ours in owned.keys:
        if path == ours or path.startswith(f"{ours}.") or ours.startswith(f"{path}."):
            return f"extra_flags: the key {path!r} is not for settings: how it is started is ours"
    return ""
