"""Calls carried out beside the event loop, one after another; the process's end waits for none."""

import threading
from collections.abc import Callable
from concurrent.futures import Executor, Future
from queue import SimpleQueue
from typing import Any, ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")


class Aside(Executor):
    """An executor of one daemon thread: those of `ThreadPoolExecutor` are joined at exit, and a
    call about a hostile file would hold that up."""

    def __init__(self, name: str) -> None:
        self._waiting: SimpleQueue[tuple[Future[Any], Callable[[], Any]] | None] = SimpleQueue()
        self._over = False
        threading.Thread(target=self._carry, name=name, daemon=True).start()

    def submit(self, fn: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> Future[T]:
        """Raises RuntimeError after the shutdown."""
        if self._over:
            raise RuntimeError("no call is taken any more")
        future: Future[T] = Future()
        self._waiting.put((future, lambda: fn(*args, **kwargs)))
        return future

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Take no further call, and carry out none that waits; nobody is waited for."""
        self._over = True
        self._waiting.put(None)

    def _carry(self) -> None:
        while (each := self._waiting.get()) is not None:
            future, call = each
            if self._over:
                future.cancel()
            elif future.set_running_or_notify_cancel():
                try:
                    future.set_result(call())
                except BaseException as error:
                    future.set_exception(error)
