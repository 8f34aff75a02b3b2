"""`orchestrator show`: how a run ended, and on what grounds."""

import click

from orchestrator.cli import place, say
from orchestrator.cli.options import as_json, common, run_argument
from orchestrator.journal import read
from orchestrator.summary import summary


@click.command("show")
@run_argument
@as_json
@common
def command(run: str | None, as_json: bool) -> None:
    """Tell how a run ended, and on what grounds.

    RUN is an id or the start of one, or of its last part; by default the newest run here.
    """
    (record,) = place.as_merged([place.choose(run)])
    if as_json:
        say.json(say.as_object(record))
    else:
        entries = read(place.records().folder(record.id).journal)
        gone = place.branch_is_gone(record)
        say.out(summary(record, entries, say.stdout_ink(), gone=gone))
