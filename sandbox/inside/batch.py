"""Several files of /workspace at once: looked at together, and changed together or not at all.

Whoever asks for a change says what each file was when they saw it; one that is another by now stops
everything. New contents are written before the first file is touched, and what was there keeps a
second name until the last is done: to put it back takes no room, only renames.
"""

import contextlib
import hashlib
import os
import signal
import stat
import sys
from collections.abc import Callable

from .places import WORKSPACE, Refused, absolute, explain, inside, shown

Undo = list[tuple[str, Callable[[], None]]]
"""What was done to a place, and how to take it back; the last comes first."""


class Step:
    """What one file was, shall be, and where it lies meanwhile."""

    def __init__(self, path: str, old: str | None, size: int | None, mode: int | None) -> None:
        self.path = path
        self.place = plain(path)
        self.old = old
        """The SHA-256 of its content; None where there was no file."""
        self.size = size
        """Of its new content; None when it goes."""
        self.mode = mode
        beside = os.path.join(os.path.dirname(self.place), f".{os.urandom(8).hex()}")
        self.new = f"{beside}.new"
        self.kept = f"{beside}.old"


def plain(path: str) -> str:
    """The path's own place; one through a link, out, or into git's own files is refused."""
    place = os.path.normpath(absolute(path))
    if not inside(place, WORKSPACE):
        raise Refused(f"{path}: only files in {WORKSPACE} can be changed like this")
    here = WORKSPACE
    for name in place[len(WORKSPACE) + 1 :].split("/"):
        here = os.path.join(here, name)
        if name.lower() == ".git":
            raise Refused(f"{path}: what belongs to git itself is not changed")
        if os.path.islink(here):
            raise Refused(f"{path}: {shown(here)} is a symbolic link; name the file it leads to")
    return place


def gather(paths: list[str], limit: int) -> tuple[dict[str, object], bytes]:
    """The permission bits and the content of each file; None for one that is not there."""
    left = limit
    files: list[object] = []
    contents: list[bytes] = []
    for path in paths:
        try:
            mode, content = regular(path, plain(path), left)
        except (FileNotFoundError, NotADirectoryError):
            files.append(None)
            continue
        left -= len(content)
        if left < 0:
            raise Refused(f"the files together have more than the {limit} bytes read at once")
        files.append([mode, len(content)])
        contents.append(content)
    return {"files": files}, b"".join(contents)


def regular(path: str, place: str, limit: int) -> tuple[int, bytes]:
    # Without O_NONBLOCK, opening a named pipe waits for a writer.
    number = os.open(place, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW)
    facts = os.fstat(number)
    if not stat.S_ISREG(facts.st_mode):
        raise Refused(f"{path} is not a regular file")
    with open(number, "rb") as file:
        content = file.read(limit + 1)
    return stat.S_IMODE(facts.st_mode), content


ENDED = {signal.SIGALRM: "this took too long", signal.SIGTERM: "this was ended by a signal"}


def ended(number: int, _frame: object) -> None:
    raise Refused(ENDED[signal.Signals(number)])


def change(edits: list[dict[str, str | int | None]]) -> dict[str, object]:
    content = sys.stdin.buffer.read()
    undo: Undo = []
    try:
        for number in ENDED:
            signal.signal(number, ended)  # what was begun has to be taken back
        steps = [Step(**edit) for edit in edits]  # type: ignore[arg-type]  # as the host sends them
        if len(content) != sum(step.size or 0 for step in steps):
            raise Refused("the new contents did not arrive whole")
        for step in steps:
            content = stage(step, content, undo)
        for step in steps:
            keep(step, undo)
        signal.pthread_sigmask(signal.SIG_BLOCK, ENDED)  # from here on there are only renames
        for step in steps:
            swap(step, undo)
    except (OSError, Refused) as problem:
        signal.pthread_sigmask(signal.SIG_BLOCK, ENDED)
        raise Refused(f"{reason(problem)}; {taken_back(undo)}") from problem
    for step in steps:
        with contextlib.suppress(OSError):  # it is done, whatever is left beside it
            remove(step.kept)
    return {}


def reason(problem: OSError | Refused) -> str:
    return str(problem) if isinstance(problem, Refused) else explain(problem)


def taken_back(undo: Undo) -> str:
    """Undo all that was done, the last first; what resists is named, and the rest still undone.

    With it stays what it was to be put back from: that may be the last there is of it.
    """
    stuck: dict[str, str] = {}
    for place, back in reversed(undo):
        if place in stuck:
            continue
        try:
            back()
        except OSError as problem:
            stuck[place] = f"{shown(place)} ({problem.strerror})"
    if stuck:
        named = ", ".join(stuck.values())
        return f"these could not be put back: {named}; all others are as they were"
    return "nothing was changed"


def stage(step: Step, content: bytes, undo: Undo) -> bytes:
    """Write the new content beside its place; gives what is left for the others."""
    if step.size is None:
        return content
    make_folder(os.path.dirname(step.place), undo)
    undo.append((step.place, lambda: remove(step.new)))
    try:
        with open(step.new, "xb") as file:
            file.write(content[: step.size])
        if step.mode is not None:
            os.chmod(step.new, step.mode)
    except OSError as problem:
        problem.filename = step.place  # the name beside it says nothing to anybody
        raise
    return content[step.size :]


def make_folder(folder: str, undo: Undo) -> None:
    if not os.path.isdir(folder):
        make_folder(os.path.dirname(folder), undo)
        os.mkdir(folder)
        undo.append((folder, lambda: os.rmdir(folder)))


def keep(step: Step, undo: Undo) -> None:
    """Give what is there a second name, if it is still what was seen."""
    if step.old is None:
        return
    try:
        os.link(step.place, step.kept, follow_symlinks=False)
    except OSError as problem:
        problem.filename = step.place
        raise
    undo.append((step.place, lambda: remove(step.kept)))
    with open(os.open(step.kept, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW), "rb") as file:
        plain = stat.S_ISREG(os.fstat(file.fileno()).st_mode)  # a pipe would be read for ever
        if not plain or hashlib.file_digest(file, "sha256").hexdigest() != step.old:
            raise Refused(f"{step.path} has changed since it was read")


def swap(step: Step, undo: Undo) -> None:
    def put_back() -> None:
        os.rename(step.kept, step.place)

    if step.size is None:
        os.unlink(step.place)
        undo.append((step.place, put_back))
    elif step.old is not None:
        os.rename(step.new, step.place)
        undo.append((step.place, put_back))
    else:
        try:
            os.link(step.new, step.place)  # unlike a rename, never over what has come meanwhile
        except FileExistsError:
            raise Refused(f"{step.path} has come into being since it was looked for") from None
        undo.append((step.place, lambda: os.unlink(step.place)))
        os.unlink(step.new)


def remove(place: str) -> None:
    if os.path.lexists(place):
        os.unlink(place)
