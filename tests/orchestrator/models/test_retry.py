from dataclasses import dataclass, field

import pytest

from orchestrator.errors import ModelError, ModelRefusedError, RateLimitedError
from orchestrator.models.model import Answer, Prompt
from orchestrator.models.retry import Patience, Retry, Retrying
from orchestrator.pricing import Usage

ANSWER = Answer("Done.", (), Usage(1, 1), "complete")
BUSY = ModelError("busy", retryable=True)
NOW = 1_000_000.0


@dataclass
class Flaky:
    """Fails as told, then answers; says "Do" before each."""

    failures: list[ModelError]
    name: str = "flaky:model"
    finished: bool = False

    def answer(self, system, conversation, tools, *, max_output_tokens, on_text):
        on_text("Do")
        if self.failures:
            raise self.failures.pop(0)
        on_text("ne.")
        return ANSWER

    def finish(self):
        self.finished = True


@dataclass
class Trial:
    """One question to a model that fails first, and what was seen of it."""

    failures: list[ModelError]
    jitter: float = 1.0
    cancel_after: int = 99
    slept: list[float] = field(default_factory=list)
    shown: list[str] = field(default_factory=list)
    retries: list[Retry] = field(default_factory=list)

    def run(self):
        patience = Patience(self._wait, lambda: self.jitter, lambda: NOW)
        model = Retrying(Flaky(self.failures), self.retries.append, patience)
        return model.answer("", [Prompt("go")], (), max_output_tokens=9, on_text=self.shown.append)

    def _wait(self, seconds):
        self.slept.append(seconds)
        return len(self.slept) >= self.cancel_after


@pytest.mark.parametrize(("jitter", "slept"), [(1.0, [0.5, 1, 2]), (0.75, [0.375, 0.75, 1.5])])
def test_three_retries_wait_twice_as_long_each_time(jitter, slept):
    trial = Trial([BUSY] * 3, jitter)
    assert (trial.run(), trial.slept) == (ANSWER, slept)


def test_the_fourth_failure_is_final():
    trial = Trial([BUSY] * 4)
    with pytest.raises(ModelError, match="busy"):
        trial.run()
    assert len(trial.slept) == 3


def test_the_jitter_lies_between_three_quarters_and_one():
    assert all(0.75 <= Patience().jitter() <= 1.0 for _ in range(1000))


def test_what_no_retry_cures_is_raised_at_once():
    trial = Trial([ModelRefusedError("no")])
    with pytest.raises(ModelRefusedError):
        trial.run()
    assert trial.slept == []


def test_the_provider_says_how_long_to_wait():
    trial = Trial([RateLimitedError("later", until=NOW + 17)])
    assert (trial.run(), trial.slept) == (ANSWER, [17.0])


def test_a_time_that_is_over_is_not_waited_for():
    trial = Trial([RateLimitedError("later", until=NOW - 17)])
    assert (trial.run(), trial.slept) == (ANSWER, [0.0])


@pytest.mark.parametrize("kind", [RateLimitedError("later", NOW + 61), None])
def test_more_than_a_minute_ends_as_rate_limited(kind):
    trial = Trial([kind or ModelError("later", retryable=True, until=NOW + 61)])
    with pytest.raises(RateLimitedError) as raised:
        trial.run()
    assert (raised.value.until, trial.slept) == (NOW + 61, [])


def test_waiting_can_be_cut_short():
    trial = Trial([BUSY] * 3, cancel_after=2)
    with pytest.raises(ModelError, match="busy"):
        trial.run()
    assert trial.slept == [0.5, 1.0]


def test_each_retry_is_told_with_what_became_void():
    trial = Trial([BUSY])
    trial.run()
    assert trial.shown == ["Do", "Do", "ne."]
    assert trial.retries == [Retry(1, 0.5, "busy", void="Do")]
    assert trial.retries[0].text == (
        "busy (what it had said so far is void); retry 1 of 3 in 0.5 s"
    )


def test_finishing_reaches_the_model():
    model = Flaky([])
    Retrying(model, print).finish()
    assert model.finished
