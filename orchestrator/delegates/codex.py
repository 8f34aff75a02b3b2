"""Codex: `codex exec --json`."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence

from containers import AGENTS
from orchestrator.delegates.cli import Credential, Reader, Terminal
from orchestrator.delegates.handed import inline
from orchestrator.delegates.lent import NAMES, READING, URL
from orchestrator.delegates.parsed import at, line, objects, text, unknown, without_gateway
from orchestrator.delegates.transcript import Transcript
from orchestrator.delegation import PREFIX, SERVER
from orchestrator.events import (
    AnyEvent,
    FilesTouched,
    Session,
    ToolFinished,
    ToolStarted,
    Warned,
)
from orchestrator.outcome import Stop
from orchestrator.task import Task
from sandbox.gateway.relay import PORT
from sandbox.gateway.routes import Api
from sandbox.kit import Kit

VERSION = "0.169.0"
TOOLS = {"command_execution": "command", "file_change": "aggregated", "mcp_tool_call": "tool"}
"""Item types that are calls of tools, and the member that says what they are about."""
_ENDED = re.compile(r"(?m)^(?:Process exited with|Exit code:) |\AWall time: \S+ seconds\Z")
"""At the head of what a model is told of a command, a patch or a call of an MCP server that ended;
a line tells of each. Of a command that goes on, and of a call that was refused, none does."""
_KEPT_FROM = re.compile(
    r"bwrap: |thread '[^\n]* panicked at linux-sandbox/|patch rejected: writing is blocked by "
)
"""How the words begin of a call that Codex's own sandbox kept from running; often no line tells of
it."""
SILENT = {"reasoning", "todo_list"}
"""Items that say nothing of what is done."""
_SWITCHED_OFF = ("unbounded_connection_retries", "apps", "plugins", "remote_plugin", "tool_suggest")
_PROVIDER = (
    f'{{name="gateway", base_url="http://127.0.0.1:{PORT}/v1", wire_api="responses",'
    ' env_key="RUN_TOKEN", request_max_retries=1, stream_max_retries=2,'
    " stream_idle_timeout_ms=60000}"
)

_LENT = (
    *("-c", f'mcp_servers.{SERVER}={{url="{URL}", bearer_token_env_var="RUN_TOKEN"}}'),
    *("-c", f"mcp_servers.{SERVER}.startup_timeout_sec=60"),
    *("-c", f"mcp_servers.{SERVER}.tool_timeout_sec=300"),
    *("-c", f"mcp_servers.{SERVER}.required=true"),  # else the first question does not wait for it
    # Else its models have to find them by a search before they can call one.
    *("-c", f'features.code_mode={{enabled=false, direct_only_tool_namespaces=["{PREFIX}"]}}'),
)


_OF_THE_FILES = (
    *("-c", "project_doc_max_bytes=0"),
    *("-c", "skills.include_instructions=false"),
)
"""It reads no AGENTS.md and offers no skills out of the files it works on, which may be an earlier
run's; settings and hooks there it leaves alone by itself, as those of a folder nobody trusts."""


class Codex:
    """The `codex` program, without its own sandbox, which cannot start inside ours."""

    name = "codex"
    kit = Kit(f"orchestrator/codex:{VERSION}", "/opt/agents/codex", f"sh {AGENTS} codex")
    kits: tuple[Kit, ...] = (kit,)
    api: Api = "openai"
    credential = Credential("OPENAI_API_KEY")
    counts_turns = False
    models: tuple[str, ...] = ("gpt-*", "codex-*")
    transcripts = ".codex/sessions/*/*/*/rollout-*-{}.jsonl"
    transcript = ".codex/sessions/2026/01/01/rollout-2026-01-01T00-00-00-{}.jsonl"

    def command(self, task: Task, before: Transcript | None = None) -> Sequence[str]:
        """As `Cli.command` says."""
        model = task.model.partition(":")[2]
        switches = [word for name in _SWITCHED_OFF for word in ("--disable", name)]
        said = task.delegation(self.name)
        prompt = f"developer_instructions={json.dumps(said.system_prompt)}"
        return (
            # What its table says comes first: of two values for one key the last one counts.
            *(f"{self.kit.place}/bin/codex", "exec", *said.extra_flags),
            *("--json", "-C", "/workspace"),
            *("--dangerously-bypass-approvals-and-sandbox", *switches),
            *("-c", "analytics.enabled=false", "-c", "check_for_update_on_startup=false"),
            *("-c", 'model_provider="gateway"', "-c", f"model_providers.gateway={_PROVIDER}"),
            *(("-c", f"model={json.dumps(model)}") if model else ()),
            *(("-c", prompt) if said.system_prompt else ()),
            *_OF_THE_FILES,
            *(("-c", f"mcp_servers={inline(task.handed.servers)}") if task.handed.servers else ()),
            *(_LENT if task.lends else ()),
            *(("fork" if before.fork else "resume", before.session) if before else ()),
            "-",
        )

    def environment(self, task: Task, token: str) -> Mapping[str, str]:
        """As `Cli.environment` says."""
        return {"RUN_TOKEN": token}

    def reader(self) -> Reader:
        """As `Cli.reader` says."""
        return CodexReader()


class CodexReader:
    """Reads the events of `codex exec --json`; see `Reader`."""

    def __init__(self) -> None:
        self.terminal: Terminal | None = None
        self.said = ""
        self.commands = self.failures = 0
        self.broken = False
        self._answers = 0
        self._answering = False
        self._known: set[str] | None = None
        """Calls whose results were seen in questions; None before the first one."""
        self._ended = self._told = 0
        """Calls that ended, by the questions and by the lines, which name no call alike."""

    @property
    def steps(self) -> int:
        """Answers that ended, and the one that is under way: its calls run before its end."""
        return self._answers + (self._answering and self.caught_up)

    @property
    def caught_up(self) -> bool:
        """As `Reader.caught_up` says.

        What ended in the background is told to no model for a while: lines can be ahead.
        """
        return self._ended <= self._told

    def asked(self, results: Mapping[str, str]) -> None:
        """As `Reader.asked` says; the first question tells of what is older than this session."""
        self._answering = True
        known, self._known = self._known, {*results, *(self._known or ())}
        if known is not None:
            for call in results.keys() - known:
                self._given_back(results[call])

    def _given_back(self, said: str) -> None:
        head, output, words = said.partition("\nOutput:")
        if _KEPT_FROM.match((words if output else said).lstrip()):
            self.broken = True
        elif _ENDED.search(head):
            self._ended += 1

    def answered(self) -> None:
        """Codex tells nothing of its answers."""
        self._answers += 1
        self._answering = False

    def read(self, data: bytes) -> Iterator[AnyEvent]:
        """As `Reader.read` says."""
        event = line(data)
        match text(event, "type"):
            case "thread.started":
                yield Session(id=text(event, "thread_id"), program=f"codex {VERSION}")
            case "item.started":
                yield from self._started(at(event, "item"))
            case "item.completed":
                yield from self._completed(at(event, "item"), data)
            case "error":
                yield _warned(event)
            case "turn.completed":
                self.terminal = Terminal(True, self.said)
            case "turn.failed":
                self._failed(text(event, "error", "message"))
            case "turn.started" | "item.updated":
                pass
            case kind:
                yield unknown("codex", kind, data)

    def _started(self, item: object) -> Iterator[AnyEvent]:
        kind = text(item, "type")
        if kind in TOOLS:
            arguments = json.dumps(
                {
                    name: at(item, name)
                    for name in ("command", "arguments")
                    if at(item, name) is not None
                }
            )
            yield ToolStarted(
                step=self.steps, call=text(item, "id"), tool=_tool(item), arguments=arguments
            )

    def _failed(self, said: str) -> None:
        refused = said.endswith("reason: content_filter")
        why: Stop = "refused" if refused else "failed"
        self.terminal = Terminal(False, without_gateway(said), why)

    def _completed(self, item: object, data: bytes) -> Iterator[AnyEvent]:
        kind = text(item, "type")
        if kind == "agent_message":
            self.said = text(item, "text")
        elif kind == "error":
            yield _warned(item)
        elif kind in TOOLS:
            yield from self._finished(item)
        elif kind not in SILENT:
            yield unknown("codex", f"item {kind}", data)

    def _finished(self, item: object) -> Iterator[AnyEvent]:
        call, tool, result = text(item, "id"), _tool(item), _result(item)
        error, step = text(item, "status") == "failed", self.steps
        self._told += 1
        if tool not in NAMES:
            self.commands += 1
            self.failures += error
            self.broken = self.broken or (error and _KEPT_FROM.match(result.lstrip()) is not None)
        yield ToolFinished(step=step, call=call, tool=tool, result=result, error=error)
        if tool not in READING:
            yield FilesTouched(step=step, tool=tool, call=call)


def _warned(told: object) -> Warned:
    return Warned(text=f"Codex: {without_gateway(text(told, 'message'))}")


def _tool(item: object) -> str:
    server = text(item, "server")
    return f"mcp__{server}__{text(item, 'tool')}" if server else text(item, "type")


def _result(item: object) -> str:
    """What a command printed, or what a tool of an MCP server gave back."""
    said = "\n".join(text(part, "text") for part in objects(item, "result", "content"))
    return text(item, "aggregated_output") or said or text(item, "error", "message")
