"""A mark of /workspace: as long as it is the same, so are the files, and git need not be asked.

It is made of what `lstat` says of every entry. A change of a file's content, mode or name sets its
change time, which no process without power over the clock can set back. The clock ticks every few
milliseconds, so a file that changed just now could change again unseen: then there is no mark. The
server remembers it, out of reach of those who work in the sandbox.
"""

import hashlib
import os
import stat
import time
from collections.abc import Container

from .index import WORK

MOST = 3000
"""Entries; with more of them, git's own cache is quicker than this."""
SETTLED = 100_000_000
"""Nanoseconds since the last change."""


def mark(skip: Container[bytes]) -> str:
    """The mark; empty when there is none. What is below the folders in `skip` does not matter."""
    limit = time.time_ns() - SETTLED
    seen: list[tuple[object, ...]] = []
    waiting = [b""]
    try:
        while waiting:
            folder = waiting.pop()
            with os.scandir(WORK + b"/" + folder) as entries:
                for entry in entries:
                    path = folder + entry.name
                    facts = entry.stat(follow_symlinks=False)
                    if len(seen) > MOST:
                        return ""
                    if stat.S_ISDIR(facts.st_mode):
                        if path != b".git" and path + b"/" not in skip:
                            waiting.append(path + b"/")
                            seen.append((path, facts.st_mode))
                    elif facts.st_ctime_ns > limit:
                        return ""
                    else:
                        which = (facts.st_dev, facts.st_ino, facts.st_mtime_ns, facts.st_ctime_ns)
                        seen.append((path, facts.st_mode, facts.st_size, which))
    except OSError:
        return ""
    seen.sort()
    return hashlib.blake2b(repr(seen).encode(), digest_size=32).hexdigest()
