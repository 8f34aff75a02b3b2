"""Signals for a command that runs: they reach its process group, and no other."""

import io
from contextlib import closing
from signal import SIGINT, SIGTERM

from sandbox import Exit, Line
from sandbox.signals import Signals

OBEDIENT = "trap 'echo interrupted; exit 3' INT; echo on; while :; do sleep 0.02; done"
TWO = "import os, signal, time; os.fork(); print('on', flush=True); signal.pause()"


class Running:
    """A command in a box that can be sent signals."""

    def __init__(self, box, *command):
        self.signals = Signals()
        self.items = box.watch(
            command,
            lambda: None,
            signals=self.signals,
            stdin=b"",
            env={},
            seconds=30,
            keep=io.BytesIO(),
            longest=1000,
        )

    def next(self):
        """The text of its next line, or its end."""
        item = next(item for item in self.items if item)
        return item.text if isinstance(item, Line) else item


def test_a_command_can_be_interrupted_and_end_in_its_own_way(box):
    running = Running(box, "sh", "-c", OBEDIENT)
    with closing(running.items):
        assert running.next() == "on"
        running.signals.send(SIGINT)
        assert running.next() == "interrupted"
        assert isinstance(end := running.next(), Exit)
    assert end.status == 3


def test_a_signal_reaches_what_a_command_started_in_its_group(box):
    running = Running(box, "env", "python3", "-c", TWO)
    with closing(running.items):
        assert [running.next(), running.next()] == ["on", "on"]
        running.signals.send(SIGTERM)
        assert running.next().status == 143
    assert box.run(["sh", "-c", "while pgrep python3; do sleep 0.02; done"]).exit.ok


def test_a_signal_reaches_no_other_command(box):
    one, other = (Running(box, "sh", "-c", OBEDIENT) for _ in range(2))
    with closing(one.items), closing(other.items):
        assert [one.next(), other.next()] == ["on", "on"]
        one.signals.send(SIGINT)
        assert [one.next(), one.next().status] == ["interrupted", 3]
        assert box.run(["pgrep", "-f", "^sh -c trap"]).exit.ok
        other.signals.send(SIGINT)
        assert other.next() == "interrupted"


def test_a_signal_that_comes_too_late_reaches_no_later_command(box):
    """Its parent, which passes signals on, is stopped until the command has ended."""
    running = Running(box, "sh", "-c", "echo $$ $PPID; kill -STOP $PPID")
    with closing(running.items):
        command, parent = running.next().split()
        ended = f"until grep -q zombie /proc/{command}/status; do sleep 0.02; done"
        assert box.run(["sh", "-c", ended]).exit.ok
        running.signals.send(SIGTERM)
        assert box.run(["kill", "-CONT", parent]).exit.ok
        assert running.next().status == 0
    for number in range(5):
        done = box.run(["echo", str(number)], seconds=10)
        assert (done.stdout, done.exit.status) == (b"%d\n" % number, 0)


def test_a_signal_before_its_start_is_sent_to_nobody(box):
    running = Running(box, "echo", "on")
    running.signals.send(SIGTERM)
    with closing(running.items):
        assert [running.next(), running.next().status] == ["on", 0]
