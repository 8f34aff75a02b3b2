"""The `[commands.NAME]` tables: commands with arguments that a run can be asked to carry out."""

import re
import shlex
from collections.abc import Mapping, Sequence
from itertools import starmap
from typing import Literal

from msgspec import Struct, field

from orchestrator.template import Element, element, filled, plain

GIVEN = ("prompt", "base", "only")
"""What every command can have: the task, the base commit, the paths of `--only`."""
_NAME = re.compile(r"[a-z][a-z0-9_]{0,30}")
_LONGEST = 7 * 86_400.0
_TYPES: Mapping[str, tuple[str, str, tuple[type, ...]]] = {
    "str": (r".*", "a string", (str,)),
    "int": (r"[+-]?[0-9]+", "an integer", (int,)),
    "float": (r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?", "a number", (int, float)),
    "bool": (r"true|false", "true or false", (bool,)),
}
"""Of each type: how a value is written, what it is called, and what a default is in TOML."""


class Argument(Struct, frozen=True):
    """What is said of one argument."""

    type: Literal["str", "int", "float", "bool"] = "str"
    description: str = ""
    optional: bool = False
    """Without a value, the element that it stands in is left out."""
    default: str | int | float | bool | None = None


class CommandSettings(Struct, frozen=True):
    """One such table."""

    command: tuple[str, ...]
    description: str = ""
    timeout: float | None = None
    """Seconds; None: those of the run."""
    args: dict[str, Argument] = field(default_factory=dict)


def check(tables: Mapping[str, CommandSettings]) -> None:
    """Raise ValueError for what a table may not say; the message names the table."""
    for name, table in tables.items():
        try:
            _check(name, table)
        except ValueError as error:
            raise ValueError(f"commands.{name}: {error}") from None


def find(tables: Mapping[str, CommandSettings], name: str) -> CommandSettings:
    """The table of that name; raises ValueError when there is none."""
    if name not in tables:
        known = "; ".join(starmap(_called, tables.items())) or "none"
        raise ValueError(f"there is no command {name!r} in the base's settings (known: {known})")
    return tables[name]


def _called(name: str, table: CommandSettings) -> str:
    return f"{name}: {table.description}" if table.description else name


def words(
    name: str,
    table: CommandSettings,
    said: Sequence[str],
    given: Mapping[str, Sequence[str]],
) -> tuple[str, ...]:
    """The command with its arguments: `said` as NAME=VALUE each, and what is `given`.

    Raises ValueError for an argument that is missing, unknown, said twice or of another type.
    """
    try:
        values = _values(table, _pairs(said))
        elements = tuple(map(element, table.command))
        return _filled(elements, {**values, **given})
    except ValueError as error:
        raise ValueError(f"the command {name}: {error}") from None


def plain_words(command: Sequence[str], given: Mapping[str, Sequence[str]]) -> tuple[str, ...]:
    """A command as it was typed: an element is a placeholder only when it is nothing else.

    Braces mean much to other programs; so `${base}` in a shell's line and the `{}` of find stay.
    """
    ours = {f"{{{name}}}" for name in GIVEN}
    elements = [element(word) if word in ours else plain(word) for word in command]
    if elements:
        _require_program(elements)
    return _filled(elements, given)


def _filled(elements: Sequence[Element], values: Mapping[str, Sequence[str]]) -> tuple[str, ...]:
    if not values["prompt"] and any("prompt" in each.names for each in elements):
        raise ValueError("{prompt} stands for the task, and there is none")
    return filled(elements, values)


def _check(name: str, table: CommandSettings) -> None:
    _require_names(name, table)
    elements = tuple(map(element, table.command))
    _require_program(elements)
    used = {found for each in elements for found in each.names}
    if unknown := sorted(used - {*table.args, *GIVEN}):
        known = ", ".join((*table.args, *GIVEN))
        raise ValueError(f"there is no argument for {{{unknown[0]}}} (known: {known})")
    if unused := sorted(table.args.keys() - used):
        raise ValueError(f"the argument {unused[0]!r} stands nowhere in the command")
    if any("\0" in word for word in table.command):
        raise ValueError("a NUL character cannot be part of a command")
    if table.timeout is not None and not 1 <= table.timeout <= _LONGEST:
        raise ValueError(f"timeout must be between 1 and 604800 seconds, not {table.timeout:g}")
    for argument, declared in table.args.items():
        _require_default(argument, declared)


def _require_names(name: str, table: CommandSettings) -> None:
    for each in (name.replace("-", "_"), *table.args):
        if not _NAME.fullmatch(each):
            raise ValueError(f"{each!r}: a name is lower case letters, digits and _, at most 31")
    if taken := sorted(table.args.keys() & {*GIVEN}):
        raise ValueError(f"the argument {taken[0]!r} is there for every command: drop it")


def _require_program(elements: Sequence[Element]) -> None:
    if not elements or not elements[0].parts:
        raise ValueError("command must not be empty")
    if elements[0].names:
        raise ValueError("the program itself has to be named, without a placeholder")


def _require_default(name: str, declared: Argument) -> None:
    default = declared.default
    if default is None:
        return
    _, called, kinds = _TYPES[declared.type]
    if type(default) not in kinds:
        raise ValueError(f"the default of {name!r} is not {called}")
    _typed(name, declared, _text(default))


def _pairs(said: Sequence[str]) -> dict[str, str]:
    pairs: dict[str, str] = {}
    for each in said:
        name, equals, value = each.partition("=")
        if not equals:
            raise ValueError(f"{each!r}: an argument is written as NAME=VALUE")
        if name in pairs:
            raise ValueError(f"the argument {name!r} is said twice")
        pairs[name] = value
    return pairs


def _values(table: CommandSettings, said: Mapping[str, str]) -> dict[str, tuple[str, ...]]:
    if unknown := sorted(said.keys() - table.args.keys()):
        known = ", ".join(table.args) or "none"
        raise ValueError(f"there is no argument {unknown[0]!r} (known: {known})")
    return {name: _value(name, each, said.get(name)) for name, each in table.args.items()}


def _value(name: str, declared: Argument, said: str | None) -> tuple[str, ...]:
    if said is not None:
        return (_typed(name, declared, said),)
    if declared.default is not None:
        return (_text(declared.default),)
    if declared.optional:
        return ()
    about = f" ({declared.description})" if declared.description else ""
    raise ValueError(f"an argument is missing: --arg {name}=VALUE{about}")


def _typed(name: str, declared: Argument, text: str) -> str:
    written, called, _ = _TYPES[declared.type]
    if not re.fullmatch(written, text, re.DOTALL):
        raise ValueError(f"the argument {name!r} has to be {called}, not {shlex.quote(text)[:60]}")
    return text


def _text(value: str | float | bool) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
