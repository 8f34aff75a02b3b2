"""Schemas come from signatures; arguments that do not fit are refused by name."""

from dataclasses import dataclass
from typing import Literal

import pytest

from orchestrator.tools.parameters import ArgumentsError, derive, json_schema, parse


def find(
    context: object,
    name: str,
    depth: int = 3,
    kind: Literal["file", "folder"] = "file",
    skip: list[str] | None = None,
    ratio: float = 0.5,
    hidden: bool = False,
) -> str:
    return name


NAMES = ("name", "depth", "kind", "skip", "ratio", "hidden")
PARAMETERS = derive(find, {name: f"the {name}" for name in NAMES})


def test_the_schema_says_types_defaults_and_what_is_required():
    strings = {"type": "array", "items": {"type": "string"}}
    kinds = {"type": "string", "enum": ["file", "folder"]}
    assert json_schema(PARAMETERS) == {
        "type": "object",
        "properties": {
            "name": {"type": "string", "description": "the name"},
            "depth": {"type": "integer", "description": "the depth", "default": 3},
            "kind": kinds | {"description": "the kind", "default": "file"},
            "skip": strings | {"description": "the skip"},
            "ratio": {"type": "number", "description": "the ratio", "default": 0.5},
            "hidden": {"type": "boolean", "description": "the hidden", "default": False},
        },
        "required": ["name"],
        "additionalProperties": False,
    }


def test_good_arguments_arrive_as_they_are():
    raw = '{"name": "é", "depth": 2, "kind": "folder", "skip": ["a"], "ratio": 1, "hidden": true}'
    assert parse(PARAMETERS, raw) == {
        "name": "é",
        "depth": 2,
        "kind": "folder",
        "skip": ["a"],
        "ratio": 1,
        "hidden": True,
    }


def test_null_is_as_good_as_leaving_an_optional_argument_out():
    assert parse(PARAMETERS, '{"name": "a", "skip": null}') == {"name": "a"}


def test_no_text_means_no_arguments():
    assert parse((), "") == {}


REFUSED = {
    "{}": "missing required argument: name",
    '{"depth": "x"}': "missing required argument: name; depth: expected integer, got string",
    '{"name": "a", "nmae": 1}': "unknown argument: nmae",
    '{"name": null}': "name: expected string, got null",
    '{"name": "a", "depth": true}': "depth: expected integer, got boolean",
    '{"name": "a", "depth": 1.5}': "depth: expected integer, got number",
    '{"name": "a", "hidden": 1}': "hidden: expected boolean, got integer",
    '{"name": "a", "kind": "disk"}': "kind: expected one of file, folder, got disk",
    '{"name": "a", "skip": ["a", 1]}': "skip: item 1: expected string, got integer",
    '{"name": {"a": 1}}': "name: expected string, got object",
    '{"name": "\\ud83d"}': "name: not valid Unicode text",
    "[1]": "the arguments: expected object, got array",
}


@pytest.mark.parametrize(("raw", "message"), REFUSED.items())
def test_what_does_not_fit_is_named(raw, message):
    with pytest.raises(ArgumentsError) as caught:
        parse(PARAMETERS, raw)
    assert str(caught.value) == message


@pytest.mark.parametrize(
    "raw", ['{"name": "a"', "name=a", '{"ratio": NaN}', "[" * 100_000, "1" * 5000, "{} {}"]
)
def test_broken_json_is_refused(raw):
    with pytest.raises(ArgumentsError, match=r"^the arguments are not valid JSON: "):
        parse(PARAMETERS, raw)


@dataclass(frozen=True)
class Move:
    """A step of a robot.

    Args:
        where: The place.
        speed: Metres
            a second.
        why: The reason.
    """

    where: Literal["north", "south"]
    speed: float = 1.5
    why: str | None = None


def walk(context: object, moves: list[Move], last: Move | None = None) -> str:
    return ""


WALK = derive(walk, {"moves": "the moves", "last": "the last"})


def test_an_object_has_the_schema_of_its_fields():
    move = {
        "type": "object",
        "properties": {
            "where": {"type": "string", "enum": ["north", "south"], "description": "The place."},
            "speed": {"type": "number", "description": "Metres a second.", "default": 1.5},
            "why": {"type": "string", "description": "The reason."},
        },
        "required": ["where"],
        "additionalProperties": False,
    }
    assert json_schema(WALK)["properties"] == {
        "moves": {"type": "array", "items": move, "description": "the moves"},
        "last": move | {"description": "the last"},
    }


def test_objects_arrive_as_values():
    raw = '{"moves": [{"where": "north", "speed": 2}, {"where": "south", "why": null}]}'
    assert parse(WALK, raw) == {"moves": [Move("north", 2.0), Move("south")]}
    assert parse(WALK, '{"moves": [], "last": {"where": "south", "why": "home"}}') == {
        "moves": [],
        "last": Move("south", why="home"),
    }


@pytest.mark.parametrize(
    ("raw", "message"),
    {
        '{"moves": {}}': "moves: expected array, got object",
        '{"moves": [1]}': "moves: item 0: expected object, got integer",
        '{"moves": [{"where": "north"}, {"speed": "x", "way": 1}]}': (
            "moves: item 1: unknown argument: way; missing required argument: where; "
            "speed: expected number, got string"
        ),
        '{"moves": [{"where": "up"}]}': (
            "moves: item 0: where: expected one of north, south, got up"
        ),
        '{"moves": [], "last": {"where": null}}': "last: where: expected string, got null",
    }.items(),
)
def test_what_does_not_fit_in_an_object_is_named(raw, message):
    with pytest.raises(ArgumentsError) as caught:
        parse(WALK, raw)
    assert str(caught.value) == message


def test_a_field_without_description_is_our_mistake():
    @dataclass
    class Bare:
        """Nothing is said of it."""

        x: int

    def bad(context: object, what: Bare) -> str:
        return ""

    bad.__annotations__["what"] = Bare
    with pytest.raises(TypeError, match="Bare: its Args section"):
        derive(bad, {"what": "bare"})


def test_a_parameter_without_description_is_our_mistake():
    with pytest.raises(TypeError, match="Args section"):
        derive(find, {"name": "the name"})


def test_a_hint_without_a_schema_is_our_mistake():
    def bad(context: object, what: bytes) -> str:
        return ""

    with pytest.raises(TypeError, match="cannot take"):
        derive(bad, {"what": "bytes"})
