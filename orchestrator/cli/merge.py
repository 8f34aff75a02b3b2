"""`orchestrator merge`: a run's branch into another one, when nothing stands in the way."""

import click

from orchestrator import delivery
from orchestrator.cli import place, say
from orchestrator.cli.options import as_json, common, run_argument
from orchestrator.errors import ApprovalError, BlockedError, UsageError
from orchestrator.events import Merged
from orchestrator.journal import Journal, read
from orchestrator.outcome import Outcome, Verdict
from orchestrator.record import Record
from orchestrator.records import Held
from orchestrator.summary import in_copy, short


@click.command("merge")
@run_argument
@click.option("--into", metavar="BRANCH", help="By default the branch that HEAD names.")
@as_json
@common
def command(run: str | None, into: str | None, as_json: bool) -> None:
    """Merge a run's branch; your files are never touched.

    A change with a finding, or of a run that did not end as `done`, needs `orchestrator approve`
    before (exit 4), or is blocked (exit 3). A branch that is checked out is left to `git merge`.
    """
    chosen = place.choose_to_change(run)
    with place.records().hold(chosen.id) as held:
        record = place.publish_late(held)
        permit(record)
        (seen,) = place.as_merged([record])
        merged = delivery.merge(place.repository_of(record), record.id, record.tip, into)
        fresh = _remember(held, merged) and merged.commit != seen.merged  # by `git merge`
    if as_json:
        say.json({"run": record.id, "branch": merged.branch, "commit": merged.commit})
    elif fresh:
        say.out([f"Merged {record.branch} into {merged.branch} as {merged.commit[:10]}."])
        if in_copy(record):
            say.note(f"note: this is the local copy {record.git_dir}; nothing was pushed.")
    else:
        already = f"Run {record.id} is already merged into {merged.branch} as {merged.commit[:10]}."
        say.out([already])


def _remember(held: Held, merged: Merged) -> bool:
    """Journal a merge, once; the record keeps the first. False when it was known."""
    if merged in (entry.event for entry in read(held.folder.journal)):
        return False
    with Journal(held.folder.journal) as journal:
        journal.write(merged)
    if not held.record.merged:
        held.update(merged=merged.commit)
    return True


def permit(record: Record) -> None:
    """Raise what stands in the way of merging."""
    if record.verdict is Verdict.BLOCK:
        raise BlockedError(
            f"Run {record.id} is blocked: `orchestrator show {short(record)}` says why."
        )
    if record.discarded:
        raise UsageError(_discarded(record))
    if not record.branch:
        raise UsageError(f"Run {record.id} has no branch: it changed nothing, or did not finish.")
    if record.outcome is not Outcome.DONE and not record.approved:
        raise ApprovalError(
            f"Run {record.id} ended as {record.outcome or record.shown_state}: look at"
            f" `orchestrator diff {short(record)}`, then type"
            f" `orchestrator approve {short(record)}`."
        )


def _discarded(record: Record) -> str:
    if not record.branch:
        return f"Run {record.id} was discarded."
    back = f"git branch {record.branch} {record.tip}"
    return f"Run {record.id} was discarded: `{back}` brings its branch back, for `git merge`."
