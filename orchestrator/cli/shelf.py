"""Prepared images as `gc` sees them: whose they are, how large, and when they were last used."""

import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from orchestrator import preparation
from orchestrator.screen import clean, count
from sandbox.stock import Stored

AT_ONCE = 3600.0
"""Seconds: a run of another home, which we know nothing of, may be about to use an image again."""

SHORT = 12
"""Digits of an image's id that a person reads."""

_UNITS = ("B", "kB", "MB", "GB", "TB")
_AGES = (("day", 86_400), ("hour", 3600), ("minute", 60))


@dataclass(frozen=True, slots=True)
class Deed:
    """What was done, or would be, to something."""

    action: str
    what: str
    image: Stored | None = None
    repository: str = ""
    """Whose files the image holds, where a run tells."""

    @classmethod
    def of(cls, text: str) -> "Deed":
        action, _, what = text.partition(" ")
        return cls(action, what)

    def as_object(self) -> dict[str, Any]:
        """As JSON has it; an image with its size, and the time of its last use."""
        facts: dict[str, Any] = {"action": self.action, "what": self.what}
        if self.image:
            facts |= {"bytes": self.image.size, "used": self.image.used}
            facts |= {"commit": self.image.commit, "repository": self.repository}
        return facts

    def __str__(self) -> str:
        image = self.image
        if image is None:
            return f"{self.action} {self.what}"
        short = image.id.removeprefix("sha256:")[:SHORT]  # as `docker images` shows it, and takes
        at = f" at {image.commit[:10]}" if image.commit else ""
        of = f" of {clean(self.repository)}{at}" if self.repository else at
        facts = f"{size(image.size)}, used {ago(image.used)}"
        return f"{self.action} prepared image {short}{of} ({facts})"


def deed(action: str, image: Stored, repositories: Mapping[str, str] | None = None) -> Deed:
    """What happens to an image; `repositories` are those of the runs, by their base commits."""
    repository = (repositories or {}).get(image.commit, "")
    return Deed(action, f"image {image.name}", image, repository)


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
