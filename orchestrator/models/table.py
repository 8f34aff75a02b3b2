"""The providers we know, and how to get one of their models."""

import difflib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType

from orchestrator.errors import UsageError
from orchestrator.models import scripted
from orchestrator.models.access import DIRECT, Access, Traffic, address_variable
from orchestrator.models.model import Model


@dataclass(frozen=True, slots=True)
class Provider:
    """One row of the table."""

    name: str
    connect: Callable[[Access], Model]
    base_url: str
    """Empty: the user has to name one."""
    variables: tuple[str, ...]
    """Where its key is looked for, the first that is set wins."""
    keyless: bool = False
    """True when servers of this kind may want no key."""


def _anthropic(access: Access) -> Model:
    from orchestrator.models.anthropic import AnthropicModel  # noqa: PLC0415  # a second to import

    return AnthropicModel(access)


def _responses(access: Access) -> Model:
    from orchestrator.models.openai import OpenAIModel  # noqa: PLC0415  # a second to import

    return OpenAIModel(access)


def _chat(access: Access) -> Model:
    from orchestrator.models.chat import ChatModel  # noqa: PLC0415  # a second to import

    return ChatModel(access)


_GEMINI = "https://generativelanguage.googleapis.com/v1beta/openai/"

PROVIDERS = (
    Provider("anthropic", _anthropic, "https://api.anthropic.com", ("ANTHROPIC_API_KEY",)),
    Provider("openai", _responses, "https://api.openai.com/v1", ("OPENAI_API_KEY",)),
    Provider("gemini", _chat, _GEMINI, ("GEMINI_API_KEY", "GOOGLE_API_KEY")),
    Provider("ollama", _chat, "http://127.0.0.1:11434/v1", ("OLLAMA_API_KEY",), keyless=True),
    # Any server that speaks Chat Completions. Its key has a name of its own, so that OpenAI's is
    # never sent to somebody else's address.
    Provider("openai-chat", _chat, "", ("OPENAI_CHAT_API_KEY",), keyless=True),
)

SCRIPTED = "scripted"
"""`scripted:FILE` plays a script; see `orchestrator.models.scripted`."""

# What SDKs insist on, where nothing is sent.
_NOWHERE, _NO_KEY = "http://replay.invalid", "replay-needs-no-key"


def load(
    spec: str,
    *,
    keys: Mapping[str, str],
    base_urls: Mapping[str, str] = MappingProxyType({}),
    traffic: Traffic = DIRECT,
) -> Model:
    """The model that `provider:name` means.

    `keys` maps variable names such as ANTHROPIC_API_KEY to keys, `base_urls` provider names to
    addresses that replace the table's; `traffic` records or replays. Raises UsageError for a spec
    that names no known provider, and when its key or its address is missing or cannot be used.
    """
    kind, _, name = spec.partition(":")
    if kind == SCRIPTED and name:
        return scripted.ScriptedModel(scripted.read(Path(name)), f"{SCRIPTED}:{Path(name).stem}")
    if not name or kind not in (row.name for row in PROVIDERS):
        known = [*(row.name for row in PROVIDERS), SCRIPTED]
        if name and (near := difflib.get_close_matches(kind, known, n=1)):
            raise UsageError(f"{spec!r} is no model: did you mean {near[0]}:{name}?")
        raise UsageError(
            f"{spec!r} is no model; write provider:name with one of {', '.join(known)}."
        )
    access = reach(kind, name, keys=keys, base_urls=base_urls, traffic=traffic)
    return _row(kind).connect(access)


def reach(
    kind: str,
    name: str = "",
    *,
    keys: Mapping[str, str],
    base_urls: Mapping[str, str] = MappingProxyType({}),
    traffic: Traffic = DIRECT,
    login: str = "",
) -> Access:
    """How a known provider is reached, as for `load`; without a name, for any of its models.

    `login` names the variable of a token that stands in place of its key.
    """
    provider = replace(_row(kind), variables=(login,)) if login else _row(kind)
    if traffic.source:
        access = Access(kind, name, _NOWHERE, _NO_KEY, provider.variables[0])
    else:
        variable, key = _key(provider, keys)
        access = Access(kind, name, _base_url(provider, base_urls), key, variable)
    return replace(access, traffic=traffic)


def _row(kind: str) -> Provider:
    return next(row for row in PROVIDERS if row.name == kind)


def _key(provider: Provider, keys: Mapping[str, str]) -> tuple[str, str]:
    """The variable that holds the provider's key, and the key."""
    for variable in provider.variables:
        if key := keys.get(variable, "").strip():
            return variable, _sendable(variable, key)
    if provider.keyless:
        return provider.variables[0], ""
    raise UsageError(f"{provider.name} needs a key; set {' or '.join(provider.variables)}.")


def _sendable(variable: str, key: str) -> str:
    """The key, if an HTTP header can carry it; the HTTP library's own error would quote it."""
    if not (key.isascii() and key.isprintable()) or " " in key:
        raise UsageError(f"The key in {variable} holds characters no key has; copy it again.")
    return key


def _base_url(provider: Provider, base_urls: Mapping[str, str]) -> str:
    url, variable = (
        base_urls.get(provider.name) or provider.base_url,
        address_variable(provider.name),
    )
    if not url:
        raise UsageError(f"{provider.name} needs the base URL of its server; set {variable}.")
    if not url.startswith(("https://", "http://")):
        raise UsageError(f"{variable} must start with https:// or http://.")
    return url
