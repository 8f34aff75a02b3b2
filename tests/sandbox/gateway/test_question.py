"""What is taken out of a request, what is refused, and that all else stays."""

import pytest

from sandbox.gateway import chat, messages, question, responses
from sandbox.gateway.http import RefusedError
from sandbox.gateway.routes import Route
from sandbox.values import MOST


def withhold(body, dialect=messages, tools=()):
    return question.withhold(body, dialect, Route("anthropic", "", "", ("*",), tools=tools))


READ = {"name": "Read", "input_schema": {"type": "object", "Type": 1}}
SEARCH = {"type": "web_search_20250305", "name": "web_search"}
FETCH = {"type": "web_fetch_20250910", "name": "web_fetch"}
CODE = {"type": "code_execution_20250825", "name": "code_execution"}
BASH = {"type": "bash_20250124", "name": "bash"}
FUNCTION = {"type": "function", "name": "read", "parameters": {}}
SHELL = {"type": "shell", "environment": {"type": "container_auto"}}


def test_what_reaches_nothing_goes_on_untouched():
    body = {"model": "m", "tools": [READ, BASH], "tool_choice": {"type": "tool", "name": "Read"}}
    assert withhold(body) is body


@pytest.mark.parametrize(
    ("dialect", "before", "after"),
    [
        (messages, {"tools": [SEARCH, READ, FETCH, CODE]}, {"tools": [READ]}),
        (messages, {"mcp_servers": [{"url": "https://x"}], "stream": True}, {"stream": True}),
        (messages, {"tools": [SEARCH], "tool_choice": {"type": "auto"}}, {}),
        (
            messages,
            {"tools": [SEARCH, READ], "tool_choice": {"type": "tool", "name": "web_search"}},
            {"tools": [READ]},
        ),
        (messages, {"tools": [{"type": "brand_new_2030", "name": "x"}, READ]}, {"tools": [READ]}),
        (
            responses,
            {
                "tools": [
                    {"type": "web_search_preview"},
                    {"type": "mcp", "server_url": "https://x"},
                    {"type": "code_interpreter", "container": {"type": "auto"}},
                    {"type": "file_search"},
                    {"type": "image_generation"},
                    {"type": "computer_use_preview"},
                    SHELL,
                    FUNCTION,
                    {"type": "shell"},
                ]
            },
            {"tools": [FUNCTION, {"type": "shell"}]},
        ),
        (
            responses,
            {"tools": [{"type": "namespace", "name": "n", "tools": [FUNCTION, {"type": "mcp"}]}]},
            {"tools": [{"type": "namespace", "name": "n", "tools": [FUNCTION]}]},
        ),
        (
            responses,
            {
                "tools": [FUNCTION, {"type": "web_search"}],
                "tool_choice": {"type": "allowed_tools", "tools": [{"type": "web_search"}]},
            },
            {"tools": [FUNCTION]},
        ),
        (
            responses,
            {"tools": [FUNCTION, {"type": "web_search"}], "tool_choice": {"type": "web_search"}},
            {"tools": [FUNCTION]},
        ),
        (messages, {"speed": "fast", "stream": True}, {"stream": True}),
        (responses, {"service_tier": "priority", "stream": True}, {"stream": True}),
        (chat, {"web_search_options": {}, "tools": [FUNCTION]}, {"tools": [FUNCTION]}),
    ],
)
def test_what_reaches_the_web_or_costs_extra_is_withheld(dialect, before, after):
    assert withhold(before, dialect) == after


def test_what_is_allowed_stays():
    body = {"tools": [SEARCH, FETCH], "mcp_servers": []}
    assert withhold(body, tools=("web_search*", "mcp_servers")) == {**body, "tools": [SEARCH]}


def image(source):
    return [{"role": "user", "content": [{"type": "image", "source": source}]}]


@pytest.mark.parametrize(
    ("dialect", "body", "said"),
    [
        (messages, {"messages": image({"type": "url", "url": "https://x/?leak"})}, "by URL"),
        (
            messages,
            {
                "messages": [
                    {"content": [{"type": "tool_result", "content": image({"type": "url"})}]}
                ]
            }
            | {"system": image({"type": "url", "url": "http://10.0.0.1/"})},
            "by URL",
        ),
        (
            responses,
            {"input": [{"role": "user", "content": [{"image_url": "https://x/"}]}]},
            "by URL",
        ),
        (chat, {"messages": [{"content": [{"image_url": {"url": "http://x/"}}]}]}, "by URL"),
        (responses, {"input": [{"type": "input_file", "file_url": "https://x/"}]}, "by URL"),
        (responses, {"background": True}, "`background` is not allowed"),
        (responses, {"prompt": {"id": "p"}}, "`prompt` is not allowed"),
        (messages, {"Model": "other"}, "in lower case"),
        (
            messages,
            {"messages": image({"type": "content", "content": image({"type": "url", "url": "x"})})},
            "by URL",
        ),
        (messages, {"Messages": image({"type": "url", "url": "https://x/"})}, "in lower case"),
        (messages, {"messages": image({"type": "url", "URL": "https://x/"})}, "in lower case"),
        (chat, {"messages": [{"content": [{"Image_url": "https://x/"}]}]}, "in lower case"),
        (messages, {"tools": [{"Type": "web_search_20250305"}]}, "in lower case"),
        (messages, {"tools": {"type": "x"}}, "no list"),
        (messages, {"tools": ["web_search"]}, "no object"),
    ],
)
def test_what_cannot_be_taken_out_is_refused(dialect, body, said):
    with pytest.raises(RefusedError, match=said):
        withhold(body, dialect)


def test_pictures_within_the_request_and_addresses_in_what_tools_said_stay():
    call = {"type": "tool_use", "input": {"image_url": "https://x", "source": {"type": "url"}}}
    body = {"messages": [*image({"type": "base64", "data": "aGk="}), {"content": [call]}]}
    assert withhold(body) is body
    inline = {"input": [{"content": [{"image_url": "data:image/png;base64,aGk="}]}]}
    assert withhold(inline, responses) is inline


@pytest.mark.parametrize(
    ("body", "said"),
    [
        (b'{"model": "allowed", "model": "other"}', "stands twice"),
        (b'{"tools": [{"type": "function", "type": "mcp"}]}', "stands twice"),
        (b'{"a": NaN}', "no plain JSON"),
        (b'{"a": 1e999}', "no plain JSON"),
        (b"[]", "no JSON object"),
        ('{"a": 1}'.encode("utf-16"), "no plain JSON"),
        (b"\xef\xbb\xbf{}", "no plain JSON"),
        (b"[" * 100_000, "no plain JSON"),
        (b"", "no plain JSON"),
    ],
)
def test_a_body_that_may_be_read_in_two_ways_is_refused(body, said):
    with pytest.raises(RefusedError, match=said) as refused:
        question.parse(body)
    assert refused.value.status == 400


def test_a_body_of_more_values_than_anybody_asks_with_is_refused():
    with pytest.raises(RefusedError, match="more than 1,000,000 values") as refused:
        question.parse(b'{"model":"m","messages":[%s{}]}' % (b"{}," * MOST))
    assert refused.value.status == 413


@pytest.mark.parametrize("body", [{}, {"model": ""}, {"model": ["a"]}])
def test_a_request_without_a_model_is_refused(body):
    with pytest.raises(RefusedError, match="names no model"):
        question.model(body)
