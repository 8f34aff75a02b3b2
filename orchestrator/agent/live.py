"""Work in threads whose events are seen while it goes on: an answer streams in, a test prints."""

import queue
import threading
import time
from collections.abc import Callable, Generator
from concurrent.futures import Future
from typing import TypeVar

from orchestrator.events import AnyEvent

T = TypeVar("T")
Emit = Callable[[AnyEvent], None]


class OutOfTimeError(Exception):
    """The jobs did not end in time; they are left behind."""


class _AbandonedError(Exception):
    """Ends a job that nobody listens to any more, at the next event it tells."""


def live(
    *jobs: Callable[[Emit], T], until: float | None = None
) -> Generator[AnyEvent, None, list[T]]:
    """Run the jobs together, yield their events as they come, return their results in order.

    When all have ended, the first exception of any is raised. Raises OutOfTimeError when
    `time.monotonic()` reaches `until` before that.
    """
    told: queue.SimpleQueue[AnyEvent | None] = queue.SimpleQueue()
    abandoned = threading.Event()

    def emit(event: AnyEvent) -> None:
        if abandoned.is_set():
            raise _AbandonedError
        told.put(event)

    futures: list[Future[T]] = [Future() for _ in jobs]
    try:
        for job, future in zip(jobs, futures, strict=True):
            threading.Thread(target=_run, args=(job, emit, future, told), daemon=True).start()
        yield from _until_all_ended(told, len(jobs), until)
    finally:
        abandoned.set()
    return [future.result() for future in futures]


def _run(
    job: Callable[[Emit], T],
    emit: Emit,
    future: "Future[T]",
    told: "queue.SimpleQueue[AnyEvent | None]",
) -> None:
    try:
        future.set_result(job(emit))
    except BaseException as error:  # it is raised again where the result is taken
        future.set_exception(error)
    told.put(None)


def _until_all_ended(
    told: "queue.SimpleQueue[AnyEvent | None]", running: int, until: float | None
) -> Generator[AnyEvent, None, None]:
    while running:
        left = None if until is None else max(0.0, until - time.monotonic())
        try:
            event = told.get(timeout=left)
        except queue.Empty:
            raise OutOfTimeError from None
        if event is None:
            running -= 1
        else:
            yield event
