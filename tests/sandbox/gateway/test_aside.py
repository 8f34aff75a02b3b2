"""Calls beside the loop: in their order, and no end of a process waits for one."""

import subprocess
import sys
import threading
from concurrent.futures import CancelledError

import pytest

from sandbox.gateway.aside import Aside

HANGING = """
import threading, time
from sandbox.gateway.aside import Aside
began = threading.Event()
def hang():
    began.set()
    time.sleep(3600)
aside = Aside("mcp")
aside.submit(hang)
began.wait()
aside.shutdown()
"""


def test_calls_are_carried_out_in_order():
    aside, found = Aside("test"), []
    calls = [aside.submit(found.append, number) for number in range(9)]
    assert [call.result(30) for call in calls] == [None] * 9
    assert found == [*range(9)]
    aside.shutdown()


def test_what_a_call_raises_is_raised_to_who_asked():
    with Aside("test") as aside, pytest.raises(ZeroDivisionError):
        aside.submit(lambda: 1 // 0).result(30)


def test_after_the_end_nothing_is_carried_out():
    aside, began, go = Aside("test"), threading.Event(), threading.Event()
    first, second = aside.submit(lambda: (began.set(), go.wait(30))), aside.submit(int)
    began.wait(30)
    aside.shutdown()
    go.set()
    assert first.result(30) == (None, True)
    with pytest.raises(CancelledError):
        second.result(30)
    with pytest.raises(RuntimeError):
        aside.submit(int)


def test_a_process_ends_though_a_call_hangs():
    done = subprocess.run([sys.executable, "-c", HANGING], capture_output=True, timeout=60)
    assert (done.returncode, done.stderr) == (0, b"")
