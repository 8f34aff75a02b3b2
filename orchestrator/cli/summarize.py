"""`orchestrator summarize`: what a file is about, by a model that only reads."""

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

import click
import msgspec

import splitters
from orchestrator import planning, pricing
from orchestrator.cli import choice, say
from orchestrator.cli.options import Whole, as_json, common
from orchestrator.coarse import cut
from orchestrator.errors import OrchestratorError, ScriptError, UsageError
from orchestrator.models.model import Model
from orchestrator.parser import LARGEST, Parser, Parted
from orchestrator.planning import Flags
from orchestrator.screen import clean, clean_lines
from orchestrator.settings import Settings
from orchestrator.summarize import Summarizer, Summary
from splitters import form

AT_ONCE = 65_536
"""Bytes of the largest file that is one question, and of the pieces of a larger one."""
_LARGEST = 64 << 20


@dataclass(frozen=True, slots=True)
class Source:
    """A file as text."""

    name: str
    text: str
    encoding: str
    size: int
    """Bytes of the file."""

    def pieces(self, parser: Parser) -> Parted | None:
        """The pieces of one that is too large for one question, cut in UTF-8.

        This process holds a key, so another one parses.
        """
        data = self.text.encode()
        if len(data) <= AT_ONCE:
            return None
        if len(data) > LARGEST:
            return Parted(cut(data, AT_ONCE), "it is too large to be parsed; it is cut at lines")
        return parser.split(data, self.name, target=AT_ONCE)


@dataclass(slots=True)
class _Account:
    """What was found so far, and how it is told."""

    source: Source
    pieces: splitters.Pieces | None
    as_json: bool
    found: list[Summary] = field(default_factory=list)

    @property
    def total(self) -> int:
        return len(self.pieces.pieces) if self.pieces else 1

    @property
    def partial(self) -> bool:
        return bool(self.source.text.strip()) and len(self.found) < self.total

    def add(self, summary: Summary) -> None:
        """Show it at once, unless all is shown as JSON at the end."""
        self.found.append(summary)
        if self.as_json:
            return
        if self.pieces:
            one_line = clean(" ".join(summary.text.split()))
            say.out([f"Lines {summary.first_line}-{summary.last_line}: {one_line}"])
        else:
            say.out(clean_lines(summary.text))

    def end(self, summarizer: Summarizer) -> None:
        """What there is to say at the end, whatever it was."""
        if self.as_json:
            say.json(self._object(summarizer))
        elif self.partial and self.found:
            say.note(f"This is partial: {len(self.found)} of {self.total} pieces were summarized.")

    def _object(self, summarizer: Summarizer) -> dict[str, object]:
        return {
            "path": self.source.name,
            "bytes": self.source.size,
            "encoding": self.source.encoding,
            "model": summarizer.model.name,
            "partial": self.partial,
            "pieces": self.total,
            "summaries": [_as_object(summary) for summary in self.found],
            "questions": summarizer.questions,
            "usage": msgspec.to_builtins(summarizer.usage),
            "cost": summarizer.spent.cost,
        }


@click.command("summarize")
@click.argument("file", type=click.Path(path_type=Path, readable=False))
@click.option("--limit-words", type=Whole(min=1), metavar="N", help="Of each summary.")
@click.option("--model", metavar="PROVIDER:NAME", help="Such as anthropic:NAME or scripted:FILE.")
@click.option("--max-cost", "cost", type=float, metavar="DOLLARS", help="Stop above this cost.")
@click.option("--max-seconds", "seconds", type=float, metavar="N", help="Stop after N seconds.")
@click.option("--max-input-tokens", "input_tokens", type=int, metavar="N", help="Stop after N.")
@click.option("--quiet", "-q", is_flag=True, help="Show no progress.")
@as_json
@common
def command(
    file: Path,
    limit_words: int | None,
    model: str | None,
    cost: float | None,
    seconds: float | None,
    input_tokens: int | None,
    quiet: bool,
    as_json: bool,
) -> int:
    """Summarize a file; one of more than 64 KiB in pieces, as "Lines a-b: ...".

    The file is sent to the model, which has no tools; nothing in it can ask for anything.
    """
    flags = Flags(model=model, cost=cost, seconds=seconds, input_tokens=input_tokens)
    # Checked as those of a task, with the same defaults; a file need not be in any repository.
    bounds = planning.task("", "summarize", Settings(), flags).task.limits
    source = read(file)
    name = model or choice.default(os.environ)
    with finishing(choice.connect(name, os.environ)) as chosen:
        if unpriced := pricing.unpriced(chosen.name, bounds.cost):
            say.note(f"note: {unpriced}")
        summarizer = Summarizer(chosen, bounds, limit_words=limit_words, note=say.note)
        account = _Account(source, _pieces(source), as_json)
        try:
            for summary in _summaries(account, summarizer, quiet):
                account.add(summary)
                if summary.stopped:
                    raise summary.stopped
        finally:
            account.end(summarizer)
    return _kept_to(account.found, limit_words)


def read(file: Path) -> Source:
    """The file as text. Raises UsageError for one that cannot be read, or holds none."""
    if not file.is_file():
        raise UsageError(f"{file} is not a file: name one." if file.exists() else _missing(file))
    try:
        size = file.stat().st_size
        if size > _LARGEST:
            raise UsageError(f"{file} has {size:,} bytes; the most that is read is {_LARGEST:,}.")
        data = file.read_bytes()
    except OSError as error:
        raise UsageError(f"{file} cannot be read: {error.strerror}.") from None
    return _decoded(str(file), data)


def _pieces(source: Source) -> splitters.Pieces | None:
    with Parser() as parser:
        parted = source.pieces(parser)
    if parted and parted.trouble:
        say.note(f"note: {clean(source.name)}: {parted.trouble}.")
    return parted.pieces if parted else None


def _missing(file: Path) -> str:
    return f"There is no file {file}: check the path."


def _decoded(name: str, data: bytes) -> Source:
    encoding = form.encoding(data)
    if encoding == "binary":
        raise UsageError(f"{name} is a binary file: only text can be summarized.")
    if encoding == "8-bit":
        say.note(f"note: {clean(name)} is not UTF-8: what cannot be read is replaced by \ufffd.")
    return Source(name, form.text(data), encoding, len(data))


def _summaries(account: _Account, summarizer: Summarizer, quiet: bool) -> Iterator[Summary]:
    source, pieces = account.source, account.pieces
    if not source.text.strip():
        say.note(f"{clean(source.name)} is empty: there is nothing to summarize.")
    elif pieces is None:
        yield summarizer.text(source.name, source.text)
    else:
        for piece in pieces.pieces:
            if not quiet:
                where = f"lines {piece.first_line}-{piece.last_line}"
                say.note(f"piece {piece.number} of {len(pieces.pieces)}, {where} ...")
            yield summarizer.piece(source.name, pieces, piece)


def _kept_to(found: list[Summary], limit: int | None) -> int:
    """Say which summaries are too long; the exit code."""
    for summary in found:
        if summary.over:
            say.note(
                f"error: the summary of lines {summary.first_line}-{summary.last_line} has"
                f" {summary.words} words, {summary.over} more than {limit}, though asked twice."
            )
    return int(any(summary.over for summary in found))


def _as_object(summary: Summary) -> dict[str, object]:
    return {
        "first_line": summary.first_line,
        "last_line": summary.last_line,
        "summary": summary.text,
        "words": summary.words,
        "over": summary.over,
    }


@contextmanager
def finishing(model: Model) -> Iterator[Model]:
    """Let go of the model at the end; a script that was not played as written is an error then."""
    try:
        yield model
    except (OrchestratorError, KeyboardInterrupt):
        with suppress(ScriptError):
            model.finish()
        raise
    model.finish()
