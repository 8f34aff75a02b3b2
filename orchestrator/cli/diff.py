"""`orchestrator diff`: a run's change as a patch."""

import sys

import click

from orchestrator.cli import place, say
from orchestrator.cli.options import as_json, common, run_argument
from orchestrator.patch import Count, Entry, Hunk, parse_unified
from orchestrator.quarantine import Quarantine
from orchestrator.record import Record
from orchestrator.screen import clean, columns, count, patch

PARSED = 4 << 20
"""Bytes of a patch whose hunks `--json` gives: some seconds' work."""


@click.command("diff")
@run_argument
@click.option("--stat", is_flag=True, help="How many lines changed in which files.")
@as_json
@common
def command(run: str | None, stat: bool, as_json: bool) -> None:
    """Print a run's change as a patch.

    Into a pipe or a file the patch is exact: `orchestrator diff | git apply` makes the change.
    """
    record = place.choose(run)
    if not record.tip and not place.records().folder(record.id).quarantine.exists():
        # It had not come so far.
        if as_json:
            say.json({"run": record.id, "base": record.base, "tip": record.base, "files": []})
        else:
            _print_nothing(record)
        return
    quarantine = place.quarantine_of(record)
    tip = record.tip or quarantine.tip
    if as_json:
        say.json(_object(record, quarantine, tip))
    elif stat:
        _print_stat(record, quarantine.numstat(record.base, tip))
    else:
        _print(record, quarantine.diff(record.base, tip))


def _print_nothing(record: Record) -> None:
    say.note(f"Run {record.id} has no recorded change.")


def _print(record: Record, content: bytes) -> None:
    if not content:
        _print_nothing(record)
    elif sys.stdout.isatty():
        # Whatever is in the files, it does not get to drive the terminal.
        say.out(patch(content.removesuffix(b"\n"), say.stdout_ink()))
    else:
        sys.stdout.buffer.write(content)
        sys.stdout.buffer.flush()


def _print_stat(record: Record, counts: tuple[Count, ...]) -> None:
    if counts:
        say.out(_stat(counts))
    else:
        _print_nothing(record)


def _stat(counts: tuple[Count, ...]) -> list[str]:
    rows = [(_name(each.path), f"+{each.added}", f"-{each.removed}") for each in counts]
    added, removed = sum(each.added for each in counts), sum(each.removed for each in counts)
    return [*columns(rows), f"{count(len(counts), 'file')} +{added} -{removed}"]


def _name(path: bytes) -> str:
    return clean(path.decode("utf-8", "backslashreplace"))


def _object(record: Record, quarantine: Quarantine, tip: str) -> dict[str, object]:
    counts = {each.path: each for each in quarantine.numstat(record.base, tip)}
    entries = quarantine.entries(record.base, tip)
    hunks = _hunks(quarantine.diff(record.base, tip))
    files = [_file(entry, counts.get(entry.path), hunks) for entry in entries]
    return {"run": record.id, "base": record.base, "tip": tip, "files": files}


def _hunks(content: bytes) -> dict[str, list[Hunk]] | None:
    """The hunks of each path; None for a patch that would take too long to take apart."""
    if len(content) > PARSED:
        return None
    found: dict[str, list[Hunk]] = {}
    for file in parse_unified(content):  # a path whose type changed is there twice
        found.setdefault(file.name, []).extend(file.hunks)
    return found


def _file(
    entry: Entry, counted: Count | None, hunks: dict[str, list[Hunk]] | None
) -> dict[str, object]:
    return {
        "path": entry.name,
        "status": entry.status,
        "old_mode": entry.old_mode,
        "new_mode": entry.new_mode,
        "added": counted.added if counted else 0,
        "removed": counted.removed if counted else 0,
        "hunks": None if hunks is None else hunks.get(entry.name, []),
    }
