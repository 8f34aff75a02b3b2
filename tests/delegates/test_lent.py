"""Our tools for large files, called by the real Claude Code and Codex."""

import asyncio
import json
from dataclasses import replace
from functools import cache

import pytest

import splitters
from orchestrator.delegation import DelegateSettings
from orchestrator.events import Changed, ToolFinished
from orchestrator.models.traffic import Replay
from orchestrator.network import NetworkSettings
from orchestrator.outcome import Outcome
from orchestrator.settings import Settings
from orchestrator.workers import hire
from tests.api.scenario import Call, Expect, Step
from tests.conftest import FILES, git, tiny_repository
from tests.delegates.conftest import Desk
from tests.delegates.test_runs import asks, scenario

BODY = "".join(f"    value = value * {n} + {n}\r\n" for n in range(30))
WRONG = b"def step_97(value):\r\n    value = value - 1\r\n"
SOURCE = "".join(
    f"def step_{n}(value):\r\n    value = value {'-' if n == 97 else '+'} 1\r\n{BODY}\r\n\r\n"
    for n in range(150)
).encode()
RIGHT = WRONG.replace(b"- 1", b"+ 1")
LENT = ("apply_patch", "outline", "patch_file", "read_piece", "split_file")
NO_DOOR = (
    "python3 -c \"import http.client as h; c = h.HTTPConnection('127.0.0.1', 13128);"
    " c.request('POST', '/mcp', '{}'); r = c.getresponse(); assert r.status == 403, r.status\""
)


def at(folder) -> Desk:
    files = {**FILES, "steps.py": SOURCE}
    return Desk(tiny_repository(folder / "user", files), folder / "home")


@pytest.fixture
def desk(tmp_path):
    return at(tmp_path)


def ours(worker, tool, **arguments):
    """The call with which this program's models use one of our tools."""
    if worker == "codex":
        return Call(tool, arguments, namespace="mcp__orchestrator")
    return Call(f"mcp__orchestrator__{tool}", arguments)


def offered(worker):
    return {f"mcp__orchestrator{'.' if worker == 'codex' else '__'}{name}" for name in LENT}


def mend(worker):
    """The answers of a model that mends one line of the large file."""
    found = splitters.split(SOURCE, "python")
    number = next(piece.number for piece in found.pieces if WRONG in found.content(piece))
    old, new = (text.decode().replace("\r\n", "\n") for text in (WRONG, RIGHT))
    edit = {"piece": number, "old_text": old, "new_text": new}
    return (
        Step(
            calls=(ours(worker, "split_file", path="steps.py"),),
            expect=Expect(said=("mend add", "split_file"), tools=tuple(offered(worker))),
        ),
        Step(
            calls=(ours(worker, "patch_file", path="steps.py", edits=[edit]),),
            expect=Expect(said=(f"steps.py: {len(SOURCE):,} bytes, python",)),
        ),
        Step("Mended.", expect=Expect(said=("steps.py changed",))),
    )


@pytest.fixture(scope="module")
def mended(tmp_path_factory):
    """A run in which that was done: one for each program, to look at."""

    @cache
    def mended(worker):
        return at(tmp_path_factory.mktemp(worker)).run(worker, scenario(*mend(worker)))

    return mended


def test_a_large_file_is_changed_in_its_piece_by_one_commit(mended, worker):
    ran = mended(worker)
    assert (ran.record.outcome, ran.record.said) == (Outcome.DONE, "Mended.")
    assert ran.file("steps.py") == SOURCE.replace(WRONG, RIGHT)
    assert len(ran.commits) == len(ran.told(Changed)) == 1
    said = git(ran.repository, "log", "-1", "--format=%B", ran.record.branch).decode()
    assert "Tool: mcp__orchestrator__patch_file" in said
    assert [call.error for call in ran.told(ToolFinished)] == [False, False]


def test_a_replay_uses_the_tools_anew_and_ends_in_the_same_tree(desk, worker, mended):
    ran = mended(worker)
    again = desk.run(worker, scenario(), traffic=Replay(ran.folder / "cassette"))
    assert (again.record.tree, again.asked) == (ran.record.tree, [])
    assert [call.tool for call in again.told(ToolFinished)] == [
        "mcp__orchestrator__split_file",
        "mcp__orchestrator__patch_file",
    ]


def test_a_call_that_fails_is_told_and_says_nothing_of_the_program(desk, worker):
    wrong = ours(worker, "split_file", path="nothing.py")
    ran = desk.run(
        worker,
        scenario(
            Step(calls=(wrong,)),
            Step("No such file.", expect=Expect(said=("nothing.py: No such file",))),
        ),
    )
    (told,) = ran.told(ToolFinished)
    assert (told.error, told.result) == (True, "nothing.py: No such file or directory")
    assert ran.record.outcome is Outcome.NO_CHANGE


def test_what_alone_may_change_holds_for_our_tools(desk, worker):
    patch = "*** Begin Patch\n*** Add File: other.py\n+x = 1\n*** End Patch\n"
    ran = desk.run(
        worker,
        scenario(
            Step(
                calls=(ours(worker, "apply_patch", patch=patch),),
                expect=Expect(said=("nothing but: src",)),
            ),
            Step("Not allowed.", expect=Expect(said=("other.py: not allowed; only src",))),
        ),
        only=("src",),
    )
    assert (ran.record.outcome, ran.told(Changed)) == (Outcome.NO_CHANGE, [])


def test_a_proof_has_no_door_to_them(desk, worker):
    reached = Settings(network=NetworkSettings(allow=("packages.example",)))
    there = f"{NO_DOOR} && exit 1 || exit 0"
    ran = desk.run(
        worker,
        scenario(*mend(worker)[:2], asks(worker, there), Step("Mended.")),
        stated=reached,
        checks=(NO_DOOR,),
    )
    assert [call.error for call in ran.told(ToolFinished)] == [False] * 3
    assert ran.record.outcome is Outcome.DONE


def test_the_longest_piece_that_counts_as_shown_comes_to_the_model_whole(desk, worker):
    """Quotation marks and short lines are what grows most on the way."""
    lines = [f'{n:6}\ts = "{n}"' for n in range(1, 10_000)]
    count = next(n for n in range(len(lines)) if len(json.dumps("\n".join(lines[:n]))) > 46_900)
    text = "".join(f's = "{n}"\n' for n in range(1, count))
    write = f"seq {count - 1} | sed 's/.*/s = \"&\"/' > edge.py"
    ran = desk.run(
        worker,
        scenario(
            asks(worker, write),
            Step(calls=(ours(worker, "split_file", path="edge.py", target_bytes=65_536),)),
            Step(calls=(ours(worker, "read_piece", path="edge.py", piece=1),)),
            Step("Seen.", expect=Expect(said=("\n".join(lines[: count - 1]),))),
        ),
    )
    assert ran.file("edge.py").decode() == text
    assert "smaller target_bytes" not in ran.told(ToolFinished)[-1].result


class Slow:
    """A door behind which a very busy machine answers."""

    def __init__(self, door):
        self.takes, self.close, self._door = door.takes, door.close, door

    async def serve(self, request, connection):
        await asyncio.sleep(6)
        await self._door.serve(request, connection)


def test_the_first_question_waits_for_them(desk, worker):
    def employ(*given):
        hired = hire(*given)
        models, tools = hired.doors
        return replace(hired, doors=(models, Slow(tools)))

    offers = Step("Nothing to do.", expect=Expect(tools=tuple(offered(worker))))
    ran = desk.run(worker, scenario(offers), employ=employ)
    assert ran.record.outcome is Outcome.NO_CHANGE


def test_they_can_be_left_out(desk, worker):
    stated = Settings(delegates=DelegateSettings(tools=False))
    ran = desk.run(worker, scenario(Step("Nothing to do.")), stated=stated)
    asked = ran.asked[0].asked
    assert not offered(worker) & set(asked.tools)
    assert "split_file" not in asked.said
