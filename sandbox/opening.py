"""The short way in: a sandbox by one call, for programs that use this package as a library."""

import contextlib
import hashlib
import zlib
from collections.abc import Iterator, Sequence

from sandbox import scratch
from sandbox.box import Box, open_box
from sandbox.engine import Engine, connect
from sandbox.images import BASE_IMAGE, prepare
from sandbox.limits import Limits
from sandbox.neighbour import Neighbour
from sandbox.source import Source
from sandbox.sweep import sweep

USUAL = Limits()
COMMIT = b"tree %s\nauthor sandbox <> 0 +0000\ncommitter sandbox <> 0 +0000\n\nempty\n"
COMMIT_TYPE, TREE_TYPE = 1, 2
"""How a pack calls them, see gitformat-pack(5)."""


@contextlib.contextmanager
def open(  # named as in `gzip.open`: it is used as `sandbox.open`
    image: str = BASE_IMAGE,
    source: Source | None = None,
    *,
    setup: Sequence[str] = (),
    limits: Limits = USUAL,
    neighbours: Sequence[Neighbour] = (),
    engine: Engine | None = None,
) -> Iterator[Box]:
    """Open a sandbox on any image of this machine's architecture, and remove it at the end.

    `source` is the repository to work on; without one, /workspace starts as an empty one. `setup`
    runs once as root, without network, and is cached. `neighbours` are reached on 127.0.0.1: a
    gateway, services. Without an `engine`, that which answers is used. What dead owners left on it
    is swept first. Raises `sandbox.errors.SandboxError`.
    """
    with contextlib.ExitStack() as stack:
        if engine is None:
            engine = connect()
            stack.callback(engine.close)
        sweep(engine)
        source = source or stack.enter_context(_empty())
        prepared = prepare(engine, image, source, setup=tuple(setup))
        opened = open_box(
            engine, prepared.image, limits, run="library", purpose="work", neighbours=neighbours
        )
        yield stack.enter_context(opened)


@contextlib.contextmanager
def _empty() -> Iterator[Source]:
    """A repository with one commit that holds nothing."""
    tree = _name(b"tree", b"")
    commit = COMMIT % tree.encode()
    objects = ((COMMIT_TYPE, commit), (TREE_TYPE, b""))
    with scratch.folder() as folder:
        pack = folder / "empty.pack"
        pack.write_bytes(_pack(objects))
        yield Source(_name(b"commit", commit), tree, pack)


def _name(kind: bytes, content: bytes) -> str:
    return hashlib.sha1(b"%s %d\0%s" % (kind, len(content), content)).hexdigest()


def _pack(objects: Sequence[tuple[int, bytes]]) -> bytes:
    body = b"PACK" + (2).to_bytes(4) + len(objects).to_bytes(4)
    body += b"".join(_head(kind, len(raw)) + zlib.compress(raw) for kind, raw in objects)
    return body + hashlib.sha1(body).digest()


def _head(kind: int, size: int) -> bytes:
    """Type and size of an object: four bits of the size first, then seven in each byte."""
    head = bytearray([kind << 4 | size & 15])
    size >>= 4
    while size:
        head[-1] |= 0x80
        head.append(size & 0x7F)
        size >>= 7
    return bytes(head)
