"""A sandbox that dies: what is told, what a model hears of it, and when it is given up."""

import socket
import socketserver
import threading
from contextlib import closing, contextmanager, suppress

import pytest
from docker import DockerClient
from docker.errors import NotFound

from orchestrator import settings
from orchestrator.agent.loop import Agent
from orchestrator.changes import Changes
from orchestrator.command import Command
from orchestrator.events import (
    Crashed,
    FilesTouched,
    Recovered,
    Restarting,
    StageStarted,
    ToolFinished,
    ToolStarted,
    WorkerFinished,
)
from orchestrator.models.scripted import Call, Script, ScriptedModel, Step
from orchestrator.prompts import DIED, DIED_AFTER, REOPENED, SKIPPED
from orchestrator.quarantine import Note, Quarantine
from orchestrator.recovery import RESTARTS, Recovery
from orchestrator.repository import Repository
from orchestrator.task import Task
from sandbox import Engine, Limits, Source, open_box, prepare
from sandbox.errors import SandboxError, SandboxLostError
from sandbox.images import BASE_IMAGE
from tests.conftest import FILES, tiny_repository

NOTE = Note("t", run="r", step=1, tool="t", worker="agent")
LOST = SandboxLostError("It died.")


@pytest.fixture(scope="module")
def base(engine, tmp_path_factory):
    """A base commit with its pack, and the image prepared from both."""
    folder = tmp_path_factory.mktemp("base")
    repository = Repository.open(str(tiny_repository(folder / "repository", FILES)), folder)
    found = repository.resolve("HEAD")
    pack = repository.pack(found, folder)
    image = prepare(engine, BASE_IMAGE, Source(found.commit, found.tree, pack)).image
    return found, pack, image


@pytest.fixture
def recovery(base, tmp_path):
    found, pack, _ = base
    quarantine = Quarantine.create(tmp_path / "quarantine.git", pack, found)
    return Recovery(Changes.of(quarantine, settings.Policy(), found), delay=0.01)


@pytest.fixture
def box(engine, base):
    with open_box(engine, base[2], Limits(), run="test", purpose="work") as box:
        yield box


@pytest.fixture
def kill(engine, box):
    return lambda: engine.client.api.kill(box.id)


def test_six_deaths_are_one_too_many(box, kill, recovery):
    told = []
    for _ in range(RESTARTS):
        kill()
        told += recovery.check(box)
    assert [type(event) for event in told] == [Crashed, Restarting, Recovered] * RESTARTS
    waits = [event.seconds for event in told if isinstance(event, Restarting)]
    assert waits == [0.01, 0.02, 0.04, 0.08, 0.16]
    kill()
    with pytest.raises(SandboxLostError, match="ended at"):
        list(recovery.check(box))


def test_files_are_those_recorded_last(box, kill, recovery):
    box.files.write("kept.txt", b"kept\n")
    list(recovery.record(box, NOTE))
    box.files.write("late.txt", b"late\n")
    kill()
    list(recovery.check(box))
    assert box.rehash() == recovery.changes.tree
    assert box.files.read("kept.txt") == b"kept\n"


def test_a_neighbour_that_does_not_come_up_is_waited_for(engine, base, recovery):
    failures = [SandboxError("Not yet."), None]

    class Slow:
        @contextmanager
        def join(self, *_):
            if failure := failures.pop():
                raise failure
            yield {}

    with open_box(
        engine, base[2], Limits(), run="test", purpose="work", neighbours=[Slow()]
    ) as box:
        engine.client.api.kill(box.id)
        failures.insert(0, None)
        told = list(recovery.check(box))
        assert told[2] == Crashed(reason="Not yet.")
        assert (isinstance(told[-1], Recovered), box.lost()) == (True, None)


def test_a_limit_of_its_own_is_no_crash(box, recovery):
    over = SandboxLostError("Over.", "disk")
    box.lost = lambda: over
    with pytest.raises(SandboxLostError, match="Over"):
        list(recovery.check(box))
    assert recovery.restarts == 0


class Door(socketserver.ThreadingUnixStreamServer):
    """A second way to the engine, which can be shut as if the engine were restarted."""

    daemon_threads = True

    def __init__(self, place):
        super().__init__(str(place), self.carry)
        threading.Thread(target=self.serve_forever, args=(0.01,), daemon=True).start()

    def carry(self, inner, *_):
        with socket.socket(socket.AF_UNIX) as outer:
            outer.connect("/var/run/docker.sock")
            back = threading.Thread(target=pump, args=(outer, inner))
            back.start()
            pump(inner, outer)
            back.join()

    def shut(self):
        self.shutdown()
        self.server_close()


def pump(source, target):
    with suppress(OSError):
        while data := source.recv(1 << 16):
            target.sendall(data)
        target.shutdown(socket.SHUT_WR)


# docker-py leaves the socket of a refused connection to the garbage collector.
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_c12_an_engine_that_went_away_is_waited_for(base, engine, recovery, tmp_path):
    place = tmp_path / "s"
    door = Door(place)
    through = Engine(DockerClient(f"unix://{place}", version="1.41"), "20.10", "amd64")
    with open_box(through, base[2], Limits(), run="test", purpose="work") as box:
        first = box.id
        through.close()
        door.shut()
        place.unlink()
        told = []
        for event in recovery.check(box):
            told.append(event)
            if event == Restarting(attempt=2, of=5, seconds=0.02):
                engine.client.api.kill(first)
                door = Door(place)
        kinds = [Crashed, Restarting, Crashed, Restarting, Recovered]
        assert [type(event) for event in told] == kinds
        assert "engine does not answer" in told[2].reason
        with pytest.raises(NotFound):
            engine.client.api.inspect_container(first)
    through.close()
    door.shut()


@contextmanager
def worked(worker, task, box, recovery, after=None):
    """Drive a worker as a run does; `after` is called with each event before it is dealt with."""
    events = []
    with closing(worker.work(task, box)) as running:
        for event in running:
            events.append(event)
            if after:
                after(event)
            if isinstance(event, FilesTouched):
                events += recovery.record(box, NOTE)
            elif isinstance(event, Crashed):
                events += recovery.reopen(box, LOST)
    yield events


def results(events):
    return [event.result for event in events if isinstance(event, ToolFinished)]


def bash(command):
    return Call("bash", {"command": command})


def agent(tmp_path, *steps):
    return Agent(ScriptedModel(Script(steps)), tmp_path)


def test_the_call_that_was_cut_off_is_told_so_and_the_rest_is_not_carried_out(
    box, kill, recovery, tmp_path
):
    steps = (Step(calls=(bash("sleep 60"), bash("touch b"))), Step(text="Done."))
    once = iter([kill])

    def after(event):
        if isinstance(event, ToolStarted):
            next(once, lambda: None)()

    task = Task(repository="", prompt="Go.")
    with worked(agent(tmp_path, *steps), task, box, recovery, after) as events:
        assert results(events) == [DIED, SKIPPED]
        assert events[-1] == WorkerFinished(reason="complete", message="Done.")


def test_a_box_that_dies_unrecorded_is_told_in_the_calls_result(box, kill, recovery, tmp_path):
    heard = []

    class Model(ScriptedModel):
        def answer(self, system, conversation, *rest, **options):
            heard.append(conversation[-1])
            return super().answer(system, conversation, *rest, **options)

    once = iter([kill])

    def after(event):
        if isinstance(event, FilesTouched):
            next(once, lambda: None)()

    model = Model(Script((Step(calls=(bash("touch a"),)), Step(text="Done."))))
    task = Task(repository="", prompt="Go.")
    with worked(Agent(model, tmp_path), task, box, recovery, after):
        assert heard[-1].results[0].text.endswith(DIED_AFTER)


def test_a_box_that_dies_between_calls_is_noticed_before_the_model_is_asked(
    box, kill, recovery, tmp_path
):
    asked = []

    class Model(ScriptedModel):
        def answer(self, system, conversation, *rest, **options):
            asked.append((box.lost(), conversation[-1]))
            return super().answer(system, conversation, *rest, **options)

    kill()
    model = Model(Script((Step(text="Done."),)))
    with worked(Agent(model, tmp_path), Task(repository="", prompt="Go."), box, recovery):
        ((lost, last),) = asked
        assert (lost, last.text) == (None, REOPENED)


def test_a_fixer_is_started_once_more(box, kill, recovery, tmp_path):
    once = iter([kill])

    def after(event):
        if isinstance(event, FilesTouched):
            next(once, lambda: None)()

    task = Task(repository="", prompt="", worker="command", command=("touch", "made"))
    with worked(Command(tmp_path), task, box, recovery, after) as events:
        assert events[-1].reason == "complete"
        assert box.files.read("made") == b""
        assert recovery.changes.count == 1


def test_a_check_that_was_cut_off_is_run_once_more(box, kill, recovery, tmp_path):
    once = iter([kill])

    def after(event):
        if isinstance(event, StageStarted):
            next(once, lambda: None)()

    task = Task(repository="", prompt="Go.", checks=("sleep 0.3",))
    with worked(agent(tmp_path, Step(text="Done.")), task, box, recovery, after) as events:
        assert events[-1] == WorkerFinished(reason="complete", message="Done.")
        assert recovery.restarts == 1
