"""What a request to a played API says, the same for all APIs."""

from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Result:
    """What a tool gave back."""

    call: str
    text: str
    error: bool = False


@dataclass(frozen=True)
class Asked:
    """The parts of a request's body that scenarios and tests look at."""

    model: str
    stream: bool
    system: str
    tools: tuple[str, ...]
    prompt: str
    """What the user says after the model's last answer."""
    results: tuple[Result, ...]
    """What tools gave back since then."""

    @property
    def said(self) -> str:
        return "\n".join([self.prompt, *(result.text for result in self.results)])


@dataclass(frozen=True)
class Request:
    """One request as it came in."""

    method: str
    path: str
    headers: dict[str, str]
    """Names in lower case."""
    body: dict[str, Any] = field(default_factory=dict)
    asked: Asked | None = None
    """None when it asked no model."""

    @property
    def key(self) -> str:
        return self.headers.get("x-api-key") or self.headers.get("authorization", "")[7:]


def text_of(content: Any, *kinds: str) -> str:
    """The text of a message's content, which is a string or a list of parts."""
    if isinstance(content, str):
        return content
    return "\n".join(part["text"] for part in content or () if part.get("type") in kinds)


def pieces(text: str, size: int = 12) -> list[str]:
    """`text` as it streams; one empty piece when there is nothing."""
    return [text[at : at + size] for at in range(0, len(text), size)] or [""]
