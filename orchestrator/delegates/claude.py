"""Claude Code: `claude -p` with its stream of JSON events."""

import json
import uuid
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from containers import AGENTS
from orchestrator.delegates.cli import Credential, Reader, Terminal
from orchestrator.delegates.lent import NAMES, READING, URL
from orchestrator.delegates.parsed import at, line, objects, text, unknown, without_gateway
from orchestrator.delegates.remembered import HOME
from orchestrator.delegates.transcript import Transcript
from orchestrator.delegation import PREFIX, SERVER, Delegation
from orchestrator.events import (
    AnyEvent,
    FilesTouched,
    Output,
    Session,
    Text,
    ToolFinished,
    ToolStarted,
    Warned,
)
from orchestrator.outcome import Stop
from orchestrator.task import Task
from sandbox.gateway.relay import PORT
from sandbox.gateway.routes import Api
from sandbox.kit import Kit

VERSION = "2.1.197"
READ_ONLY = {"Read", "Glob", "Grep", "LS", "TodoWrite", "WebFetch", "WebSearch", "BashOutput"}
"""Tools after which the files cannot differ."""
SILENT = {
    "status",
    "thinking_tokens",
    "compact_boundary",
    "model_refusal_no_fallback",
    "task_started",
    "task_progress",
    "task_updated",
    "task_notification",
    "hook_started",
}
"""System events that say nothing which is not told otherwise."""
KEY = Credential("ANTHROPIC_API_KEY")
LOGIN = Credential("CLAUDE_CODE_OAUTH_TOKEN", "login")
"""Of a subscription: a token for a year, that `claude setup-token` gives and nothing renews."""
NEARLY = "the subscription's usage limit is nearly reached"
LIMITS: Mapping[str, Stop] = {"error_max_turns": "turns", "error_max_budget_usd": "cost"}


class Claude:
    """The `claude` program, with its own permissions switched off: the sandbox is the boundary."""

    name = "claude"
    kit = Kit(f"orchestrator/claude:{VERSION}", "/opt/agents/claude", f"sh {AGENTS} claude")
    kits: tuple[Kit, ...] = (kit,)
    api: Api = "anthropic"
    counts_turns = True
    models: tuple[str, ...] = ("claude-*",)
    transcripts = transcript = ".claude/projects/-workspace/{}.jsonl"

    def __init__(self, credential: Credential = KEY) -> None:
        # It holds the run's token in a variable of the same name, and so asks as it does for that
        # one: with a login it shows a bearer, adds a header, and may choose another model.
        self.credential = credential

    def command(self, task: Task, before: Transcript | None = None) -> Sequence[str]:
        """As `Cli.command` says."""
        model, told = task.model.partition(":")[2], task.handed.told
        return (
            *(f"{self.kit.place}/claude", "-p", "--output-format", "stream-json", "--verbose"),
            *("--include-partial-messages", "--permission-mode", "bypassPermissions"),
            *(*_session(before), "--max-turns", str(task.limits.turns)),
            *("--strict-mcp-config", "--mcp-config", self._servers(task)),
            # Its home alone, never the files it works on: those may be an earlier run's.
            *("--setting-sources", "user" if task.handed.files else ""),
            *("--settings", _settings(task)),
            *(("--append-system-prompt-file", f"{HOME}/{told}") if told else ()),
            *(("--model", model) if model else ()),
            *_said(task.delegation(self.name), told),
        )

    def environment(self, task: Task, token: str) -> Mapping[str, str]:
        """As `Cli.environment` says."""
        return {
            "ANTHROPIC_BASE_URL": f"http://127.0.0.1:{PORT}",
            self.credential.variable: token,
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
            "DISABLE_AUTOUPDATER": "1",
            "CLAUDE_CODE_MAX_RETRIES": "3",
            "API_TIMEOUT_MS": "120000",
            # Else its first question can come before it knows our tools, as seen on a busy machine.
            "MCP_CONNECTION_NONBLOCKING": "0",
            "MCP_CONNECT_TIMEOUT_MS": "60000",
            "CLAUDE_CODE_MAX_OUTPUT_TOKENS": str(task.limits.output_tokens),
        }

    def reader(self) -> Reader:
        """As `Cli.reader` says."""
        return ClaudeReader()

    def _servers(self, task: Task) -> str:
        """Its MCP servers; the token is put in by the program itself, from its environment."""
        token = {"Authorization": f"Bearer ${{{self.credential.variable}}}"}
        lent = {SERVER: {"type": "http", "url": URL, "headers": token}}
        return json.dumps({"mcpServers": task.handed.servers | (lent if task.lends else {})})


def _session(before: Transcript | None) -> tuple[str, ...]:
    if before is None:
        return ("--session-id", str(uuid.uuid4()))
    fork = ("--fork-session", "--session-id", str(uuid.uuid4())) if before.fork else ()
    return ("--resume", before.session, *fork)


def _settings(task: Task) -> str:
    """What wins over every file of settings: hooks that were handed over, or none at all."""
    hooks = task.handed.hooks
    return json.dumps({"hooks": hooks} if hooks else {"disableAllHooks": True})


def _said(settings: Delegation, told: str) -> tuple[str, ...]:
    """What its table says; last, since a flag without its value takes the next word for it.

    Where there is a file of what it is told, its system prompt stands there.
    """
    allowed, prompt = settings.allowed_tools, settings.system_prompt
    own = [tool for tool in allowed or () if tool != PREFIX]
    return (
        *(() if allowed is None else ("--tools", ",".join(own))),
        *(("--append-system-prompt", prompt) if prompt and not told else ()),
        *settings.extra_flags,
    )


class ClaudeReader:
    """Reads stream-json; see `Reader`."""

    def __init__(self) -> None:
        self.terminal: Terminal | None = None
        self.said = ""
        self.steps = self.commands = self.failures = 0
        self.broken = False
        self._messages: set[str] = set()
        self._asked: dict[str, str] = {}
        """Tools by the ids of their calls."""
        self._awaited: set[str] = set()
        """Calls whose results were seen in a question and in no line yet."""

    @property
    def caught_up(self) -> bool:
        """As `Reader.caught_up` says."""
        return not self._awaited

    def asked(self, results: Mapping[str, str]) -> None:
        """As `Reader.asked` says; of what is older than this session no line will tell."""
        self._awaited |= results.keys() & self._asked.keys()

    def answered(self) -> None:
        """Claude Code tells its answers itself."""

    def read(self, data: bytes) -> Iterator[AnyEvent]:
        """As `Reader.read` says."""
        event = line(data)
        match text(event, "type"):
            case "stream_event":
                yield from self._partial(event)
            case "assistant":
                yield from self._assistant(event)
            case "user":
                yield from self._results(event)
            case "system":
                yield from self._system(event, data)
            case "rate_limit_event":
                if text(event, "rate_limit_info", "status") == "allowed_warning":
                    yield Warned(text=NEARLY)
            case "result":
                self._result(event)
            case kind:
                yield unknown("claude", kind, data)

    def _partial(self, event: object) -> Iterator[AnyEvent]:
        if at(event, "parent_tool_use_id") is None and (
            piece := text(event, "event", "delta", "text")
        ):
            yield Text(text=piece)

    def _assistant(self, event: object) -> Iterator[AnyEvent]:
        if error := text(event, "error"):
            yield Warned(text=f"Claude Code: {error}")
        elif at(event, "parent_tool_use_id") is None:
            self._messages.add(text(event, "message", "id"))
            self.steps = len(self._messages)
        for block in objects(event, "message", "content"):
            if text(block, "type") == "text":
                self.said = text(block, "text")
            elif text(block, "type") == "tool_use":
                yield self._started(block)

    def _started(self, block: dict[str, Any]) -> ToolStarted:
        call, tool = text(block, "id"), text(block, "name")
        self._asked[call] = tool
        arguments = json.dumps(at(block, "input"))
        return ToolStarted(step=self.steps, call=call, tool=tool, arguments=arguments)

    def _results(self, event: object) -> Iterator[AnyEvent]:
        for block in objects(event, "message", "content"):
            if text(block, "type") != "tool_result":
                continue
            call, error = text(block, "tool_use_id"), at(block, "is_error") is True
            tool = self._asked.pop(call, "")
            self._awaited.discard(call)
            if tool not in NAMES:
                self.commands += 1
                self.failures += error
            yield ToolFinished(
                step=self.steps, call=call, tool=tool, result=_content(block), error=error
            )
            if tool not in READ_ONLY and tool not in READING:
                yield FilesTouched(step=self.steps, tool=tool, call=call)

    def _system(self, event: object, data: bytes) -> Iterator[AnyEvent]:
        match text(event, "subtype"):
            case "init":
                yield Session(
                    id=text(event, "session_id"),
                    model=text(event, "model"),
                    program=f"claude {text(event, 'claude_code_version')}",
                    tools=_tools(event),
                )
            case "api_retry":
                why = text(event, "error") or "no answer"
                yield Warned(
                    text=f"Claude Code asks again ({at(event, 'attempt')} of"
                    f" {at(event, 'max_retries')}): {why}"
                )
            case "hook_response":
                yield from _hook(event)
            case "notification":
                yield Warned(text=f"Claude Code: {text(event, 'text')}")
            case kind if kind not in SILENT:
                yield unknown("claude", f"system {kind}", data)

    def _result(self, event: object) -> None:
        kind, said = text(event, "subtype"), text(event, "result") or _errors(event)
        ok = kind == "success" and at(event, "is_error") is False
        refused = text(event, "stop_reason") == "refusal"
        why: Stop = "complete" if ok else "refused" if refused else LIMITS.get(kind, "failed")
        self.terminal = Terminal(ok, (said if ok else without_gateway(said)) or kind, why)


def _hook(event: object) -> Iterator[AnyEvent]:
    """What a hook of the repository printed, and whether it failed."""
    name, said = text(event, "hook_name"), text(event, "output").rstrip()
    if said:
        yield Output(stream="stdout", text=f"hook {name}: {said}")
    if at(event, "exit_code") not in (0, None):
        status = at(event, "exit_code")
        yield Warned(text=f"Claude Code: the hook {name} ended with status {status}")


def _tools(event: object) -> tuple[str, ...]:
    """What it offers; the tool for sub-agents has two names, and is called by the new one."""
    offered = at(event, "tools")
    names = map(str, offered) if isinstance(offered, list) else ()
    return tuple("Agent" if name == "Task" else name for name in names)


def _errors(event: object) -> str:
    """What went wrong before there was an answer, such as a session that is not known."""
    errors = at(event, "errors")
    return "; ".join(map(str, errors)) if isinstance(errors, list) else ""


def _content(block: dict[str, Any]) -> str:
    """A tool's result: a text, or a list of blocks of which some are texts."""
    whole = text(block, "content")
    return whole or "\n".join(text(part, "text") for part in objects(block, "content"))
