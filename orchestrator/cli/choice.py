"""Which model works: the one that was named, else one whose key is set."""

from collections.abc import Mapping
from pathlib import Path
from urllib.parse import urlsplit

from orchestrator.delegates.acp_agents import KNOWN
from orchestrator.delegates.cli import Cli
from orchestrator.delegates.table import CLIS, LOGINS
from orchestrator.errors import UsageError
from orchestrator.models.access import DIRECT, Traffic, address_variable
from orchestrator.models.model import Model
from orchestrator.models.table import PROVIDERS, load, reach
from sandbox.gateway.mask import LEAST
from sandbox.gateway.routes import Route

DEFAULTS = {
    "ANTHROPIC_API_KEY": "anthropic:claude-sonnet-5-5",
    "OPENAI_API_KEY": "openai:gpt-6.1-sol",
}
"""Taken in this order, by the keys that are set."""
WITH_LOGIN = (
    "Claude Code works with your subscription's login ({}): what it costs is told at list prices,"
    " which a subscription does not bill"
)
ELSEWHERE = "the login in {} is shown to {}, which {} names: it is no server of the provider's"
SHORT = (
    "what {} holds has fewer than {} characters, as words have: it is not looked for in answers"
    " and recordings, and so not taken out of them"
)
_NO_SUBSCRIPTION = (
    "there is a login in {}, but it cannot be lent: its tokens are replaced by others as they are"
    " used, and Codex itself would be logged out"
)


def connect(name: str, environ: Mapping[str, str], traffic: Traffic = DIRECT) -> Model:
    """The model called `provider:name`, with keys and addresses from the environment.

    An address is that provider's `..._BASE_URL`, such as ANTHROPIC_BASE_URL or OLLAMA_BASE_URL.
    """
    return load(name, keys=keys(environ), base_urls=_base_urls(environ), traffic=traffic)


def route(
    cli: Cli, model: str, environ: Mapping[str, str], traffic: Traffic, *, login: bool = False
) -> Route:
    """How the gateway asks models for a delegate: for the one that was named, or its own choice.

    The provider's key is taken, else the token of a login, if the program can work with one; of a
    replay, what the run had that was recorded: a `login` or a key. Raises UsageError when there is
    neither, or the model is another provider's.
    """
    provider, _, name = model.partition(":")
    if provider not in ("", cli.api):
        raise UsageError(f"{cli.name} asks {cli.api}: name a model of it, as {cli.api}:NAME.")
    login = login if traffic.source else _has_login_alone(cli, environ)
    variable = LOGINS[cli.name].credential.variable if login else ""
    held = {variable: environ.get(variable, "")} if login else keys(environ)
    if not traffic.source and not login and not held.get(cli.credential.variable):
        raise UsageError(_without_key(cli, environ))
    access = reach(
        cli.api, keys=held, base_urls=_base_urls(environ), traffic=traffic, login=variable
    )
    names = (*((name,) if name else ()), *cli.models)
    return Route(cli.api, access.base_url, access.key, names, bearer=login)


def routes(
    agent: str, model: str, environ: Mapping[str, str], traffic: Traffic
) -> tuple[Route, ...]:
    """How the gateway asks models for an agent of any make, by keys alone, and never by a login.

    For the one that was named; else for all that Claude Code and Codex may choose from, of the
    providers whose keys are set, and of an agent that is known its own provider alone. Raises
    UsageError when the key is not set, or no API is known.
    """
    own = KNOWN[agent].api if agent in KNOWN else ""
    provider = model.partition(":")[0] or own
    if own and provider != own:
        raise UsageError(f"{agent} asks {own}: name a model of it, as {own}:NAME.")
    apis = [cli.api for cli in CLIS.values()]
    if provider and provider not in apis:
        known = " or ".join(f"{api}:NAME" for api in apis)
        raise UsageError(f"An agent's program asks APIs that it knows: name a model as {known}.")
    clis = [cli for cli in CLIS.values() if provider in ("", cli.api)]
    if not traffic.source:
        held = keys(environ)
        if provider and clis[0].credential.variable not in held:
            raise UsageError(
                f"{agent} needs a key of {provider}: set {clis[0].credential.variable}."
            )
        clis = [cli for cli in clis if cli.credential.variable in held]
    return tuple(route(cli, model, environ, traffic) for cli in clis)


def remarks(cli: Cli, route: Route) -> list[str]:
    """What a person should know of the credential that is used."""
    said = []
    mine = LOGINS[cli.name].credential if route.bearer else cli.credential
    if route.bearer:
        said.append(WITH_LOGIN.format(mine.variable))
        if place := _elsewhere(route):
            said.append(ELSEWHERE.format(mine.variable, place, address_variable(route.api)))
    if 0 < len(route.key) < LEAST:
        said.append(SHORT.format(mine.variable, LEAST))
    return said


def _elsewhere(route: Route) -> str:
    """The host that is asked in place of the provider's; empty where that is the provider's."""
    own = next(row.base_url for row in PROVIDERS if row.name == route.api)
    host = urlsplit(route.base_url).hostname or ""
    return "" if host == urlsplit(own).hostname else host


def logins(environ: Mapping[str, str]) -> tuple[str, ...]:
    """The variables of logins that are set."""
    variables = (cli.credential.variable for cli in LOGINS.values())
    return tuple(name for name in variables if environ.get(name, "").strip())


def _has_login_alone(cli: Cli, environ: Mapping[str, str]) -> bool:
    """Whether there is a login for this program and no key, which else is taken, as it does."""
    if cli.name not in LOGINS or cli.credential.variable in keys(environ):
        return False
    return LOGINS[cli.name].credential.variable in logins(environ)


def _without_key(cli: Cli, environ: Mapping[str, str]) -> str:
    said = f"{cli.name} needs a key of {cli.api}: set {cli.credential.variable}"
    if cli.name in LOGINS:
        said += f", or {LOGINS[cli.name].credential.variable} to what `claude setup-token` gives"
    # Only whether it is there is looked at.
    kept = Path(environ.get("CODEX_HOME") or Path.home() / ".codex") / "auth.json"
    if cli.name == "codex" and kept.is_file():
        said += f"; {_NO_SUBSCRIPTION.format(kept)}"
    return f"{said}."


def default(environ: Mapping[str, str]) -> str:
    """The model to take when none was named. Raises UsageError when no key is set."""
    for variable, model in DEFAULTS.items():
        if environ.get(variable, "").strip():
            return model
    alone = "".join(f" {name} is for Claude Code alone." for name in logins(environ))
    raise UsageError(
        f"There is no model: set {' or '.join(DEFAULTS)}, or name one with"
        f" --model provider:name (`ollama:name` and `scripted:FILE` need no key).{alone}"
    )


def keys(environ: Mapping[str, str]) -> dict[str, str]:
    """The keys that are set, by their variables."""
    variables = [variable for provider in PROVIDERS for variable in provider.variables]
    return {name: environ[name] for name in variables if environ.get(name, "").strip()}


def _base_urls(environ: Mapping[str, str]) -> dict[str, str]:
    variables = {provider.name: address_variable(provider.name) for provider in PROVIDERS}
    return {name: environ[at] for name, at in variables.items() if environ.get(at)}
