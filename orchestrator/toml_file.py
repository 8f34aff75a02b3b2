"""A TOML file out of a repository that nobody has judged yet, as a typed value."""

import dataclasses
import difflib
import re
import tomllib
from typing import Any, Literal, TypeVar, cast, get_args, get_origin

import msgspec

from orchestrator.errors import SettingsError

LARGEST = 64 << 10
"""Bytes a file may have."""

Value = TypeVar("Value")


def load(name: str, data: bytes, kind: type[Value]) -> Value:
    """Read `data`, the content of the file `name`, as a `kind`: a struct or a dataclass.

    Raises SettingsError that names the file and the line or the key.
    """
    try:
        table = _parse(data)
        _refuse_unknown(table, kind, "")
        return _converted(table, kind)
    except ValueError as error:
        raise SettingsError(f"{name}: {error}.") from None


def _converted(table: dict[str, Any], kind: type[Value]) -> Value:
    try:
        return msgspec.convert(table, kind)
    except msgspec.ValidationError as error:
        raise ValueError(_in_toml_words(str(error), table, kind)) from None


def _parse(data: bytes) -> dict[str, Any]:
    if len(data) > LARGEST:
        raise ValueError(f"the file is larger than {LARGEST >> 10} KiB, shorten it")
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise ValueError(f"line {line} is not UTF-8, save the file as UTF-8") from None
    try:
        return tomllib.loads(text)
    except RecursionError:  # a few thousand nested brackets
        raise ValueError("values are nested too deeply, flatten them") from None
    except ValueError as error:  # TOMLDecodeError is one, and so is an integer of 5,000 digits
        last = f"at line {text.rstrip().count(chr(10)) + 1}"
        reason = str(error).replace("at end of document", last)
        raise ValueError(f"this is not valid TOML: {reason}") from None


def _refuse_unknown(table: dict[str, Any], kind: object, prefix: str) -> None:
    """Refuse misspelt keys: with no effect and no word, they make a policy look stricter."""
    known = _fields(kind)
    for key, value in table.items():
        if key not in known:
            near = difflib.get_close_matches(key, known, n=2)
            hint = f"nearest: {' or '.join(near)}" if near else "known: " + ", ".join(known)
            raise ValueError(f"there is no setting {prefix + key!r} ({hint})")
        if isinstance(value, dict) and _fields(known[key]):
            _refuse_unknown(value, known[key], f"{prefix}{key}.")
        elif isinstance(value, dict) and get_origin(known[key]) is dict:
            _refuse_unknown_in_each(value, get_args(known[key])[1], f"{prefix}{key}.")


def _refuse_unknown_in_each(tables: dict[str, Any], kind: object, prefix: str) -> None:
    """The same for tables whose names are free, such as `[services.db]`."""
    for name, table in tables.items():
        if isinstance(table, dict) and _fields(kind):
            _refuse_unknown(table, kind, f"{prefix}{name}.")


def _fields(kind: object) -> dict[str, object]:
    if isinstance(kind, type) and issubclass(kind, msgspec.Struct):
        return {field.name: field.type for field in msgspec.structs.fields(kind)}
    if dataclasses.is_dataclass(kind):
        return {field.name: field.type for field in dataclasses.fields(kind)}
    return {}


_STEP = re.compile(r"\[[^\]]*\]|[^.\[\]]+")
_KINDS = {
    "array": "a list",
    "object": "a table",
    "str": "a string",
    "int": "an integer",
    "float": "a number",
    "bool": "true or false",
}
_MISSING = "Object missing required field"
_NO_VALUE = "Invalid enum value"


def _in_toml_words(message: str, table: dict[str, Any], kind: object) -> str:
    """Turn "Expected `array`, got `str` - at `$.x`" into "x: expected a list, got a string"."""
    text, _, where = message.partition(" - at `$.")
    keys, known = _place(where.rstrip("`"), table, kind)
    if text.startswith(_NO_VALUE):
        text = f"there is no value{text.removeprefix(_NO_VALUE)} (known: {_values(known)})"
    text = re.sub(f"{_MISSING} `(.*)`", r"there has to be a setting '\1'", text)
    text = re.sub("`([^`]*)`", lambda quoted: _kinds(quoted[1]), text)
    return f"{keys}: {text[0].lower()}{text[1:]}" if where else text


def _kinds(theirs: str) -> str:
    """Without null, which TOML does not have."""
    kinds = [_KINDS.get(each, each) for each in theirs.split(" | ") if each != "null"]
    return " or ".join(kinds)


def _values(kind: object) -> str:
    if get_origin(kind) is Literal:
        return ", ".join(map(repr, get_args(kind)))
    if members := get_args(kind):
        return ", ".join(map(_values, members))
    name = getattr(kind, "__name__", str(kind))
    return _KINDS.get(name, name)


def _place(where: str, table: dict[str, Any], whole: object) -> tuple[str, object]:
    """The key with the names that stand as `[...]` in `where`, and what may be there."""
    said, value, kind = "", cast("Any", table), whole
    for step in _STEP.findall(where):
        if step == "[...]":  # a name of the user's; msgspec reads them in this order, too
            kind = get_args(kind)[1]
            name = next(name for name, each in value.items() if not _fits(each, kind))
            value, said = value[name], f"{said}.{name}"
        elif step.startswith("["):
            value, kind, said = value[int(step[1:-1])], get_args(kind)[0], said + step
        else:
            value, kind, said = value[step], _fields(kind)[step], f"{said}.{step}"
    return said.removeprefix("."), kind


def _fits(value: object, kind: object) -> bool:
    try:
        msgspec.convert(value, cast("Any", kind))
    except msgspec.ValidationError:
        return False
    return True
