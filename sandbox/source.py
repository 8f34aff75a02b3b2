"""What a sandbox is given of a repository: one commit, and as much before it as it may see."""

import contextlib
import hashlib
from collections.abc import Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol


@dataclass(frozen=True, slots=True)
class Objects:
    """A pack of the base with its history."""

    pack: Path
    whole: bool = True
    """False: it lacks what the known commit had brought."""


@dataclass(frozen=True, slots=True)
class Known:
    """What an earlier image was given."""

    commit: str
    end: str
    """Where its history ended, see `end_of`."""


def end_of(shallow: tuple[str, ...]) -> str:
    """A digest of the commits at which a history ends."""
    return hashlib.sha256("".join(sorted(shallow)).encode()).hexdigest()


class History(Protocol):
    """Whoever can pack the base with the history that the sandbox may see."""

    @property
    def shallow(self) -> tuple[str, ...]:
        """The commits whose parents are not given: where the history ends before its beginning."""

    def objects(self, known: Known | None) -> AbstractContextManager[Objects]:
        """The objects, as long as the context is open.

        What is known already may be left out, if the base's own history leads to that commit: what
        belongs to another branch must not be there.
        """


@dataclass(frozen=True, slots=True)
class Alone:
    """The base without any history."""

    commit: str
    pack: Path

    @property
    def shallow(self) -> tuple[str, ...]:
        return (self.commit,)

    @contextlib.contextmanager
    def objects(self, known: Known | None) -> Iterator[Objects]:
        """All of it."""
        del known
        yield Objects(self.pack)


@dataclass(frozen=True, slots=True)
class Submodule:
    """The files of a submodule: the base has only the id of its commit."""

    path: str
    """From the base's root."""
    commit: str
    pack: Path
    """The commit alone."""


@dataclass(frozen=True, slots=True)
class Source:
    """The base: a commit, its tree, and a pack of both."""

    commit: str
    tree: str
    pack: Path
    lineage: str = ""
    """Names the repository. Only images of the same one are built upon; empty: none at all."""
    inputs: str = ""
    """A digest of the files that decide what set-up does; empty: any file may."""
    history: History | None = None
    """Packs the base with its history; without one the sandbox sees the commit alone."""
    submodules: tuple[Submodule, ...] = ()
    """Those that are given, each before those in it; any other one is an empty folder."""

    @property
    def given(self) -> History:
        return self.history or Alone(self.commit, self.pack)
