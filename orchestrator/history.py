"""The base with its history, packed for a sandbox: so many generations back, or all of them."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from orchestrator.errors import GitError
from orchestrator.git import Git
from orchestrator.repository import Base, Repository
from sandbox import scratch
from sandbox.source import Alone, History, Known, Objects, end_of

_AT_ONCE = 4
"""Commits asked for at first, for each generation wanted: enough for most histories."""
_ALL_COMMITS = 1 << 30
"""Bytes of ids: 13 million commits with their parents."""
_PACK_SECONDS = 3600.0
_PACK_BYTES = 1 << 40


@dataclass(frozen=True, slots=True)
class Span:
    """A part of a history: its commits, and those of them whose parents are not among them."""

    commits: frozenset[str]
    shallow: tuple[str, ...]


def history(repository: Repository, base: Base, alone: Path, depth: int | None) -> History:
    """So many generations, the base's own counted, or with None all that the repository has.

    `alone` is a pack of the base without history, which is all that is given of a partial clone:
    it lacks files of older commits.
    """
    if depth == 1 or repository.is_partial():
        return Alone(base.commit, alone)
    return Generations(repository, base.commit, depth)


@dataclass(frozen=True)
class Generations:
    """A history of a certain depth; what it asks of the repository is asked once."""

    repository: Repository
    commit: str
    depth: int | None

    @property
    def shallow(self) -> tuple[str, ...]:
        """Where it ends before its beginning."""
        return self._span.shallow

    @contextmanager
    def objects(self, known: Known | None) -> Iterator[Objects]:
        """All objects, or those a known ancestor lacks. Raises RepositoryError when some miss."""
        more = known is not None and self._covers(known)
        with scratch.folder() as place:
            pack = place / "base.pack"
            self._write(pack, known.commit if known and more else None)
            yield Objects(pack, whole=not more)

    @cached_property
    def _span(self) -> Span:
        return span(self.repository, self.commit, self.depth)

    def _covers(self, known: Known) -> bool:
        """Whether the known commit's objects, with a pack beside them, are all that is needed.

        It must be an ancestor, given as deep as the repository would give it now. And no commit
        may be missing on both sides: below an ancestor, yet deeper than it was given, and seen
        from the base in fewer steps over a side branch.
        """
        git = self.repository.git
        if not git.ok("merge-base", "--is-ancestor", known.commit, self.commit):
            return False
        theirs = span(self.repository, known.commit, self.depth)
        if end_of(theirs.shallow) != known.end:
            return False
        new = _listed(git, self.commit, f"^{known.commit}")
        return self._span.commits - new <= theirs.commits

    def _write(self, pack: Path, known: str | None) -> None:
        # What upload-pack says to pack-objects for a client that wants so many generations.
        order = [f"--shallow {commit}" for commit in self.shallow] + [self.commit]
        options = ["--revs", "--stdout", "--quiet", "--delta-base-offset"]
        if known:
            # Beyond the end of the history, a commit's files are excluded only by its tree.
            order += [f"^{known}", f"^{known}^{{tree}}"]
            options.append("--thin")
        pieces = self.repository.git.stream(
            *("pack-objects", *options),
            stdin="".join(f"{line}\n" for line in order).encode(),
            seconds=_PACK_SECONDS,
            limit=_PACK_BYTES,
        )
        try:
            with pack.open("wb") as file:
                for piece in pieces:
                    file.write(piece)
        except GitError as error:
            raise self.repository.incomplete(self.commit, error) from None


def span(repository: Repository, commit: str, depth: int | None) -> Span:
    """The commits at most so many generations deep, counted as git does for `--depth`."""
    own = repository.shallow()
    if depth is None:
        found = _listed(repository.git, commit)
        return Span(found, tuple(sorted(found & own)))
    parents = _parents(repository.git, "--max-count", str(depth * _AT_ONCE), commit)
    seen, level = {commit}, {commit}
    for _ in range(1, depth):
        _learn(repository.git, level, parents)
        level = {parent for each in level for parent in parents[each]} - seen
        seen |= level
    _learn(repository.git, level, parents)
    cut = {each for each in seen if not seen.issuperset(parents[each])}
    return Span(frozenset(seen), tuple(sorted(cut | (seen & own))))


def _learn(git: Git, commits: set[str], parents: dict[str, list[str]]) -> None:
    missing = sorted(commits - parents.keys())
    if missing:
        parents |= _parents(git, "--no-walk=unsorted", "--stdin", commits=missing)


def _parents(git: Git, *which: str, commits: Iterable[str] = ()) -> dict[str, list[str]]:
    """Each commit's parents; none where a shallow repository ends."""
    asked = "".join(f"{commit}\n" for commit in commits).encode()
    lines = git.run("rev-list", "--parents", *which, stdin=asked, limit=_ALL_COMMITS)
    rows = (line.split() for line in lines.decode("ascii").splitlines())
    return {commit: above for commit, *above in rows}


def _listed(git: Git, *which: str) -> frozenset[str]:
    lines = git.run("rev-list", *which, seconds=_PACK_SECONDS, limit=_ALL_COMMITS)
    return frozenset(lines.decode("ascii").split())
