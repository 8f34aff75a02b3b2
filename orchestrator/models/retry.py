"""Asking a model again when its API failed in a way that may pass."""

import random
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from orchestrator.errors import ModelError, RateLimitedError
from orchestrator.models.model import Answer, Message, Model, ToolSchema

MAX_RETRIES = 3
FIRST_DELAY = 0.5
MAX_DELAY = 60.0
"""Seconds. A provider that wants more is not waited for: the run ends as rate limited."""


@dataclass(frozen=True, slots=True)
class Retry:
    """An attempt that failed and will be repeated."""

    number: int
    """1 for the first repetition."""
    seconds: float
    """How long is waited before it."""
    reason: str
    void: str
    """What the failed attempt had streamed; it is not part of any answer."""

    @property
    def text(self) -> str:
        """One sentence for people."""
        lost = " (what it had said so far is void)" if self.void else ""
        return f"{self.reason}{lost}; retry {self.number} of {MAX_RETRIES} in {self.seconds:.1f} s"


@dataclass(frozen=True, slots=True)
class Patience:
    """How waiting is done."""

    wait: Callable[[float], object] = time.sleep
    """Waits so many seconds; a true answer, like that of `threading.Event.wait`, means: stop."""
    jitter: Callable[[], float] = field(default=lambda: random.uniform(0.75, 1.0))
    now: Callable[[], float] = time.time


class Retrying:
    """A model that is asked again after a failure that may pass."""

    def __init__(
        self, model: Model, on_retry: Callable[[Retry], None], patience: Patience | None = None
    ) -> None:
        self.name = model.name
        self._model = model
        self._on_retry = on_retry
        self._patience = patience or Patience()

    def answer(
        self,
        system: str,
        conversation: Sequence[Message],
        tools: Sequence[ToolSchema],
        *,
        max_output_tokens: int,
        on_text: Callable[[str], None],
    ) -> Answer:
        """Answer as the model does; raises its last error when no retry helped or may be made."""
        for number in range(1, MAX_RETRIES + 2):
            said: list[str] = []
            try:
                return self._model.answer(
                    system,
                    conversation,
                    tools,
                    max_output_tokens=max_output_tokens,
                    on_text=_both(said.append, on_text),
                )
            except ModelError as problem:
                self._pause(number, problem, "".join(said))
        raise AssertionError("the last attempt returns or raises")

    def finish(self) -> None:
        """Let the model finish."""
        self._model.finish()

    def _pause(self, number: int, problem: ModelError, void: str) -> None:
        """Wait before retry `number`, or raise `problem` when there is to be none."""
        if not problem.retryable or number > MAX_RETRIES:
            raise problem
        seconds = self._delay(number, problem)
        self._on_retry(Retry(number, seconds, str(problem), void))
        if self._patience.wait(seconds):
            raise problem

    def _delay(self, number: int, problem: ModelError) -> float:
        """Doubling from half a second, or what the provider asked for."""
        if problem.until is None:
            return min(FIRST_DELAY * 2.0 ** (number - 1) * self._patience.jitter(), MAX_DELAY)
        asked = problem.until - self._patience.now()
        if asked > MAX_DELAY:
            raise RateLimitedError(str(problem), problem.until)
        return max(asked, 0.0)


def _both(first: Callable[[str], None], second: Callable[[str], None]) -> Callable[[str], None]:
    def call(text: str) -> None:
        first(text)
        second(text)

    return call
