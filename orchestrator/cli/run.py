"""`orchestrator run`: from a repository and a task to a judged branch."""

import os
import sys
from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import click

from orchestrator import planning, settings
from orchestrator.agent_settings import LARGEST_MAP
from orchestrator.cli import access, choice, place, replay, request, say
from orchestrator.cli.options import Whole, as_json, common
from orchestrator.cli.watch import stoppable, watcher
from orchestrator.cli.work import work_options
from orchestrator.delegates.table import CLIS, LOGINS
from orchestrator.dialogue import Dialogue
from orchestrator.journal import read
from orchestrator.models.access import DIRECT, Traffic
from orchestrator.models.traffic import Recording
from orchestrator.origin import Origin
from orchestrator.planning import Flags, Planned
from orchestrator.record import Record
from orchestrator.render import MOST_FINDINGS, named
from orchestrator.repository import Repository
from orchestrator.run import run
from orchestrator.screen import clean, count
from orchestrator.summary import summary
from orchestrator.task import Task
from orchestrator.workers import Brain, hire
from sandbox.gateway.routes import Route

NOTHING_MORE: Mapping[str, object] = {}
COMMAND = "orchestrator.command"
"""Where `click.Context.meta` keeps the words after `--`."""

OTHER_RULES = f"note: {settings.FILE} in your work tree is not the base's: the base's rules hold"


class WithCommand(click.Command):
    """Keeps the words after `--` apart, which click would mix with the others."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        own = args
        if "--" in args:
            at = args.index("--")
            own, ctx.meta[COMMAND] = args[:at], tuple(args[at + 1 :])
        return super().parse_args(ctx, own)


@click.command("run", cls=WithCommand)
@click.argument("words", nargs=-1, metavar="[REPO] [TASK] [-] [-- COMMAND...]")
@click.option("--task-file", type=click.Path(path_type=Path), help="Read the task from a file.")
@click.option(
    "--base", metavar="REF", default="HEAD", help="Start from this branch, tag or commit."
)
@click.option("--only", multiple=True, metavar="PATH", help="Nothing but PATH may change.")
@click.option(
    "--worker",
    type=click.Choice(["agent", "command", *CLIS, "acp"]),
    help="Our agent with a model, the COMMAND after `--`, or somebody's program.",
)
@click.option("--use", metavar="NAME", help="Carry out [commands.NAME] of .orchestrator.toml.")
@click.option(
    "--arg", "arguments", multiple=True, metavar="NAME=VALUE", help="An argument for that command."
)
@click.option(
    "--command", "agent", default="", metavar="CMD", help="The agent that --worker acp starts."
)
@click.option(
    "--map-tokens",
    type=Whole(0, LARGEST_MAP),
    metavar="N",
    help="Give the agent a map of the repository, of N tokens.",
)
@click.option(
    "--replay",
    "named",
    metavar="RUN|FOLDER",
    help="Play recorded model traffic: no key, no network.",
)
@work_options
@as_json
@common
def command(
    words: tuple[str, ...],
    task_file: Path | None,
    named: str | None,
    recording: bool,
    quiet: bool,
    as_json: bool,
    **given: Any,  # noqa: ANN401 - by their names, the fields of Flags
) -> int:
    """Work on a task in a sealed container, and publish the change as a branch.

    REPO is a folder or a URL, by default the repository around you. The task is one word or a
    quoted sentence; `-` adds what stdin says. What --image, --setup and --check say can stand in
    .orchestrator.toml.

    \b
      orchestrator run "the totals are off by one" --check "make test"
      orchestrator run https://example.org/r.git --task-file task.md
      orchestrator run --worker command -- ruff check --fix .
      orchestrator run "the totals are off by one" --worker acp --command codex-acp
      orchestrator run --replay k7m2x
    """
    after = click.get_current_context().meta.get(COMMAND, ())
    asked = request.read(
        words, task_file=task_file, stdin=sys.stdin.buffer.read, has_command=bool(after)
    )
    given["private_hosts"] += access.private_hosts(os.environ)
    flags = Flags(command=after, **given)
    traffic: Traffic = Recording() if recording else DIRECT
    played = None
    if named is not None:
        played = replay.find(named, flags)
        asked, flags = played.request(asked, said=bool(words)), played.flags(flags)
        traffic = played.traffic
    repository = open_repository(asked.repository)
    planned = plan(repository, asked.prompt, flags)
    if played:
        planned = replace(planned, task=played.task(planned.task))
    for warning in planned.warnings:
        say.note(f"note: {warning}")
    tell_dirty(repository.dirty_paths())
    before = (played.dialogue, played.origin) if played else ()
    record = carry_out(planned, repository, quiet, traffic, *before)
    tell(record, as_json)
    if played and (said := played.difference(record)):
        say.note(f"note: {said}")
    return 1 if record.exit_code is None else record.exit_code


def open_repository(where: str) -> Repository:
    """The repository at a URL or a path; it goes into records by its own folder."""
    path = Path(where)
    if not path.is_dir():
        return Repository.open(where, place.home(), os.environ)
    repository = Repository.open(str(path.resolve()), place.home())
    return replace(repository, name=str(repository.place.work_tree or repository.name))


def plan(repository: Repository, prompt: str, flags: Flags) -> Planned:
    """The task, from the flags and the base commit's own settings."""
    base = repository.resolve(flags.base)
    rules = repository.read(base.commit, settings.FILE)
    if not _is_here(rules, repository.place.work_tree):
        advice = "; commit it first to change them." if flags.base == "HEAD" else "."
        say.note(f"{OTHER_RULES}{advice}")
    policy = settings.read(rules)
    planned = planning.task(repository.name, prompt, policy, flags, base.commit)
    absent = [path for path in planned.task.only if not repository.has(base.commit, path)]
    return replace(planned, warnings=(*planned.warnings, *map(_nothing_at, absent)))


def _nothing_at(path: str) -> str:
    return f"the base has nothing at {clean(path)} (--only): what may change has to be made there."


def _is_here(rules: bytes | None, work_tree: Path | None) -> bool:
    """Whether the work tree, if there is one, has the same rules as the base."""
    if work_tree is None:
        return True
    path = work_tree / settings.FILE
    mine = path.read_bytes() if path.is_file() else None
    # A checkout may end its lines in another way than the commit does.
    return _lines(mine) == _lines(rules)


def _lines(content: bytes | None) -> list[bytes] | None:
    return None if content is None else content.splitlines()


def tell_dirty(paths: tuple[str, ...]) -> None:
    """Name what was changed and is not committed, so not worked on."""
    if paths:
        are = "is" if len(paths) == 1 else "are"
        files = count(len(paths), "changed file")
        say.note(f"note: {files} {are} not in the base, so the run works without: {named(paths)}")


def carry_out(
    planned: Planned,
    repository: Repository,
    quiet: bool,
    traffic: Traffic,
    dialogue: Dialogue | None = None,
    origin: Origin | None = None,
) -> Record:
    """Run the task, with the model it names or one whose key is set."""
    task = planned.task
    brain: Brain = None
    routes: dict[str, Route] = {}
    if task.worker == "agent":
        name = task.model or choice.default(os.environ)
        brain = choice.connect(name, os.environ, traffic)
        routes = {each: _route(each, task, traffic) for each in task.delegates}
        login = any(route.bearer for route in routes.values())
        task = replace(task, model=name, replay=traffic.source, login=login)
    elif task.worker in CLIS:
        brain = _route(task.worker, task, traffic)
        task = replace(task, replay=traffic.source, login=brain.bearer)
    elif task.worker == "acp":
        brain = choice.routes(task.command[0], task.model, os.environ, traffic)
        task = replace(task, replay=traffic.source)
        if not brain:
            say.note(f"note: no key is set ({' or '.join(choice.DEFAULTS)}): no model can be asked")
    with stoppable():
        return run(
            task,
            repository,
            place.records(),
            brain,
            watcher(quiet),
            traffic,
            access.credentials(task.network.indexes, os.environ),
            partial(hire, routes=routes),
            dialogue=dialogue,
            origin=origin,
        )


def _route(program: str, task: Task, traffic: Traffic) -> Route:
    """How a program asks models that works on the task, or to which its agent may delegate."""
    cli, login = CLIS[program], task.login and program in LOGINS
    model = task.model if program == task.worker else task.delegation(program).named(program)
    route = choice.route(cli, model, os.environ, traffic, login=login)
    for said in () if traffic.source else choice.remarks(cli, route):
        say.note(f"note: {said}")
    return route


def tell(record: Record, as_json: bool, more: Mapping[str, object] = NOTHING_MORE) -> None:
    """The result, on stdout; JSON has `more` fields."""
    if as_json:
        say.json({**say.as_object(record), **more})
        return
    entries = read(place.records().folder(record.id).journal)
    say.out(summary(record, entries, say.stdout_ink(), most=MOST_FINDINGS))
