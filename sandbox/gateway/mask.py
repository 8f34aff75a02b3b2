"""Secrets out of what is written down: each is replaced by as many asterisks, at every place."""

import base64
import contextlib
import json
import re
from collections.abc import Iterable, Mapping
from urllib.parse import parse_qsl, quote, unquote_to_bytes

LEAST = 8
"""Characters of a secret. A shorter word, such as the `none` of servers that want no key, stands
in honest texts, too."""

HEADERS = re.compile(r"(?i).*(?:auth|key|token|cookie|secret|credential).*")
"""Names of headers whose values nobody else may know."""

PARAMETERS = re.compile(r"(?i).*(?:key|token|secret|password|signature|sig|auth|code).*")
"""Names of parameters in a URL whose values nobody else may know."""


def secrets(headers: Mapping[str, str], target: str = "", known: Iterable[str] = ()) -> set[bytes]:
    """What a request carries that must not be written down, in every spelling it may come back in.

    `target` is the path with its query, `known` what is secret wherever it stands.
    """
    found = set(known)
    for name, value in headers.items():
        if HEADERS.fullmatch(name):
            found |= _parts(value)
    query = target.partition("?")[2]
    found |= {value for name, value in parse_qsl(query) if PARAMETERS.fullmatch(name)}
    return {spelled for word in found if len(word) >= LEAST for spelled in _spellings(word)}


def masked(content: bytes, secret: Iterable[bytes]) -> bytes:
    """The content with every secret as asterisks; nothing else moves."""
    # The longest first: a part of a secret may be one, too.
    for word in sorted(secret, key=len, reverse=True):
        content = content.replace(word, b"*" * len(word))
    return content


def masked_target(target: str, secret: Iterable[bytes]) -> str:
    """A path with its query, without the values of parameters that are secret by their name."""
    path, mark, query = target.partition("?")
    kept = "&".join(_parameter(pair) for pair in query.split("&"))
    return masked(f"{path}{mark}{kept}".encode(), secret).decode("utf-8", "replace")


def _parameter(pair: str) -> str:
    name, equals, value = pair.partition("=")
    return f"{name}{equals}***" if value and PARAMETERS.fullmatch(name) else pair


def _parts(value: str) -> set[str]:
    """A header's value, the credentials after its scheme, and what Basic ones say in the open."""
    scheme, _, credentials = value.strip().partition(" ")
    parts = {value.strip(), credentials.strip()}
    if scheme.lower() == "basic":
        with contextlib.suppress(ValueError):
            parts |= set(base64.b64decode(credentials).decode().split(":", 1))
    return parts


def _spellings(word: str) -> set[bytes]:
    """The secret as it is, in JSON, in a URL, decoded from one, and in base64."""
    raw = word.encode("utf-8", "replace")
    plain = unquote_to_bytes(raw)
    return {
        raw,
        plain,
        json.dumps(word)[1:-1].encode(),
        json.dumps(word)[1:-1].replace("/", "\\/").encode(),
        quote(plain, safe="").encode(),
        base64.b64encode(plain).rstrip(b"="),
    }
