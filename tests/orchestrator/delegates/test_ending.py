"""From what was seen of a delegate to why it stopped: the table of failures."""

from dataclasses import dataclass, replace

import pytest

from orchestrator.delegates.cli import Terminal
from orchestrator.delegates.ending import Seen, ending
from sandbox.gateway.budget import Spent, Used
from sandbox.gateway.usage import Usage
from sandbox.stream import Exit

SPENT = Spent("cost", 3.0)


@dataclass
class Read:
    """What a reader knows at the end."""

    terminal: Terminal | None = None
    said: str = "the last words"
    steps: int = 1
    commands: int = 0
    failures: int = 0
    broken: bool = False


DONE = Read(Terminal(True, "done"))
ERROR = Read(Terminal(False, "it broke", "failed"))
USUAL = Seen("codex", DONE, Exit(0, 1.0), Used(), None, "", None, "")


@pytest.mark.parametrize(
    ("seen", "reason", "message"),
    [
        (USUAL, "complete", "done"),
        (replace(USUAL, reader=ERROR), "failed", "it broke"),
        (replace(USUAL, reader=ERROR, exit=Exit(1, 1.0)), "failed", "it broke"),
        (
            replace(USUAL, exit=Exit(1, 1.0)),
            "failed",
            "codex said it was finished, and ended with status 1",
        ),
        (
            replace(USUAL, reader=ERROR, unconnected="no connection to it"),
            "failed",
            "no connection to it",
        ),
        (replace(USUAL, unconnected="no connection to it"), "complete", "done"),
        (
            replace(USUAL, reader=Read(), complaint="no such flag"),
            "failed",
            "codex ended with status 0, without its last event: no such flag",
        ),
        (
            replace(USUAL, reader=Read(), exit=Exit(137, 1.0)),
            "failed",
            "codex ended with status 137, without its last event",
        ),
        (replace(USUAL, reader=ERROR, over=SPENT), "cost", str(SPENT)),
        (replace(USUAL, over=SPENT), "complete", "done"),
        (replace(USUAL, reader=ERROR, refused_key="no (401)"), "auth", "no (401)"),
        (
            replace(USUAL, reader=ERROR, used=Used(limited=True, until=9.0)),
            "rate_limited",
            "the provider's rate or usage limit is reached, until 1970-01-01 00:00 UTC",
        ),
        (replace(USUAL, used=Used(limited=True)), "complete", "done"),
        (
            replace(USUAL, reader=replace(DONE, broken=True)),
            "tools_broken",
            "nothing that codex ran in the sandbox worked",
        ),
        (
            replace(USUAL, reader=replace(DONE, commands=3, failures=3)),
            "tools_broken",
            "nothing that codex ran in the sandbox worked",
        ),
        (replace(USUAL, reader=replace(DONE, commands=3, failures=2)), "complete", "done"),
        (
            replace(USUAL, reader=replace(DONE, broken=True, commands=2, failures=1)),
            "complete",
            "done",
        ),
        (replace(USUAL, reader=replace(DONE, commands=1, failures=1)), "complete", "done"),
        (
            replace(USUAL, used=Used(refused=1)),
            "failed",
            "codex said it was finished, and no model had answered it: done",
        ),
        (
            replace(USUAL, reader=Read(Terminal(True, "")), used=Used(requests=2)),
            "failed",
            "codex said it was finished, and no model had answered it",
        ),
        (replace(USUAL, used=Used(requests=2, refused=1, usage=Usage(1, 1))), "complete", "done"),
        (replace(USUAL, stopped="turns"), "turns", "the last words"),
        (replace(USUAL, stopped="time", reader=Read()), "time", "the last words"),
        (
            replace(USUAL, stopped="stalled", reader=Read(), exit=Exit(137, 1.0)),
            "stalled",
            "codex said nothing any more",
        ),
        (
            replace(USUAL, reader=Read(Terminal(False, "error_max_turns", "turns"))),
            "turns",
            "error_max_turns",
        ),
    ],
)
def test_why_it_stopped_comes_from_facts(seen, reason, message):
    ended = ending(seen)
    assert (ended.reason, ended.message) == (reason, message)


@pytest.mark.parametrize(
    ("bound", "reason"),
    [
        ("answers", "turns"),
        ("input_tokens", "input_tokens"),
        ("output_tokens", "output_tokens"),
        ("cost", "cost"),
        ("seconds", "time"),
    ],
)
def test_a_budget_is_named_by_what_the_gateway_counted(bound, reason):
    assert ending(replace(USUAL, reader=ERROR, over=Spent(bound, 3))).reason == reason


def test_an_answer_that_was_as_long_as_one_may_be_explains_a_failure():
    assert ending(replace(USUAL, reader=ERROR, longest=True)).reason == "output_tokens"
    assert ending(replace(USUAL, longest=True)).reason == "complete"


def test_the_end_of_a_limit_is_told():
    assert ending(replace(USUAL, reader=ERROR, used=Used(limited=True, until=9.0))).until == 9.0
