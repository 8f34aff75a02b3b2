"""The table of workers: who can be given a task, and what each needs beside it."""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeAlias

from orchestrator.agent.loop import Agent
from orchestrator.command import Command
from orchestrator.delegates.account import Account
from orchestrator.delegates.acp import Acp
from orchestrator.delegates.cli import Program
from orchestrator.delegates.delegate import Delegate
from orchestrator.delegates.lent import Equipped, Lent
from orchestrator.delegates.remembered import Remembered
from orchestrator.delegates.table import CLIS, LOGINS
from orchestrator.delegates.transcript import Transcript
from orchestrator.dialogue import Dialogue
from orchestrator.errors import UsageError
from orchestrator.models.access import Traffic
from orchestrator.models.model import Model
from orchestrator.task import Task
from orchestrator.worker import Worker
from sandbox.gateway.door import Door
from sandbox.gateway.mask import spellings
from sandbox.gateway.routes import Route
from sandbox.kit import Kit

Brain: TypeAlias = Model | Route | tuple[Route, ...] | None
"""An agent's model; for a delegate, the routes on which the gateway asks models; else nothing."""
Before: TypeAlias = Dialogue | Transcript | None
"""What an agent had said and heard; for a delegate, its program's own session; else nothing."""
SESSIONS = "sessions"
"""The folder of artifacts that holds what a delegate's program keeps of its sessions."""


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
    before: Before = None,
) -> Hired:
    """The worker a task asks for; output too long to show goes to files in `artifacts`.

    `traffic` is what its model is reached through; `before` is what it goes on with. Raises
    UsageError when the task needs a model and there is none.
    """
    if task.worker == "command":
        return Hired(Command(artifacts))
    if cli := CLIS.get(task.worker):
        if not isinstance(brain, Route):
            raise UsageError(f"{cli.name} needs a way to models of {cli.api}.")
        cli = LOGINS[cli.name] if brain.bearer else cli
        return _delegate(cli, cli.kit, task, (brain,), artifacts, traffic, before)
    if task.worker == "acp":
        routes = brain if isinstance(brain, tuple) else ()
        agent = Acp(task.command, routes)
        return _delegate(agent, agent.kit, task, routes, artifacts, traffic, before)
    if brain is None or isinstance(brain, Route | tuple):
        raise UsageError("An agent needs a model: name one with --model provider:name.")
    dialogue = before if isinstance(before, Dialogue) else None
    return Hired(Agent(brain, artifacts, patience=traffic.patience, dialogue=dialogue))


def _delegate(
    cli: Program,
    kit: Kit | None,
    task: Task,
    routes: tuple[Route, ...],
    artifacts: Path,
    traffic: Traffic,
    before: Before,
) -> Hired:
    session = before if isinstance(before, Transcript) else None
    answers = None if cli.counts_turns else task.limits.turns
    account = Account.open(task, routes, traffic, answers)
    secrets = frozenset(spellings((*(route.key for route in routes), account.token)))
    kits = (kit,) if kit else ()
    hired = Hired(Delegate(cli, account, artifacts, session), (account.door,), kits)
    if task.lends:
        hired = _equipped(hired, Lent(artifacts, account.token))
    if not cli.transcripts:
        return hired
    place = artifacts / SESSIONS
    return replace(hired, worker=Remembered(hired.worker, cli, place, secrets, session))


def _equipped(hired: Hired, lent: Lent) -> Hired:
    """With a door at which our tools are."""
    return replace(hired, worker=Equipped(hired.worker, lent), doors=(*hired.doors, lent.door))
