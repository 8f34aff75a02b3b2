"""The options of the verbs that let somebody work in a sandbox."""

from collections.abc import Callable
from typing import Any, TypeVar

import click

from orchestrator.agent_settings import NONE
from orchestrator.delegates.table import CLIS

F = TypeVar("F", bound=Callable[..., Any])

_OPTIONS = (
    click.option("--image", metavar="IMAGE", help="Work in this image instead of ours."),
    click.option(
        "--runtime", metavar="NAME", help="Start containers by this runtime of the engine."
    ),
    click.option("--setup", multiple=True, metavar="CMD", help="Prepare the image with CMD."),
    click.option(
        "--setup-network/--no-setup-network",
        default=None,
        help="Let set-up commands reach package registries, or what [network] setup names.",
    ),
    click.option(
        "--allow", multiple=True, metavar="HOST", help="Let work and checks reach HOST or a bundle."
    ),
    click.option(
        "--allow-private",
        "private_hosts",
        multiple=True,
        metavar="HOST",
        help="HOST may be in a private network; ORCHESTRATOR_PRIVATE_HOSTS says the same.",
    ),
    click.option(
        "--check", "checks", multiple=True, metavar="CMD", help="CMD must pass at the end."
    ),
    click.option(
        "--model", metavar="PROVIDER:NAME", help="Such as anthropic:NAME or scripted:FILE."
    ),
    click.option(
        "--delegate",
        "delegates",
        multiple=True,
        type=click.Choice([*CLIS, NONE]),
        help="Let the agent hand over parts of the task to this program.",
    ),
    click.option("--max-cost", "cost", type=float, metavar="DOLLARS", help="Stop above this cost."),
    click.option("--max-turns", "turns", type=int, metavar="N", help="Stop after N answers."),
    click.option("--max-seconds", "seconds", type=float, metavar="N", help="Stop after N seconds."),
    click.option(
        "--max-input-tokens",
        "input_tokens",
        type=int,
        metavar="N",
        help="Stop after N tokens were read.",
    ),
    click.option(
        "--record/--no-record",
        "recording",
        default=True,
        help="Keep the model traffic for --replay.",
    ),
    click.option("--quiet", "-q", is_flag=True, help="Show no progress."),
)


def work_options(function: F) -> F:
    """Give a verb what says how and how long work is done; but for two, fields of `Flags`."""
    for option in reversed(_OPTIONS):
        function = option(function)
    return function
