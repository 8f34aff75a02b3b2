"""Summaries of a file, whole or by pieces, by a model without tools: it needs no sandbox."""

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from orchestrator import pricing, prompts
from orchestrator.agent.conversation import well_formed
from orchestrator.errors import BudgetError, ModelError, ModelRefusedError, OrchestratorError
from orchestrator.models.model import Answer, Message, Model, Prompt
from orchestrator.models.retry import Patience, Retrying
from orchestrator.pricing import Usage
from orchestrator.spent import Spent
from orchestrator.task import Limits
from splitters import Piece, Pieces, form


@dataclass(frozen=True, slots=True)
class Summary:
    """What a model says of some lines."""

    first_line: int
    last_line: int
    text: str
    over: int = 0
    """Words beyond the limit, after it was told once; 0 where it kept to it."""
    stopped: OrchestratorError | None = None
    """Why it could not be told: this is the last summary then."""

    @property
    def words(self) -> int:
        return words(self.text)


class Summarizer:
    """Asks a model for summaries, within one budget for all of them."""

    def __init__(
        self,
        model: Model,
        limits: Limits,
        *,
        limit_words: int | None = None,
        note: Callable[[str], None] = lambda text: None,
        patience: Patience | None = None,
    ) -> None:
        """`limit_words` is the most that each summary may have; `note` is told of retries."""
        self.model = model
        self.questions = 0
        self.usage = Usage(0, 0)
        """Of all answers so far."""
        self.spent = Spent.within(limits)
        self._limits = limits
        self._limit_words = limit_words
        self._asked = Retrying(model, lambda retry: note(retry.text), patience)

    def text(self, name: str, text: str) -> Summary:
        """A summary of a whole text, in one question. Raises as `pieces`."""
        last = text.count("\n") + (not text.endswith("\n"))
        return self._summary(prompts.summarize(json.dumps(name), text), 1, last)

    def pieces(self, name: str, pieces: Pieces) -> Iterator[Summary]:
        """A summary of each piece, in order, as they come.

        Raises BudgetError before the question for which there is nothing left, and the ModelError
        family; what came before stands.
        """
        return (self.piece(name, pieces, piece) for piece in pieces.pieces)

    def piece(self, name: str, pieces: Pieces, piece: Piece) -> Summary:
        """A summary of one of the pieces. Raises as `pieces`."""
        lines = f"lines {piece.first_line}-{piece.last_line} of {json.dumps(name)}"
        text = form.text(pieces.data, piece.start, piece.end)
        return self._summary(prompts.summarize(lines, text), piece.first_line, piece.last_line)

    def whole(self, name: str, summaries: Sequence[Summary]) -> Summary:
        """One summary of a file, from those of its pieces, all of them. Raises as `pieces`."""
        told = "\n".join(f"Lines {s.first_line}-{s.last_line}: {s.text}" for s in summaries)
        question = prompts.summarize(
            f"{json.dumps(name)}, of whose parts these are summaries", told
        )
        return self._summary(question, 1, summaries[-1].last_line)

    def _summary(self, question: str, first: int, last: int) -> Summary:
        conversation: list[Message] = [Prompt(question)]
        answer = self._answer(conversation)
        over = self._over(answer)
        if over:
            told = prompts.too_long(words(answer.text), over, self._limit_words or 0)
            try:
                answer = self._answer([*conversation, answer, Prompt(told)])
            except OrchestratorError as stopped:
                return Summary(first, last, answer.text.strip(), over, stopped)
            over = self._over(answer)
        return Summary(first, last, answer.text.strip(), over)

    def _over(self, answer: Answer) -> int:
        return max(0, words(answer.text) - self._limit_words) if self._limit_words else 0

    def _answer(self, conversation: Sequence[Message]) -> Answer:
        """Ask; an answer that is none is an error."""
        if reason := self.spent.over():
            raise BudgetError(_spent(reason, self._limits))
        answer = self._asked.answer(
            prompts.summarizer(self._limit_words),
            conversation,
            (),
            max_output_tokens=self._limits.output_tokens,
            on_text=lambda piece: None,
        )
        self._count(answer.usage)
        if answer.stop == "refused":
            raise ModelRefusedError(f"{self.model.name} declined to summarize this: {answer.text}")
        if answer.stop == "length" or not answer.text.strip():
            how = "cut off at the output limit" if answer.stop == "length" else "empty"
            raise ModelError(f"The answer of {self.model.name} was {how}: try another model.")
        return well_formed(answer)

    def _count(self, usage: Usage) -> None:
        self.questions += 1
        self.spent.count(usage.input_tokens, pricing.cost(self.model.name, usage))
        self.usage = Usage(
            self.usage.input_tokens + usage.input_tokens,
            self.usage.output_tokens + usage.output_tokens,
            self.usage.cache_read_tokens + usage.cache_read_tokens,
            self.usage.cache_write_tokens + usage.cache_write_tokens,
        )


def words(text: str) -> int:
    """How many words a text has: what stands between white space."""
    return len(text.split())


def _spent(reason: str, limits: Limits) -> str:
    if reason == "cost":
        return f"The cost limit of {limits.cost:.2f} US dollars is used up: raise --max-cost."
    if reason == "time":
        return f"The time limit of {limits.seconds:g} s is used up."
    return (
        f"The limit of {limits.input_tokens:,} input tokens is used up: raise --max-input-tokens."
    )
