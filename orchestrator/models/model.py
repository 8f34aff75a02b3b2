"""A model behind an API: what it is asked, and what it answers."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol

from orchestrator.pricing import Usage

AnswerStop = Literal["complete", "tools", "length", "refused"]


@dataclass(frozen=True, slots=True)
class ToolCall:
    """The model asks for a tool."""

    id: str
    name: str
    arguments: str
    """Raw JSON text as the model wrote it; it may be broken."""


@dataclass(frozen=True, slots=True)
class ToolResult:
    """What a tool gave back, in the model's words' place."""

    call: str
    """The `ToolCall.id` it answers."""
    text: str
    error: bool = False


@dataclass(frozen=True, slots=True)
class ToolSchema:
    """A tool as the model sees it."""

    name: str
    description: str
    parameters: dict[str, Any]
    """JSON Schema of an object."""


@dataclass(frozen=True, slots=True)
class Prompt:
    """Something said to the model by us or the user."""

    text: str


@dataclass(frozen=True, slots=True)
class Answer:
    """One answer, whole."""

    text: str
    calls: tuple[ToolCall, ...]
    usage: Usage
    stop: AnswerStop
    echo: tuple[dict[str, Any], ...] = ()
    """The provider's own blocks of this answer, sent back unchanged in the next request."""
    model: str = ""
    """`Model.name` of the author: only it is sent `echo`; another model is sent text and calls."""


@dataclass(frozen=True, slots=True)
class Results:
    """The results of all calls of the answer before."""

    results: tuple[ToolResult, ...]


Message = Prompt | Answer | Results
"""A conversation starts with a Prompt; each Answer with calls is followed by its Results."""


class Model(Protocol):
    """One model of one provider."""

    name: str
    """`provider:name`, as shown and priced."""

    def answer(
        self,
        system: str,
        conversation: Sequence[Message],
        tools: Sequence[ToolSchema],
        *,
        max_output_tokens: int,
        on_text: Callable[[str], None],
    ) -> Answer:
        """Answer the conversation, streaming text to `on_text`.

        Raises the `ModelError` family of `orchestrator.errors`; makes no retry of its own.
        """
        ...

    def finish(self) -> None:
        """The conversation is over: let go of connections.

        Raises ScriptError when a script was not played as written.
        """
        ...
