"""Claude Code with the login of a subscription: the gateway shows it, and nothing else holds it."""

import base64
import json
import secrets

import pytest

from orchestrator.cli import choice
from orchestrator.delegates.claude import NEARLY
from orchestrator.delegates.table import CLIS
from orchestrator.events import ToolFinished, Warned
from orchestrator.models.traffic import Replay
from orchestrator.outcome import Outcome
from orchestrator.screen import Ink
from orchestrator.summary import summary
from tests.api.scenario import Call, Expect, Fault, Scenario, Step
from tests.conftest import git
from tests.delegates.test_runs import ADD, asks, last, scenario

LOOK = "env; cat /proc/[0-9]*/environ /proc/[0-9]*/cmdline | tr '\\0' '\\n'"
"""What the program, made to look, sees of itself and what runs beside it."""
OUTLINE = Call("mcp__orchestrator__outline", {"path": "src/app.py"})


@pytest.fixture
def login() -> str:
    return f"sk-ant-oat01-{secrets.token_hex(24)}"


def spellings(login: str) -> list[bytes]:
    """The login, in the forms in which it might have been written down."""
    plain = login.encode()
    packed = [base64.b64encode(b"x" * pad + plain)[4:-8] for pad in range(3)]
    return [plain, plain[::-1], plain.hex().encode(), plain[13:], *packed]


def held(content: bytes, login: str) -> list[bytes]:
    return [spelling for spelling in spellings(login) if spelling in content]


def test_the_provider_is_shown_the_login_as_the_program_shows_one(desk, login):
    steps = scenario(
        asks("claude", ADD, expect=Expect(key=login)), Step("Done.", expect=Expect(key=login))
    )
    ran = desk.run("claude", steps, login=login)
    assert (ran.record.outcome, len(ran.commits)) == (Outcome.DONE, 1)
    for request in ran.asked:
        assert request.headers["authorization"] == f"Bearer {login}"
        assert "x-api-key" not in request.headers
        assert "oauth-2025-04-20" in request.headers["anthropic-beta"].split(",")


def test_the_login_is_nowhere_in_the_sandbox_and_in_nothing_that_is_kept(desk, login):
    ran = desk.run("claude", scenario(asks("claude", LOOK), Step("Looked.")), login=login)
    told = ran.asked[-1].asked.said
    assert "CLAUDE_CODE_OAUTH_TOKEN=run-" in told  # of the program; its shell sees not even that
    assert held(json.dumps([request.body for request in ran.asked]).encode(), login) == []
    kept = {path: path.read_bytes() for path in ran.folder.rglob("*") if path.is_file()}
    assert any(b"Looked." in content for content in kept.values())
    assert {path: found for path, content in kept.items() if (found := held(content, login))} == {}
    for place in (ran.folder / "quarantine.git", ran.repository):
        everything = git(place, "cat-file", "--batch-all-objects", "--unordered", "--batch")
        assert (b"return a + b" in everything, held(everything, login)) == (True, [])


def test_our_tools_are_lent_to_a_program_with_a_login_as_well(desk, login):
    ran = desk.run("claude", scenario(Step(calls=(OUTLINE,)), Step("Seen.")), login=login)
    (outlined,) = ran.told(ToolFinished)
    assert (outlined.error, "add" in outlined.result) == (False, True)
    offered = ran.asked[0].asked.tools
    assert (OUTLINE.tool in offered, "WaitForMcpServers" in offered) == (True, False)


def test_a_replay_asks_as_with_the_login_and_needs_none(desk, login):
    ran = desk.run("claude", scenario(asks("claude", ADD), Step("Done.")), login=login)
    traffic = Replay(ran.folder / "cassette")
    assert ran.record.task.login
    route = choice.route(CLIS["claude"], "", {}, traffic, login=ran.record.task.login)
    again = desk.run("claude", Scenario(()), traffic=traffic, login=route.key)
    assert again.record.outcome is ran.record.outcome, again.record.message
    assert again.record.tree == ran.record.tree
    assert route.bearer


@pytest.mark.parametrize("status", [401, 403])
def test_a_login_that_is_refused_is_told_with_its_variable(desk, login, status):
    refused = Step(fault=Fault(status=status, error="authentication_error"))
    ran = desk.run("claude", scenario(asks("claude", ADD), rest=refused), login=login)
    assert (ran.record.outcome, len(ran.commits)) == (Outcome.AUTH, 1)
    assert f"the login ({status}): set CLAUDE_CODE_OAUTH_TOKEN" in ran.record.message.replace(
        "do that ", ""
    )


def test_the_limit_of_a_subscription_is_told_with_the_end_of_the_window_that_is_full(desk, login):
    windows = {
        "anthropic-ratelimit-unified-status": "rejected",
        "anthropic-ratelimit-unified-reset": "4102444800",  # 2100-01-01
        "anthropic-ratelimit-unified-5h-status": "rejected",
        "anthropic-ratelimit-unified-5h-reset": "4102444800",
        "anthropic-ratelimit-unified-7d-status": "allowed",
        "anthropic-ratelimit-unified-7d-reset": "4102876800",
    }
    full = Step(fault=Fault(status=429, error="rate_limit_error", headers=windows))
    ran = desk.run("claude", scenario(asks("claude", ADD), rest=full), login=login)
    assert (ran.record.outcome, len(ran.commits)) == (Outcome.RATE_LIMITED, 1)
    assert (last(ran).until, len(ran.asked)) == (4102444800.0, 2)


def test_a_budget_binds_and_the_cost_is_told_as_one_that_is_not_billed(desk, login):
    ran = desk.run("claude", scenario(rest=asks("claude", ADD)), login=login, turns=2)
    assert ran.record.outcome is Outcome.BUDGET
    assert ran.record.cost > 0
    (spent,) = [line for line in summary(ran.record, [], Ink(False)) if line.startswith("  spent ")]
    assert spent.endswith(
        f"${ran.record.cost:.4f} at list prices, which a subscription does not bill"
    )


def test_a_limit_that_is_near_is_told(desk, login):
    near = {
        "anthropic-ratelimit-unified-status": "allowed_warning",
        "anthropic-ratelimit-unified-reset": "4102444800",
        "anthropic-ratelimit-unified-representative-claim": "five_hour",
        "anthropic-ratelimit-unified-5h-utilization": "0.95",
        "anthropic-ratelimit-unified-5h-reset": "4102444800",
        "anthropic-ratelimit-unified-5h-surpassed-threshold": "0.9",
    }
    ran = desk.run("claude", scenario(Step("Done.", fault=Fault(headers=near))), login=login)
    assert NEARLY in [event.text for event in ran.told(Warned)]
