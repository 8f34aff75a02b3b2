"""What the pages say has to be so: models, settings, scripts, outcomes, fields."""

import re
import subprocess
import sys
from pathlib import Path
from typing import get_args

import click
import msgspec
import pytest

import orchestrator
from orchestrator import settings
from orchestrator.cli import choice
from orchestrator.cli.main import VERBS, verbs
from orchestrator.events import AnyEvent, Output, Text
from orchestrator.models import scripted
from orchestrator.outcome import Outcome
from orchestrator.pricing import Usage, cost
from orchestrator.record import Record
from orchestrator.settings import Settings
from orchestrator.tools.table import TOOLS
from tests.api.scenario import Step
from tests.api.server import play

ROOT = Path(orchestrator.__file__).parents[1]
PAGES = {page.name: page.read_text() for page in (ROOT / "README.md", *ROOT.glob("docs/*.md"))}


def block(page: str, language: str) -> str:
    """The first code block in that language."""
    return re.search(rf"(?ms)^```{language}\n(.*?)^```", PAGES[page])[1]


def test_models_that_are_named_have_a_known_price():
    named = set(re.findall(r"\b(?:anthropic|openai|gemini):[a-z][\w.-]+", "".join(PAGES.values())))
    assert named >= set(choice.DEFAULTS.values())
    assert {model for model in named if cost(model, Usage(1, 1)) is None} == set()


@pytest.mark.parametrize("page", ["README.md", "policy.md"])
def test_policy_files_that_are_shown_can_be_read(page):
    assert settings.read(block(page, "toml").encode()).checks


def test_the_example_policy_has_every_key_and_the_default_limits():
    content = block("policy.md", "toml")
    shown, default = settings.read(content.encode()), Settings()
    keys = {*msgspec.structs.asdict(default), *msgspec.structs.asdict(default.guardrails)}
    assert {key for key in keys if not re.search(rf"(?m)^\[?{key}\b", content)} == set()
    assert (shown.limits, shown.sandbox) == (default.limits, default.sandbox)


def test_the_example_script_calls_tools_that_exist():
    steps = msgspec.json.decode(block("scripts.md", "json"), type=scripted.Script).steps
    known = {tool.name for tool in TOOLS}
    assert {call.tool for step in steps for call in step.calls} <= known


@pytest.mark.parametrize("tool", TOOLS, ids=lambda tool: tool.name)
def test_every_tool_is_listed_with_what_it_takes(tool):
    schema = tool.schema.parameters
    taken = [name + "?" * (name not in schema["required"]) for name in schema["properties"]]
    assert f"`{tool.name}({', '.join(taken)})`" in PAGES["scripts.md"]


@pytest.mark.parametrize("outcome", Outcome)
def test_every_outcome_is_listed_with_its_exit_code(outcome):
    assert f"| {outcome.exit_code} | `{outcome}` |" in PAGES["json.md"]


def test_every_field_of_a_run_is_listed():
    fields = Record.__struct_fields__
    assert [name for name in fields if f"`{name}`" not in PAGES["json.md"]] == []


def test_every_kind_of_event_in_a_journal_is_listed():
    shown_only = (Text, Output)
    kinds = [kind.__struct_config__.tag for kind in get_args(AnyEvent) if kind not in shown_only]
    assert [kind for kind in kinds if f"`{kind}`" not in PAGES["json.md"]] == []


def examples(page: str) -> list[str]:
    """The Python programs in a page that need nothing but an engine."""
    found = re.findall(r"(?ms)^```python\n(.*?)^```", PAGES[page])
    return [program for program in found if "with sandbox.open() as box" in program]


@pytest.mark.parametrize("number", range(2))
def test_examples_of_the_sandbox_run(number):
    done = subprocess.run(
        [sys.executable, "-c", examples("sandbox.md")[number]], cwd=ROOT, capture_output=True
    )
    assert (done.returncode, done.stderr) == (0, b"")


PROGRAMS = [
    (page, number, program)
    for page, text in PAGES.items()
    for number, program in enumerate(re.findall(r"(?ms)^```python\n(.*?)^```", text), 1)
]


@pytest.mark.parametrize(("page", "number", "program"), PROGRAMS)
def test_an_example_brings_all_its_names(page, number, program):
    looked = subprocess.run(
        [sys.executable, "-m", "ruff", "check", "--isolated", "--select", "F821", "-"],
        input=program.encode(),
        capture_output=True,
    )
    assert (looked.returncode, looked.stdout) == (0, b"All checks passed!\n")


def test_the_gateway_example_of_the_sandbox_page_runs():
    example = next(
        code
        for code in re.findall(r"(?ms)^```python\n(.*?)^```", PAGES["sandbox.md"])
        if "open_gateway" in code
    )
    asking = [
        "curl",
        "-sS",
        "$ANTHROPIC_BASE_URL/v1/messages",
        "-H",
        "x-api-key: $ANTHROPIC_API_KEY",
    ]
    body = '{"model": "claude-x", "max_tokens": 9, "messages": [{"role": "user", "content": "hi"}]}'
    line = " ".join(f'"{word}"' for word in asking) + f" -d '{body}'"
    for text, instead in (
        ('os.environ["ANTHROPIC_API_KEY"]', "real"),
        ('"https://api.anthropic.com"', "url"),
        ('"my/claude", ', ""),
        ("box.run([", "done = box.run(command or ["),
        (', stdin=b"Fix the tests"', ""),
    ):
        assert text in example
        example = example.replace(text, instead)
    with play(Step("hello")) as api:
        names = {"url": api.url, "real": "sk-the-real-key", "command": ["sh", "-c", line]}
        exec(example, names)
    assert b"hello" in names["done"].stdout
    assert names["models"].used().requests == 1


def options(verb: str) -> list[list[str]]:
    """Every option of a verb, each with all its names."""
    command = verbs.get_command(click.Context(verbs), verb)
    given = [each for each in command.params if isinstance(each, click.Option)]
    return [[*each.opts, *each.secondary_opts] for each in given]


@pytest.mark.parametrize("verb", VERBS)
def test_every_option_of_a_verb_is_described(verb):
    text = "".join(PAGES.values())
    said = set(re.findall(r"(?<![\w-])--?[A-Za-z][a-z-]*", text))
    assert [names for names in options(verb) if not said & set(names)] == []


@pytest.mark.parametrize("verb", VERBS)
def test_the_help_of_a_verb_says_what_each_of_its_options_takes(verb):
    command = verbs.get_command(click.Context(verbs), verb)
    shown = command.get_help(click.Context(command))
    assert re.findall(r"(?m)^  .*--[a-z-]+ (?:TEXT|INTEGER|FLOAT)\b", shown) == []


def typed() -> list[tuple[str, str]]:
    """Each verb in a page, with the options that stand after it in that command."""
    text = "".join(PAGES.values()).replace("\\\n", " ")
    lines = re.findall(r"\borchestrator ([a-z]+)((?: [^`\n|#]*)?)", text)
    return [(verb, rest.partition(" -- ")[0]) for verb, rest in lines if verb in VERBS]


def test_every_option_that_is_typed_in_a_page_exists():
    assert len(typed()) > 40
    wrong = []
    for verb, rest in typed():
        known = {name for names in options(verb) for name in names} | {"--help"}
        bare = re.sub(r"'[^']*'|\"[^\"]*\"", "", rest)
        wrong += [(verb, flag) for flag in re.findall(r" (--[a-z-]+)", bare) if flag not in known]
    assert wrong == []
