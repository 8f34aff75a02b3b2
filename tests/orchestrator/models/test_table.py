import subprocess
import sys

import pytest

from orchestrator.errors import UsageError
from orchestrator.models.model import Prompt
from orchestrator.models.table import PROVIDERS, load
from tests.api.scenario import Expect, Step
from tests.api.server import play

KEYS = {variable: f"key-of-{row.name}" for row in PROVIDERS for variable in row.variables}


@pytest.mark.parametrize(
    ("provider", "suffix", "path"),
    [
        ("anthropic", "", "/v1/messages"),
        ("openai", "/v1", "/v1/responses"),
        ("gemini", "/v1", "/v1/chat/completions"),
        ("ollama", "/v1", "/v1/chat/completions"),
        ("openai-chat", "/v1", "/v1/chat/completions"),
    ],
)
def test_a_provider_is_asked_over_its_api_with_its_key(provider, suffix, path):
    expected = Expect(model="name:tag", key=f"key-of-{provider}")
    with play(Step("ok", expect=expected)) as api:
        model = load(f"{provider}:name:tag", keys=KEYS, base_urls={provider: api.url + suffix})
        model.answer("", [Prompt("go")], (), max_output_tokens=9, on_text=print)
        model.finish()
    assert (model.name, api.requests[0].path) == (f"{provider}:name:tag", path)


def test_a_script_is_a_model_too(tmp_path):
    (tmp_path / "demo.json").write_text('{"steps": []}')
    assert load(f"scripted:{tmp_path}/demo.json", keys={}).name == "scripted:demo"


@pytest.mark.parametrize("spec", ["", "claude", "anthropic", "anthropic:", "nobody:x", "scripted:"])
def test_what_is_no_model_is_refused_with_the_list(spec):
    with pytest.raises(UsageError) as raised:
        load(spec, keys=KEYS)
    assert str(raised.value) == (
        f"{spec!r} is no model; write provider:name with one of"
        " anthropic, openai, gemini, ollama, openai-chat, scripted."
    )


def test_a_misspelt_provider_is_answered_with_the_one_that_was_meant():
    with pytest.raises(UsageError) as raised:
        load("antropic:claude-x", keys=KEYS)
    said = "'antropic:claude-x' is no model: did you mean anthropic:claude-x?"
    assert str(raised.value) == said


@pytest.mark.parametrize("keys", [{}, {"GEMINI_API_KEY": ""}, {"GOOGLE_API_KEY": " \n"}])
def test_a_missing_key_is_named(keys):
    with pytest.raises(UsageError, match="set GEMINI_API_KEY or GOOGLE_API_KEY"):
        load("gemini:gemini-x", keys=keys)


@pytest.mark.parametrize("key", ["sk-\u2013dash", "sk-a b", "sk-a\nb", "sk-\x7f"])
def test_a_key_no_header_can_carry_is_refused_without_showing_it(key):
    with pytest.raises(UsageError, match="ANTHROPIC_API_KEY holds characters") as raised:
        load("anthropic:claude-x", keys={"ANTHROPIC_API_KEY": key})
    assert "sk-" not in str(raised.value)


def test_space_around_a_key_is_dropped():
    with play(Step("ok", expect=Expect(key="key-1"))) as api:
        keys = {"ANTHROPIC_API_KEY": " key-1\n"}
        model = load("anthropic:x", keys=keys, base_urls={"anthropic": api.url})
        model.answer("", [Prompt("go")], (), max_output_tokens=9, on_text=print)
        model.finish()


def test_a_server_of_ones_own_needs_its_address():
    with pytest.raises(UsageError, match="server; set OPENAI_CHAT_BASE_URL"):
        load("openai-chat:x", keys={})


@pytest.mark.parametrize("url", ["api.example.com", "file:///etc/passwd"])
def test_a_base_url_is_a_web_address(url):
    with pytest.raises(UsageError, match="OLLAMA_BASE_URL must start with https:// or http://"):
        load("ollama:x", keys={}, base_urls={"ollama": url})


def test_the_table_loads_no_sdk():
    code = "import sys, orchestrator.models.table; print({'anthropic', 'openai'} & {*sys.modules})"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "set()\n"
