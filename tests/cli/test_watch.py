"""Ctrl-C while a run is watched."""

import io
import os
import signal
import sys

import pytest

from orchestrator.cli.watch import stoppable


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
