"""`orchestrator list`: the runs, the newest first."""

import time

import click
import msgspec

from orchestrator.asked import whole_line
from orchestrator.cli import place, say
from orchestrator.cli.options import as_json, common
from orchestrator.record import Damaged, Record
from orchestrator.screen import clean, columns, cut

HEAD = ("RUN", "BEGUN", "STATE", "VERDICT", "WORKER", "TASK")


@click.command("list")
@click.option("--all", "everything", is_flag=True, help="The runs of all repositories.")
@as_json
@common
def command(everything: bool, as_json: bool) -> None:
    """List the runs of this repository; outside of one, all runs."""
    found = place.records().all()
    found = place.as_merged(found if everything else place.here(found))
    if as_json:
        say.json([_object(run) for run in found])
    elif found:
        say.out(columns([HEAD, *map(_row, found)]))
    else:
        say.note(
            "There is no run" + (" yet." if everything else " here: --all lists those elsewhere.")
        )


def _object(run: Record | Damaged) -> object:
    if isinstance(run, Record):
        return say.as_object(run)
    return msgspec.to_builtins(run) | {"state": "damaged"}


def _row(run: Record | Damaged) -> tuple[str, ...]:
    if isinstance(run, Damaged):
        return (clean(run.id), "", "damaged", "", "", cut(clean(run.reason), 60))
    begun = time.strftime("%Y-%m-%d %H:%M", time.localtime(run.created))
    state, worker = run.progress_word, run.task.worker
    return (run.id, begun, state, run.verdict or "", worker, whole_line(run, 60))
