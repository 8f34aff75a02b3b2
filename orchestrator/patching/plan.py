"""A patch against the files it names: what it does to each, down to the byte, or why it cannot."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from orchestrator.patching.hunks import FileChange, Line, PatchProblem, shown
from orchestrator.patching.placing import placed


@dataclass(frozen=True, slots=True)
class Placed:
    """A change with every line of its file, marked as kept, removed or added."""

    change: FileChange
    lines: tuple[Line, ...]

    @property
    def added(self) -> int:
        """Lines added."""
        return sum(line.mark == "+" for line in self.lines)

    @property
    def removed(self) -> int:
        """Lines removed."""
        return sum(line.mark == "-" for line in self.lines)


def paths(changes: Sequence[FileChange]) -> tuple[bytes, ...]:
    """Every path that has to be looked at."""
    return tuple(dict.fromkeys(path for change in changes for path in change.paths))


def plan(changes: Sequence[FileChange], files: Mapping[bytes, bytes | None]) -> tuple[Placed, ...]:
    """Place every hunk of every file; `files` has the content of each path, or None.

    Raises PatchProblem that tells all that is wrong, of all files.
    """
    joined = _joined(changes)
    found: list[Placed] = []
    problems: list[str] = []
    for change in joined:
        try:
            _require_fit(change, files)
            found.append(_placed(change, files))
        except PatchProblem as problem:
            problems.append(f"{change.name}: {problem}")
    if problems:
        raise PatchProblem("\n".join(problems))
    return tuple(found)


def _joined(changes: Sequence[FileChange]) -> list[FileChange]:
    """One change a file: models repeat the header of a file for each of its hunks."""
    joined: dict[bytes, FileChange] = {}
    taken: set[bytes] = set()
    for change in changes:
        before = joined.get(change.paths[0])
        if before and before.old == before.new == change.old == change.new:
            executable = before.executable if change.executable is None else change.executable
            hunks = before.hunks + change.hunks
            joined[change.paths[0]] = replace(before, hunks=hunks, executable=executable)
            continue
        if both := taken.intersection(change.paths):
            raise PatchProblem(
                f"line {change.number} of the patch: {shown(both.pop())} is changed twice; say all "
                "of a file at once"
            )
        taken.update(change.paths)
        joined[change.paths[0]] = change
    return list(joined.values())


def _require_fit(change: FileChange, files: Mapping[bytes, bytes | None]) -> None:
    if change.old is not None and files[change.old] is None:
        raise PatchProblem("there is no such file.")
    if change.new is not None and change.new != change.old and files[change.new] is not None:
        raise PatchProblem(f"{shown(change.new)} exists already; it is never overwritten.")
    same = change.old == change.new
    if same and not change.hunks and change.executable is None:
        raise PatchProblem("nothing is said to change in it.")


def _placed(change: FileChange, files: Mapping[bytes, bytes | None]) -> Placed:
    content = b"" if change.old is None else files[change.old] or b""
    if change.old is None and any(hunk.old for hunk in change.hunks):
        raise PatchProblem("a new file has only added lines; this shows others, too.")
    if change.unseen:
        every = placed(content, ())
        return Placed(change, tuple(Line("-", line.text) for line in every))
    lines = placed(content, change.hunks)
    if change.new is None and any(line.mark != "-" for line in lines):
        raise PatchProblem("the file goes, but the patch does not remove all of its lines.")
    return Placed(change, lines)
