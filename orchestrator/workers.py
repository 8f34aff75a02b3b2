"""The table of workers: who can be given a task, and what each needs beside it."""

from collections.abc import Mapping
from dataclasses import replace
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
from orchestrator.delegates.subtasks import Start, Subtasks
from orchestrator.delegates.table import CLIS, LOGINS
from orchestrator.delegates.transcript import SESSIONS, Transcript
from orchestrator.dialogue import Dialogue
from orchestrator.errors import UsageError
from orchestrator.models.access import Traffic
from orchestrator.models.model import Model
from orchestrator.task import Task
from orchestrator.worker import Hired
from sandbox.gateway.mask import spellings
from sandbox.gateway.routes import Route

Brain: TypeAlias = Model | Route | tuple[Route, ...] | None
"""An agent's model; for a delegate, the routes on which the gateway asks models; else nothing."""
Before: TypeAlias = Dialogue | Transcript | None
"""What an agent had said and heard; for a delegate, its program's own session; else nothing."""
NO_ROUTES: Mapping[str, Route] = {}


def hire(
    task: Task,
    brain: Brain,
    artifacts: Path,
    traffic: Traffic,
    before: Before = None,
    routes: Mapping[str, Route] = NO_ROUTES,
) -> Hired:
    """The worker a task asks for; output too long to show goes to files in `artifacts`.

    `traffic` is what its model is reached through; `before` is what it goes on with; by `routes`
    the programs ask models to which an agent may delegate. Raises UsageError when the task needs a
    model or a route and there is none.
    """
    if task.worker == "command":
        return Hired(Command(artifacts))
    if cli := CLIS.get(task.worker):
        if not isinstance(brain, Route):
            raise UsageError(f"{cli.name} needs a way to models of {cli.api}.")
        cli = LOGINS[cli.name] if brain.bearer else cli
        return _delegate(cli, task, (brain,), artifacts, traffic, before)
    if task.worker == "acp":
        asked = brain if isinstance(brain, tuple) else ()
        return _delegate(Acp(task.command, asked), task, asked, artifacts, traffic, before)
    if brain is None or isinstance(brain, Route | tuple):
        raise UsageError("An agent needs a model: name one with --model provider:name.")
    dialogue = before if isinstance(before, Dialogue) else None
    agent = Agent(brain, artifacts, patience=traffic.patience, dialogue=dialogue)
    return _with_delegates(agent, task, traffic, routes) if task.delegates else Hired(agent)


def _with_delegates(
    agent: Agent, task: Task, traffic: Traffic, routes: Mapping[str, Route]
) -> Hired:
    """Our agent with the tool `delegate`, the programs, and a door for whichever works."""
    if missing := set(task.delegates) - set(routes):
        raise UsageError(f"There is no way to models for {', '.join(sorted(missing))}.")

    def start(name: str) -> Start:
        cli = LOGINS[name] if routes[name].bearer else CLIS[name]
        return lambda part, folder, before, most: _delegate(
            cli, part, (routes[name],), folder, traffic, before, most
        )

    subtasks = Subtasks(task, agent.artifacts, {name: start(name) for name in task.delegates})
    return Hired(
        replace(agent, tools=(*agent.tools, subtasks.tool)),
        (subtasks.door,),
        tuple(CLIS[name].kit for name in task.delegates),
        subtasks.listen,
    )


def _delegate(
    cli: Program,
    task: Task,
    routes: tuple[Route, ...],
    artifacts: Path,
    traffic: Traffic,
    before: Before,
    most: int | None = None,
) -> Hired:
    """`most` is the number of all answers, for a program that counts but some of them as turns."""
    session = before if isinstance(before, Transcript) else None
    answers = most if cli.counts_turns else task.limits.turns
    account = Account.open(task, routes, traffic, answers)
    secrets = frozenset(spellings((*(route.key for route in routes), account.token)))
    delegate = Delegate(cli, account, artifacts, session)
    hired = Hired(delegate, (account.door,), cli.kits, used=account.used)
    if task.lends:
        hired = _equipped(hired, Lent(artifacts, account.token))
    if not cli.transcripts:
        return hired
    place = artifacts / SESSIONS
    return replace(hired, worker=Remembered(hired.worker, cli, place, secrets, session))


def _equipped(hired: Hired, lent: Lent) -> Hired:
    """With a door at which our tools are."""
    return replace(hired, worker=Equipped(hired.worker, lent), doors=(*hired.doors, lent.door))
