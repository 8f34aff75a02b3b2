"""The table of workers: who can be given a task, and what each needs beside it."""

from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from orchestrator.agent.loop import Agent
from orchestrator.command import Command
from orchestrator.delegates.account import Account
from orchestrator.delegates.delegate import Delegate
from orchestrator.delegates.table import CLIS
from orchestrator.dialogue import Dialogue
from orchestrator.errors import UsageError
from orchestrator.models.access import Traffic
from orchestrator.models.model import Model
from orchestrator.task import Task
from orchestrator.worker import Worker
from sandbox.gateway.door import Door
from sandbox.gateway.routes import Route
from sandbox.kit import Kit

Brain: TypeAlias = Model | Route | None
"""An agent's model; for a delegate, the route on which the gateway asks models; else nothing."""


@dataclass(frozen=True, slots=True)
class Hired:
    """A worker with what its sandbox has for it."""

    worker: Worker
    doors: tuple[Door, ...] = ()
    """Ways out that only the worker has, and no proof."""
    kits: tuple[Kit, ...] = ()


def hire(
    task: Task,
    brain: Brain,
    artifacts: Path,
    traffic: Traffic,
    dialogue: Dialogue | None = None,
) -> Hired:
    """The worker a task asks for; output too long to show goes to files in `artifacts`.

    `traffic` is what its model is reached through; an agent goes on with the dialogue, if there is
    one. Raises UsageError when the task needs a model and there is none.
    """
    if task.worker == "command":
        return Hired(Command(artifacts))
    if cli := CLIS.get(task.worker):
        if not isinstance(brain, Route):
            raise UsageError(f"{cli.name} needs a way to models of {cli.api}.")
        account = Account.open(task, brain, traffic)
        return Hired(Delegate(cli, account, artifacts), (account.door,), (cli.kit,))
    if brain is None or isinstance(brain, Route):
        raise UsageError("An agent needs a model: name one with --model provider:name.")
    agent = Agent(brain, artifacts, patience=traffic.patience, dialogue=dialogue)
    return Hired(agent)
