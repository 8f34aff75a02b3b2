"""A piece: a named span of a file; the pieces of a file, in order, are the file."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Piece:
    """One span; offsets are bytes, lines count from 1, `end` is the first byte after it."""

    number: int
    """From 1."""
    start: int
    end: int
    first_line: int
    last_line: int
    """The line its last byte is in; `first_line - 1` of an empty piece."""
    kind: str
    """`function`, `class`, `section`...; `lines` where no syntax says more."""
    name: str
    """The qualified name of the declaration it starts with, or goes on with; may be empty."""
    parent: str
    """The qualified name of what encloses that declaration; may be empty."""
    language: str
    sha256: str
    """Hexadecimal digest of its bytes."""
    names: tuple[str, ...] = ()
    """The qualified names of the declarations that begin in it, in order; at most 21."""

    @property
    def size(self) -> int:
        """Bytes."""
        return self.end - self.start


@dataclass(frozen=True, slots=True)
class Pieces:
    """A file and where it is cut: one piece at least, no gap, no overlap."""

    data: bytes
    language: str
    """A name of `LANGUAGES`, or `text`."""
    target: int
    """Bytes that no piece exceeds."""
    natural: bool
    """Whether every declaration, section or paragraph is a piece of its own."""
    pieces: tuple[Piece, ...]

    def content(self, piece: Piece) -> bytes:
        """The bytes of one piece."""
        return self.data[piece.start : piece.end]
