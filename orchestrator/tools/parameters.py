"""What a tool may be called with: read off its function's signature, checked before it runs."""

import inspect
import re
import types
import typing
from collections.abc import Callable, Sequence
from dataclasses import dataclass, is_dataclass
from typing import Any, Literal, get_args, get_origin

import msgspec

from orchestrator import foreign

_NAMES: dict[type, str] = {
    str: "string",
    bool: "boolean",
    int: "integer",
    float: "number",
    list: "array",
    dict: "object",
    types.NoneType: "null",
}


class ArgumentsError(Exception):
    """What the model sent does not fit the tool; the message is meant for the model."""


@dataclass(frozen=True, slots=True)
class Parameter:
    """One argument of a tool."""

    name: str
    schema: dict[str, Any]
    """Its JSON Schema, without what a model need not know."""
    required: bool
    nullable: bool
    """True when `null` means the same as leaving it out."""
    hint: Any = str
    """What the function says it takes, without the None."""
    fields: "tuple[Parameter, ...]" = ()
    """Of an object, or of the objects in a list."""


def described(text: str) -> tuple[str, dict[str, str]]:
    """What a docstring says before its `Args:` section, and there of each argument."""
    before, _, arguments = text.partition("\n\nArgs:\n")
    found = re.findall(r"^    (\w+): (.*(?:\n     +.*)*)", arguments, re.MULTILINE)
    return before, {name: " ".join(words.split()) for name, words in found}


def derive(function: Callable[..., object], described: dict[str, str]) -> tuple[Parameter, ...]:
    """Read the parameters off a function whose first one, the context, is not the model's.

    Raises TypeError for a hint that is none of str, int, float, bool, a dataclass of such fields,
    a list of one of these, Literal of strings, or one of these or None; and for a parameter without
    a description.
    """
    own = list(inspect.signature(function).parameters.values())[1:]
    return _parameters(function, own, described)


def _parameters(
    owner: Callable[..., object], own: Sequence[inspect.Parameter], described: dict[str, str]
) -> tuple[Parameter, ...]:
    hints = typing.get_type_hints(owner)
    if described.keys() != {parameter.name for parameter in own}:
        raise TypeError(f"{owner.__name__}: its Args section does not fit its parameters")
    return tuple(_parameter(each, hints[each.name], described[each.name]) for each in own)


def _parameter(declared: inspect.Parameter, hint: object, description: str) -> Parameter:
    nullable = isinstance(hint, types.UnionType) and types.NoneType in get_args(hint)
    if nullable:
        (hint,) = (each for each in get_args(hint) if each is not types.NoneType)
    required = declared.default is inspect.Parameter.empty
    inner = get_args(hint)[0] if get_origin(hint) is list else hint
    fields = _fields(inner) if isinstance(inner, type) and is_dataclass(inner) else ()
    schema = _schema(hint, fields) | {"description": description}
    if not required and declared.default is not None:
        schema["default"] = declared.default
    return Parameter(declared.name, schema, required, nullable, hint, fields)


def _fields(owner: type) -> tuple[Parameter, ...]:
    """The fields of a dataclass, which describes them as a tool does its arguments."""
    own = list(inspect.signature(owner).parameters.values())
    return _parameters(owner, own, described(inspect.getdoc(owner) or "")[1])


def _schema(hint: object, fields: Sequence[Parameter] = ()) -> dict[str, Any]:
    if get_origin(hint) is Literal:
        return {"type": "string", "enum": list(get_args(hint))}
    if get_origin(hint) is list:
        (item,) = get_args(hint)
        return {"type": "array", "items": _schema(item, fields)}
    if fields:
        return json_schema(fields)
    if isinstance(hint, type) and hint in (str, int, float, bool):
        return {"type": _NAMES[hint]}
    raise TypeError(f"a tool cannot take {hint}")


def json_schema(parameters: Sequence[Parameter]) -> dict[str, Any]:
    """The JSON Schema of an object with exactly these properties."""
    return {
        "type": "object",
        "properties": {each.name: each.schema for each in parameters},
        "required": [each.name for each in parameters if each.required],
        "additionalProperties": False,
    }


def parse(parameters: Sequence[Parameter], raw: str) -> dict[str, Any]:
    """Parse and check a model's JSON text; raises ArgumentsError naming all that is wrong."""
    accepted, problems = _accepted(parameters, _read(raw))
    if problems:
        raise ArgumentsError("; ".join(problems))
    return accepted


def _accepted(
    parameters: Sequence[Parameter], given: dict[str, Any]
) -> tuple[dict[str, Any], list[str]]:
    """The values as the function takes them, and all that is wrong."""
    known = {each.name: each for each in parameters}
    problems = [f"unknown argument: {name}" for name in given if name not in known]
    accepted = {}
    for name, parameter in known.items():
        value = given.get(name)
        if name not in given or (value is None and parameter.nullable):
            if parameter.required:
                problems.append(f"missing required argument: {name}")
        elif problem := _mismatch(parameter.schema, value, parameter.fields):
            problems.append(f"{name}: {problem}")
        else:
            accepted[name] = msgspec.convert(value, parameter.hint) if parameter.fields else value
    return accepted, problems


def _read(raw: str) -> dict[str, Any]:
    try:
        given = foreign.parse(raw or "{}")
    except ValueError as problem:
        raise ArgumentsError(f"the arguments are not valid JSON: {problem}") from None
    if not isinstance(given, dict):
        raise ArgumentsError(f"the arguments: expected object, got {_NAMES[type(given)]}")
    return given


def _mismatch(
    schema: dict[str, Any], value: object, fields: Sequence[Parameter] = ()
) -> str | None:
    """Say how a value differs from its schema; None when it fits."""
    expected, got = schema["type"], _NAMES[type(value)]
    if got != expected and (expected, got) != ("number", "integer"):
        return f"expected {expected}, got {got}"
    # JSON can escape half of a surrogate pair; such text has no bytes.
    if isinstance(value, str) and value != foreign.well_formed(value):
        return "not valid Unicode text"
    if "enum" in schema and value not in schema["enum"]:
        return f"expected one of {', '.join(schema['enum'])}, got {value}"
    if isinstance(value, list):
        wrong = [(n, _mismatch(schema["items"], item, fields)) for n, item in enumerate(value)]
        return next((f"item {n}: {problem}" for n, problem in wrong if problem), None)
    if isinstance(value, dict):
        return "; ".join(_accepted(fields, value)[1]) or None
    return None
