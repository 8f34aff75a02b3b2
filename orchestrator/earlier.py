"""Earlier messages in the form in which a run can begin with them."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

import msgspec

from orchestrator.models.model import Answer, Message, Prompt, Results, ToolCall, ToolResult
from orchestrator.screen import count

ROOM = 100_000
"""Bytes of earlier messages, as JSON, that a run begins with: each of its turns pays for them."""
_SHORT = 200
"""Characters of a tool's output that are not worth leaving out."""
_CUT_OFF = "not executed, or its result was lost: that run was ended here"


def fitted(
    messages: Sequence[Message], model: str, room: int = ROOM
) -> tuple[tuple[Message, ...], str]:
    """What of earlier messages a model is given, and a sentence on what is left out.

    The oldest outputs of tools go first, then the oldest messages. Calls of other models are
    numbered anew: each API has its own idea of what an id may be.
    """
    kept, outputs = list(messages), 0
    over = sum(map(_size, kept)) - room
    for at, message in enumerate(kept):
        if over <= 0:
            break
        if isinstance(message, Results):
            shorter = Results(tuple(map(_shortened, message.results)))
            outputs += shorter != message
            over -= _size(message) - _size(shorter)
            kept[at] = shorter
    gone = 0
    while gone < len(kept) and (over > 0 or not isinstance(kept[gone], Prompt)):
        over -= _size(kept[gone])
        gone += 1
    return tuple(_renumbered(kept[gone:], model)), _left_out(outputs, gone)


def _left_out(outputs: int, gone: int) -> str:
    parts = [f"the outputs of {count(outputs, 'earlier step')}"] * bool(outputs)
    parts += [f"the first {count(gone, 'message')}"] * bool(gone)
    if not parts:
        return ""
    return f"The conversation has become long; left out of it: {' and '.join(parts)}."


def _size(message: Message) -> int:
    return len(msgspec.json.encode(message))


def _shortened(result: ToolResult) -> ToolResult:
    if len(result.text) <= _SHORT:
        return result
    return replace(result, text=f"[{len(result.text):,} characters, left out by now]")


def _renumbered(messages: Sequence[Message], model: str) -> Iterator[Message]:
    """Answers of other models without what only their own API reads, their calls with ids of ours.

    Ids of different runs may be the same, which an API refuses.
    """
    number = 0
    ids: dict[str, str] = {}
    for message in messages:
        if isinstance(message, Answer):
            ids = {}
            if message.model != model or not message.echo:
                for call in message.calls:
                    number += 1
                    ids[call.id] = f"earlier_{number}"
                calls = tuple(replace(call, id=ids[call.id]) for call in message.calls)
                message = replace(message, calls=calls, echo=(), model="")
        elif isinstance(message, Results):
            results = (
                replace(each, call=ids.get(each.call, each.call)) for each in message.results
            )
            message = Results(tuple(results))
        yield message


def mended(messages: Sequence[Message]) -> Iterator[Message]:
    """The messages with every call answered: a run may have been killed before it could be."""
    calls: tuple[ToolCall, ...] = ()
    for message in messages:
        if isinstance(message, Results):
            if calls:
                yield _answered(calls, message.results)
            calls = ()
            continue
        if calls:
            yield _answered(calls, ())
        calls = message.calls if isinstance(message, Answer) else ()
        yield message
    if calls:
        yield _answered(calls, ())


def _answered(calls: tuple[ToolCall, ...], results: tuple[ToolResult, ...]) -> Results:
    known = {result.call: result for result in results}
    return Results(
        tuple(known.get(call.id) or ToolResult(call.id, _CUT_OFF, error=True) for call in calls)
    )
