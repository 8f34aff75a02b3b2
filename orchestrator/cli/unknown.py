"""What is said of an option that a verb does not have: the one that is near, or the setting."""

import difflib

import click

from orchestrator.machine import SandboxSettings
from orchestrator.settings import FILE

WORKS = ("run", "resume", "edit")
"""Verbs that let somebody work in a sandbox."""
LEAST = 0.65
"""How alike two names are: `--cost` and `--max-cost` 0.67, `--memory` and `--record` 0.5. Their
dashes are left out, which are alike in all of them."""


def option(error: click.NoSuchOption) -> str:
    """A sentence about it."""
    told = f"No such option {error.option_name!r}"
    command = error.ctx.command if error.ctx else None
    if command is None:
        return f"{told}."
    if command.name in WORKS and (key := _key(error.option_name)):
        return f"{told}: `{key}` under [sandbox] in {FILE} sets that."
    names = [name for each in command.params for name in (*each.opts, *each.secondary_opts)]
    bare = {name.lstrip("-"): name for name in names if name.startswith("--")}
    near = difflib.get_close_matches(error.option_name.lstrip("-"), bare, n=1, cutoff=LEAST)
    return f"{told}: did you mean {bare[near[0]]}?" if near else f"{told}."


def _key(name: str) -> str:
    key = name.lstrip("-").replace("-", "_")
    return key if key in SandboxSettings.__struct_fields__ else ""
