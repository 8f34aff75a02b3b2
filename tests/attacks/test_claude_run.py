"""N03 for a whole run: the real Claude Code is its worker, and the key is in nothing that is kept.

The key is the gateway's alone. What it might have got into is looked through while the sandbox is
open (files, processes, what the engine tells) and when the run is over (journal, record, artifacts,
cassette, every object of the quarantine and of the user's repository).
"""

import base64
import json
import secrets
import uuid
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from orchestrator import planning
from orchestrator.events import FilesTouched, Output, ToolFinished, ToolStarted, WorkerFinished
from orchestrator.outcome import Outcome
from orchestrator.planning import Flags
from orchestrator.pricing import cost
from orchestrator.record import Record
from orchestrator.records import Records
from orchestrator.repository import Repository
from orchestrator.run import run
from orchestrator.settings import Settings
from orchestrator.workers import Hired
from sandbox import Engine
from sandbox.gateway.budget import Budget, Ledger
from sandbox.gateway.cassette import read
from sandbox.gateway.gateway import open_gateway
from sandbox.gateway.models import Models
from sandbox.gateway.provider import Provider
from sandbox.gateway.recorder import Recorder
from sandbox.gateway.relay import PORT, Relay
from sandbox.gateway.routes import Route
from sandbox.gateway.tape import RecordedUpstream
from sandbox.stream import Exit
from tests import claude
from tests.api.request import Request
from tests.api.server import play
from tests.attacks.test_claude import COMMAND, QUIET, TASK, find
from tests.conftest import FILES, git, tiny_repository

KEY = f"sk-ant-api03-{secrets.token_hex(24)}"
TOKEN = f"run-{secrets.token_hex(24)}"
SPELLINGS = [
    *(KEY.encode(), KEY[::-1].encode(), KEY.encode().hex().encode(), KEY[13:].encode()),
    *(base64.b64encode(b"x" * pad + KEY.encode())[4:-8] for pad in range(3)),
]
MADE = b"add is mended."
"""What the played model says last: where it is not found, the search finds nothing."""


@dataclass
class Claude:
    """A Worker that is one `claude -p`, which reaches a model through a gateway of its own."""

    engine: Engine
    api: str
    folder: Path
    """The run's."""
    seen: dict[str, str] = field(default_factory=dict)

    def work(self, task, box):
        arguments = [*COMMAND, "--session-id", str(uuid.uuid4())]
        reached = {"ANTHROPIC_BASE_URL": f"http://127.0.0.1:{PORT}", "ANTHROPIC_API_KEY": TOKEN}
        route = Route("anthropic", self.api, KEY, ("claude-*",))
        upstream = RecordedUpstream(Provider(), Recorder(self.folder / "cassette"), TOKEN)
        models = Models([route], TOKEN, upstream, Ledger(Budget(requests=20), cost))
        labels = {**self.engine.host_labels(), "run": self.folder.name}
        with ExitStack() as stack:
            gateway = stack.enter_context(open_gateway(models))
            relay = Relay(gateway.accept, reached, gateway.lost)
            env = QUIET | stack.enter_context(relay.join(self.engine, box.id, labels))
            keep = stack.enter_context((self.folder / "artifacts/claude.jsonl").open("xb"))
            yield ToolStarted(step=1, call="1", tool="claude", arguments=json.dumps(arguments))
            said = []
            for item in box.stream(
                arguments, stdin=task.prompt.encode(), env=env, seconds=240, keep=keep
            ):
                if isinstance(item, Exit):
                    break
                said.append(item.text)
                yield Output(stream=item.stream, text=item.text)
            text = "\n".join(said)
            yield ToolFinished(
                step=1,
                call="1",
                tool="claude",
                result=text,
                error=not item.ok,
                seconds=item.seconds,
            )
            self._look(box, labels)
            yield FilesTouched(step=1, tool="claude", call="1")
        yield WorkerFinished(reason="complete", message=json.loads(said[-1])["result"])

    def _look(self, box, labels):
        """What is in the sandbox, and what the engine tells of it and of what is beside it."""
        api = self.engine.client.api
        mine = [f"{name}={labels[name]}" for name in ("run", "host_pid")]
        beside = api.containers(all=True, filters={"label": mine})
        told = [api.inspect_container(one["Id"]) for one in beside]
        told += [api.top(one["Id"]) for one in beside]
        told += [api.inspect_image(one["ImageID"]) for one in beside]
        processes = box.run(["sh", "-c", "cat /proc/[0-9]*/environ /proc/[0-9]*/cmdline"])
        self.seen = {
            "engine": json.dumps(told),
            "beside": str(len(beside)),
            "processes": processes.stdout.decode(errors="replace"),
            "transcripts": "\n".join(find(box, MADE.decode())),
            "files": "\n".join(find(box, KEY)),
        }


@dataclass(frozen=True)
class Ended:
    """A run that ended."""

    record: Record
    home: Path
    user: Path
    seen: dict[str, str]
    asked: list[Request]


@pytest.fixture(scope="module")
def ended(engine, tmp_path_factory):
    folder = tmp_path_factory.mktemp("claude")
    user, home = tiny_repository(folder / "repository", FILES), folder / "home"
    flags = Flags(command=("claude",), image=claude.image(engine))
    task = planning.task(str(user), "add is wrong; mend it", Settings(), flags).task
    hired = []

    with play(TASK) as api:

        def employ(task, brain, artifacts, traffic, before):
            hired.append(Claude(engine, api.url, artifacts.parent))
            return Hired(hired[0])

        repository = Repository.open(str(user), home)
        told = []
        record = run(task, repository, Records(home), None, told.append, employ=employ)
        yield Ended(record, home, user, hired[0].seen, api.asked)


def files(folder: Path) -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def objects(repository: Path) -> bytes:
    """Every object of a repository, unpacked, reachable or not."""
    return git(repository, "cat-file", "--batch-all-objects", "--unordered", "--batch")


def held(content: bytes) -> list[bytes]:
    return [spelling for spelling in SPELLINGS if spelling in content]


def test_the_task_is_done_and_delivered(ended):
    assert (ended.record.outcome, ended.record.recorded > 0) == (Outcome.DONE, True)
    shown = git(ended.user, "show", f"{ended.record.branch}:src/app.py")
    assert shown == b"def add(a, b):\n    return a + b + 0\n"
    assert {request.key for request in ended.asked} == {KEY}


def test_the_key_is_in_no_file_of_the_home(ended):
    kept = files(ended.home)
    run = ended.home / "runs" / ended.record.id
    holding = {name for name, content in kept.items() if MADE in content}
    assert {str(run / "journal.jsonl"), str(run / "artifacts/claude.jsonl")} <= holding
    assert b"add is wrong" in kept[str(run / "cassette/0004.json")]
    assert {name: found for name, content in kept.items() if (found := held(content))} == {}


def test_the_key_is_in_no_object_of_the_quarantine_or_of_the_users_repository(ended):
    for place in (ended.home / "runs" / ended.record.id / "quarantine.git", ended.user):
        everything = objects(place)
        assert (b"return a + b + 0" in everything, held(everything)) == (True, [])


def test_the_cassette_holds_the_run_without_key_and_token(ended):
    cassette = ended.home / "runs" / ended.record.id / "cassette"
    assert len(read(cassette)) == len(ended.asked)
    assert TOKEN.encode() not in b"".join(files(cassette).values())


def test_the_key_was_in_nothing_that_the_sandbox_holds(ended):
    assert (ended.seen["transcripts"] != "", ended.seen["files"]) == (True, "")
    assert "PATH=" in ended.seen["processes"]
    assert held(ended.seen["processes"].encode()) == []
    assert "ANTHROPIC_API_KEY=run-" in ended.asked[-1].asked.said  # what its own shell saw
    assert held(ended.asked[-1].asked.said.encode()) == []


def test_the_key_was_in_nothing_that_the_engine_tells(ended):
    assert (ended.seen["beside"], "sleep" in ended.seen["engine"]) == ("2", True)
    assert held(ended.seen["engine"].encode()) == []
