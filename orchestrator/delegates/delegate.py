"""The delegate: somebody's program works in the box, watched line by line."""

import time
from collections import deque
from collections.abc import Generator, Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from orchestrator import prompts
from orchestrator.delegates.account import Account
from orchestrator.delegates.cli import Briefing, Program, Prompt, Reader, Talking
from orchestrator.delegates.ending import LIMITED, Seen, ending
from orchestrator.delegates.handed import lay
from orchestrator.delegates.session import HANDSHAKE, Overdue, Session, Silent
from orchestrator.delegates.transcript import Transcript
from orchestrator.delegation import PREFIX
from orchestrator.events import AnyEvent, FilesTouched, Output, Turn, Warned, WorkerFinished
from orchestrator.events import Session as Began
from orchestrator.outcome import Stop
from orchestrator.task import Task
from orchestrator.worker import reopened
from sandbox.box import Box
from sandbox.errors import SandboxLostError
from sandbox.gateway.asked import HELD_SECONDS, Asked
from sandbox.gateway.provider import Waiting
from sandbox.gateway.turn import Answered
from sandbox.stream import Exit, Line

NO_KEY = {
    401: "the provider does not know the {} (401)",
    403: "the provider does not let the {} do that (403)",
}
"""What there is to say, of a key or a login, when the provider refuses it."""
TOO_MANY = 429
LATE = (
    f"a change was not on record within {HELD_SECONDS:.0f} s, and the model was not kept waiting"
    " any longer: a commit can hold the changes of several calls"
)


@dataclass(frozen=True, slots=True)
class Delegate:
    """The worker that drives a `Program`."""

    cli: Program
    account: Account
    artifacts: Path
    """A folder on the host; every raw line is kept there."""
    before: Transcript | None = None
    """The session it goes on with; it is in the box."""

    def work(self, task: Task, box: Box) -> Generator[AnyEvent, None, None]:
        """Work on the task, as `Worker.work` says.

        In a box that died the program begins once more, on the files as they were last recorded.
        """
        until = time.monotonic() + task.limits.seconds
        with (self.artifacts / f"{task.worker}.jsonl").open("xb") as keep:
            while True:
                watch, opened = _Watch(self.cli.reader(), task, self.account), box.openings
                try:
                    yield from self._session(watch, box, keep, until)
                except SandboxLostError as lost:
                    if box.openings == opened:
                        yield from reopened(box, lost)
                else:
                    yield FilesTouched(step=watch.reader.steps, tool=self.cli.name)
                if box.openings == opened:
                    break
        yield self._ended(watch)

    def _session(
        self, watch: "_Watch", box: Box, keep: BinaryIO, until: float
    ) -> Generator[AnyEvent, None, None]:
        """One start of the program, to its end."""
        reader = watch.reader
        talk = reader if isinstance(reader, Talking) else Prompt()
        session = Session(
            box,
            watch.task.limits,
            until,
            talk.leave,
            lambda: not talk.awaited,
            talk.lively,
        )
        self.account.listener = session.tell
        lay(watch.task.handed.files, box)
        env = self.cli.environment(watch.task, self.account.token)
        command = self.cli.command(watch.task, self.before)
        told = prompts.delegated(watch.task)
        with closing(talk):
            stdin = talk.begin(Briefing(told, watch.task, self.account.token, self.before))
            items = session.items(command, stdin, env, keep, lambda: reader.caught_up)
            with closing(items):
                for item in items:
                    yield from watch.events(item)
                    if talk.over:
                        session.await_end()
                    if (watch.stop or watch.dismissed) and not watch.stopping:
                        watch.stopping = True
                        session.stop()

    def _another_key(self, why: str) -> str:
        mine = self.cli.credential
        return f"{why.format(mine.kind)}: set {mine.variable} to one that is good"

    def _ended(self, watch: "_Watch") -> WorkerFinished:
        assert watch.exit is not None
        reader = watch.reader
        return ending(
            Seen(
                program=self.cli.name,
                reader=reader,
                exit=watch.exit,
                used=self.account.used(),
                over=self.account.over(),
                refused_key=watch.refused_key and self._another_key(watch.refused_key),
                stopped=watch.stop,
                unconnected=watch.unconnected,
                complaint=" ".join(watch.complaint)[-500:],
                longest=watch.longest,
                dismissed=watch.dismissed,
                awaited=reader.awaited if isinstance(reader, Talking) else "",
                patience=min(HANDSHAKE, watch.task.limits.silence),
            )
        )


class _Watch:
    """What is seen of a session while it goes on, and whether it has to end."""

    def __init__(self, reader: Reader, task: Task, account: Account) -> None:
        self.reader = reader
        self.task = task
        self.account = account
        self.stop: Stop | None = None
        self.stopping = False
        self.dismissed = False
        """It had done its work, and was still there."""
        self.exit: Exit | None = None
        self.refused_key = ""
        self.unconnected = ""
        self.longest = False
        self.complaint: deque[str] = deque(maxlen=5)
        self._answers = 0

    def events(self, item: object) -> Iterator[AnyEvent]:
        match item:
            case Line(stream="stdout"):
                for event in self.reader.read(item.data):
                    yield event
                    if isinstance(event, Began):
                        yield from self._without(event)
                if self.reader.steps > self.task.limits.turns:
                    self.stop = self.stop or "turns"
            case Line():
                if said := item.text.strip():
                    self.complaint.append(said)
                if self.reader.terminal is None:  # of what it says in leaving all is kept
                    yield Output(stream="stderr", text=item.text)
            case Asked(results=results, over=False):
                self.reader.asked(results)
            case Answered():
                yield from self._answered(item)
            case Waiting(seconds=seconds):
                yield Warned(text=f"{LIMITED}; it is asked again in {seconds:.0f} s")
            case Overdue():
                yield Warned(text=LATE)
            case Silent(clock="farewell"):
                self.dismissed = True
            case Silent(clock=clock):
                self.stop = self.stop or ("time" if clock == "run" else "stalled")
            case Exit():
                self.exit = item

    def _without(self, began: Began) -> Iterator[AnyEvent]:
        """Tell of allowed tools that the program does not know: it says nothing of them."""
        allowed = self.task.delegation(self.task.worker).allowed_tools or ()
        if unknown := [tool for tool in allowed if tool not in (*began.tools, PREFIX)]:
            yield Warned(text=f"there are no such tools (allowed_tools): {', '.join(unknown)}")

    def _answered(self, answer: Answered) -> Iterator[AnyEvent]:
        self.unconnected = self.account.unconnected(answer)
        self.refused_key = NO_KEY.get(answer.status, "")
        if self.refused_key:
            self.stop = self.stop or "auth"
        # The gateway has waited as long as it may; without money an account has no limit that ends.
        if answer.status == TOO_MANY and self.account.used().limited:
            self.stop = self.stop or "rate_limited"
        if not 200 <= answer.status < 300:
            return
        self.reader.answered()
        self._answers += 1
        usage = answer.usage
        self.longest = usage.output_tokens >= self.task.limits.output_tokens
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
