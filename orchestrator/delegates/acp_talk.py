"""The client's side of the Agent Client Protocol, by its library: what is asked, and answered.

The library has an event loop. It runs here only while a message is given to it, in the thread of
whoever reads them, so nothing happens behind anybody's back. It is given what it waits for and no
more: `session/update` never comes here, nor an answer to what was not asked.
"""

import asyncio
import json
from collections.abc import Callable, Coroutine, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from acp.connection import Connection
from acp.exceptions import RequestError
from acp.meta import AGENT_METHODS, CLIENT_METHODS, PROTOCOL_VERSION
from acp.schema import (
    AllowedOutcome,
    CancelNotification,
    ClientCapabilities,
    DeniedOutcome,
    HttpHeader,
    HttpMcpServer,
    Implementation,
    InitializeRequest,
    InitializeResponse,
    LoadSessionRequest,
    LoadSessionResponse,
    NewSessionRequest,
    NewSessionResponse,
    PromptRequest,
    PromptResponse,
    RequestPermissionRequest,
    RequestPermissionResponse,
    TextContentBlock,
)
from acp.utils import notify_model, request_model, request_model_from_dict

StopReason = Literal["end_turn", "max_tokens", "max_turn_requests", "refusal", "cancelled"]
WORKSPACE = "/workspace"
ME = Implementation(name="orchestrator", version="1")
SECONDS = 10.0
"""For the library to do what follows from a message; it needs no more than milliseconds."""
LONGEST_ID = 200
LONGEST_ERROR = 1000
MOST_ASKED = 10_000
"""Requests of an agent to us; honest ones ask for a permission, at most, with each call."""
NARROWEST = {"allow_once": 0, "allow_always": 1}
"""What a permission is answered with, the narrowest first: the sandbox is the boundary."""


@dataclass(frozen=True, slots=True)
class Server:
    """An MCP server that the agent is offered."""

    name: str
    url: str
    token: str


@dataclass(frozen=True, slots=True)
class Plan:
    """What is to be said."""

    prompt: str
    server: Server | None = None
    session: str = ""
    """The one to go on with; empty: a new one."""
    meta: Mapping[str, object] = field(default_factory=dict)
    """What the session is asked for with, beside what the protocol knows."""


class _EndedError(Exception):
    """The conversation cannot go on, for a reason in a sentence."""


class _Wire:
    """The library's messages on their way."""

    def __init__(self, write: Callable[[bytes], bool]) -> None:
        self.incoming: asyncio.Queue[dict[str, Any] | None] = asyncio.Queue()
        self.moved = asyncio.Event()
        """Something was sent."""
        self.asked: set[int] = set()
        """Requests that have no answer yet."""
        self.deaf = False
        """What was sent last could not be: the agent does not read."""
        self._write = write

    async def send(self, message: dict[str, Any]) -> None:
        if "method" in message and "id" in message:
            self.asked.add(message["id"])
        self.deaf = not self._write(json.dumps(message).encode() + b"\n")
        self.moved.set()

    async def receive(self) -> dict[str, Any] | None:
        return await self.incoming.get()

    async def close(self) -> None:
        """It is the pipe's owner who closes it."""


class Talk:
    """One conversation: a session, a prompt, and the end of the turn."""

    def __init__(self, plan: Plan, write: Callable[[bytes], bool]) -> None:
        """`write` takes a line for the agent; False: it is not taken."""
        self.agent = ""
        """Its name and version, as it says."""
        self.session = ""
        self.greeted = False
        """Whether it answered our first question."""
        self.prompted = False
        """Whether the prompt was sent: what came before is of an earlier turn."""
        self.stop: StopReason | None = None
        """What the agent says that it stopped for."""
        self.error = ""
        """Why there is no such word of it."""
        self._asked = 0
        self._opening = AGENT_METHODS["initialize"]
        """What it is asked before the prompt; empty after that."""
        self._loop = asyncio.new_event_loop()
        self._wire = _Wire(write)
        self._run(self._begin(plan))

    @property
    def over(self) -> bool:
        """Nothing more will be asked, and nothing answered."""
        return bool(self.stop or self.error)

    def awaits(self, message: dict[str, Any]) -> bool:
        """Whether this is a request, or the answer to one of ours, in the protocol's form."""
        if self.over or type(message.get("id")) not in (int, str):
            return False
        if "method" in message:
            return isinstance(message["method"], str)
        return message["id"] in self._wire.asked and ("result" in message or _is_error(message))

    def hear(self, message: dict[str, Any]) -> None:
        """Take a message that is awaited, and say what follows from it."""
        if "method" in message:
            self._asked += 1
            if self._asked > MOST_ASKED:
                self.error = "it asks without end"
                return
        else:
            self._wire.asked.discard(message["id"])
        self._run(self._heard(message))

    def cancel(self) -> None:
        """Ask the agent to end its turn."""
        if self.session and not self.over:
            note = CancelNotification(session_id=self.session)
            self._run(notify_model(self._connection, AGENT_METHODS["session_cancel"], note))

    def close(self) -> None:
        """Let go of the loop; nothing is said any more."""
        if self._loop.is_closed():
            return
        self._script.cancel()
        self._run(self._connection.close())
        self._loop.close()

    def _run(self, work: Coroutine[Any, Any, None]) -> None:
        self._loop.run_until_complete(work)

    async def _begin(self, plan: Plan) -> None:
        self._connection = Connection(self._answer, self._wire)
        self._script = asyncio.ensure_future(self._converse(plan))
        await self._moved()

    async def _heard(self, message: dict[str, Any]) -> None:
        self._wire.moved.clear()
        self._wire.incoming.put_nowait(message)
        await self._moved()

    async def _moved(self) -> None:
        """Until something was sent, as follows from each message, or the script is over."""
        moved = asyncio.ensure_future(self._wire.moved.wait())
        await asyncio.wait({moved, self._script}, timeout=SECONDS, return_when="FIRST_COMPLETED")
        moved.cancel()
        if self._wire.deaf and not self.over:
            self.error = "it does not read what it is told"

    async def _converse(self, plan: Plan) -> None:
        try:
            self.stop = await self._turn(plan)
        except _EndedError as problem:
            self.error = self.error or _said(problem)
        except RequestError as problem:
            refused = f"the agent refused {self._opening}: " if self._opening else ""
            self.error = self.error or refused + _said(problem)
        except ValueError:  # pydantic's: the answer lacks what the protocol demands
            self.error = self.error or "it gave an answer that is none of the protocol's"
        except ConnectionError:
            self.error = self.error or "the conversation was broken off"

    async def _turn(self, plan: Plan) -> StopReason:
        hello = await request_model(
            self._connection,
            AGENT_METHODS["initialize"],
            InitializeRequest(
                protocol_version=PROTOCOL_VERSION,
                client_capabilities=ClientCapabilities(),
                client_info=ME,
            ),
            InitializeResponse,
        )
        self.greeted = True
        if hello.protocol_version != PROTOCOL_VERSION:
            raise _EndedError(
                f"it speaks version {hello.protocol_version} of the Agent Client Protocol, not"
                f" {PROTOCOL_VERSION}"
            )
        if hello.agent_info:
            self.agent = f"{hello.agent_info.name} {hello.agent_info.version}"[:LONGEST_ID]
        session = await self._opened(plan, hello)
        self.prompted, self.session, self._opening = True, session, ""
        prompt = PromptRequest(
            session_id=session, prompt=[TextContentBlock(type="text", text=plan.prompt)]
        )
        ended = await request_model(
            self._connection, AGENT_METHODS["session_prompt"], prompt, PromptResponse
        )
        return ended.stop_reason

    async def _opened(self, plan: Plan, hello: InitializeResponse) -> str:
        """The session's id."""
        able = hello.agent_capabilities
        http = able and able.mcp_capabilities and able.mcp_capabilities.http
        servers = [_server(plan.server)] if plan.server and http else []
        meta = dict(plan.meta) or None
        if plan.session:
            if not (able and able.load_session):
                raise _EndedError("it cannot be resumed: it does not offer session/load")
            load = LoadSessionRequest(
                cwd=WORKSPACE,
                session_id=plan.session,
                mcp_servers=list(servers),
                field_meta=meta,
            )
            method = self._opening = AGENT_METHODS["session_load"]
            await request_model_from_dict(self._connection, method, load, LoadSessionResponse)
            return plan.session
        new = NewSessionRequest(cwd=WORKSPACE, mcp_servers=list(servers), field_meta=meta)
        method = self._opening = AGENT_METHODS["session_new"]
        opened = await request_model(self._connection, method, new, NewSessionResponse)
        if not 0 < len(opened.session_id) <= LONGEST_ID:
            raise _EndedError("it gave its session a name that is none")
        return opened.session_id

    async def _answer(self, method: str, params: object, notification: bool) -> object:
        """What the agent asks of us: its own files and terminals are in the sandbox."""
        del notification
        if method != CLIENT_METHODS["session_request_permission"]:
            raise RequestError.method_not_found(method[:LONGEST_ID])
        try:
            asked = RequestPermissionRequest.model_validate(params)
        except ValueError:
            raise RequestError.invalid_params() from None
        allowing = [option for option in asked.options if option.kind in NARROWEST]
        if not allowing:
            return RequestPermissionResponse(outcome=DeniedOutcome(outcome="cancelled"))
        first = min(allowing, key=lambda option: NARROWEST[option.kind])
        outcome = AllowedOutcome(outcome="selected", option_id=first.option_id)
        return RequestPermissionResponse(outcome=outcome)


def _server(server: Server) -> HttpMcpServer:
    header = HttpHeader(name="Authorization", value=f"Bearer {server.token}")
    return HttpMcpServer(type="http", name=server.name, url=server.url, headers=[header])


def _is_error(message: dict[str, Any]) -> bool:
    error = message.get("error")
    return (
        isinstance(error, dict)
        and type(error.get("code")) is int
        and isinstance(error.get("message"), str)
    )


def _said(problem: Exception) -> str:
    """The agent's error, with the sentence that some put beside it."""
    more = getattr(problem, "data", None)
    detail = (
        next((more[name] for name in ("message", "details") if isinstance(more.get(name), str)), "")
        if isinstance(more, dict)
        else ""
    )
    return ": ".join(filter(None, (str(problem), detail)))[:LONGEST_ERROR]
