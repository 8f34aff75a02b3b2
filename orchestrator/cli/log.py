"""`orchestrator log`: a run's changes, or all that happened in it."""

from collections.abc import Iterable, Iterator

import click
import msgspec

from orchestrator.cli import place, say
from orchestrator.cli.options import as_json, common, run_argument
from orchestrator.cli.watch import Told
from orchestrator.events import Changed
from orchestrator.journal import Entry, follow, read
from orchestrator.screen import clean, count


@click.command("log")
@run_argument
@click.option("--journal", is_flag=True, help="All that happened, not only the changes.")
@click.option("--follow", "-f", "following", is_flag=True, help="The journal as it is written.")
@as_json
@common
def command(run: str | None, journal: bool, following: bool, as_json: bool) -> None:
    """List a run's changes, or all that happened in it.

    With --json the changes are an array; --journal and --follow give one object a line.
    """
    record = place.choose(run)
    path = place.records().folder(record.id).journal
    if following:
        _tell(follow(path, lambda: _lives(record.id)), as_json)
    elif journal:
        _tell(read(path), as_json)
    elif as_json:
        say.json([_object(entry) for entry in read(path) if isinstance(entry.event, Changed)])
    else:
        changes = list(_changes(read(path)))
        say.out(changes)
        if not changes:
            say.note(f"Run {record.id} has no recorded change: --journal tells all that happened.")


def _lives(run: str) -> bool:
    return place.records().load(run).shown_state == "running"


def _tell(entries: Iterable[Entry], as_json: bool) -> None:
    told = Told(say.stdout_ink())
    for entry in entries:
        if as_json:
            say.json_line(_object(entry))
        else:
            say.out(told.lines(entry.event, entry.time))


def _object(entry: Entry) -> dict[str, object]:
    return {"seq": entry.seq, "time": entry.time, **msgspec.to_builtins(entry.event)}


def _changes(entries: Iterable[Entry]) -> Iterator[str]:
    ink = say.stdout_ink()
    for entry in entries:
        event = entry.event
        if isinstance(event, Changed):
            size = f"{count(event.files, 'file')} +{event.added} -{event.removed}"
            commit = ink.yellow(event.commit[:10])
            yield f"{commit} step {event.step:<3} {clean(event.tool):<12} {size}"
