"""`orchestrator gc`: remove what dead and old runs left behind, and nothing of a live one."""

import time
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from math import inf
from pathlib import Path

import click

from orchestrator import leftover
from orchestrator.cli import place, say, shelf
from orchestrator.cli.options import Number, as_json, common
from orchestrator.cli.shelf import Deed
from orchestrator.delegates.acp_agents import KNOWN
from orchestrator.delegates.table import CLIS
from orchestrator.errors import RecordError, UsageError
from orchestrator.machine import size
from orchestrator.quarantine import Quarantine
from orchestrator.record import Damaged, Record
from orchestrator.records import Records
from sandbox import Engine, connect, scratch, toolbox
from sandbox.errors import EngineError
from sandbox.kit import Kit
from sandbox.stock import built, forget, others, present, remove, spare, stored
from sandbox.sweep import orphans, sweep

DAY = 86_400.0


@dataclass(frozen=True, slots=True)
class Order:
    """What to remove."""

    before: float | None
    """Unix seconds: runs older than that, and images not used since, go, too."""
    dry: bool
    space: int | None = None
    """Bytes that prepared images may take."""
    everybodys: bool = False
    """Images of other homes may go, too."""
    everything: bool = False
    """Also what is kept for the next run, whatever its age."""


class Size(click.ParamType):  # type: ignore[type-arg]  # click 8.1 has no argument
    """A number of bytes, such as 512m or 20g."""

    name = "size"

    def convert(
        self, value: str | int, param: click.Parameter | None, ctx: click.Context | None
    ) -> int:
        try:
            if isinstance(value, int):
                return value
            if value.strip().isdigit():
                raise ValueError(f'{value} has no unit: write it like "{value}g"')
            return size(value)
        except ValueError as error:
            self.fail(f"{error}.", param, ctx)


@click.command("gc")
@click.option("--max-age", type=Number(min=0), metavar="DAYS", help="Old runs go, too.")
@click.option(
    "--image-space", type=Size(), metavar="SIZE", help="Images go until the rest fits, like 20g."
)
@click.option("--all", "everybodys", is_flag=True, help="Also images of other homes.")
@click.option("--everything", is_flag=True, help="All that is kept goes, whatever its age.")
@click.option("--dry-run", "-n", is_flag=True, help="Only say what would be done.")
@as_json
@common
def command(
    max_age: float | None,
    image_space: int | None,
    everybodys: bool,
    everything: bool,
    dry_run: bool,
    as_json: bool,
) -> None:
    """Remove what dead runs left behind: containers and unfinished records.

    With --max-age also finished runs, packs, pieces of files without an edit that is not merged,
    conversations of `edit` and unused toolboxes older than that, images of other versions of
    Claude Code and Codex, and prepared images that were not used for so long; with --image-space
    the least recently used of these. With --everything all of it, and the toolboxes and images
    that every run stands on, unless runs of other homes do.
    Branches that were published stay; what a live run uses stays, too.
    """
    if everything and (max_age, image_space) != (None, None):
        raise UsageError("--everything goes by no age and no size: leave those options out.")
    age = 0 if everything else max_age
    before = None if age is None else time.time() - age * DAY
    order = Order(before, dry_run, image_space, everybodys, everything)
    records = place.records()
    done = [*_of_engine(records, order), *map(Deed.of, _of_home(records, order))]
    if as_json:
        say.json([deed.as_object() for deed in done])
        return
    gone = [deed for deed in done if deed.action != "keep"]
    say.out(f"would {deed}" if dry_run else str(deed) for deed in gone)
    if dry_run and len(gone) < len(done):
        say.out([f"would {shelf.kept(done)}"])
    if not gone:
        say.note("There is nothing to remove.")


def _of_engine(records: Records, order: Order) -> Iterator[Deed]:
    try:
        with closing(connect()) as engine:
            for orphan in orphans(engine) if order.dry else sweep(engine):
                yield Deed("remove", f"{orphan.kind} {orphan.name}")
            if not order.everything:
                yield from map(Deed.of, _toolboxes(engine, records, order))
                yield from map(Deed.of, _programs(engine, records, order))
            yield from _images(engine, records, order)
    except EngineError as error:
        say.note(f"note: containers and images are left alone. {error}")


def _toolboxes(engine: Engine, records: Records, order: Order) -> Iterator[str]:
    """Toolboxes of other versions; a run that begins has no container yet in the one it needs."""
    if order.before is None or _running(records) or not present(engine, toolbox.IMAGE):
        return
    for name in toolbox.old(engine, order.before, _kits()):
        if order.dry or toolbox.remove(engine, name):
            yield f"remove toolbox {name}"


def _programs(engine: Engine, records: Records, order: Order) -> Iterator[str]:
    """Images of other agents' programs in versions that this product does not start."""
    if order.before is None or _running(records):
        return
    for kit in _kits():
        for name in others(engine, kit.image, order.before):
            if order.dry or forget(engine, name):
                yield f"remove image {name}"


def _kits() -> list[Kit]:
    """Of all programs that are known, each once."""
    agents = (kit for agent in KNOWN.values() for kit in agent.kits)
    return list(dict.fromkeys([*(cli.kit for cli in CLIS.values()), *agents]))


def _images(engine: Engine, records: Records, order: Order) -> Iterator[Deed]:
    """A run that has begun, and has no container yet, has used its image since."""
    began = min((run.created for run in _running(records)), default=inf)
    keep = shelf.Keep(records.home, order.everybodys, began)
    found = stored(engine) if order.everything else stored(engine, keep.is_anothers)
    # Of several repositories with one commit, the newest run's.
    runs = [run for run in reversed(records.all()) if isinstance(run, Record)]
    repositories = {run.base: run.task.repository for run in runs}
    gone = set()
    for image in spare(found, keep, before=order.before, space=order.space):
        if order.dry or remove(engine, image):
            gone.add(image.id)
            yield shelf.deed("remove", image, repositories)
    left = [image for image in found if image.id not in gone]
    for image in left:
        if not keep.is_anothers(image.owner):
            yield shelf.deed("keep", image, repositories)
    if order.everything and not left and began == inf:
        yield from map(Deed.of, _ground(engine, order))
    elif order.everything and left:
        say.note(f"note: {shelf.stay(left, keep)}")


def _ground(engine: Engine, order: Order) -> Iterator[str]:
    """What every run stands on: the next one has to build or fetch it again."""
    for name in toolbox.spare(engine):
        if order.dry or toolbox.remove(engine, name):
            yield f"remove toolbox {name}"
    for name in built(engine):
        if order.dry or forget(engine, name):
            yield f"remove image {name}"


def _of_home(records: Records, order: Order) -> Iterator[str]:
    for run in records.all():
        if isinstance(run, Record) and run.shown_state == "running":
            continue
        if order.everything or (isinstance(run, Record) and _is_old(run, order)):
            yield from _remove(records, run, order)
        elif not isinstance(run, Record):
            say.note(f"note: the record of run {run.id} cannot be read ({run.reason}).")
        elif run.state == "running":
            yield from _mark(records, run, order)
    if not order.dry and records.remove_unborn():
        yield "remove folders of runs that never began"
    for path in () if order.dry else records.remove_passing():
        yield f"remove file {path}"
    yield from _unfinished_packs(records, order)
    for path in leftover.settle(records.home, dry=order.dry):
        yield f"remove pieces {path.name}"
    if order.before is not None:
        for path in leftover.pieces(records.home, order.before, dry=order.dry):
            yield f"remove pieces {path.name}"
        for path in leftover.conversations(records.home, order.before, dry=order.dry):
            yield f"remove conversation {path.relative_to(records.home / 'edits')}"
    yield from _packs(records, order)
    if order.everything:
        yield from _home(records, order)


def _is_old(run: Record, order: Order) -> bool:
    return order.before is not None and run.created < order.before


def _home(records: Records, order: Order) -> Iterator[str]:
    """The rest of the home folder, and that itself once nothing is left in it."""
    if running := _running(records):
        say.note(f"note: run {running[0].id} is at work: what it may need stays.")
        return
    for each in leftover.staying(records.home):
        say.note(f"note: {each.path} stays. {each.why}")
    if not order.dry:
        records.remove_folder()
    for path in leftover.rest(records.home, dry=order.dry):
        yield f"remove {path}"


def _unfinished_packs(records: Records, order: Order) -> Iterator[str]:
    folder = records.home / "packs"
    for path in scratch.left(folder) if order.dry else scratch.sweep(folder):
        yield f"remove file {path}"


def _remove(records: Records, run: Record | Damaged, order: Order) -> Iterator[str]:
    try:
        if not order.dry:
            records.remove(run.id)
        yield f"remove run {run.id}"
    except RecordError as error:  # somebody merges it at this moment
        say.note(f"note: {error}")


def _mark(records: Records, run: Record, order: Order) -> Iterator[str]:
    """Give a killed run's record its end, with the last change that was recorded."""
    yield f"mark run {run.id} as interrupted"
    if order.dry:
        return
    with records.hold(run.id) as held:
        tip = tree = ""
        if held.folder.quarantine.exists():
            quarantine = Quarantine.open(held.folder.quarantine)
            tip, tree = quarantine.tip, quarantine.tree(quarantine.tip)
        held.update(state="interrupted", tip=tip, tree=tree, message="Its process was killed.")


def _packs(records: Records, order: Order) -> Iterator[str]:
    if order.before is None:
        return
    used = {run.base for run in _running(records)}
    for pack in sorted((records.home / "packs").glob("*.pack")):
        if pack.stem not in used and pack.stat().st_mtime < order.before:
            if not order.dry:
                _unlink(pack)
            yield f"remove pack {pack.name}"


def _unlink(pack: Path) -> None:
    """The pack goes first: where it is, its index has to be; then what was found in its base."""
    pack.unlink()
    for found in pack.parent.glob(f"{pack.stem}-*"):
        found.unlink(missing_ok=True)
    pack.with_suffix(".idx").unlink(missing_ok=True)


def _running(records: Records) -> list[Record]:
    return [
        run for run in records.all() if isinstance(run, Record) and run.shown_state == "running"
    ]
