"""Files written whole: whoever reads one, also after a crash, sees the old one or the new one."""

import os
import stat
from contextlib import suppress
from hashlib import sha256
from pathlib import Path


def read(folder: int, name: str) -> bytes:
    """The bytes of a plain file in an open folder. Raises OSError for a link, a pipe, a folder."""
    # Without O_NONBLOCK a pipe would hold us up for ever.
    flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    opened = os.open(name, flags, dir_fd=folder)
    try:
        if not stat.S_ISREG(os.fstat(opened).st_mode):
            raise OSError(0, "no plain file", name)
        with open(opened, "rb", closefd=False) as file:
            return file.read()
    finally:
        os.close(opened)


def write(path: Path, content: bytes, *, lasting: bool = True) -> None:
    """Write a new file, which nobody else may read; its folder is not synchronised.

    Not `lasting`, it is only written, and the caller sees to it that it is on disk.
    """
    with open(path, "xb", opener=_private) as file:
        file.write(content)
        file.flush()
        if lasting:
            os.fsync(file.fileno())


def put(path: Path, content: bytes) -> None:
    """Write a file of ours, in the place of one that may be there."""
    temporary = path.with_name(f".{path.name}.new")
    temporary.unlink(missing_ok=True)  # of one that was killed
    write(temporary, content)
    os.replace(temporary, path)
    sync(path.parent)


def replace(path: Path, content: bytes, old: bytes) -> bool:
    """Write a file that exists, keeping its mode, owner and attributes; `path` is no link.

    Raises PermissionError, which names the file or its folder, where one may not be written.
    False, and nothing is written, when it does not hold `old` any more.
    """
    facts = path.lstat()
    if not os.access(path, os.W_OK):  # a rename would not ask
        raise PermissionError(13, "Permission denied", str(path))
    temporary = path.with_name(f".orchestrator-{sha256(os.fsencode(path.name)).hexdigest()[:16]}")
    temporary.unlink(missing_ok=True)  # of one that was killed
    try:
        try:
            write(temporary, content)
        except PermissionError as error:
            raise PermissionError(error.errno, error.strerror, str(path.parent)) from None
        _like(temporary, path, facts)
        if path.read_bytes() != old or path.is_symlink():
            temporary.unlink()
            return False
        os.replace(temporary, path)
    except BaseException:
        with suppress(OSError):
            temporary.unlink()
        raise
    sync(path.parent)
    return True


def sync(folder: Path) -> None:
    """Have the names in a folder on disk."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _private(path: str, flags: int) -> int:
    return os.open(path, flags | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)


def _like(path: Path, model: Path, facts: os.stat_result) -> None:
    with suppress(PermissionError):  # another's file in a shared folder becomes ours
        os.chown(path, facts.st_uid, facts.st_gid)
    if hasattr(os, "listxattr"):
        for name in os.listxattr(model):
            with suppress(OSError):  # some are the system's to set
                os.setxattr(path, name, os.getxattr(model, name))
    path.chmod(stat.S_IMODE(facts.st_mode))
