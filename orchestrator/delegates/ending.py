"""Why a delegate stopped: from facts together, never from its own word alone."""

from dataclasses import dataclass

from orchestrator.delegates.cli import Reader
from orchestrator.events import WorkerFinished
from orchestrator.outcome import Stop
from sandbox.gateway.budget import Used
from sandbox.stream import Exit


@dataclass(frozen=True, slots=True)
class Seen:
    """What is known when its program has ended."""

    program: str
    reader: Reader
    exit: Exit
    used: Used
    spent: str
    """The budget that is used up, in a sentence; else empty."""
    refused_key: bool
    """The provider's last answer was that the key is not good."""
    stopped: Stop | None
    """Why we ended it; None when it ended by itself."""
    complaint: str
    """The last lines of its standard error."""


LIMITED = "the provider's rate or usage limit is reached"


def ending(seen: Seen) -> WorkerFinished:
    """The first line that applies, from what explains the most to what explains the least."""
    terminal, used, said = seen.reader.terminal, seen.used, seen.reader.said
    if seen.stopped == "stalled":
        return WorkerFinished(reason="stalled", message=f"{seen.program} said nothing any more")
    if seen.refused_key:
        return WorkerFinished(reason="auth", message=_error(seen))
    if seen.stopped == "rate_limited":
        return WorkerFinished(reason="rate_limited", message=LIMITED, until=used.until)
    if seen.stopped:
        return WorkerFinished(reason=seen.stopped, message=said)
    if seen.spent and not (terminal and terminal.ok):
        return WorkerFinished(reason=_budget(seen.spent), message=seen.spent)
    if used.limited and not (terminal and terminal.ok):
        return WorkerFinished(reason="rate_limited", message=LIMITED, until=used.until)
    if seen.reader.broken or 0 < seen.reader.commands == seen.reader.failures:
        message = f"nothing that {seen.program} ran in the sandbox worked"
        return WorkerFinished(reason="tools_broken", message=message)
    if terminal is None:
        return WorkerFinished(reason="failed", message=_error(seen))
    if not terminal.ok:
        return WorkerFinished(reason=terminal.stop, message=terminal.text)
    if not seen.exit.ok:
        message = f"{seen.program} said it was finished, and ended with status {seen.exit.status}"
        return WorkerFinished(reason="failed", message=message)
    return WorkerFinished(reason="complete", message=terminal.text or said)


def _error(seen: Seen) -> str:
    if seen.reader.terminal:
        return seen.reader.terminal.text
    message = f"{seen.program} ended with status {seen.exit.status}, without its last event"
    return f"{message}: {seen.complaint}" if seen.complaint else message


def _budget(spent: str) -> Stop:
    if "input" in spent:
        return "input_tokens"
    if "seconds" in spent or "time" in spent:
        return "time"
    return "output_tokens" if "output" in spent else "cost"
