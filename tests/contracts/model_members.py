"""Every Model, each on a stage where it gives the same answers."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, replace

from orchestrator.models import scripted
from orchestrator.models.access import Access
from orchestrator.models.model import Model
from orchestrator.models.table import PROVIDERS
from tests.api.scenario import Step
from tests.api.server import PlayedApi, play

KEY = "sk-0123456789abcdef"
CONNECT = {provider.name: provider.connect for provider in PROVIDERS}
"""Each loads its SDK when it is called: that takes a second, which not every process has to pay."""


def connect(access: Access) -> Model:
    """The model of an access, by its provider."""
    return CONNECT[access.provider](access)


@dataclass(frozen=True)
class Stage:
    """A model, and the API behind it where there is one."""

    model: Model
    api: PlayedApi | None = None


@dataclass(frozen=True)
class Member:
    """One Model of the family over an API."""

    name: str
    connect: Callable[[Access], Model]
    path: str

    def access(self, url: str) -> Access:
        return Access(self.name, "model-1", url + self.path, KEY, f"{self.name.upper()}_KEY")

    @contextmanager
    def stage(self, *steps: Step, silence: float = 10.0) -> Iterator[Stage]:
        with play(*steps) as api:
            model = self.connect(replace(self.access(api.url), silence=silence))
            try:
                yield Stage(model, api)
            finally:
                model.finish()


API_MEMBERS = (
    Member("anthropic", CONNECT["anthropic"], ""),
    Member("openai", CONNECT["openai"], "/v1"),
    Member("chat", CONNECT["openai-chat"], "/v1"),
)


@contextmanager
def _scripted(*steps: Step) -> Iterator[Stage]:
    model = scripted.ScriptedModel(scripted.Script(tuple(map(_script_step, steps))))
    yield Stage(model)
    model.finish()


def _script_step(step: Step) -> scripted.Step:
    calls = tuple(scripted.Call(call.tool, call.arguments, call.text) for call in step.calls)
    expect = "".join(step.expect.said)
    return scripted.Step(step.text, calls, expect, step.usage, step.stop or None)


STAGES: dict[str, Callable[..., AbstractContextManager[Stage]]] = {
    **{member.name: member.stage for member in API_MEMBERS},
    "scripted": _scripted,
}
