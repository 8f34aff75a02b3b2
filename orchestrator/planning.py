"""How flags meet the settings of a repository, and the defaults, in a Task."""

import shlex
from dataclasses import dataclass, replace
from pathlib import PurePosixPath

from orchestrator import agent_command, named_command
from orchestrator.agent_settings import NONE
from orchestrator.beside import companions
from orchestrator.delegation import Delegation
from orchestrator.errors import UsageError
from orchestrator.machine import box, size
from orchestrator.network import network
from orchestrator.settings import FILE, Settings, check
from orchestrator.task import MAX_TURNS, Limits, Task, WorkerKind


@dataclass(frozen=True, slots=True)
class Flags:
    """What was asked on the command line; `None` and empty mean: not said."""

    base: str = "HEAD"
    worker: WorkerKind | None = None
    command: tuple[str, ...] = ()
    use: str | None = None
    """The name of a command in the settings."""
    arguments: tuple[str, ...] = ()
    """Its arguments, as NAME=VALUE each."""
    agent: str = ""
    """The command of an agent, for the `acp` worker."""
    model: str | None = None
    image: str | None = None
    runtime: str | None = None
    setup: tuple[str, ...] = ()
    checks: tuple[str, ...] = ()
    only: tuple[str, ...] = ()
    setup_network: bool | None = None
    allow: tuple[str, ...] = ()
    private_hosts: tuple[str, ...] = ()
    turns: int | None = None
    cost: float | None = None
    """US dollars."""
    seconds: float | None = None
    timed_by: str = ""
    """The setting that says `seconds`, where no person does."""
    input_tokens: int | None = None
    map_tokens: int | None = None
    delegates: tuple[str, ...] = ()
    """`NONE` alone: none, whatever the file says."""


@dataclass(frozen=True, slots=True)
class Planned:
    """A complete task, and what the person who asked should know about it."""

    task: Task
    warnings: tuple[str, ...] = ()


def task(
    repository: str,
    prompt: str,
    settings: Settings,
    flags: Flags | None = None,
    commit: str = "",
) -> Planned:
    """Merge flags over settings over defaults; a list given as flags replaces the file's list.

    `commit` is the base's id, for a command that asks for it. Raises UsageError for an empty task,
    a worker without its command, or a number out of range.
    """
    flags = flags or Flags()
    worker = flags.worker or ("command" if flags.command or flags.use else "agent")
    _check_worker(worker, flags)
    flags = _with_words(settings, worker, flags, prompt.strip(), commit)
    command = agent_command.words(worker, flags.command, flags.agent, settings.delegates.acp)
    online = settings.setup_network if flags.setup_network is None else flags.setup_network
    delegations = settings.delegates.each
    mine = delegations.get(worker, Delegation())
    asked = _limits(settings.limits.within(mine), flags)
    model = _model(settings, mine, worker) if flags.model is None else flags.model
    setup, checks = flags.setup or settings.setup, flags.checks or settings.checks
    try:
        check(asked, model, (*setup, *checks), lambda name: f"--max-{name.replace('_', '-')}")
        reached = network(settings.network, flags.allow, flags.private_hosts, online=online)
        only = tuple(_inside(path) for path in flags.only)
    except ValueError as error:
        raise _refused(error) from None
    limits = replace(asked, turns=min(asked.turns, MAX_TURNS))
    return Planned(
        task=Task(
            repository=repository,
            prompt=_prompt(prompt, () if worker == "acp" else command),
            base=flags.base,
            worker=worker,
            command=command,
            model=model,
            image=settings.image if flags.image is None else flags.image,
            runtime=settings.sandbox.runtime if flags.runtime is None else flags.runtime,
            setup=setup,
            setup_network=online,
            network=reached,
            setup_inputs=settings.setup_inputs,
            history=None if settings.history == "all" else settings.history,
            checks=tuple(dict.fromkeys(checks)),
            only=only,
            map_tokens=_map_tokens(settings, flags) if worker == "agent" else 0,
            delegates=_delegates(settings, flags) if worker == "agent" else (),
            lend=settings.delegates.tools,
            delegations=delegations,
            instructions=(settings.agent if worker == "agent" else settings.delegates).instructions,
            project_settings=settings.delegates.project_settings,
            limits=limits,
            timed_by=flags.timed_by or mine.timed_by(worker, asked.seconds),
            box=box(settings.sandbox, limits),
            services=companions(settings.services, size),
        ),
        warnings=(*_clamped(asked, settings, flags, worker), *_for_the_agent(flags, worker)),
    )


def _refused(problem: ValueError) -> UsageError:
    """The error in a sentence: elsewhere its words stand behind the name of a file or a key."""
    text = str(problem)
    return UsageError(f"{text[0].upper()}{text[1:]}.")


def _prompt(said: str, command: tuple[str, ...]) -> str:
    """What was asked for in words; a command speaks for itself."""
    if prompt := said.strip() or shlex.join(command):
        return prompt
    raise UsageError(
        "The task is empty: say in a sentence what should change,"
        " or send one to standard input, with `-`."
    )


def _inside(path: str) -> str:
    """The path as git writes it. Raises ValueError for one that leaves the repository."""
    parts = PurePosixPath(path).parts
    if not parts or path.startswith("/") or ".." in parts:
        raise ValueError(f"--only: {path!r} is no path below the root of the repository")
    return "/".join(parts)


_CALLED = {
    "agent": "The agent",
    "claude": "Claude Code",
    "codex": "Codex",
    "acp": "An agent of the acp worker",
}


def _check_worker(worker: WorkerKind, flags: Flags) -> None:
    if flags.command and flags.use:
        raise UsageError("Two commands were given: drop --use, or what is after `--`.")
    if flags.arguments and not flags.use:
        raise UsageError("--arg is for a command of the settings: name it with --use.")
    if worker == "command" and not (flags.command or flags.use):
        raise UsageError(
            "The command worker needs a command: put it after `--`,"
            f" or name one of {FILE} with --use."
        )
    if worker != "command" and (flags.use or (flags.command and worker != "acp")):
        drop = "what is after `--`" if flags.command else "--use"
        raise UsageError(
            f"{_CALLED[worker]} takes no command: say `--worker command`, or drop {drop}."
        )


def _with_words(
    settings: Settings, worker: WorkerKind, flags: Flags, prompt: str, commit: str
) -> Flags:
    """The flags with their command's words, each placeholder filled in, and its time.

    An agent's command has no placeholders.
    """
    if worker == "acp":
        return flags
    seconds, timed_by = flags.seconds, flags.timed_by
    try:
        given = {
            "prompt": (prompt,) if prompt else (),
            "base": (commit or flags.base,),
            "only": tuple(_inside(path) for path in flags.only),
        }
        if flags.use:
            table = named_command.find(settings.commands, flags.use)
            words = named_command.words(flags.use, table, flags.arguments, given)
            if seconds is None and table.timeout and table.timeout < settings.limits.seconds:
                seconds, timed_by = table.timeout, f"commands.{flags.use}.timeout"
        else:
            words = named_command.plain_words(flags.command, given)
    except ValueError as error:
        raise _refused(error) from None
    return replace(flags, command=words, use=None, arguments=(), seconds=seconds, timed_by=timed_by)


def _limits(limits: Limits, flags: Flags) -> Limits:
    return replace(
        limits,
        turns=limits.turns if flags.turns is None else flags.turns,
        input_tokens=limits.input_tokens if flags.input_tokens is None else flags.input_tokens,
        cost=limits.cost if flags.cost is None else flags.cost,
        seconds=limits.seconds if flags.seconds is None else flags.seconds,
    )


def _model(settings: Settings, mine: Delegation, worker: WorkerKind) -> str:
    return mine.named(worker) or settings.model


def _delegates(settings: Settings, flags: Flags) -> tuple[str, ...]:
    named = dict.fromkeys(flags.delegates or settings.agent.delegates)
    if NONE in named and len(named) > 1:
        raise UsageError(f"--delegate {NONE} allows no other: drop one of them.")
    return tuple(name for name in named if name != NONE)


def _map_tokens(settings: Settings, flags: Flags) -> int:
    return settings.agent.map_tokens if flags.map_tokens is None else flags.map_tokens


def _for_the_agent(flags: Flags, worker: WorkerKind) -> tuple[str, ...]:
    """What was asked for that no other worker has."""
    asked = {
        "a map is for our own agent: --map-tokens": flags.map_tokens,
        "only our own agent delegates: --delegate": flags.delegates not in ((), (NONE,)),
    }
    without = [said for said, given in asked.items() if given and worker != "agent"]
    return tuple(f"{said} has no effect with --worker {worker}." for said in without)


def _clamped(
    asked: Limits, settings: Settings, flags: Flags, worker: WorkerKind
) -> tuple[str, ...]:
    """Turns beyond what any run takes, for the run or for a delegate that it may start."""
    names = _delegates(settings, flags) if worker == "agent" else (worker,)
    said = {name: settings.delegates.each.get(name, Delegation()).max_turns for name in names}
    most = f"no run takes more than {MAX_TURNS}."
    return (
        *(f"{turns} turns were asked for; {most}" for turns in [asked.turns] if turns > MAX_TURNS),
        *(
            f"delegates.{name}.max_turns is {turns}; {most}"
            for name, turns in said.items()
            if (turns or 0) > MAX_TURNS
        ),
    )
