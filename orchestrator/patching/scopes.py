"""What stands below an anchor: the block that its line opens, told by indentation."""

from collections.abc import Sequence

_CLOSING = (b")", b"]", b"}", b"{")
"""A line that begins so belongs to the block above it, whatever its indentation."""


def within(file: Sequence[bytes], anchors: Sequence[bytes]) -> list[tuple[int, int]] | bytes:
    """Where the last anchor's blocks lie, each anchor within the one before; or one not found."""
    scopes = [(0, len(file))]
    for anchor in anchors:
        matches = _matches(file, anchor)
        inner = [at for at in matches if any(start <= at < end for start, end in scopes)]
        if not inner:
            return anchor
        scopes = [(at, _end(file, at)) for at in inner]
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


def _end(file: Sequence[bytes], at: int) -> int:
    """Where the block of a line ends; one that opens none is followed by the rest of the file."""
    depth = _indentation(file[at])
    inner = False
    for number in range(at + 1, len(file)):
        line = file[number].strip()
        if not line:
            continue
        if _indentation(file[number]) > depth or line.startswith(_CLOSING):
            inner = True
        else:
            return number if inner else len(file)
    return len(file)


def _indentation(line: bytes) -> int:
    wide = line.expandtabs(8)
    return len(wide) - len(wide.lstrip())
