"""What was said so far, and asking the model for its next answer."""

import time
from collections.abc import Generator, Sequence
from dataclasses import dataclass, field, replace

from orchestrator import foreign, pricing
from orchestrator.agent.live import Emit, live
from orchestrator.dialogue import Dialogue
from orchestrator.events import AnyEvent, Text, Turn, Warned
from orchestrator.models.model import Answer, Message, Model, ToolCall, ToolSchema
from orchestrator.models.retry import Patience, Retrying


@dataclass(slots=True)
class Conversation:
    """The messages between us and one model; they only grow."""

    model: Model
    system: str
    tools: Sequence[ToolSchema]
    max_output_tokens: int
    patience: Patience
    """How waiting between attempts to reach the model is done."""
    messages: list[Message] = field(default_factory=list)
    dialogue: Dialogue | None = None
    """Where the messages are kept that come from now on."""

    def add(self, *messages: Message) -> None:
        """Go on with these messages."""
        self.messages += messages
        for message in messages:
            if self.dialogue:
                self.dialogue.keep(message)

    def answer(self, step: int, until: float) -> Generator[AnyEvent, None, Answer]:
        """Ask for the next answer; its text is told as it streams in, then what it cost.

        Raises the ModelError family when no retry helped, and OutOfTimeError when
        `time.monotonic()` reaches `until` first.
        """
        before = time.monotonic()
        (answer,) = yield from live(self._ask, until=until)
        yield self._turn(step, answer, time.monotonic() - before)
        return answer

    def _ask(self, emit: Emit) -> Answer:
        model = Retrying(self.model, lambda retry: emit(Warned(text=retry.text)), self.patience)
        answer = model.answer(
            self.system,
            self.messages,
            self.tools,
            max_output_tokens=self.max_output_tokens,
            on_text=lambda piece: emit(Text(text=piece)),
        )
        return well_formed(answer)

    def _turn(self, step: int, answer: Answer, seconds: float) -> Turn:
        usage = answer.usage
        return Turn(
            step=step,
            model=self.model.name,
            text=answer.text,
            input_tokens=usage.input_tokens,
            output_tokens=usage.output_tokens,
            cache_read_tokens=usage.cache_read_tokens,
            cache_write_tokens=usage.cache_write_tokens,
            cost=pricing.cost(self.model.name, usage),
            seconds=seconds,
            final=not answer.calls,
        )


def well_formed(answer: Answer) -> Answer:
    """The answer in text that can be written down and sent back."""
    calls = (
        ToolCall(*map(foreign.well_formed, (call.id, call.name, call.arguments)))
        for call in answer.calls
    )
    return replace(
        answer,
        text=foreign.well_formed(answer.text),
        calls=tuple(calls),
        echo=tuple(foreign.all_well_formed(block) for block in answer.echo),
    )
