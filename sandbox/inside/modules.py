"""Submodules whose files are given: each has an index of its own beside the one of the whole.

The record keeps the base's ids of their commits, so nothing in them may change: what does is named.
"""

import os
import stat
from collections.abc import Iterator
from typing import NamedTuple

from .index import STATE, Failure, Index, is_kind, joined, split
from .status import full, status

LIST = f"{STATE}/modules"
"""Root's: their paths, each before those in it."""
SETTINGS = f"{STATE}/module"
"""Root's: a folder each, as `index.SETTINGS` for the whole."""


class Module(NamedTuple):
    path: bytes
    own: Index


class Inner(NamedTuple):
    """How a submodule's files differ from its commit, by their paths from the root."""

    changed: list[bytes]
    ignored: list[bytes]


def modules(index: Index) -> Iterator[Module]:
    """Those that were given, with indexes that belong to `index`."""
    if not os.path.exists(LIST):
        return
    with open(LIST, "rb") as file:
        paths = split(file.read())
    for number, path in enumerate(paths):
        own = Index(f"{index.folder}/module/{number}", full(path), f"{SETTINGS}/{number}")
        yield Module(path, own)


def status_of(module: Module) -> Inner:
    """Look at every file of it."""
    if not is_kind(stat.S_ISDIR, full(module.path)):
        return Inner([module.path], [])
    os.makedirs(module.own.folder, exist_ok=True)
    module.own.open()
    try:
        seen = status(module.own)
    except Failure:  # the agent may have done anything to the index
        module.own.renew()
        seen = status(module.own)
    changed = (*seen.touched, *seen.new, *seen.dropped, *seen.added)
    return Inner([*placed(module, changed)], [*placed(module, seen.ignored)])


def placed(module: Module, paths: tuple[bytes, ...] | list[bytes]) -> Iterator[bytes]:
    for path in paths:
        yield module.path + b"/" + path


def put_back(module: Module) -> list[bytes]:
    """Make its tracked files what they have to be: which ones were not."""
    os.makedirs(full(module.path), exist_ok=True)
    os.makedirs(module.own.folder, exist_ok=True)
    module.own.open()
    touched = status(module.own).touched
    flags = ("--force", "--index", "-z", "--stdin")
    module.own.git("checkout-index", *flags, stdin=joined(touched))
    return [*placed(module, touched)]
