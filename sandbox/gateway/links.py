"""Links in the pages of a package index, turned so that they lead through the gateway again."""

import html
import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any
from urllib.parse import SplitResult, urljoin, urlsplit

INDEXES = "/indexes/"
ORIGINS = "/origins/"
# Each looks no further than the next `<`: a page of a megabyte of `<a ` would else take hours.
_HREF = re.compile(r"""(<a\s[^<>]*?\bhref\s*=\s*)(?:"([^"]*)"|'([^']*)')""", re.IGNORECASE)
_BASE = re.compile(r"<base\b[^<>]*>", re.IGNORECASE)
LINKED = frozenset({"url", "tarball"})
"""The members with links in what PyPI's JSON API (PEP 691) and npm's registry answer."""
_PORTS = {"http": 80, "https": 443}


def parts(target: str) -> tuple[str, str, str]:
    """`/indexes/` or `/origins/`, the index's name, and the rest of the target."""
    kind = INDEXES if target.startswith(INDEXES) else ORIGINS
    name, _, rest = target.removeprefix(kind).partition("/")
    return kind, name, rest


@dataclass(frozen=True, slots=True)
class Mount:
    """Where an index is seen inside: the address that the client used, and the index's own."""

    name: str
    url: SplitResult
    asked: tuple[str, ...] = ()
    """The client's Host header: it knows under which address and port it reached us."""

    @property
    def base(self) -> str:
        """The index's path, with a slash at its end."""
        return self.url.path.rstrip("/") + "/"

    def inside(self, link: str, page: str) -> str:
        """The link as the sandbox follows it; unchanged when it leads to another host."""
        outer = f"{self.url.scheme}://{self.url.netloc}"
        try:
            found = urlsplit(urljoin(outer + page, link))
            if _origin(found) != _origin(self.url):
                return link
        except ValueError:
            return link
        path = found.path or "/"
        if path.startswith(self.base):
            own = f"{INDEXES}{self.name}/{path.removeprefix(self.base)}"
        else:
            own = f"{ORIGINS}{self.name}{path}"
        root = f"http://{self.asked[0]}" if len(self.asked) == 1 else ""
        query = f"?{found.query}" if found.query else ""
        fragment = f"#{found.fragment}" if found.fragment else ""
        return f"{root}{own}{query}{fragment}"


Turn = Callable[[bytes, Mount, str], bytes]


def turning(content_type: str) -> Turn | None:
    """How a page of this type is rewritten; None for what holds no links."""
    kind = content_type.partition(";")[0].strip().lower()
    if kind == "text/html" or kind.endswith("+html"):
        return _html
    if kind == "application/json" or kind.endswith("+json"):
        return _json
    return None


def _html(page: bytes, mount: Mount, path: str) -> bytes:
    def turned(match: re.Match[str]) -> str:
        link = html.unescape(match[2] if match[2] is not None else match[3])
        return f'{match[1]}"{html.escape(mount.inside(link, path))}"'

    text = page.decode("utf-8", "surrogateescape")
    return _HREF.sub(turned, _BASE.sub("", text)).encode("utf-8", "surrogateescape")


def _json(page: bytes, mount: Mount, path: str) -> bytes:
    try:
        return json.dumps(_walked(json.loads(page), mount, path)).encode()
    except (ValueError, RecursionError):
        return page


def _walked(value: Any, mount: Mount, path: str) -> Any:  # noqa: ANN401 - whatever JSON holds
    if isinstance(value, list):
        return [_walked(each, mount, path) for each in value]
    if not isinstance(value, dict):
        return value
    return {
        key: mount.inside(each, path)
        if key in LINKED and isinstance(each, str)
        else _walked(each, mount, path)
        for key, each in value.items()
    }


def _origin(url: SplitResult) -> tuple[str, str, int | None]:
    return url.scheme, (url.hostname or "").rstrip("."), url.port or _PORTS.get(url.scheme)
