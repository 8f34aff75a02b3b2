"""Which files the tools may change, where a run was told to keep to some.

It spares a model useless work; what decides is the recorded tree (`guardrails.boundary`), since a
command can write anything.
"""

import posixpath

from sandbox.channel import WORKSPACE
from sandbox.files import FileError

TEMPORARY = ("/tmp", "/var/tmp")
"""Never recorded, and free for everybody."""


class Boundary:
    """Asked before each change of a file; see `sandbox.files.Guard`."""

    def __init__(self, only: tuple[str, ...]) -> None:
        self._only = only
        self._places = [f"{WORKSPACE}/{path}" for path in only]

    def __call__(self, path: str, renamed: str) -> None:
        """Refuse a path elsewhere; what an allowed file is renamed to is that file from then on."""
        if _full(path) in self._places:
            self._places += [_full(renamed)] if renamed else []
        for each in filter(None, (path, renamed)):
            if not self._fits(_full(each)):
                raise FileError(
                    f"{each}: not allowed; only {', '.join(self._only)} may be changed"
                    f" (and renamed, with move_file), and files in {' and '.join(TEMPORARY)}"
                )

    def _fits(self, path: str) -> bool:
        places = (*TEMPORARY, *self._places)
        return any(path == each or path.startswith(f"{each}/") for each in places)


def _full(path: str) -> str:
    return posixpath.normpath(posixpath.join(WORKSPACE, path))
