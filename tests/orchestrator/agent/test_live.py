"""Events of work in threads come while it goes on."""

import threading
import time

import pytest

from orchestrator.agent.live import OutOfTimeError, live
from orchestrator.events import Text


def drain(generator):
    events = []
    try:
        while True:
            events.append(next(generator))
    except StopIteration as end:
        return events, end.value


def test_an_event_is_seen_before_its_job_ends():
    may_end = threading.Event()

    def job(emit):
        emit(Text(text="first"))
        may_end.wait()
        return "result"

    running = live(job)
    assert next(running) == Text(text="first")
    may_end.set()
    assert drain(running) == ([], ["result"])


def test_jobs_run_together_and_results_keep_their_order():
    meeting = threading.Barrier(2, timeout=10)

    def job(name):
        def run(emit):
            meeting.wait()
            return name

        return run

    assert drain(live(job("a"), job("b"))) == ([], ["a", "b"])


def test_an_exception_is_raised_after_all_have_ended():
    ended = []

    def failing(emit):
        raise KeyError("broken")

    def working(emit):
        ended.append(True)

    with pytest.raises(KeyError, match="broken"):
        drain(live(failing, working))
    assert ended == [True]


def test_a_job_that_takes_too_long_is_left_behind():
    with pytest.raises(OutOfTimeError):
        drain(live(lambda emit: threading.Event().wait(30), until=time.monotonic() + 0.05))


def test_a_job_nobody_listens_to_ends_at_its_next_event():
    more, ended = threading.Event(), threading.Event()

    def job(emit):
        try:
            emit(Text(text="seen"))
            more.wait()
            emit(Text(text="unseen"))
        finally:
            ended.set()

    running = live(job)
    next(running)
    running.close()
    more.set()
    assert ended.wait(10)
