"""Noticing that a model runs against the same wall again and again."""

from collections import Counter
from collections.abc import Mapping, Sequence

from orchestrator.models.model import ToolCall, ToolResult
from orchestrator.tools.tool import Tool

WARN_AFTER = 3
STOP_AFTER = 6
_FINGERPRINT = 512
"""So many characters of a result tell it from another."""


class Repeats:
    """Counts equal calls with equal failing results since the last edit that succeeded."""

    def __init__(self) -> None:
        self._seen: Counter[tuple[str, str, str]] = Counter()

    def note(
        self, calls: Sequence[ToolCall], results: Sequence[ToolResult], tools: Mapping[str, Tool]
    ) -> int:
        """Take in one turn; return how often its most repeated failure has been seen."""
        most = 0
        for call, result in zip(calls, results, strict=True):
            if result.error:
                failure = (call.name, call.arguments, result.text[:_FINGERPRINT])
                self._seen[failure] += 1
                most = max(most, self._seen[failure])
            elif tools[call.name].category == "write":
                self._seen.clear()
        return most
