"""Git's objects as bytes."""

from collections.abc import Iterator


def contents(answer: bytes, count: int) -> Iterator[bytes]:
    """The objects that `cat-file --batch` printed, each after a line that ends with its size."""
    at = 0
    for _ in range(count):
        start = answer.index(b"\n", at) + 1
        end = start + int(answer[at:start].split(b" ")[-1])
        yield answer[start:end]
        at = end + 1


def names(tree_object: bytes) -> tuple[bytes, ...]:
    """The names in a tree object: mode, space, name, NUL, twenty bytes of id."""
    found = []
    at = 0
    while at < len(tree_object):
        start = tree_object.index(b" ", at) + 1
        end = tree_object.index(b"\0", start)
        found.append(tree_object[start:end])
        at = end + 21
    return tuple(found)
