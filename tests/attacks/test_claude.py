"""N03: the real Claude Code works in a sandbox without network and key, and the key is nowhere."""

import json
import secrets
import uuid
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass

import pytest

from orchestrator.pricing import cost
from sandbox import Box, Completed, Limits, open_box, prepare
from sandbox.gateway.budget import Budget, Ledger
from sandbox.gateway.gateway import open_gateway
from sandbox.gateway.models import Models
from sandbox.gateway.provider import Provider
from sandbox.gateway.relay import PORT, Relay
from sandbox.gateway.routes import Route
from tests import claude
from tests.api.request import Request
from tests.api.scenario import Call, Expect, Scenario, Step
from tests.api.server import play

FILE = "/workspace/src/app.py"
EDIT = {"file_path": FILE, "old_string": "a + b", "new_string": "a + b + 0"}
LOOK = "cat /proc/*/environ /proc/*/cmdline 2>/dev/null | tr '\\0' '\\n'"
"""What Claude Code itself, made to look, sees of itself and its neighbours."""
TASK = Scenario(
    (
        Step(
            calls=(Call("Read", {"file_path": FILE}),),
            expect=Expect(said=("add is wrong",), tools=("Read", "Edit", "Bash")),
        ),
        Step(calls=(Call("Edit", EDIT),), expect=Expect(said=("return a + b",))),
        Step(calls=(Call("Bash", {"command": LOOK, "description": "Look around"}),)),
        Step(text="add is mended.", expect=Expect(said=("ANTHROPIC_API_KEY=run-",))),
    ),
    side_answers=True,
)
COMMAND = (
    *("claude", "-p", "--output-format", "stream-json", "--verbose", "--include-partial-messages"),
    *("--permission-mode", "bypassPermissions", "--max-turns", "40", "--max-budget-usd", "2"),
    *("--strict-mcp-config", "--mcp-config", '{"mcpServers":{}}', "--setting-sources", ""),
)
QUIET = {
    "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
    "DISABLE_AUTOUPDATER": "1",
    "CLAUDE_CODE_MAX_RETRIES": "3",
    "API_TIMEOUT_MS": "60000",
}


@dataclass(frozen=True)
class Worked:
    """A sandbox in which Claude Code worked, and what it said."""

    box: Box
    key: str
    done: Completed
    models: Models
    asked: list[Request]


@pytest.fixture(scope="module")
def image(engine, source):
    return prepare(engine, claude.image(engine), source).image


@contextmanager
def working(engine, image, scenario, budget):
    """Claude Code did what it was asked in a box that is still open."""
    key, token = (f"{kind}-{secrets.token_hex(24)}" for kind in ("sk-ant-api03", "run"))
    reached = {"ANTHROPIC_BASE_URL": f"http://127.0.0.1:{PORT}", "ANTHROPIC_API_KEY": token}
    with ExitStack() as stack:
        api = stack.enter_context(play(scenario))
        route = Route("anthropic", api.url, key, ("claude-*",))
        models = Models([route], token, Provider(), Ledger(budget, cost))
        gateway = stack.enter_context(open_gateway(models))
        relay = Relay(gateway.accept, reached)
        opened = open_box(engine, image, Limits(), run="test", purpose="work", neighbours=[relay])
        box = stack.enter_context(opened)
        command = [*COMMAND, "--session-id", str(uuid.uuid4())]
        done = box.run(command, stdin=b"add is wrong; mend it", env=QUIET, seconds=240)
        assert gateway.faults == []
        yield Worked(box, key, done, models, api.asked)


@pytest.fixture(scope="module")
def worked(engine, image):
    with working(engine, image, TASK, Budget(requests=20)) as worked:
        yield worked


def test_the_task_is_done_through_the_gateway(worked):
    assert worked.done.exit.ok, worked.done.stderr
    result = result_of(worked)
    assert (result["subtype"], result["is_error"], result["result"]) == (
        "success",
        False,
        "add is mended.",
    )
    assert worked.box.files.read("src/app.py") == b"def add(a, b):\n    return a + b + 0\n"
    assert {request.key for request in worked.asked} == {worked.key}
    used = worked.models.used()
    assert (used.refused, used.estimated, used.requests >= 4) == (0, 0, True)


def test_the_key_is_in_no_process_that_claude_can_read(worked):
    seen = worked.asked[-1].asked.said
    assert "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1" in seen
    assert worked.key not in seen


def test_the_key_is_in_no_file_that_can_have_been_written(worked):
    assert find(worked.box, "add is mended.")  # its transcript: the search does find things
    assert find(worked.box, worked.key) == []


def test_the_key_is_not_in_what_was_printed(worked):
    assert worked.key.encode() not in worked.done.stdout + worked.done.stderr


def test_the_key_is_in_nothing_that_the_engine_tells(engine, worked):
    api = engine.client.api
    mine = api.inspect_container(worked.box.id)
    labels = [f"{name}={mine['Config']['Labels'][name]}" for name in ("run", "host_pid")]
    beside = api.containers(all=True, filters={"label": labels})
    told = json.dumps([mine, *(api.inspect_container(one["Id"]) for one in beside)])
    told += json.dumps([api.top(one["Id"]) for one in beside])
    assert len(beside) >= 2  # the sandbox and its relay
    assert "sleep" in told
    assert worked.key not in told


@pytest.mark.parametrize("budget", [Budget(requests=1), Budget(output_tokens=30)])
def test_claude_stops_at_once_when_a_budget_is_spent(engine, image, budget):
    steps = Scenario((*TASK.steps[:1], Step("a long answer " * 200)), side_answers=True)
    steps = steps if budget.output_tokens else Scenario(steps.steps[:1], side_answers=True)
    with working(engine, image, steps, budget) as worked:
        result = result_of(worked)
    assert (worked.done.exit.ok, result["is_error"]) == (False, True)
    assert "The run's budget of" in result["result"]
    assert worked.done.exit.seconds < 15


def result_of(worked):
    """The last event that Claude Code printed."""
    return json.loads(worked.done.stdout.splitlines()[-1])


def find(box: Box, text: str) -> list[str]:
    """The files that uid 10001 can have written and that hold `text`."""
    places = ["/workspace", "/home/agent", "/tmp", "/dev/shm", "/dev/mqueue", "/var/tmp", "/run"]
    done = box.run(["grep", "-rlaF", "--", text, *places], seconds=30)
    assert done.exit.status in (0, 1, 2), done.stderr
    return done.stdout.decode().splitlines()
