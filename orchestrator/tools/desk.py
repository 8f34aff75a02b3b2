"""What the tools of one run keep in mind between calls: how files were cut, and the parser."""

import posixpath
from collections import OrderedDict
from dataclasses import dataclass, field
from types import TracebackType

from orchestrator.parser import Parser
from sandbox.channel import WORKSPACE
from splitters import Piece

_REMEMBERED = 32
"""Files; of one that was cut longer ago, the model is told to cut it again."""


@dataclass(slots=True)
class Cut:
    """How a file was cut when it was looked at last."""

    sha256: str
    """Of the whole file: another one was not cut so."""
    language: str
    target: int
    pieces: tuple[Piece, ...]
    shown: set[tuple[int, str]] = field(default_factory=set)
    """Number and hash of each piece that the model knows as it is now."""


class Desk:
    """One for all calls of a run; closing it ends the parser."""

    def __init__(self) -> None:
        self.parser = Parser()
        self._cuts: OrderedDict[str, Cut] = OrderedDict()

    def __enter__(self) -> "Desk":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.parser.close()

    def keep(self, path: str, cut: Cut) -> None:
        """Remember how a file is cut."""
        self._cuts[_key(path)] = cut
        self._cuts.move_to_end(_key(path))
        while len(self._cuts) > _REMEMBERED:
            self._cuts.popitem(last=False)

    def cut(self, path: str) -> Cut | None:
        """How a file was cut, if that is remembered."""
        return self._cuts.get(_key(path))


def _key(path: str) -> str:
    return posixpath.normpath(posixpath.join(WORKSPACE, path))
