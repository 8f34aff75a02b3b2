"""Any agent that speaks the Agent Client Protocol (ACP) over its standard input and output."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from orchestrator.delegates.acp_agents import KNOWN
from orchestrator.delegates.cli import Briefing, Credential, Terminal
from orchestrator.delegates.lent import NAMES, READING, URL
from orchestrator.delegates.parsed import LONGEST, at, line, objects, text, unknown, without_gateway
from orchestrator.delegates.transcript import Transcript
from orchestrator.delegation import PREFIX, SERVER
from orchestrator.events import (
    AnyEvent,
    FilesTouched,
    Session,
    Text,
    ToolFinished,
    ToolStarted,
)
from orchestrator.outcome import Stop
from orchestrator.task import Task
from sandbox.gateway.relay import PORT
from sandbox.gateway.routes import Api, Route
from sandbox.pipe import Pipe
from sandbox.stream import Line

if TYPE_CHECKING:
    from orchestrator.delegates.acp_talk import Talk

READ_ONLY = {"read", "search", "think", "fetch", "switch_mode"}
"""Kinds of tools after which the files cannot differ."""
KINDS = READ_ONLY | {"edit", "delete", "move", "execute", "other"}
"""All that the protocol knows; any other word could be one of ours, in a commit."""
SILENT = {
    "agent_thought_chunk",
    "available_commands_update",
    "config_option_update",
    "current_mode_update",
    "plan",
    "session_info_update",
    "usage_update",
    "user_message_chunk",
}
"""Updates that say nothing of what is done."""
OURS = {"initialize", "session/new", "session/load", "session/prompt"}
"""What a client asks; whoever asks it of us sends our own lines back, as `cat` does."""
ENDINGS: Mapping[str, Stop] = {
    "end_turn": "complete",
    "max_tokens": "output_tokens",
    "max_turn_requests": "turns",
    "refusal": "refused",
    "cancelled": "failed",
}
SAID = 100_000
"""Characters of an answer, or of a tool's result, that are told."""
REMEMBERED = 10_000
"""Calls that are known to have ended, and calls that have not; an agent may invent any number."""
MOST_RAW = 100
"""Lines of no known type that are told; whoever sends more sends no messages."""
MOST_NOISE = 10_000
"""Lines that are no message at all; honest agents print a few before they begin."""
SHOWN = 80
"""Bytes of such a line that its error shows."""
OUTPUTS = ("formatted_output", "output", "stdout", "text")
"""Where agents put what a command printed, in what the protocol leaves to them."""
NOTHING: Mapping[str, object] = {}
_LENT = re.compile(rf"(?:\b|_){SERVER}(?:__|[./: ]+)(\w+)")
"""How agents write the name of a tool of ours, in a title."""


@dataclass(slots=True)
class _Call:
    """A call that has not ended."""

    title: str = ""
    kind: str = ""
    tool: str = ""
    """As it was told; empty: nobody was told yet."""

    def learn(self, update: object) -> None:
        """Take what this says anew: what a call is about often comes after its beginning.

        Now and then the beginning comes last: `Edit` behind `Edit a.py` says nothing new.
        """
        title = text(update, "title")[:LONGEST]
        if not self.title.startswith(title):
            self.title = title
        self.kind = text(update, "kind") or self.kind


class Acp:
    """An agent, named by its command: a program of the image, or one that we have a kit of."""

    counts_turns = False
    models: tuple[str, ...] = ()

    def __init__(self, command: Sequence[str], routes: Sequence[Route] = ()) -> None:
        """Raises ValueError for a command without a word."""
        if not command:
            raise ValueError("an agent needs a command")
        self.name = PurePosixPath(command[0]).name or command[0]
        self.known = KNOWN.get(command[0])
        self.kits = self.known.kits if self.known else ()
        self.transcripts = self.known.transcripts if self.known else ""
        self.transcript = self.known.transcript if self.known else ""
        self.api: Api = routes[0].api if routes else "openai"
        variables = [f"{route.api.upper()}_API_KEY" for route in routes]
        self.credential = Credential(" or ".join(variables))
        self._apis = {route.api for route in routes}
        self._command = tuple(command)

    def command(self, task: Task, before: Transcript | None = None) -> Sequence[str]:
        """As `Program.command` says."""
        del before  # the agent is told, not its program
        if self.known is None:
            return self._command
        return (*self.known.command(task.model.partition(":")[2]), *self._command[1:])

    def environment(self, task: Task, token: str) -> Mapping[str, str]:
        """As `Program.environment` says: the variables that most agents go by."""
        gateway = f"http://127.0.0.1:{PORT}"
        variables: dict[str, str] = {}
        if "anthropic" in self._apis:
            variables |= {"ANTHROPIC_BASE_URL": gateway, "ANTHROPIC_API_KEY": token}
        if "openai" in self._apis:
            variables |= {"OPENAI_BASE_URL": f"{gateway}/v1", "OPENAI_API_KEY": token}
        if self.known:
            variables |= self.known.environment(task, token)
        return variables

    def reader(self) -> "AcpReader":
        """As `Program.reader` says."""
        return AcpReader(self.name, self.known.meta if self.known else {})


class AcpReader:
    """Reads what one agent says, and answers it; see `Reader` and `Talking`."""

    def __init__(self, name: str, meta: Mapping[str, object] = NOTHING) -> None:
        """`meta` goes with each session that it is asked for."""
        self.terminal: Terminal | None = None
        self.said = ""
        self.steps = self.commands = self.failures = 0
        self.broken = False
        self._name = name
        self._meta = meta
        self._pipe = Pipe()
        self._talk: Talk | None = None
        self._open: dict[str, _Call] = {}
        """By their ids."""
        self._ended: set[str] = set()
        self._awaited: set[str] = set()
        """Calls of which a question told the results, and no line yet that they ended."""
        self._raw = self._noise = 0
        self._first = b""
        """The first line that is no message."""
        self._message_read = False
        """Whether the last line that was read is one."""
        self._speaking = False
        self._message = ""
        """The id of the one whose pieces come, from agents that say it."""
        self._left = False

    @property
    def over(self) -> bool:
        """As `Talking.over` says."""
        return self.terminal is not None

    @property
    def awaited(self) -> str:
        """As `Talking.awaited` says."""
        talk = self._talk
        return "" if talk is None or talk.greeted or self.over else "initialize"

    def begin(self, briefing: Briefing) -> Pipe:
        """As `Talking.begin` says."""
        from orchestrator.delegates import acp_talk  # noqa: PLC0415  # 0.5 s

        server = acp_talk.Server(SERVER, URL, briefing.token) if briefing.task.lends else None
        session = briefing.before.session if briefing.before else ""
        plan = acp_talk.Plan(briefing.told, server, session, self._meta)
        self._talk = acp_talk.Talk(plan, self._pipe.write)
        return self._pipe

    def lively(self, line: Line) -> bool:
        """As `Talking.lively` says: only a message does."""
        return line.stream == "stdout" and self._message_read

    def leave(self) -> bool:
        """As `Talking.leave` says."""
        if self._talk is None or self._left:
            return False
        self._left = True
        self._talk.cancel()
        self._pipe.close()
        return True

    def close(self) -> None:
        """As `Talking.close` says."""
        if self._talk:
            self._talk.close()

    @property
    def caught_up(self) -> bool:
        """As `Reader.caught_up` says."""
        return not self._awaited

    def asked(self, results: Mapping[str, str]) -> None:
        """As `Reader.asked` says.

        Most agents call a tool by the id that the model gave it; of others nothing is awaited.
        """
        self._awaited = results.keys() & self._open.keys()

    def answered(self) -> None:
        """An agent tells nothing of its model's answers."""
        self.steps += 1

    def read(self, data: bytes) -> Iterator[AnyEvent]:
        """As `Reader.read` says."""
        message = line(data)
        method = text(message, "method")
        self._message_read = bool(message and (method or "id" in message))
        if self._talk is None or message is None:
            yield from self._unknown("", data)
            self._no_message(data)
        elif method == "session/update" and "id" not in message:
            if self._talk.prompted:
                yield from self._update(at(message, "params", "update"), data)
        elif method in OURS:
            yield from self._unknown(method, data)
            self._fail(f"{self._name} sent our own messages back: it is no ACP agent")
        elif self._talk.awaits(message):
            # Of a call that needs a permission some agents tell nothing before.
            yield from self._begun(at(message, "params", "toolCall"))
            yield from self._heard(self._talk, message)
            if method not in ("", "session/request_permission"):
                yield from self._unknown(method, data)
        else:
            yield from self._unknown(method or "answer", data)

    def _heard(self, talk: "Talk", message: dict[str, object]) -> Iterator[AnyEvent]:
        before = talk.session
        talk.hear(message)
        if talk.session != before:
            yield Session(id=talk.session, program=talk.agent or self._name)
        if talk.over and self.terminal is None:
            stop = ENDINGS[talk.stop] if talk.stop else "failed"
            said = f"{self._name}: {without_gateway(talk.error)}" if talk.error else self.said
            self._end(Terminal(stop == "complete", said or str(talk.stop), stop))

    def _end(self, terminal: Terminal) -> None:
        self.terminal = terminal
        self._left = True
        self._pipe.close()

    def _fail(self, said: str) -> None:
        if self.terminal is None:
            self._end(Terminal(ok=False, text=said, stop="failed"))

    def _no_message(self, data: bytes) -> None:
        self._first = self._first or data[:SHOWN]
        self._noise += 1
        if self._noise > MOST_NOISE:
            first = json.dumps(self._first.decode("utf-8", "replace"), ensure_ascii=False)
            self._fail(
                f"{self._name} prints what is no message of the Agent Client Protocol"
                f" (first line: {first}): is it an ACP agent?"
            )

    def _update(self, update: object, data: bytes) -> Iterator[AnyEvent]:
        match text(update, "sessionUpdate"):
            case "agent_message_chunk":
                yield from self._spoken(text(update, "content", "text"), text(update, "messageId"))
            case "tool_call" | "tool_call_update":
                yield from self._tool(update)
            case kind if kind not in SILENT:
                yield from self._unknown(f"update {kind}", data)

    def _spoken(self, piece: str, message: str) -> Iterator[AnyEvent]:
        goes_on = self._speaking and message == self._message
        self.said = ((self.said if goes_on else "") + piece)[:SAID]
        self._speaking, self._message = True, message
        if piece:
            yield Text(text=piece)

    def _tool(self, update: object) -> Iterator[AnyEvent]:
        id_, status = text(update, "toolCallId")[:LONGEST], text(update, "status")
        if id_ in self._ended:
            return
        self._speaking = False
        if status == "pending" and text(update, "sessionUpdate") == "tool_call":
            self._call(id_).learn(update)  # its arguments are still to come
            return
        yield from self._begun(update)
        if status in ("completed", "failed"):
            yield from self._finished(id_, _result(update), error=status == "failed")

    def _call(self, id_: str) -> _Call:
        if id_ not in self._open and len(self._open) >= REMEMBERED:
            self._open.pop(next(iter(self._open)))
        return self._open.setdefault(id_, _Call())

    def _begun(self, update: object) -> Iterator[AnyEvent]:
        """Tell of the call that this is about, unless that was told."""
        id_ = text(update, "toolCallId")[:LONGEST]
        if update is None or id_ in self._ended or (call := self._call(id_)).tool:
            return
        call.learn(update)
        call.tool = _named(call.title, call.kind)
        arguments = json.dumps({"title": call.title})
        yield ToolStarted(step=self.steps, call=id_, tool=call.tool, arguments=arguments)

    def _finished(self, call: str, result: str, *, error: bool) -> Iterator[AnyEvent]:
        tool = self._open.pop(call).tool
        self._awaited.discard(call)
        if len(self._ended) >= REMEMBERED:
            self._ended.clear()
        self._ended.add(call)
        if tool not in NAMES:
            self.commands += 1
            self.failures += error
        yield ToolFinished(step=self.steps, call=call, tool=tool, result=result, error=error)
        if tool not in READ_ONLY and tool not in READING:
            yield FilesTouched(step=self.steps, tool=tool, call=call)

    def _unknown(self, kind: str, data: bytes) -> Iterator[AnyEvent]:
        self._raw += 1
        if self._raw <= MOST_RAW:
            yield unknown("acp", kind, data)


def _named(title: str, kind: str) -> str:
    """A tool's name: one of ours, else the kind of what it does."""
    ours = _LENT.search(title)
    name = f"{PREFIX}__{ours[1]}" if ours else ""
    return name if name in NAMES else kind if kind in KINDS else "other"


def _result(update: object) -> str:
    shown = "\n".join(
        text(part, "content", "text") or text(part, "path") for part in objects(update, "content")
    )
    raw = at(update, "rawOutput")
    output = next(filter(None, (text(raw, name) for name in OUTPUTS)), "")
    return (output or (raw if isinstance(raw, str) else "") or shown)[:SAID]
