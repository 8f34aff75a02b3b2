"""`orchestrator patch`: edited pieces back into their file."""

import sys
from dataclasses import asdict
from typing import Any

import click

from orchestrator import pieces
from orchestrator.cli import place, say
from orchestrator.cli.options import as_json, common
from orchestrator.errors import ConflictError, UsageError
from orchestrator.parser import Parser
from orchestrator.rejoin import Rejoined, Way, rejoin
from orchestrator.screen import patch
from orchestrator.threeway import Span


@click.command("patch")
@click.option("--index", required=True, metavar="INDEX", help="What `orchestrator split` printed.")
@click.option("--dry-run", is_flag=True, help="Print the patch and write nothing.")
@click.option("--no-apply", is_flag=True, help="Write the patch beside the index, not the file.")
@click.option("--force", is_flag=True, help="Merge into a file that was changed meanwhile.")
@click.option("--discard", is_flag=True, help="Drop edited pieces; cut the file as it is now.")
@click.option("--source", metavar="FILE", help="The file; for an index that is not of our making.")
@as_json
@common
def command(
    index: str,
    dry_run: bool,
    no_apply: bool,
    force: bool,
    discard: bool,
    source: str | None,
    as_json: bool,
) -> None:
    """Merge edited pieces back into their file, all or nothing, and write what changed as a patch.

    A file that was changed since it was split is left alone, or with --force merged with; a
    conflict ends with 1 and leaves it alone, too: mend the file, then say --discard.
    """
    if discard:
        if dry_run or no_apply or force:
            raise UsageError("--discard stands alone: it merges nothing.")
        _discard(index, source, as_json)
    else:
        _merge(index, Way(apply=not no_apply, dry_run=dry_run, force=force), source, as_json)


def _merge(index: str, way: Way, source: str | None, as_json: bool) -> None:
    with Parser() as parser, say.late(f"merging pieces: {index} ..."):
        done = rejoin(index, place.home(), way, parser, source)
    if as_json:
        say.json(_object(done, way.dry_run))
    if done.trouble:
        say.note(f"note: {done.trouble}")
    for number in done.restored:
        say.note(f"note: piece {number} got back line breaks or a mark that it had lost.")
    if done.conflicts:
        raise ConflictError(_conflict(done))
    if not as_json:
        _print(done, way.dry_run)


def _discard(index: str, source: str | None, as_json: bool) -> None:
    with Parser() as parser, say.late(f"cutting pieces: {index} ..."):
        written, numbers = pieces.discard(index, place.home(), parser, source)
    if as_json:
        say.json({"index_path": str(written.path), "discarded": numbers})
    else:
        edited = f"{pieces.numbered(numbers)} edited, and that is dropped"
        said = edited if numbers else "No piece was edited"
        say.out([f"{said}; {written.path} is of the file as it is now"])


def _object(done: Rejoined, dry_run: bool) -> dict[str, Any]:
    return {
        "changed": bool(done.patch),
        "applied": done.applied,
        "source_path": str(done.source),
        "index_path": str(done.index),
        "patch": done.patch.decode("utf-8", "replace") if dry_run and done.patch else None,
        "patch_path": _path(done.patch_path),
        "source_sha256": done.after if done.applied else done.before,
        "restored": done.restored,
        "backup_path": _path(done.backup),
        "conflicts": [asdict(each) for each in done.conflicts],
        "conflict_path": _path(done.conflict_path),
    }


def _path(path: object) -> str | None:
    return None if path is None else str(path)


def _conflict(done: Rejoined) -> str:
    shown = f"; both stand in {done.conflict_path}" if done.conflict_path else ""
    return (
        f"The pieces and {done.source} were changed in the same place"
        f" ({', '.join(map(_lines, done.conflicts))}){shown}. The file and the pieces are as they"
        " were. Put what you want of both into the file, then say"
        f" `orchestrator patch --index {done.index} --discard`."
    )


def _lines(span: Span) -> str:
    if span.last_line <= span.first_line:
        return f"line {span.first_line}"
    return f"lines {span.first_line}-{span.last_line}"


def _print(done: Rejoined, dry_run: bool) -> None:
    if not done.patch:
        say.out(["Nothing to change."])
    elif done.applied:
        backup = f"; the file as it was is {done.backup}" if done.backup else ""
        say.out([f"Wrote {done.source}; the patch is {done.patch_path}{backup}"])
    elif not dry_run:
        say.out([f"The patch is {done.patch_path}; {done.source} stays as it is"])
    elif sys.stdout.isatty():
        say.out(patch(done.patch.removesuffix(b"\n"), say.stdout_ink()))
    else:
        sys.stdout.buffer.write(done.patch)
        sys.stdout.buffer.flush()
