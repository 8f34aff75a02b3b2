"""Which model works."""

import pytest

from orchestrator.cli import choice
from orchestrator.errors import UsageError
from orchestrator.pricing import Usage, cost


@pytest.mark.parametrize(
    ("environ", "model"),
    [
        ({"ANTHROPIC_API_KEY": "a", "OPENAI_API_KEY": "o"}, "anthropic:claude-sonnet-5-5"),
        ({"ANTHROPIC_API_KEY": " ", "OPENAI_API_KEY": "o"}, "openai:gpt-6.1-sol"),
    ],
)
def test_the_first_key_that_is_set_decides(environ, model):
    assert choice.default(environ) == model


def test_without_a_key_it_says_what_to_do():
    with pytest.raises(UsageError, match="set ANTHROPIC_API_KEY or OPENAI_API_KEY"):
        choice.default({})


@pytest.mark.parametrize("model", choice.DEFAULTS.values())
def test_what_is_taken_unasked_has_a_known_price(model):
    assert cost(model, Usage(1, 1)) is not None


def test_only_keys_that_are_set_are_known():
    environ = {"ANTHROPIC_API_KEY": "a", "OPENAI_API_KEY": "", "SECRET": "s"}
    assert choice.keys(environ) == {"ANTHROPIC_API_KEY": "a"}


def test_the_environment_names_addresses():
    with pytest.raises(UsageError, match="OLLAMA_BASE_URL must start with"):
        choice.connect("ollama:llama", {"OLLAMA_BASE_URL": "localhost:1"})
