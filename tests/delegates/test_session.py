"""A program's lines, questions and answers in one order, and whose time it is that passes."""

import asyncio
import errno
import io
import threading
import time
from contextlib import closing

import pytest

from orchestrator.delegates.session import LAST, LAST_BYTES, Overdue, Session, Silent
from orchestrator.task import Limits
from sandbox.gateway.asked import Asked
from sandbox.stream import Exit, Line
from tests.workspace import bench as bench
from tests.workspace import workspace as workspace

WAITS = "until [ -e go ]; do sleep 0.02; done"


@pytest.fixture
def loop():
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever)
    thread.start()
    yield loop
    loop.call_soon_threadsafe(loop.stop)
    thread.join()
    loop.close()


class Kept(io.BytesIO):
    """A file on a disk that can be full."""

    full = False

    def write(self, data):
        if self.full:
            raise OSError(errno.ENOSPC, "the disk is full")
        return super().write(data)


class Watched:
    """A session of a script, and the questions that are asked in it."""

    def __init__(self, workspace, loop, script, silence):
        limits = Limits(silence=silence)
        self.session = Session(workspace.box, limits, time.monotonic() + 60)
        self.caught_up = True
        self.kept = Kept()
        self._workspace, self._loop = workspace, loop
        self.items = self.session.items(
            ("sh", "-c", script), b"", {}, self.kept, lambda: self.caught_up
        )

    def ask(self, seconds=30.0):
        """A question comes whose answer is held for so long; what is known once it begins."""

        async def make():
            return Asked({})

        asked = asyncio.run_coroutine_threadsafe(make(), self._loop).result()
        asked.until = time.monotonic() + seconds
        self.session.tell(asked)
        return asyncio.run_coroutine_threadsafe(asked.allowed(), self._loop)

    def go(self):
        """Let the script go on."""
        assert self._workspace.box.run(["touch", "go"]).exit.ok

    def next(self):
        """What is told next, in a word."""
        match next(self.items):
            case Line() as line:
                return line.text
            case item:
                return type(item)


@pytest.fixture
def begin(workspace, loop):
    begun = []

    def begin(script, silence=60.0):
        begun.append(Watched(workspace, loop, script, silence))
        return begun[-1]

    yield begin
    for watched in begun:
        watched.items.close()


def test_an_answer_is_let_in_when_all_that_was_told_before_its_question_is_done(begin):
    watched = begin(f"echo one; {WAITS}")
    assert watched.next() == "one"
    answer = watched.ask()
    assert watched.next() is Asked
    assert not answer.done()
    watched.go()
    assert watched.next() is Exit
    answer.result(10)


def test_it_waits_for_the_lines_that_belong_to_its_question(begin):
    watched = begin(f"{WAITS}; echo late")
    watched.caught_up = False
    answer = watched.ask()
    assert watched.next() is Asked
    watched.go()
    assert watched.next() == "late"
    assert not answer.done()
    watched.caught_up = True
    assert watched.next() is Exit
    answer.result(10)


def test_lines_that_never_come_are_waited_for_once_and_that_is_told(begin):
    watched = begin(WAITS)
    watched.caught_up = False
    first = watched.ask(0.3)
    assert [watched.next(), watched.next()] == [Asked, Overdue]
    first.result(10)
    second = watched.ask()
    assert watched.next() is Asked
    watched.go()
    assert watched.next() is Exit
    second.result(10)


def test_an_answer_that_begins_while_its_change_is_recorded_is_told(begin):
    watched = begin(WAITS)
    answer = watched.ask(0.3)
    assert watched.next() is Asked
    answer.result(10)
    assert watched.next() is Overdue


def test_neither_the_host_s_work_nor_its_holding_back_is_silence(begin):
    watched = begin(f"echo one; {WAITS}")
    watched.caught_up = False
    assert watched.next() == "one"
    watched.session._limits = Limits(silence=0.5)  # to start takes longer
    began = time.monotonic()
    while time.monotonic() < began + 2:  # recording takes this long
        time.sleep(0.1)
    watched.ask(2.0)
    assert [watched.next(), watched.next(), watched.next()] == [Asked, Overdue, Silent]


def test_chatter_is_no_answer_to_what_a_program_is_asked_first(workspace):
    limits = Limits(silence=1)
    session = Session(workspace.box, limits, time.monotonic() + 60, greeted=lambda: False)
    chatter = ("sh", "-c", "while echo y; do sleep 0.1; done")
    with closing(session.items(chatter, b"", {}, io.BytesIO(), lambda: True)) as items:
        assert next(item for item in items if not isinstance(item, Line)) == Silent("handshake")


@pytest.mark.parametrize(
    ("limits", "seconds", "expected"),
    [
        (Limits(silence=1), 60, "silence"),
        (Limits(silence=60, turn_seconds=1), 60, "turn"),
        (Limits(silence=1.5), 1, "run"),
    ],
)
def test_lines_that_never_cease_stop_no_clock(workspace, limits, seconds, expected):
    until = time.monotonic() + seconds
    session = Session(workspace.box, limits, until, lively=lambda line: False)
    with closing(session.items(("yes",), b"", {}, io.BytesIO(), lambda: True)) as items:
        assert next(item for item in items if not isinstance(item, Line)) == Silent(expected)


class Endless:
    """A box in which a program prints without end, and no line of it is ever whole."""

    def __init__(self):
        self.swept = False

    def watch(self, command, ready, **more):
        while not self.swept:
            ready()
            yield None
        yield Exit(137, 0.0)

    def sweep(self):
        self.swept = True


def test_pieces_that_never_cease_and_are_no_line_stop_no_clock():
    session = Session(Endless(), Limits(silence=0.2), time.monotonic() + 60)
    with closing(session.items(("cat",), b"", {}, io.BytesIO(), lambda: True)) as items:
        assert next(items) == Silent("silence")


def test_of_long_lines_little_is_kept_once_it_is_to_stop(begin):
    line = "head -c 16777216 /dev/zero; echo"
    watched = begin(f"trap '' INT TERM; echo one; sleep 1; while :; do {line}; done")
    assert watched.next() == "one"
    watched.session.stop()
    kept = sum(len(item.data) for item in watched.items if isinstance(item, Line))
    assert 0 < kept <= LAST_BYTES


def test_of_a_program_that_prints_without_end_little_is_read_once_it_is_to_stop(begin):
    watched = begin("yes")
    assert watched.next() == "y"
    began = time.monotonic()
    watched.session.stop()
    read = 0
    while watched.next() == "y":
        read += 1
    assert read <= LAST
    assert time.monotonic() - began < 8


def test_of_a_program_that_prints_without_end_little_is_read_once_nobody_listens(begin):
    """Unless it is left at once, what is on its way takes seconds, on a busy machine a minute."""
    watched = begin("yes")
    assert watched.next() == "y"
    before = len(watched.kept.getvalue())
    watched.items.close()
    assert len(watched.kept.getvalue()) - before < 300_000  # it would be 660,000 to 4,000,000


STUBBORN = """
import signal, sys, time
for number in (signal.SIGINT, signal.SIGTERM):
    signal.signal(number, lambda number, _: print(signal.Signals(number).name, flush=True))
print("on", flush=True)
while True:
    time.sleep(60)
"""


def test_a_program_behind_an_interpreter_gets_each_signal_before_it_is_killed(begin):
    watched = begin(f"exec env python3 -c '{STUBBORN}'")
    assert watched.next() == "on"
    watched.session.stop()
    said = list(watched.items)
    assert [line.text for line in said[:2]] == ["SIGINT", "SIGTERM"]
    assert said[-1].status == 137


def test_a_program_whose_time_is_over_is_not_started(workspace):
    session = Session(workspace.box, Limits(), time.monotonic() - 1)
    script = ("sh", "-c", "touch started; sleep 60")
    with closing(session.items(script, b"", {}, io.BytesIO(), lambda: True)) as items:
        assert next(items) == Silent("run")
        session.stop()
        assert list(items) == [Exit(137, 0.0)]
    assert workspace.box.run(["test", "-e", "started"]).exit.status == 1


def test_output_that_cannot_be_kept_leaves_nothing_running(begin, workspace):
    watched = begin(f"trap '' INT TERM; echo one; {WAITS}; echo two; sleep 73")
    assert watched.next() == "one"
    answer = watched.ask()
    watched.kept.full = True
    watched.go()
    with pytest.raises(OSError, match="full"):
        list(watched.items)
    answer.result(10)
    assert workspace.box.run(["pgrep", "-x", "sleep"]).stdout == b""


def test_at_its_end_nobody_is_left_waiting(begin):
    watched = begin(f"echo one; {WAITS}")
    watched.caught_up = False
    assert watched.next() == "one"
    held, queued = watched.ask(), watched.ask()
    assert watched.next() is Asked
    with closing(watched.items):
        assert not held.done()
    for answer in (held, queued, watched.ask()):
        answer.result(10)
