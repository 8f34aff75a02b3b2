"""The delegate: somebody's program works in the box, watched line by line."""

from collections import deque
from collections.abc import Generator, Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from orchestrator.delegates.account import Account
from orchestrator.delegates.cli import Cli, Reader
from orchestrator.delegates.ending import Seen, ending
from orchestrator.delegates.session import Session, Silent
from orchestrator.delegates.transcript import Transcript
from orchestrator.events import AnyEvent, FilesTouched, Output, Turn, WorkerFinished
from orchestrator.outcome import Stop
from orchestrator.task import Task
from sandbox.box import Box
from sandbox.gateway.turn import Answered
from sandbox.stream import Exit, Line

UNAUTHORIZED, LIMITED = (401, 403), 429


@dataclass(frozen=True, slots=True)
class Delegate:
    """The worker that drives a `Cli`."""

    cli: Cli
    account: Account
    artifacts: Path
    """A folder on the host; every raw line is kept there."""
    before: Transcript | None = None
    """The session it goes on with; it is in the box."""

    def work(self, task: Task, box: Box) -> Generator[AnyEvent, None, None]:
        """Work on the task, as `Worker.work` says."""
        watch = _Watch(self.cli.reader(), task)
        session = Session(box, self.cli.name, task.limits)
        self.account.listener = session.tell
        env = self.cli.environment(self.account.token)
        command = self.cli.command(task, self.before)
        with (self.artifacts / f"{self.cli.name}.jsonl").open("xb") as keep:
            items = session.items(command, task.prompt.encode(), env, keep)
            with closing(items):
                for item in items:
                    yield from watch.events(item)
                    if watch.stop and not watch.stopping:
                        watch.stopping = True
                        session.stop()
        yield FilesTouched(step=watch.reader.steps, tool=self.cli.name)
        yield self._ended(watch)

    def _ended(self, watch: "_Watch") -> WorkerFinished:
        assert watch.exit is not None
        return ending(
            Seen(
                program=self.cli.name,
                reader=watch.reader,
                exit=watch.exit,
                used=self.account.used(),
                spent=self.account.ledger.spent(before=True) or "",
                refused_key=watch.refused_key,
                stopped=watch.stop,
                complaint=" ".join(watch.complaint)[-500:],
            )
        )


class _Watch:
    """What is seen of a session while it goes on, and whether it has to end."""

    def __init__(self, reader: Reader, task: Task) -> None:
        self.reader = reader
        self.task = task
        self.stop: Stop | None = None
        self.stopping = False
        self.exit: Exit | None = None
        self.refused_key = False
        self.complaint: deque[str] = deque(maxlen=5)
        self._answers = 0

    def events(self, item: object) -> Iterator[AnyEvent]:
        match item:
            case Line(stream="stdout"):
                yield from self.reader.read(item.data)
                if self.reader.steps > self.task.limits.turns:
                    self.stop = self.stop or "turns"
            case Line():
                self.complaint.append(item.text)
                yield Output(stream="stderr", text=item.text)
            case Answered():
                yield from self._answered(item)
            case Silent(clock=clock):
                self.stop = self.stop or ("time" if clock == "run" else "stalled")
            case Exit():
                self.exit = item

    def _answered(self, answer: Answered) -> Iterator[AnyEvent]:
        self.refused_key = answer.status in UNAUTHORIZED
        if self.refused_key:
            self.stop = self.stop or "auth"
        if answer.status == LIMITED:  # the gateway has waited as long as it may
            self.stop = self.stop or "rate_limited"
        if not 200 <= answer.status < 300:
            return
        self.reader.answered()
        self._answers += 1
        usage = answer.usage
        yield Turn(
            step=self._answers,
            model=answer.model,
            text="",
            input_tokens=usage.input_tokens,
            output_tokens=usage.output_tokens,
            cache_read_tokens=usage.cache_read_tokens,
            cache_write_tokens=usage.cache_write_tokens,
            cost=answer.cost,
            seconds=answer.seconds,
        )
