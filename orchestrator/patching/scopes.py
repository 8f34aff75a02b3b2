"""What stands below an anchor: the block that its line opens, told by indentation.

All of it takes time that grows with the file alone, whatever it holds: nobody waits for a file that
was made to be slow.
"""

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

_CLOSING = (b")", b"]", b"}", b"{")
"""A line that begins so belongs to the block above it, whatever its indentation."""


@dataclass(frozen=True, slots=True)
class Scopes:
    """Blocks of lines that neither touch nor overlap, in the order of the file."""

    starts: tuple[int, ...]
    ends: tuple[int, ...]

    @classmethod
    def joined(cls, blocks: Iterable[tuple[int, int]]) -> "Scopes":
        """Those of blocks in the order of their starts."""
        starts: list[int] = []
        ends: list[int] = []
        for start, end in blocks:
            if ends and start <= ends[-1]:
                ends[-1] = max(ends[-1], end)
            else:
                starts.append(start)
                ends.append(end)
        return cls(tuple(starts), tuple(ends))

    def __contains__(self, line: int) -> bool:
        before = bisect_right(self.starts, line)
        return before > 0 and line < self.ends[before - 1]


def within(file: Sequence[bytes], anchors: Sequence[bytes]) -> Scopes | bytes:
    """Where the last anchor's blocks lie, each anchor within the one before; or one not found."""
    scopes = Scopes((0,), (len(file),))
    ends = _ends(file)
    for anchor in anchors:
        inner = [at for at in _matches(file, anchor) if at in scopes]
        if not inner:
            return anchor
        scopes = Scopes.joined((at, ends[at]) for at in inner)
    return scopes


def _matches(file: Sequence[bytes], anchor: bytes) -> list[int]:
    """Lines that are the anchor but for space around; if there is none, those that begin so."""
    stripped = [line.strip() for line in file]
    exact = [at for at, line in enumerate(stripped) if line == anchor]
    return exact or [at for at, line in enumerate(stripped) if _begins(line, anchor)]


def _begins(line: bytes, anchor: bytes) -> bool:
    """Whether the line begins with the anchor and its last word does not go on."""
    following = line[len(anchor) : len(anchor) + 1]
    word = following.isalnum() or following == b"_" or following >= b"\x80"
    return line.startswith(anchor) and not (word and (anchor[-1:].isalnum() or anchor[-1:] == b"_"))


def _ends(file: Sequence[bytes]) -> list[int]:
    """Where each line's block ends; one that opens none is followed by the rest of the file."""
    return list(_from_last(file))[::-1]


def _from_last(file: Sequence[bytes]) -> Iterator[int]:
    # The lines below that may end a block, those first that are nearest: the deeper, the nearer.
    depths: list[int] = []
    lines: list[int] = []
    below = len(file)  # the next line that is not blank
    for at in range(len(file) - 1, -1, -1):
        text = file[at].strip()
        depth = _indentation(file[at])
        shallow = bisect_right(depths, depth)
        end = lines[shallow - 1] if shallow else len(file)
        yield len(file) if end == below else end
        if not text:
            continue
        below = at
        if not text.startswith(_CLOSING):
            del depths[shallow:], lines[shallow:]
            depths.append(depth)
            lines.append(at)


def _indentation(line: bytes) -> int:
    wide = line.expandtabs(8)
    return len(wide) - len(wide.lstrip())
