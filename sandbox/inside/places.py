"""Where a path leads, and which places may be written in; a courtesy, not a wall."""

import os
import stat

WORKSPACE = "/workspace"
PLACES = (WORKSPACE, "/tmp", "/home/agent")


class Refused(Exception):
    """The sentence that goes back instead of a result."""


def shown(path: str) -> str:
    """A path as it can be given again: relative to the workspace where it lies in there."""
    return os.path.relpath(path, WORKSPACE) if inside(path, WORKSPACE) else path


def inside(path: str, place: str) -> bool:
    return path.startswith(place + "/")


def absolute(path: str) -> str:
    return os.path.join(WORKSPACE, path)


def entry(path: str) -> str:
    """Where the name itself lies: folders resolved, a link at the end not followed."""
    folder, name = os.path.split(absolute(path).rstrip("/"))
    if name in ("", ".", ".."):
        return os.path.realpath(absolute(path))
    return os.path.join(os.path.realpath(folder), name)


def changeable(place: str, path: str) -> str:
    if any(inside(place, allowed) for allowed in PLACES):
        return place
    raise Refused(f"{path}: only files in {PLACES[0]}, {PLACES[1]} and {PLACES[2]} can be changed")


def kind(mode: int) -> str:
    if stat.S_ISREG(mode):
        return "file"
    if stat.S_ISDIR(mode):
        return "folder"
    return "link" if stat.S_ISLNK(mode) else "other"


def explain(problem: OSError | ValueError) -> str:
    if not isinstance(problem, OSError):
        return str(problem)
    place = shown(problem.filename) if isinstance(problem.filename, str) else "the file"
    return f"{place}: {problem.strerror}"
