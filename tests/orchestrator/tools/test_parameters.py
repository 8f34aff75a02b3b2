"""Schemas come from signatures; arguments that do not fit are refused by name."""

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


def test_a_parameter_without_description_is_our_mistake():
    with pytest.raises(TypeError, match="Args section"):
        derive(find, {"name": "the name"})


def test_a_hint_without_a_schema_is_our_mistake():
    def bad(context: object, what: bytes) -> str:
        return ""

    with pytest.raises(TypeError, match="cannot take"):
        derive(bad, {"what": "bytes"})
