"""What `doctor` looks at on this machine."""

import os
import platform
import shutil
import time
from collections.abc import Iterator
from pathlib import Path

from orchestrator.cli import choice, place
from orchestrator.cli.examination import Examined, Look
from orchestrator.git import program, version
from orchestrator.screen import clean, count
from sandbox.images import authorities

ROOM = 2 << 30
"""Bytes below which a run soon ends for want of disk."""
STALE = 60.0
"""Seconds after which a lock of git's is probably nobody's any more."""
OWN_AUTHORITIES = (
    "/usr/local/share/ca-certificates",  # Debian, Ubuntu, Alpine
    "/etc/pki/ca-trust/source/anchors",  # Fedora, Red Hat
    "/etc/pki/trust/anchors",  # SUSE
)
"""Where a company's certificates are put."""


def looks(home: Path) -> Iterator[tuple[str, Look]]:
    """Everything but git, which comes first."""
    yield "home", lambda: (_home(home),)
    yield "disk", lambda: (disk("disk", shutil.disk_usage(place.existing(home)).free, str(home)),)
    yield "locks", _locks
    yield "authorities", lambda: (_authorities(),)
    yield "keys", lambda: (_keys(),)
    yield "system", lambda: (_system(),)


def git() -> Iterator[Examined]:
    found = program()
    yield Examined("git", True, f"{version(found)} at {found}")


def disk(name: str, free: int, where: str) -> Examined:
    """Whether there is room for a run."""
    text = f"{free / (1 << 30):.1f} GiB free at {where}"
    if free >= ROOM:
        return Examined(name, True, text)
    return Examined(name, False, f"only {text}", fix="Free some space: `orchestrator gc` may help.")


def _home(home: Path) -> Examined:
    existing = place.existing(home)
    if os.access(existing, os.W_OK | os.X_OK):
        return Examined("home", True, str(home))
    fix = "Name another folder with --home, or make it writable."
    return Examined("home", False, f"{existing} is not writable", fix=fix)


def _locks() -> Iterator[Examined]:
    """Locks of git's in the repository around us: it removes none, and nor do we."""
    common = place.common_dir()
    if common is None:
        return
    found = [*common.glob("*.lock"), *(common / "refs").rglob("*.lock")]
    stale = [clean(str(path)) for path in found if _age(path) > STALE]
    if stale:
        fix = "If no git is at work there, delete them: branches cannot be written past a lock."
        yield Examined("locks", False, ", ".join(sorted(stale)), needed=False, fix=fix)


def _age(path: Path) -> float:
    try:
        return time.time() - path.lstat().st_mtime
    except FileNotFoundError:  # it was somebody's
        return 0.0


def _authorities() -> Examined:
    bundle = authorities()
    if not bundle.text:
        fix = "Install ca-certificates, if set-up needs https with authorities of your own."
        found = "no bundle of certificate authorities: containers use their image's own"
        return Examined("authorities", False, found, needed=False, fix=fix)
    own = [path for folder in OWN_AUTHORITIES for path in Path(folder).glob("*.*")]
    found = count(bundle.text.count("-----BEGIN "), "certificate")
    text = f"{found} of {bundle.place}, {len(own)} of them added on this machine"
    return Examined("authorities", True, text, needed=False)


def _keys() -> Examined:
    logins = (f"{name} (for Claude Code alone)" for name in choice.logins(os.environ))
    found = [*choice.keys(os.environ), *logins]
    if found:
        return Examined("keys", True, ", ".join(found), needed=False)
    fix = f"Set {' or '.join(choice.DEFAULTS)}; commands, scripts and ollama need none."
    return Examined("keys", False, "no key of a model", needed=False, fix=fix)


def _system() -> Examined:
    return Examined("system", True, f"{platform.platform()}, Python {platform.python_version()}")
