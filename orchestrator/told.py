"""What a model said of the pieces of a file, kept with them as long as they stay as they are."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

from orchestrator.errors import OrchestratorError
from splitters import Pieces
from splitters.index import Index


@dataclass(frozen=True, slots=True)
class Told:
    """Summaries; there may be none."""

    texts: Mapping[str, str] = field(default_factory=dict)
    """By the SHA-256 of a piece."""
    whole: str | None = None
    stopped: OrchestratorError | KeyboardInterrupt | None = None
    """Why there are not more."""


Tell = Callable[[Pieces, Told], Told]
"""Summarizes the pieces of a file that have no summary yet; it gets those that are known."""


def known(index: Index | None) -> Told:
    """The summaries that an index has."""
    if index is None:
        return Told()
    texts = {each.sha256: each.summary for each in index.segments if each.summary is not None}
    return Told(texts, index.summary)


def noted(index: Index, told: Told) -> Index:
    """An index with the summaries of its pieces."""
    segments = (replace(each, summary=told.texts.get(each.sha256)) for each in index.segments)
    return replace(index, segments=tuple(segments), summary=told.whole)
