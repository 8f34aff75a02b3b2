"""`orchestrator show`: how a run ended, and on what grounds."""

import click
import msgspec

from orchestrator.cli import place, say
from orchestrator.cli.options import as_json, common, run_argument
from orchestrator.journal import read
from orchestrator.summary import checks, summary


@click.command("show")
@run_argument
@as_json
@common
def command(run: str | None, as_json: bool) -> None:
    """Tell how a run ended, and on what grounds.

    RUN is an id or the start of one, or of its last part; by default the newest run here.
    """
    record = place.choose(run)
    entries = tuple(read(place.records().folder(record.id).journal))
    if as_json:
        evidence = {"checks": msgspec.to_builtins(checks(entries))}
        say.json(say.as_object(record) | evidence)
    else:
        say.out(summary(record, entries, say.stdout_ink()))
