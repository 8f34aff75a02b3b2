"""A model that plays a script: demos, tests and dry runs need no key and no network.

A script is a JSON or TOML file. Each step is one answer; steps are played in order, each once:

    {"steps": [
      {"expect": "fix the sum",
       "text": "I will look first.",
       "calls": [{"tool": "read_file", "arguments": {"path": "sum.py"}}]},
      {"expect": "return a - b",
       "calls": [{"tool": "edit_file", "arguments_text": "{broken on purpose"}],
       "usage": {"input_tokens": 900, "output_tokens": 40}},
      {"text": "Done."}
    ]}

`expect` must be part of what the model was told last: the prompt, or the results of its calls.
Where script and run disagree, a ScriptError says so; a step left over at the end is one, too.
"""

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NoReturn

import msgspec

from orchestrator.errors import ScriptError, UsageError
from orchestrator.models.model import (
    Answer,
    AnswerStop,
    Message,
    Prompt,
    Results,
    ToolCall,
    ToolSchema,
)
from orchestrator.pricing import Usage
from orchestrator.screen import count


class Call(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A tool call as the script writes it."""

    tool: str
    arguments: dict[str, Any] = {}
    arguments_text: str | None = None
    """Sent as it stands in place of `arguments`: for JSON that is broken on purpose."""

    @property
    def json(self) -> str:
        return json.dumps(self.arguments) if self.arguments_text is None else self.arguments_text


class Step(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One answer, and what has to be said to the model before it gives it."""

    text: str = ""
    calls: tuple[Call, ...] = ()
    expect: str = ""
    usage: Usage = Usage(0, 0)
    stop: AnswerStop | None = None
    """Without it: `tools` when there are calls, `complete` otherwise."""


class Script(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What a scripted model says, from its first answer to its last."""

    steps: tuple[Step, ...]


def read(path: Path) -> Script:
    """Read a script file, TOML when its name ends so, JSON otherwise.

    Raises UsageError when the file is missing or is not a script.
    """
    decode = msgspec.toml.decode if path.suffix == ".toml" else msgspec.json.decode
    try:
        return decode(path.read_bytes(), type=Script)
    except OSError as problem:
        raise UsageError(f"The script {path} cannot be read: {problem.strerror}.") from None
    except (msgspec.DecodeError, UnicodeDecodeError) as problem:
        raise UsageError(
            f"{path} is not a script of a model: {problem}."
            ' The least that is one, in JSON: {"steps": [{"text": "Done."}]}.'
        ) from None


class ScriptedModel:
    """Gives the answers of a script, in order."""

    def __init__(self, script: Script, name: str = "scripted:script") -> None:
        self.name = name
        self._script = script
        self._played = 0
        self._disagreement: ScriptError | None = None

    def answer(
        self,
        system: str,
        conversation: Sequence[Message],
        tools: Sequence[ToolSchema],
        *,
        max_output_tokens: int,
        on_text: Callable[[str], None],
    ) -> Answer:
        """Give the next step's answer; raises ScriptError when it does not fit what was said."""
        step = self._next(_last_words(conversation))
        if step.text:
            on_text(step.text)
        return Answer(
            text=step.text,
            calls=tuple(
                ToolCall(f"call_{self._played}_{number}", call.tool, call.json)
                for number, call in enumerate(step.calls, start=1)
            ),
            usage=step.usage,
            stop=step.stop or ("tools" if step.calls else "complete"),
        )

    def finish(self) -> None:
        """Raise the ScriptError there was, even if it was swallowed then; or one for steps left."""
        if self._disagreement:
            raise self._disagreement
        left = len(self._script.steps) - self._played
        if left:
            steps = count(len(self._script.steps), "step")
            raise ScriptError(
                f"{self.name}: the run ended with {left} of {steps}"
                " of the script left over; drop them or find out why it ended early"
            )

    def _next(self, said: str) -> Step:
        if self._played == len(self._script.steps):
            self._disagree(f"the script has no step {self._played + 1}; it was told: {said[:500]}")
        step = self._script.steps[self._played]
        self._played += 1
        if step.expect not in said:
            self._disagree(
                f"step {self._played} expects {step.expect!r} in what it is told,"
                f" but that was: {said[:500]}"
            )
        return step

    def _disagree(self, how: str) -> NoReturn:
        problem = ScriptError(f"{self.name}: {how}")
        self._disagreement = self._disagreement or problem
        raise problem


def _last_words(conversation: Sequence[Message]) -> str:
    match conversation[-1]:
        case Prompt(text):
            return text
        case Results(results):
            return "\n".join(result.text for result in results)
        case Answer(text):
            return text
