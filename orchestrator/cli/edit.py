"""`orchestrator edit`: one file, and one conversation about it that lasts."""

import os
import sys
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import click

from orchestrator.cli import access, place, request, say
from orchestrator.cli.options import as_json, common
from orchestrator.cli.run import carry_out, open_repository, plan, tell, tell_dirty
from orchestrator.cli.work import work_options
from orchestrator.dialogue import Dialogue
from orchestrator.edit_base import start
from orchestrator.edits import Edited, Edits
from orchestrator.errors import UsageError
from orchestrator.models.access import DIRECT
from orchestrator.models.traffic import Recording
from orchestrator.planning import Flags, Planned
from orchestrator.repository import Repository
from orchestrator.screen import clean, columns, count


@dataclass(frozen=True, slots=True)
class _Asked:
    """A file of a repository."""

    repository: Repository
    path: str
    """From the root of its work tree."""

    @property
    def edits(self) -> Edits:
        return Edits(place.home(), self.repository)


@click.command("edit")
@click.argument("words", nargs=-1, metavar="FILE [TASK] [-]")
@click.option(
    "--base",
    metavar="REF",
    help="Start from this branch, tag or commit, not from the last edit.",
)
@click.option("--status", "deed", flag_value="status", help="Tell about the file's conversation.")
@click.option("--clear", "deed", flag_value="clear", help="Put the conversation into the archive.")
@click.option("--list", "deed", flag_value="list", help="List the files that have one.")
@work_options
@as_json
@common
def command(
    words: tuple[str, ...],
    deed: str | None,
    recording: bool,
    quiet: bool,
    as_json: bool,
    base: str | None,
    **given: Any,  # noqa: ANN401 - by their names, the fields of Flags
) -> int:
    """Edit one file in a sealed container, and publish the change as a branch.

    Nothing but FILE may change; it may be renamed. What was said about it in earlier edits is part
    of the conversation, and an edit goes on from the last one. `-` adds what stdin says.

    \b
      orchestrator edit src/app.py "add error handling"
      orchestrator edit src/app.py "not like that: raise, do not return None"
      orchestrator edit src/app.py --clear
      orchestrator edit --list
    """
    if deed == "list":
        return _list(_without_words(words), as_json)
    asked = _locate(words)
    if deed:
        if len(words) > 1:
            raise UsageError(f"--{deed} takes a file and nothing else: drop {words[1]!r}.")
        return (_clear if deed == "clear" else _status)(asked, as_json)
    prompt = request.prompt(words[1:], sys.stdin.buffer.read)
    given["private_hosts"] += access.private_hosts(os.environ)
    traffic = Recording() if recording else DIRECT
    with asked.edits.hold(asked.path) as edited:
        _tell_damaged(edited)
        planned = _plan(asked, edited, prompt, base, Flags(**given))
        dialogue = Dialogue(edited.told().messages, edited.conversation, edited.file_id)
        record = carry_out(planned, asked.repository, quiet, traffic, dialogue)
    tell(record, as_json, _object(edited))
    return 1 if record.exit_code is None else record.exit_code


def _plan(asked: _Asked, edited: Edited, prompt: str, base: str | None, flags: Flags) -> Planned:
    """The task: from the last edit where that is possible, with no other file to be changed."""
    begun = start(asked.repository, asked.path, edited.told().runs, base)
    flags = replace(flags, base=begun.base, only=(begun.path,))
    planned = plan(asked.repository, prompt, flags)
    for note in filter(None, (begun.note, *planned.warnings)):
        say.note(f"note: {clean(note)}")
    tell_dirty(asked.repository.dirty_paths())
    remarks = (begun.remark,) if begun.remark else ()
    task = replace(planned.task, notes=remarks, conversation=edited.file_id)
    return replace(planned, task=task)


def _locate(words: tuple[str, ...]) -> _Asked:
    """The file that was named; it may be gone, and its folder too."""
    if not words:
        raise UsageError('Name a file: orchestrator edit FILE "what should change".')
    file = Path(words[0])
    if file.is_dir() or not file.name:
        raise UsageError(f"{words[0]} is a folder: name a file.")
    full = file.parent.resolve() / file.name
    repository = open_repository(str(place.existing(full.parent)))
    root = repository.place.work_tree
    if root is None:
        raise UsageError(f"{repository.name} has no work tree, so no file can be named in it.")
    return _Asked(repository, full.relative_to(root.resolve()).as_posix())


def _without_words(words: Iterable[str]) -> Edits:
    for word in words:
        raise UsageError(f"--list takes no file: drop {word!r}.")
    return Edits(place.home(), open_repository("."))


def _list(edits: Edits, as_json: bool) -> int:
    found = edits.all()
    if as_json:
        say.json([_object(edited) for edited in found])
    elif found:
        rows = [(clean(edited.path), edited.file_id, _extent(edited)) for edited in found]
        say.out(columns([("FILE", "ID", "CONVERSATION"), *rows]))
    else:
        say.note("There is no conversation about a file of this repository yet.")
    return 0


def _status(asked: _Asked, as_json: bool) -> int:
    edited = asked.edits.find(asked.path)
    if edited is None or not edited.conversation.exists():
        if as_json:
            say.json(None)
        say.note(f"There is no conversation about {clean(asked.path)} yet.")
        return 0
    _tell_damaged(edited)
    told = edited.told()
    base = _next_base(asked, told.runs)
    if as_json:
        more = {"base": base, "runs": told.runs, "messages": len(told.messages)}
        say.json({**_object(edited), **more})
        return 0
    rows = [
        ("file", clean(edited.path)),
        ("id", edited.file_id),
        ("said", _extent(edited)),
        ("kept in", clean(str(edited.conversation))),
        ("last run", told.runs[-1] if told.runs else "-"),
        ("next from", clean(base) or "-"),
    ]
    say.out(columns(rows))
    return 0


def _tell_damaged(edited: Edited) -> None:
    if damaged := edited.told().damaged:
        lines = count(damaged, "line")
        say.note(f"note: {lines} of {clean(str(edited.conversation))} cannot be read: left out.")


def _next_base(asked: _Asked, runs: tuple[str, ...]) -> str:
    """Where the next edit would start; empty where it could not, such as for a deleted file."""
    try:
        return start(asked.repository, asked.path, runs, None).base
    except UsageError:
        return ""


def _clear(asked: _Asked, as_json: bool) -> int:
    archived = asked.edits.clear(asked.path)
    if as_json:
        say.json({"path": asked.path, "archived": str(archived or "")})
    elif archived:
        say.out([f"The conversation about {clean(asked.path)} is now {clean(str(archived))}."])
    else:
        say.note(f"There is no conversation about {clean(asked.path)}: nothing to clear.")
    return 0


def _object(edited: Edited) -> dict[str, object]:
    return {
        "file_id": edited.file_id,
        "path": edited.path,
        "conversation": str(edited.conversation),
    }


def _extent(edited: Edited) -> str:
    told = edited.told()
    return f"{count(len(told.messages), 'message')} in {count(len(told.runs), 'run')}"
