"""What a played API says: a list of steps, each the answer to one request.

A scenario is a JSON file, or the same values in Python. Steps are played in order, one for each
request that asks a model, whichever of the APIs it comes by:

    {"steps": [
      {"fault": {"status": 529}},
      {"expect": {"said": ["fix the sum"], "tools": ["Edit"]},
       "text": "On it.",
       "calls": [{"tool": "Edit", "arguments": {"file_path": "/workspace/sum.py"}}]},
      {"text": "Done.", "fault": {"after": 3, "then": "close"}}
    ]}
"""

import json
from pathlib import Path
from typing import Any, Literal

import msgspec

from orchestrator.pricing import Usage


class Call(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A tool call in an answer."""

    tool: str
    arguments: dict[str, Any] = {}
    text: str | None = None
    """Sent in place of `arguments`: broken JSON, or the input of a `custom` call."""
    kind: Literal["function", "custom", "tool_search"] = "function"
    """All but `function` exist in the Responses API alone."""
    namespace: str = ""
    """Of a tool of an MCP server, in the Responses API."""

    @property
    def sent(self) -> str:
        return json.dumps(self.arguments) if self.text is None else self.text


class Expect(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What the request must be like; a request that is not is refused, and the scenario fails."""

    said: tuple[str, ...] = ()
    """Each must be part of what the request says last: the prompt, or results of tools."""
    system: str = ""
    tools: tuple[str, ...] = ()
    """Each must be offered."""
    model: str = ""
    key: str = ""


class Fault(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What goes wrong with a step. A status of 400 and more is answered with an error document."""

    status: int = 200
    headers: dict[str, str] = {}
    error: str = "api_error"
    """Type and code of the error, in an error document or in the stream."""
    message: str = "as the scenario says"
    delay: float = 0.0
    """Seconds before anything is sent."""
    instead: Literal["", "close", "reset", "hang", "html", "json"] = ""
    """Sent in place of a stream; `json` is the whole document of an answer that is not streamed."""
    after: int = 0
    """How many frames are sent before `then`."""
    then: Literal["", "end", "close", "reset", "stall", "garbage", "error"] = ""
    """`end` finishes the stream politely, but too early."""
    slow: float = 0.0
    """Seconds between two frames."""
    pieces: int = 0
    """Send so many bytes at a time; 0: frame by frame."""


class Step(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One answer."""

    text: str = ""
    calls: tuple[Call, ...] = ()
    thinking: str = ""
    usage: Usage = Usage(100, 20)
    stop: Literal["", "length", "refused", "pause"] = ""
    expect: Expect = Expect()
    fault: Fault = Fault()
    raw: tuple[str, ...] = ()
    """Frames, or the one body of an error, sent as they stand: for what servers do in the wild."""


class Scenario(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What is played, from the first request to the last."""

    steps: tuple[Step, ...]
    side_answers: bool = False
    """Answer requests that offer no tools with "ok", without playing a step: CLIs make some."""
    rest: Step | None = None
    """Played for every request after the last step, as often as one comes; None: a miss."""


def read(path: Path) -> Scenario:
    """Read a scenario file."""
    return msgspec.json.decode(path.read_bytes(), type=Scenario)
