"""The table of workers: who can be given a task."""

from pathlib import Path

from orchestrator.agent.loop import Agent
from orchestrator.command import Command
from orchestrator.errors import UsageError
from orchestrator.models.model import Model
from orchestrator.models.retry import Patience
from orchestrator.task import Task
from orchestrator.worker import Worker


def hire(task: Task, model: Model | None, artifacts: Path, patience: Patience) -> Worker:
    """The worker a task asks for; output too long to show goes to files in `artifacts`.

    `patience` says how waiting between attempts to reach the model is done. Raises UsageError when
    the task needs a model and there is none.
    """
    if task.worker == "command":
        return Command(artifacts)
    if model is None:
        raise UsageError("An agent needs a model: name one with --model provider:name.")
    return Agent(model, artifacts, patience=patience)
