"""`orchestrator approve`: a person's word for one change."""

import getpass
import time
from pathlib import Path

import click

from orchestrator.cli import place, say
from orchestrator.cli.options import as_json, common, run_argument
from orchestrator.errors import BlockedError, UsageError
from orchestrator.events import Approved
from orchestrator.git import Git
from orchestrator.journal import Journal
from orchestrator.outcome import Outcome, Verdict
from orchestrator.record import Approval, Record
from orchestrator.records import Held
from orchestrator.repository import Repository
from orchestrator.summary import approvers, next_steps, short


@click.command("approve")
@run_argument
@click.option("--by", metavar="NAME", help="By default git's user.name, or your login.")
@as_json
@common
def command(run: str | None, by: str | None, as_json: bool) -> None:
    """Put your name to a change that needs a review.

    It holds for exactly the files as they are now, and lifts no block.
    """
    chosen = place.choose_to_change(run)
    with place.records().hold(chosen.id) as held:
        record = place.publish_late(held)
        _permit(record)
        name = by or _name(place.repository_of(record))
        word = "Approved"
        if name in approvers(record):
            word = "Already approved"
        else:
            record = _approve(held, name)
    if as_json:
        say.json({"run": record.id, "tree": record.tree, "by": name})
    else:
        say.out([f"{word} by {name}.", *next_steps(record)])


def _approve(held: Held, name: str) -> Record:
    approval = Approval(held.record.tree, name, time.time())
    with Journal(held.folder.journal) as journal:
        journal.write(Approved(tree=approval.tree, by=name))
    return held.update(approvals=(*held.record.approvals, approval))


def _permit(record: Record) -> None:
    if record.verdict is Verdict.BLOCK:
        raise BlockedError(
            f"Run {record.id} is blocked, which no approval lifts:"
            f" `orchestrator show {short(record)}` says why."
        )
    if record.discarded:
        raise UsageError(f"Run {record.id} was discarded.")
    if record.shown_state != "finished":
        raise UsageError(f"Run {record.id} was interrupted; there is nothing to approve.")
    if record.tree == record.base_tree:
        raise UsageError(f"Run {record.id} changed nothing; there is nothing to approve.")
    if not record.branch:
        raise UsageError(f"Run {record.id} has no branch; there is nothing to approve.")
    if record.outcome is Outcome.DONE:
        raise UsageError(f"Run {record.id} is done and needs no approval.")


def _name(repository: Repository) -> str:
    """Who git says is here, by the user's own settings, which no other command of ours reads."""
    own = {"GIT_CONFIG_GLOBAL": str(Path.home() / ".gitconfig")}
    answer = Git(repository.git_dir, env=own).call("config", "user.name")
    return answer.stdout.decode("utf-8", "replace").strip() or getpass.getuser()
