"""Which model works: the one that was named, else one whose key is set."""

from collections.abc import Mapping

from orchestrator.delegates.cli import Cli
from orchestrator.errors import UsageError
from orchestrator.models.access import DIRECT, Traffic, address_variable
from orchestrator.models.model import Model
from orchestrator.models.table import PROVIDERS, load, reach
from sandbox.gateway.routes import Route

DEFAULTS = {
    "ANTHROPIC_API_KEY": "anthropic:claude-sonnet-5-5",
    "OPENAI_API_KEY": "openai:gpt-6.1-sol",
}
"""Taken in this order, by the keys that are set."""


def connect(name: str, environ: Mapping[str, str], traffic: Traffic = DIRECT) -> Model:
    """The model called `provider:name`, with keys and addresses from the environment.

    An address is that provider's `..._BASE_URL`, such as ANTHROPIC_BASE_URL or OLLAMA_BASE_URL.
    """
    return load(name, keys=keys(environ), base_urls=_base_urls(environ), traffic=traffic)


def route(cli: Cli, model: str, environ: Mapping[str, str], traffic: Traffic) -> Route:
    """How the gateway asks models for a delegate: for the one that was named, or its own choice.

    Raises UsageError when its provider's key is not set, or the model is another provider's.
    """
    provider, _, name = model.partition(":")
    if provider not in ("", cli.api):
        raise UsageError(f"{cli.name} asks {cli.api}: name a model of it, as {cli.api}:NAME.")
    access = reach(cli.api, keys=keys(environ), base_urls=_base_urls(environ), traffic=traffic)
    return Route(cli.api, access.base_url, access.key, (*((name,) if name else ()), *cli.models))


def default(environ: Mapping[str, str]) -> str:
    """The model to take when none was named. Raises UsageError when no key is set."""
    for variable, model in DEFAULTS.items():
        if environ.get(variable, "").strip():
            return model
    raise UsageError(
        f"There is no model: set {' or '.join(DEFAULTS)}, or name one with"
        " --model provider:name (`ollama:name` and `scripted:FILE` need no key)."
    )


def keys(environ: Mapping[str, str]) -> dict[str, str]:
    """The keys that are set, by their variables."""
    variables = [variable for provider in PROVIDERS for variable in provider.variables]
    return {name: environ[name] for name in variables if environ.get(name, "").strip()}


def _base_urls(environ: Mapping[str, str]) -> dict[str, str]:
    variables = {provider.name: address_variable(provider.name) for provider in PROVIDERS}
    return {name: environ[at] for name, at in variables.items() if environ.get(at)}
