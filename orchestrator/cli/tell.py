"""Who summarizes the pieces that `orchestrator split --summarize` writes."""

import os
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass

from orchestrator import planning, pricing
from orchestrator.cli import choice, say
from orchestrator.cli.summarize import finishing
from orchestrator.errors import OrchestratorError, UsageError
from orchestrator.planning import Flags
from orchestrator.settings import Settings
from orchestrator.summarize import Summarizer, Summary
from orchestrator.told import Tell, Told
from splitters import Pieces, form


@dataclass(frozen=True, slots=True)
class Asked:
    """Whether summaries are wanted, and of whom."""

    summarize: bool
    model: str | None
    cost: float | None
    input_tokens: int | None


def teller(asked: Asked, name: str) -> AbstractContextManager[Tell | None]:
    """Somebody who summarizes the pieces of a file called `name`; nobody when none is asked for.

    Then nothing else is told meanwhile, so that it takes long is.
    """
    if asked.summarize:
        return _teller(asked, name)
    if asked.model is not None or asked.cost is not None or asked.input_tokens is not None:
        raise UsageError("A model has nothing to do here without --summarize.")
    return say.late(f"cutting pieces: {name} ...")


@contextmanager
def _teller(asked: Asked, name: str) -> Iterator[Tell]:
    flags = Flags(model=asked.model, cost=asked.cost, input_tokens=asked.input_tokens)
    # Checked as those of a task, with the same defaults; a file need not be in any repository.
    bounds = planning.task("", "summarize", Settings(), flags).task.limits
    chosen = choice.connect(asked.model or choice.default(os.environ), os.environ)
    with finishing(chosen) as model:
        if unpriced := pricing.unpriced(model.name, bounds.cost):
            say.note(f"note: {unpriced}")
        summarizer = Summarizer(model, bounds, note=say.note)
        yield lambda pieces, known: _told(summarizer, name, pieces, known)


def _told(summarizer: Summarizer, name: str, pieces: Pieces, known: Told) -> Told:
    """The summaries that are known and those that are missing, as many as could be had."""
    if form.encoding(pieces.data) == "binary":
        raise UsageError(f"{name} is a binary file: only text can be summarized.")
    texts = dict(known.texts)
    try:
        for piece in pieces.pieces:
            text = form.text(pieces.data, piece.start, piece.end)
            if piece.sha256 not in texts and text.strip():
                where = f"lines {piece.first_line}-{piece.last_line}"
                say.note(f"piece {piece.number} of {len(pieces.pieces)}, {where} ...")
                texts[piece.sha256] = summarizer.text(f"{name}, {where}", text).text
        whole = known.whole or _whole(summarizer, name, pieces, texts)
    except (OrchestratorError, KeyboardInterrupt) as error:  # what was paid for is kept
        return Told(texts, known.whole, error)
    return Told(texts, whole)


def _whole(summarizer: Summarizer, name: str, pieces: Pieces, texts: dict[str, str]) -> str | None:
    found = [
        Summary(piece.first_line, piece.last_line, texts[piece.sha256])
        for piece in pieces.pieces
        if piece.sha256 in texts
    ]
    if len(found) < 2:
        return found[0].text if found else None
    return summarizer.whole(name, found).text
