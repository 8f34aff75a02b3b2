"""Prepared images as `gc` sees them: whose they are, how large, and when they were last used."""

import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from orchestrator import preparation
from orchestrator.render import count
from sandbox.stock import Stored

AT_ONCE = 3600.0
"""Seconds: a run of another home, which we know nothing of, may be about to use an image again."""

_UNITS = ("B", "kB", "MB", "GB", "TB")
_AGES = (("day", 86_400), ("hour", 3600), ("minute", 60))


@dataclass(frozen=True, slots=True)
class Deed:
    """What was done, or would be, to something."""

    action: str
    what: str
    image: Stored | None = None

    @classmethod
    def of(cls, text: str) -> "Deed":
        action, _, what = text.partition(" ")
        return cls(action, what)

    def as_object(self) -> dict[str, Any]:
        """As JSON has it; an image with its size, and the time of its last use."""
        facts: dict[str, Any] = {"action": self.action, "what": self.what}
        if self.image:
            facts |= {"bytes": self.image.size, "used": self.image.used}
        return facts

    def __str__(self) -> str:
        image = self.image
        more = f" ({size(image.size)}, used {ago(image.used)})" if image else ""
        return f"{self.action} {self.what}{more}"


def deed(action: str, image: Stored) -> Deed:
    """What happens to an image."""
    return Deed(action, f"image {image.name}", image)


def kept(deeds: Iterable[Deed]) -> str:
    """All images that stay, in one line: there may be hundreds."""
    images = [each.image for each in deeds if each.action == "keep" and each.image]
    total = size(sum(image.size for image in images))
    return f"keep {count(len(images), 'prepared image')}, {total}; --json lists what is kept"


def stay(left: Sequence[Stored], keep: "Keep") -> str:
    """Why `--everything` leaves images behind, in one line."""
    foreign = sum(keep.is_anothers(image.owner) for image in left)
    near = len(left) - foreign
    whose = [f"{near} in use or used within the hour"] if near else []
    whose += [f"{foreign} of other homes, which go with --all"] if foreign else []
    return (
        f"{count(len(left), 'prepared image')} will stay, and what they stand on:"
        f" {'; '.join(whose)}."
    )


@dataclass(frozen=True, slots=True)
class Keep:
    """Which images are not ours to remove."""

    home: Path
    everybodys: bool
    began: float
    """When the oldest run of this home that still lives began, in Unix seconds."""

    def __call__(self, image: Stored) -> bool:
        """Whether an image has to stay: another's, or used since a live run may have needed it."""
        if self._is_ours(image.owner):
            return image.used >= self.began
        return self.is_anothers(image.owner) or image.used >= min(self.began, time.time() - AT_ONCE)

    def is_anothers(self, owner: str) -> bool:
        """Whether the images of an owner are nothing to us."""
        abandoned = owner and preparation.abandoned(owner)
        return not (self.everybodys or abandoned or self._is_ours(owner))

    def _is_ours(self, owner: str) -> bool:
        return owner == preparation.owner(self.home)


def size(count: int) -> str:
    """Bytes for people, in powers of 1000 as `docker images` shows them."""
    unit = 0
    number = float(count)
    while number >= 1000 and unit < len(_UNITS) - 1:
        number /= 1000
        unit += 1
    return f"{number:.{0 if number >= 10 or not unit else 1}f} {_UNITS[unit]}"


def ago(moment: float) -> str:
    """How long ago a moment was, in Unix seconds."""
    passed = time.time() - moment
    for name, seconds in _AGES:
        count = int(passed // seconds)
        if count:
            return f"{count} {name}{'s' if count > 1 else ''} ago"
    return "just now"
