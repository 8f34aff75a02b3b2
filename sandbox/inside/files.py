"""One question about files, or one change: a JSON line on stdin, then content; so back too.

    inside.files

The answer's first line holds the result, or under "error" a sentence for whoever asked; content
follows it as it is. Runs under the toolbox's Python alone, as the user who does the work, so it can
reach no more than a command of theirs: the places to write in are a courtesy, not a wall.
"""

import errno
import fnmatch
import itertools
import json
import os
import re
import shutil
import signal
import stat
import sys
from collections.abc import Callable, Iterator

from .batch import change, gather
from .places import Refused, absolute, changeable, entry, explain, kind, shown

SHOWN = 200
"""Names, matches: what a person or a model still reads."""
LONGEST = 500
"""Characters of a matching line."""
LARGEST = 64 << 20
"""Bytes of a file that is searched."""


Answer = dict[str, object] | bytes | tuple[dict[str, object], bytes]


def main(_arguments: list[str]) -> int:
    request = json.loads(sys.stdin.buffer.readline())
    # A regular expression can take for ever: the alarm ends this process, and only this one.
    # While one is tried, no handler of Python's would run.
    for number in (signal.SIGALRM, signal.SIGTERM):
        signal.signal(number, signal.SIG_DFL)
    signal.alarm(request.pop("seconds"))
    head, content = whole(answered(request))
    sys.stdout.buffer.write(json.dumps(head).encode("ascii") + b"\n" + content)
    sys.stdout.buffer.flush()
    return 0


def whole(answer: Answer) -> tuple[dict[str, object], bytes]:
    if isinstance(answer, tuple):
        return answer
    return ({}, answer) if isinstance(answer, bytes) else (answer, b"")


def answered(request: dict[str, object]) -> Answer:
    operation = OPERATIONS[str(request.pop("do"))]
    try:
        return operation(**request)
    except Refused as problem:
        return {"error": str(problem)}
    except (OSError, ValueError) as problem:
        return {"error": explain(problem)}


def read(path: str, limit: int) -> bytes:
    place = os.path.realpath(absolute(path))
    if os.path.isdir(place):
        raise Refused(f"{path} is a folder")
    # Without O_NONBLOCK, opening a named pipe waits for a writer.
    with open(os.open(place, os.O_RDONLY | os.O_NONBLOCK), "rb") as file:
        facts = os.fstat(file.fileno())
        if not stat.S_ISREG(facts.st_mode):
            raise Refused(f"{path} is not a regular file")
        content = file.read(limit + 1)
    if len(content) > limit:
        size = max(facts.st_size, len(content))
        raise Refused(f"{path} has {size} bytes, more than the {limit} that are read at once")
    return content


def write(path: str, size: int) -> dict[str, object]:
    place = changeable(os.path.realpath(absolute(path)), path)
    if os.path.isdir(place):
        raise Refused(f"{path} is a folder")
    content = sys.stdin.buffer.read()
    if len(content) != size:
        raise Refused(f"{path}: only {len(content)} of {size} bytes arrived; nothing was changed")
    os.makedirs(os.path.dirname(place), exist_ok=True)
    replace(place, content)
    return {}


def replace(place: str, content: bytes) -> None:
    """Put the content there whole or not at all: written beside it, then renamed over it."""
    beside = os.path.join(os.path.dirname(place), f".{os.urandom(8).hex()}.new")
    try:
        with open(beside, "xb") as file:
            file.write(content)
        if os.path.exists(place):
            os.chmod(beside, stat.S_IMODE(os.stat(place).st_mode))
        os.rename(beside, place)
    except BaseException:
        if os.path.exists(beside):
            os.unlink(beside)
        raise


def delete(path: str) -> dict[str, object]:
    place = changeable(entry(path), path)
    if os.path.isdir(place) and not os.path.islink(place):
        raise Refused(f"{path} is a folder; remove it with a command")
    os.unlink(place)
    return {}


def move(source: str, destination: str) -> dict[str, object]:
    old = changeable(entry(source), source)
    new = changeable(entry(destination), destination)
    if not os.path.lexists(old):
        raise OSError(errno.ENOENT, os.strerror(errno.ENOENT), old)
    if os.path.lexists(new):
        raise Refused(f"{destination} exists already; delete it first or choose another name")
    os.makedirs(os.path.dirname(new), exist_ok=True)
    shutil.move(old, new)
    return {}


def status(path: str) -> dict[str, object]:
    place = entry(path)
    facts = os.lstat(place)
    link = stat.S_ISLNK(facts.st_mode)
    return {
        "kind": kind(facts.st_mode),
        "size": facts.st_size,
        "mode": stat.S_IMODE(facts.st_mode),
        "target": os.readlink(place) if link else "",
    }


def folder(path: str) -> str:
    place = os.path.realpath(absolute(path))
    if not os.path.isdir(place):
        number = errno.ENOTDIR if os.path.lexists(place) else errno.ENOENT
        raise OSError(number, os.strerror(number), place)
    return place


def listed(path: str) -> dict[str, object]:
    with os.scandir(folder(path)) as entries:
        names = [e.name + "/" * e.is_dir(follow_symlinks=False) for e in entries]
    return bounded(names)


def bounded(names: list[str]) -> dict[str, object]:
    return {"names": sorted(names)[:SHOWN], "more": max(0, len(names) - SHOWN)}


def globbed(pattern: str, path: str) -> dict[str, object]:
    top = folder(path)
    matched = {place for option in alternatives(pattern) for place in fitting(option, top)}
    return bounded([shown(place) for place in matched])


def alternatives(pattern: str) -> list[str]:
    """What `a.{b,c}` stands for: `a.b` and `a.c`."""
    braces = re.search(r"\{([^{}]*)\}", pattern)
    if braces is None:
        return [pattern]
    head, tail = pattern[: braces.start()], pattern[braces.end() :]
    return [
        whole for option in braces[1].split(",") for whole in alternatives(head + option + tail)
    ]


def fitting(pattern: str, top: str) -> list[str]:
    """Files and links that fit; only the folders before the first wildcard are walked through."""
    parts = os.path.normpath(os.path.join(top, pattern)).split("/")
    fixed = list(itertools.takewhile(lambda part: not set(part) & set("*?["), parts[:-1]))
    start = "/".join(fixed) or "/"
    rest = parts[len(fixed) :]
    return [place for place in walk(start) if fits(rest, below(place, start))]


def below(place: str, top: str) -> list[str]:
    return os.path.relpath(place, top).split("/")


def fits(parts: list[str], names: list[str]) -> bool:
    """Whether a path fits a pattern: wildcards stay within a name, `**` is any number of names."""
    if not parts:
        return not names
    if parts[0] == "**":
        return any(fits(parts[1:], names[skip:]) for skip in range(len(names) + 1))
    return bool(names) and fnmatch.fnmatchcase(names[0], parts[0]) and fits(parts[1:], names[1:])


def found(name: str, path: str) -> dict[str, object]:
    places = walk(folder(path))
    return bounded([shown(p) for p in places if fnmatch.fnmatchcase(os.path.basename(p), name)])


def walk(top: str) -> Iterator[str]:
    """Every file and link below a folder, in order; .git and linked folders are not entered."""
    for here, folders, files in os.walk(top):
        links = [name for name in folders if os.path.islink(os.path.join(here, name))]
        folders[:] = sorted(name for name in folders if name != ".git")
        yield from (os.path.join(here, name) for name in sorted(files + links))


def grep(pattern: str, path: str, glob: str, limit: int) -> dict[str, object]:
    try:
        expression = re.compile(pattern)
    except re.error as problem:
        raise Refused(f"not a regular expression of Python: {problem}") from problem
    top = os.path.realpath(absolute(path))
    files = iter([top]) if os.path.isfile(top) else walk(folder(path))
    globs = alternatives(glob or "*")
    matches: list[list[object]] = []
    for file in files:
        if not wanted(file, top, globs):
            continue
        for number, line in enumerate(text_lines(file), 1):
            if not expression.search(line):
                continue
            if len(matches) == limit:
                return {"matches": matches, "more": True}
            matches.append([shown(file), number, line[:LONGEST]])
    return {"matches": matches, "more": False}


def wanted(file: str, top: str, globs: list[str]) -> bool:
    """A pattern with a slash is about the path below the top, one without about the name."""
    if os.path.islink(file):
        return False
    return any(
        fits(glob.split("/"), below(file, top) if "/" in glob else [os.path.basename(file)])
        for glob in globs
    )


def text_lines(file: str) -> list[str]:
    """The lines of a text file; none of a binary, unreadable, special or enormous one."""
    try:
        facts = os.stat(file)
        if not stat.S_ISREG(facts.st_mode) or facts.st_size > LARGEST:
            return []
        with open(file, "rb") as stream:
            content = stream.read()
    except OSError:
        return []
    if b"\0" in content[:8192]:
        return []
    lines = content.decode("utf-8", "replace").split("\n")
    return [line.removesuffix("\r") for line in lines[: -1 if not lines[-1] else None]]


OPERATIONS: dict[str, Callable[..., Answer]] = {
    "read": read,
    "write": write,
    "delete": delete,
    "move": move,
    "stat": status,
    "list": listed,
    "glob": globbed,
    "find": found,
    "grep": grep,
    "gather": gather,
    "change": change,
}

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
