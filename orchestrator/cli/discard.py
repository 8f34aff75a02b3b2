"""`orchestrator discard`: a run's branch is not wanted."""

import click

from orchestrator import delivery
from orchestrator.cli import place, say
from orchestrator.cli.options import as_json, common, run_argument


@click.command("discard")
@run_argument
@as_json
@common
def command(run: str | None, as_json: bool) -> None:
    """Delete a run's branch; its record and its patch stay until `gc` removes them."""
    chosen = place.choose_to_change(run)
    with place.records().hold(chosen.id) as held:
        record, removed = held.record, False
        # A run that was killed may have a branch that it could not write down.
        if (record.branch or record.tip) and not record.discarded:
            removed = delivery.discard(place.repository_of(record), record.id, record.tip)
        held.update(discarded=True)
    commit = record.tip if removed else ""
    if as_json:
        say.json({"run": record.id, "branch": record.branch, "removed": removed, "commit": commit})
    elif record.discarded:
        say.out([f"Run {record.id} was already discarded."])
    else:
        say.out([f"Run {record.id} is discarded: {_what_happened(record.id, commit)}."])


def _what_happened(run: str, commit: str) -> str:
    if not commit:
        return "it had no branch"
    branch = delivery.branch_of(run)
    return f"{branch} is deleted; `git branch {branch} {commit}` brings it back"
