"""What is told of a run that is watched, and Ctrl-C meanwhile."""

import io
import os
import signal
import sys

import pytest

from orchestrator.cli.watch import Told, stoppable
from orchestrator.events import StageStarted, ToolFinished, ToolStarted, Turn, WorkerFinished
from orchestrator.screen import Ink

PLAIN = Ink(on=False)


class Stopping(io.RawIOBase):
    """A stream at whose first line somebody says stop, amid the writing."""

    def __init__(self, file: int) -> None:
        self.file = file
        self.signals = [signal.SIGTERM]

    def fileno(self) -> int:
        return self.file

    def writable(self) -> bool:
        return True

    def write(self, data) -> int:
        while self.signals:
            signal.raise_signal(self.signals.pop())
        return os.write(self.file, data)


@pytest.mark.parametrize("message", ["All is well.", "The key was refused."])
def test_the_last_words_of_a_worker_are_told_once(message):
    told = Told(PLAIN)
    turn = Turn(step=1, model="m", text="All is well.", input_tokens=1, output_tokens=1, final=True)
    events = (
        turn,
        StageStarted(stage="work", command="true"),
        WorkerFinished(reason="gate", message=message),
    )
    shown = [line[9:].strip() for event in events for line in told.lines(event, 0.0)]
    assert shown.count("All is well.") == 1
    assert message in shown


def started(call: str) -> ToolStarted:
    return ToolStarted(step=1, call=call, tool="read_file", arguments=f'{{"path": "{call}.py"}}')


def ended(call: str, error: bool = True) -> ToolFinished:
    return ToolFinished(step=1, call=call, tool="read_file", result="no such file", error=error)


@pytest.mark.parametrize(
    ("events", "expected"),
    [
        ([started("a"), ended("a")], ["  1  read_file a.py", "     no such file"]),
        (
            [started("a"), started("b"), ended("a"), ended("b")],
            [
                *("  1  read_file a.py", "  1  read_file b.py"),
                *("     of read_file a.py", "     no such file"),
                *("     of read_file b.py", "     no such file"),
            ],
        ),
        (
            [started("a"), started("b"), ended("a", error=False), ended("b")],
            ["  1  read_file a.py", "  1  read_file b.py", "     no such file"],
        ),
    ],
)
def test_an_error_among_several_calls_says_whose_it_is(events, expected):
    told = Told(PLAIN)
    assert [line[9:] for event in events for line in told.lines(event, 0.0)] == expected


def test_a_stop_amid_a_line_is_told_and_is_no_error(monkeypatch):
    reading, writing = os.pipe()
    stream = io.TextIOWrapper(io.BufferedWriter(Stopping(writing)), line_buffering=True)
    with monkeypatch.context() as patch, stoppable():
        patch.setattr(sys, "stderr", stream)
        with pytest.raises(KeyboardInterrupt):
            print("a line", file=sys.stderr)
    assert os.read(reading, 99).startswith(b"stopping; what is recorded stays.")
    stream.close()
    os.close(reading)
    os.close(writing)
