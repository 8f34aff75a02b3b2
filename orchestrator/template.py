"""A command with `{name}` placeholders: filled in once, each element one argument, by no shell."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product

LONGEST = (128 << 10) - 1
"""Bytes of one argument: what Linux lets a program be started with."""
_TOKEN = re.compile(r"\{\{|\}\}|\{([a-z][a-z0-9_]*)\}|[{}]")


@dataclass(frozen=True, slots=True)
class Placeholder:
    """Stands for a value."""

    name: str


@dataclass(frozen=True, slots=True)
class Element:
    """One argument before it is filled in."""

    parts: tuple[str | Placeholder, ...]

    @property
    def names(self) -> tuple[str, ...]:
        """Of its placeholders, each once."""
        found = (part.name for part in self.parts if isinstance(part, Placeholder))
        return tuple(dict.fromkeys(found))

    @property
    def is_open(self) -> bool:
        """Whether a value decides how the argument begins."""
        return bool(self.parts) and isinstance(self.parts[0], Placeholder)


def element(text: str) -> Element:
    """Read `text`, in which `{{` and `}}` are braces.

    Raises ValueError for a brace that is neither one of those nor part of a placeholder.
    """
    parts: list[str | Placeholder] = []
    at = 0
    for token in _TOKEN.finditer(text):
        before, at = text[at : token.start()], token.end()
        if token[1] is None and token[0] in "{}":
            raise ValueError(f"{text!r} has a {token[0]} that is no placeholder's: write it twice")
        parts += [before, Placeholder(token[1]) if token[1] else token[0][0]]
    return Element(tuple(part for part in (*parts, text[at:]) if part))


def plain(text: str) -> Element:
    """An argument that is what it is, with all its braces."""
    return Element((text,))


def filled(elements: Sequence[Element], values: Mapping[str, Sequence[str]]) -> tuple[str, ...]:
    """The arguments; nothing in a value is a placeholder.

    An element stands once for each value of its placeholder, and not at all where there is none.
    Raises ValueError for a value that would begin an argument with `-`, and so be an option, unless
    an element `--` stands before it, and for one that is no argument.
    """
    words: list[str] = []
    guarded = True
    for each in elements:
        for word in _words(each, values):
            _require(each, word, guarded=guarded)
            words.append(word)
        guarded = guarded and each != plain("--")
    return tuple(words)


def _words(each: Element, values: Mapping[str, Sequence[str]]) -> Iterator[str]:
    names = each.names
    for chosen in product(*(values[name] for name in names)):
        known = dict(zip(names, chosen, strict=True))
        yield "".join(
            known[part.name] if isinstance(part, Placeholder) else part for part in each.parts
        )


def _require(each: Element, word: str, *, guarded: bool) -> None:
    names = " and ".join(f"{{{name}}}" for name in each.names)
    if guarded and each.is_open and word.startswith("-"):
        raise ValueError(
            f"{_shown(word)} in the place of {names} would be an option: put an element -- before"
            f" it, or write the option and the value in one, as --name={names}"
        )
    if each.names and "\0" in word:
        raise ValueError(f"{_shown(word)} in the place of {names} has a NUL character in it")
    if each.names and len(word.encode("utf-8", "surrogatepass")) > LONGEST:
        raise ValueError(f"what stands in the place of {names} is longer than 128 KiB")


def _shown(word: str) -> str:
    return repr(word if len(word) <= 40 else f"{word[:39]}…")
