"""Which requests for a model go where: exact methods and paths, a fixed provider, its key."""

from dataclasses import dataclass, field
from typing import Literal

Api = Literal["anthropic", "openai"]


@dataclass(frozen=True, slots=True)
class Route:
    """One provider that a sandbox may ask."""

    api: Api
    base_url: str
    """Without a path for Anthropic, with `/v1` for OpenAI and what is compatible."""
    key: str = field(repr=False)
    """Empty where the server wants none."""
    models: tuple[str, ...]
    """Names that may be asked, `*` and `?` as in a shell."""
    provider: str = ""
    """The provider's name in `provider:model` for prices; by default the name of the API."""
    tools: tuple[str, ...] = ()
    """Types of provider-side tools that are not withheld, e.g. `web_search*`."""
