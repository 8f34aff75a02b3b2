"""Secrets out of what is written down: each is replaced by as many asterisks, at every place."""

import base64
import contextlib
import json
import re
from collections.abc import Iterable, Mapping
from urllib.parse import parse_qsl, quote, unquote

LEAST = 8
"""Characters of a secret. A shorter word, such as the `none` of servers that want no key, stands
in honest texts, too."""

_HEADER = re.compile(r"(?i).*(?:auth|key|token|cookie|secret|credential).*")
"""Names of headers whose values nobody else may know."""

_PARAMETER = re.compile(r"(?i)(?:.*[_.-])?(?:api|access)?(?:key|token|secret|password|sig|auth)")
"""Names of parameters in a URL whose values nobody else may know."""


def secrets(headers: Mapping[str, str], target: str) -> set[str]:
    """What a request carries that must not be written down; `target` is its path with its query."""
    found = {
        part
        for name, value in headers.items()
        if _HEADER.fullmatch(name)
        for part in _parts(value.strip())
    }
    query = target.partition("?")[2]
    return found | {value for name, value in parse_qsl(query) if _PARAMETER.fullmatch(name)}


def spellings(words: Iterable[str]) -> set[bytes]:
    """Each secret as it is, decoded from a URL, and as it stands in JSON, in a URL, in base64."""
    plain = {each for word in words for each in (word, unquote(word)) if len(word) >= LEAST}
    in_json = {json.dumps(word)[1:-1] for word in plain}
    in_urls = {quote(word, safe="") for word in plain}
    found = plain | in_json | {word.replace("/", "\\/") for word in in_json} | in_urls
    raw = {word.encode("utf-8", "replace") for word in found}
    return raw | {base64.b64encode(word).rstrip(b"=") for word in raw}


def masked(content: bytes, secret: Iterable[bytes]) -> bytes:
    """The content with every secret as asterisks; nothing else moves."""
    # The longest first: a part of a secret may be one, too.
    for word in sorted(secret, key=len, reverse=True):
        content = content.replace(word, b"*" * len(word))
    return content


def masked_text(text: str, secret: Iterable[bytes]) -> str:
    """The same for a text."""
    return masked(text.encode("utf-8", "replace"), secret).decode("utf-8", "replace")


def masked_url(url: str, secret: Iterable[bytes]) -> str:
    """A URL or a part of one, without its login and what parameters hold by their names."""
    front, mark, query = re.sub(r"//[^/?]*@", "//", url).partition("?")
    kept = "&".join(_parameter(pair) for pair in query.split("&"))
    return masked_text(f"{front}{mark}{kept}", secret)


def _parameter(pair: str) -> str:
    name, equals, value = pair.partition("=")
    return f"{name}{equals}***" if value and _PARAMETER.fullmatch(name) else pair


def _parts(value: str) -> set[str]:
    """A header's value, the credentials after its scheme, and what Basic ones say in the open."""
    scheme, _, credentials = value.partition(" ")
    parts = {value, credentials.strip()}
    if scheme.lower() == "basic":
        with contextlib.suppress(ValueError):
            parts.add(base64.b64decode(credentials).decode().partition(":")[2])
    return parts
