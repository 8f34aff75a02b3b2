"""Does a string look like a secret, a word, or a stand-in for a secret?"""

import math
import re
from collections import Counter
from enum import IntEnum

_STAND_INS = re.compile(
    r"example|placeholder|change_?me|your|dummy|fake|sample|redacted|insert|x{4}|\*{3}|\.{3}|"
    r"<|\$\{|\{\{|%\(|\$\(|\(\?|\[\^|abcdefg|01234567",
    re.IGNORECASE,
)
_FEWEST_CHARACTERS = 5
_TAIL = 16
"""Sixteen random hexadecimal digits are of fewer than five kinds less than once in a million."""

_REFERENCE = re.compile(r"[./~]|[a-z][a-z0-9+.-]*://|arn:|urn:|\d{4}-\d\d-\d\dT", re.IGNORECASE)
"""A path, a URL, a name of a resource, a time."""

_WORDS = re.compile(r"[A-Z]?[a-z]{3,}|[A-Z]{3,}(?![a-z])")


class Guess(IntEnum):
    """How secret a string looks."""

    NOTHING = 0
    WEAK = 1
    """What a person might use as a password, or just a word with a number."""
    STRONG = 2
    """Random, or built like a good password."""


def guess(value: str) -> Guess:
    """Guess from length, kinds of characters, entropy, and whether words can be read in it."""
    if len(value) < 6 or is_stand_in(value) or _REFERENCE.match(value):
        return Guess.NOTHING
    if _reads_as_words(value):
        return Guess.WEAK if _kinds(value) > 2 else Guess.NOTHING
    mixed = len(value) >= 10 and _kinds(value) >= 3
    random = len(value) >= 16 and _kinds(value) >= 2 and entropy(value) >= 2.8
    if mixed or random:
        return Guess.STRONG
    return Guess.WEAK if _kinds(value) > 1 else Guess.NOTHING


def is_stand_in(value: str) -> bool:
    """True for `<your-token>`, `xxxx`, `${TOKEN}`, alphabets, regular expressions."""
    return is_monotonous(value) or _STAND_INS.search(value) is not None


def is_monotonous(value: str) -> bool:
    """True for a known prefix, perhaps, and one or two characters over and over."""
    return len(set(value[-_TAIL:])) < _FEWEST_CHARACTERS


def entropy(value: str) -> float:
    """Shannon entropy in bits a character."""
    total = len(value)
    return -sum(n / total * math.log2(n / total) for n in Counter(value).values())


def _reads_as_words(value: str) -> bool:
    """Random base 62 has about a fifth of its characters in word-like runs, prose nearly all.

    Random lower-case letters and digits have more such runs, but over a quarter of digits.
    """
    letters = sum(map(len, _WORDS.findall(value)))
    separators = sum(value.count(character) for character in "-_./: ")
    digits = sum(character.isdigit() for character in value)
    return letters + separators >= 0.6 * len(value) and digits <= 0.15 * len(value)


def _kinds(value: str) -> int:
    """Count the kinds of characters: lower case, upper case, digits, signs that join no words."""
    kinds = (r"[a-z]", r"[A-Z]", r"[0-9]", r"[^A-Za-z0-9_./:-]")
    return sum(re.search(kind, value) is not None for kind in kinds)
