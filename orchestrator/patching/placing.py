"""Where hunks go in a file: exactly where their lines stand, or nowhere.

No line is skipped, no context dropped, no likeness taken for equality. Two things are the file's
own, because models neither see nor write them: its line breaks, with the one that may be missing at
the end, and a byte order mark. So is the content of a line that the patch shows with U+FFFD, as
reading shows bytes that are not UTF-8. A hunk whose lines stand in several places goes to the one
it names, by its line number, its anchors or its order; if none of them tells, nowhere.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from orchestrator.nearest import nearest
from orchestrator.patching.fitting import BOM, UNKNOWN, fitted
from orchestrator.patching.hunks import Hunk, Line, PatchProblem, shown
from orchestrator.patching.scopes import within
from orchestrator.patching.search import search

_NEAREST = 5
"""Hunks that were not found and get their nearest lines shown: each may take about 0.3 s."""


@dataclass(frozen=True, slots=True)
class _Part:
    """The part of a hunk that changes something, between which lines of the file."""

    name: str
    start: int
    end: int
    lines: tuple[Line, ...]


def split(content: bytes) -> tuple[bytes, ...]:
    """The lines of a file with their line breaks; only LF ends one, as for git."""
    lines = [line + b"\n" for line in content.split(b"\n")]
    lines[-1] = lines[-1][:-1]
    return tuple(lines if lines[-1] else lines[:-1])


def placed(content: bytes, hunks: Sequence[Hunk]) -> tuple[Line, ...]:
    """Every line of the file, marked as kept, removed or added.

    Raises PatchProblem that tells of each hunk which has no place.
    """
    file = split(content)
    found: list[_Part] = []
    problems: list[str] = []
    before = 0
    for number, hunk in enumerate(hunks, 1):
        name = f"hunk {number} (line {hunk.number} of the patch)"
        hunk = _grounded(file, hunk)
        try:
            start = _place(file, hunk, before if hunk.follows else 0)
            found.append(_changing(name, start, fitted(hunk, file, start)))
            before = found[-1].end
        except _Missing as missing:
            near = nearest(content, missing.text) if len(problems) < _NEAREST else ""
            problems.append(f"{name}: {missing}" + (f" Nearest lines:\n{near}" if near else ""))
        except PatchProblem as problem:
            problems.append(f"{name}: {problem}")
    if problems:
        raise PatchProblem("\n".join(problems))
    return _joined(file, sorted(found, key=lambda each: (each.start, each.end)))


def _grounded(file: Sequence[bytes], hunk: Hunk) -> Hunk:
    """Lines added at the end of a file stand below its last one."""
    if not hunk.at_end or hunk.old or not file:
        return hunk
    return replace(hunk, lines=(Line(" ", _bare(file[-1]) + b"\n"), *hunk.lines))


class _Missing(PatchProblem):
    """What the patch shows is not in the file."""

    def __init__(self, message: str, text: str) -> None:
        super().__init__(message)
        self.text = text


def _place(file: Sequence[bytes], hunk: Hunk, after: int) -> int:
    if all(line.mark == " " for line in hunk.lines):
        raise PatchProblem("it neither removes nor adds a line.")
    if not hunk.old:
        return _nothing_to_find(file)
    found = _places(file, hunk)
    if not found:
        raise _Missing(
            "its context and removed lines do not stand in the file like this; copy them exactly, "
            "with their indentation.",
            "\n".join(shown(line.rstrip(b"\r\n")) for line in hunk.old),
        )
    if hunk.start is not None and hunk.start - 1 in found:
        return hunk.start - 1
    return _chosen(file, hunk, found, after)


def _nothing_to_find(file: Sequence[bytes]) -> int:
    if not file:
        return 0
    raise PatchProblem(
        "it only adds lines and shows none around them, so where they go is a guess; add lines of "
        "context."
    )


def _chosen(file: Sequence[bytes], hunk: Hunk, found: list[int], after: int) -> int:
    size = len(hunk.old)
    if hunk.at_end:
        last = [at for at in found if at + size == len(file)]
        if not last:
            raise PatchProblem(
                f"it stands at {_lines(found)}, not at the end of the file, which has {len(file)} "
                "lines; leave *** End of File out."
            )
        return last[0]
    if hunk.anchors:
        scopes = within(file, hunk.anchors)
        if isinstance(scopes, bytes):
            raise _Missing(f"there is no line `{shown(scopes)}`.", shown(scopes))
        inner = [at for at in found if at in scopes]
        if not inner:
            raise PatchProblem(f"it stands at {_lines(found)}, but not below its @@ line.")
        found = inner
    if len(found) > 1:
        found = [at for at in found if at >= after] or found
    if len(found) > 1:
        raise PatchProblem(
            f"its context and removed lines stand at {_lines(found)}; add context until they stand "
            "only once."
        )
    return found[0]


def _lines(places: Sequence[int]) -> str:
    numbers = ", ".join(str(at + 1) for at in places[:10])
    more = ", ..." if len(places) > 10 else ""
    return f"line{'s' * (len(places) > 1)} {numbers}{more}"


def _places(file: Sequence[bytes], hunk: Hunk) -> list[int]:
    """Where the old lines stand. A hunk that holds CR means its line breaks literally."""
    wanted = hunk.old
    if any(b"\r" in line.text for line in hunk.lines):
        return search(file, wanted)
    bare = [_bare(line) for line in file]
    if bare and not wanted[0].startswith(BOM):
        bare[0] = bare[0].removeprefix(BOM)
    old = [_bare(line) for line in wanted]
    found = search(bare, old)
    if not found and any(UNKNOWN in line for line in old):
        found = search([line.decode("utf-8", "replace").encode() for line in bare], old)
    last = len(file) - 1
    if not wanted[-1].endswith(b"\n"):  # it says that the file ends here, without a line break
        found = [at for at in found if at + len(old) - 1 == last and not file[last].endswith(b"\n")]
    return found


def _bare(line: bytes) -> bytes:
    if line.endswith(b"\r\n"):
        return line[:-2]
    return line.removesuffix(b"\n")


def _changing(name: str, start: int, lines: Sequence[Line]) -> _Part:
    """Without the context around it: two hunks may show the same lines, but not change them."""
    changing = [at for at, line in enumerate(lines) if line.mark != " "]
    first, last = changing[0], changing[-1] + 1
    inner = tuple(lines[first:last])
    start += first
    return _Part(name, start, start + sum(line.mark != "+" for line in inner), inner)


def _joined(file: Sequence[bytes], parts: Sequence[_Part]) -> tuple[Line, ...]:
    lines: list[Line] = []
    at = 0
    before: _Part | None = None
    for part in parts:
        if before and (part.start < at or (part.start, part.end) == (at, before.start)):
            raise PatchProblem(f"{before.name} and {part.name} change the same place; join them.")
        lines += [Line(" ", line) for line in file[at : part.start]]
        lines += part.lines
        at, before = part.end, part
    lines += [Line(" ", line) for line in file[at:]]
    kept = [line for line in lines if line.mark != "-"]
    if any(not line.text.endswith(b"\n") for line in kept[:-1]):
        raise PatchProblem(r"`\ No newline at end of file` stands before the end of the file.")
    return tuple(lines)
