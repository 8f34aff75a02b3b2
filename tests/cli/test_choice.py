"""Which model works."""

import sys

import pytest

from orchestrator.cli import choice
from orchestrator.delegates.table import CLIS
from orchestrator.errors import UsageError
from orchestrator.models.access import DIRECT
from orchestrator.pricing import Usage, cost

KEY, LOGIN = "sk-ant-api03-" + 30 * "k", "sk-ant-oat01-" + 30 * "t"


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


@pytest.mark.parametrize(
    ("environ", "key", "bearer"),
    [
        ({"CLAUDE_CODE_OAUTH_TOKEN": LOGIN}, LOGIN, True),
        ({"CLAUDE_CODE_OAUTH_TOKEN": LOGIN, "ANTHROPIC_API_KEY": " "}, LOGIN, True),
        ({"CLAUDE_CODE_OAUTH_TOKEN": LOGIN, "ANTHROPIC_API_KEY": KEY}, KEY, False),
        ({"ANTHROPIC_API_KEY": KEY}, KEY, False),
    ],
)
def test_claude_works_with_a_key_or_else_with_a_login(environ, key, bearer):
    found = choice.route(CLIS["claude"], "", environ, DIRECT)
    assert (found.key, found.bearer) == (key, bearer)


def test_a_login_is_for_claude_code_alone():
    environ = {"CLAUDE_CODE_OAUTH_TOKEN": LOGIN}
    for ask in (
        lambda: choice.default(environ),
        lambda: choice.connect("anthropic:claude-sonnet-5-5", environ),
        lambda: choice.route(CLIS["codex"], "", environ, DIRECT),
    ):
        with pytest.raises(UsageError) as refused:
            ask()
        assert LOGIN not in str(refused.value)
    with pytest.raises(UsageError, match="CLAUDE_CODE_OAUTH_TOKEN is for Claude Code alone"):
        choice.default(environ)


def test_a_login_with_characters_that_no_token_has_is_refused_unseen():
    with pytest.raises(UsageError, match="The key in CLAUDE_CODE_OAUTH_TOKEN holds") as refused:
        choice.route(CLIS["claude"], "", {"CLAUDE_CODE_OAUTH_TOKEN": f"{LOGIN}\nx"}, DIRECT)
    assert LOGIN not in str(refused.value)


def test_what_there_is_to_know_of_a_credential_is_said_without_it():
    claude = CLIS["claude"]
    (login,) = choice.remarks(
        claude, choice.route(claude, "", {"CLAUDE_CODE_OAUTH_TOKEN": LOGIN}, DIRECT)
    )
    assert "(CLAUDE_CODE_OAUTH_TOKEN): what it costs is told at list prices" in login
    (short,) = choice.remarks(
        claude, choice.route(claude, "", {"ANTHROPIC_API_KEY": "xyz"}, DIRECT)
    )
    assert short.startswith("what ANTHROPIC_API_KEY holds has fewer than 8 characters")
    assert (
        choice.remarks(claude, choice.route(claude, "", {"ANTHROPIC_API_KEY": KEY}, DIRECT)) == []
    )
    assert (LOGIN in login, "xyz" in short) == (False, False)


@pytest.mark.parametrize(
    ("address", "said"),
    [
        ("https://api.anthropic.com/", ""),
        ("http://me:secret@proxy.example:8080/v1", "proxy.example"),
        ("https://api.anthropic.com.example", "api.anthropic.com.example"),
    ],
)
def test_a_login_that_goes_to_another_server_is_told(address, said):
    claude = CLIS["claude"]
    environ = {"CLAUDE_CODE_OAUTH_TOKEN": LOGIN, "ANTHROPIC_BASE_URL": address}
    _, *told = choice.remarks(claude, choice.route(claude, "", environ, DIRECT))
    sentence = choice.ELSEWHERE.format("CLAUDE_CODE_OAUTH_TOKEN", said, "ANTHROPIC_BASE_URL")
    assert told == ([sentence] if said else [])


def test_without_key_and_login_both_are_named():
    with pytest.raises(UsageError) as refused:
        choice.route(CLIS["claude"], "", {}, DIRECT)
    assert str(refused.value) == (
        "claude needs a key of anthropic: set ANTHROPIC_API_KEY, or CLAUDE_CODE_OAUTH_TOKEN to what"
        " `claude setup-token` gives."
    )


def test_a_login_of_codex_is_named_and_never_opened(tmp_path):
    environ = {"CODEX_HOME": str(tmp_path)}
    with pytest.raises(UsageError) as refused:
        choice.route(CLIS["codex"], "", environ, DIRECT)
    assert str(refused.value) == "codex needs a key of openai: set OPENAI_API_KEY."
    kept = tmp_path / "auth.json"
    kept.write_text("{}")
    opened = []
    sys.addaudithook(lambda name, given: opened.append(given[0]) if name == "open" else None)
    with pytest.raises(UsageError, match="it cannot be lent") as refused:
        choice.route(CLIS["codex"], "", environ, DIRECT)
    assert (str(kept) in str(refused.value), str(kept) in map(str, opened)) == (True, False)


BOTH = {"ANTHROPIC_API_KEY": "a", "OPENAI_API_KEY": "o"}


@pytest.mark.parametrize(
    ("agent", "model", "environ", "apis"),
    [
        ("mine", "", {}, []),
        ("mine", "", BOTH, ["anthropic", "openai"]),
        ("mine", "", {"OPENAI_API_KEY": "o"}, ["openai"]),
        ("mine", "", {"CLAUDE_CODE_OAUTH_TOKEN": "login"}, []),
        ("mine", "openai:gpt-5.5", BOTH, ["openai"]),
        ("codex-acp", "", BOTH, ["openai"]),
        ("claude-agent-acp", "", BOTH, ["anthropic"]),
        ("claude-agent-acp", "anthropic:x", BOTH, ["anthropic"]),
    ],
)
def test_an_agent_has_the_doors_of_the_keys_that_are_set(agent, model, environ, apis):
    found = choice.routes(agent, model, environ, DIRECT)
    assert [route.api for route in found] == apis
    assert not any(route.bearer for route in found)


@pytest.mark.parametrize(
    ("agent", "model", "says"),
    [
        ("mine", "gemini:x", "name a model as anthropic:NAME or openai:NAME."),
        ("mine", "anthropic:x", "mine needs a key of anthropic: set ANTHROPIC_API_KEY."),
        ("claude-agent-acp", "", "needs a key of anthropic: set ANTHROPIC_API_KEY."),
        ("codex-acp", "anthropic:x", "asks openai: name a model of it, as openai:NAME."),
    ],
)
def test_an_agent_has_no_door_without_its_key(agent, model, says):
    with pytest.raises(UsageError) as error:
        choice.routes(agent, model, {"CLAUDE_CODE_OAUTH_TOKEN": "login"}, DIRECT)
    assert str(error.value).endswith(says)
