"""Carrying out a task, from a base commit to a judged branch."""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import AbstractContextManager, closing, contextmanager
from dataclasses import replace
from pathlib import Path

from orchestrator import settings
from orchestrator.attempt import Attempt, Watch
from orchestrator.briefing import briefed
from orchestrator.changes import Changes
from orchestrator.delivery import publish, require_room
from orchestrator.dialogue import Dialogue
from orchestrator.errors import OrchestratorError
from orchestrator.events import (
    AnyEvent,
    Crashed,
    FilesTouched,
    Judged,
    RunStarted,
    Warned,
)
from orchestrator.journal import Journal
from orchestrator.models.access import DIRECT, Traffic
from orchestrator.origin import Origin
from orchestrator.outcome import Verdict, worst
from orchestrator.preparation import prepare_image, source
from orchestrator.quarantine import Note, Quarantine
from orchestrator.reason import CANNOT_START
from orchestrator.record import Record
from orchestrator.records import Held, Records
from orchestrator.recovery import Recovery
from orchestrator.repository import Base, Repository
from orchestrator.task import Task
from orchestrator.verify import Subject, verify
from orchestrator.ways import News, Ways, open_ways, with_doors
from orchestrator.worker import Hired, Worker
from orchestrator.workers import Before, Brain, hire
from sandbox import Engine, connect, open_box, scratch
from sandbox.box import Box
from sandbox.errors import SandboxLostError
from sandbox.gateway.cassette import size
from sandbox.gateway.routes import Route
from sandbox.kit import Kit
from sandbox.neighbour import Neighbour
from sandbox.services import Services
from sandbox.sweep import sweep

NO_CREDENTIALS: Mapping[str, str] = {}
Employ = Callable[[Task, Brain, Path, Traffic, Before], Hired]
"""As `hire`, for who brings a worker that the table does not know."""


def run(
    task: Task,
    repository: Repository,
    records: Records,
    brain: Brain,
    watch: Watch,
    traffic: Traffic = DIRECT,
    credentials: Mapping[str, str] = NO_CREDENTIALS,
    employ: Employ = hire,
    dialogue: Dialogue | None = None,
    origin: Origin | None = None,
) -> Record:
    """Carry out a task and return its finished record; `watch` is told every event.

    `brain` is what the worker thinks with, if it does. `traffic` is what it is connected through,
    when that records or replays; `credentials` are those of the private package indexes, by name.
    `employ` gives the task its worker; our agent goes on with a `dialogue`; an `origin` is the run
    that this one goes on with.
    Whatever goes wrong after the start is in the record's outcome, with all changes made before.
    Raises RepositoryError, SettingsError or `sandbox.errors.EngineError` when it cannot start.
    """
    started = time.monotonic()
    dirty = _aside(repository.dirty)
    base = repository.resolve(task.base)
    if origin:
        origin.require(base)
    require_room(repository)
    policy = settings.read(repository.read(base.commit, settings.FILE)).guardrails
    pack = repository.pack(base, records.home / "packs")
    given = source(task, repository, base, pack)
    with (
        closing(connect(task.runtime)) as engine,
        _begun(records, task, repository, base, origin) as held,
        Journal(held.folder.journal) as journal,
    ):
        _tidy(engine, records)
        attempt = Attempt(held, journal, watch)
        attempt.tell(_started(attempt, task, repository, base, dirty.result()))
        quarantine = Quarantine.create(held.folder.quarantine, pack, base)
        changes = Changes.of(quarantine, policy, base, task.only)
        if origin:
            attempt.tell(origin.bring(changes))
            origin.hand_on(held.folder.artifacts)
            attempt.commits = changes.count
        with open_ways(attempt, task, credentials) as ways:
            near: Sequence[Neighbour] = (*ways.work.neighbours, Services(task.services))
            with attempt.gathering():
                attempt.image = prepare_image(attempt, engine, task, given, ways)
                _prove_base(attempt, engine, task, base, near)
                task = briefed(attempt, task, repository, base, policy, pack)
                with _kept(attempt, traffic):
                    before = origin.before if origin else dialogue
                    hired = _employed(attempt, task, brain, traffic, employ, before)
                    _carry_out(attempt, engine, task, hired, ways, changes)
            _judge(attempt, changes)
            with attempt.gathering():
                _prove(attempt, engine, task, changes, near)
        _deliver(attempt, repository, changes)
        return attempt.finish(time.monotonic() - started)


def _begun(
    records: Records, task: Task, repository: Repository, base: Base, origin: Origin | None
) -> AbstractContextManager[Held]:
    return records.begin(
        task,
        repository=repository.name,
        git_dir=repository.place.common_dir,
        base=base.commit,
        base_tree=base.tree,
        resumes=origin.record.id if origin else "",
        asked=origin.asked if origin else "",
        forked=bool(origin and origin.forked),
    )


def _tidy(engine: Engine, records: Records) -> None:
    """Remove what runs left that were killed, here and on the engine."""
    sweep(engine)
    scratch.sweep(records.home / "packs")
    records.remove_unborn()
    records.remove_passing()


def _aside(look: Callable[[], int]) -> Future[int]:
    """Begin what takes time in a large repository; what it finds is asked for later."""
    thread = ThreadPoolExecutor(1)
    found = thread.submit(look)
    thread.shutdown(wait=False)
    return found


def _started(
    attempt: Attempt, task: Task, repository: Repository, base: Base, dirty: int
) -> AnyEvent:
    return RunStarted(
        run=attempt.id,
        repository=repository.name,
        base=base.commit,
        worker=task.worker,
        prompt=task.prompt,
        dirty=dirty,
    )


def _open(
    attempt: Attempt,
    engine: Engine,
    task: Task,
    near: Sequence[Neighbour],
    kits: Sequence[Kit],
) -> AbstractContextManager[Box]:
    return open_box(
        engine, attempt.image, task.box, run=attempt.id, purpose="work", neighbours=near, kits=kits
    )


def _prove_base(
    attempt: Attempt, engine: Engine, task: Task, base: Base, near: Sequence[Neighbour]
) -> None:
    """Show what the checks say before anything is changed: red is what the task may be about."""
    subject = Subject(attempt.image, base.tree)
    checks = verify(engine, subject, task, attempt.id, "base", near)
    for check in attempt.tell_evidence(base.tree, checks).checks:
        if check.could_not_start:
            attempt.tell(Warned(text=f"The check `{check.command}` {CANNOT_START}."))


@contextmanager
def _kept(attempt: Attempt, traffic: Traffic) -> Iterator[None]:
    """Keep what is said to the model and by it; what there is to say about that, at the end."""
    folder = attempt.held.folder.cassette
    traffic.begin(folder, attempt.held.record.task.model)
    try:
        yield
    finally:
        if said := traffic.end():
            attempt.tell(Warned(text=said))
        attempt.held.update(recorded=size(folder))


def _employed(
    attempt: Attempt,
    task: Task,
    brain: Brain,
    traffic: Traffic,
    employ: Employ,
    before: Before,
) -> Hired:
    """Who does the work, with all that was said before."""
    folder = attempt.held.folder
    folder.artifacts.mkdir(exist_ok=True)
    if before is None and task.worker == "agent":
        before = Dialogue(())  # so that another run can go on with this one
    if isinstance(before, Dialogue) and not isinstance(brain, Route | tuple | None):
        said = before.begin(attempt.id, brain.name, folder.earlier)
        attempt.tell_all([Warned(text=said)] if said else [])
    return employ(task, brain, folder.artifacts, traffic, before)


def _carry_out(
    attempt: Attempt, engine: Engine, task: Task, hired: Hired, ways: Ways, changes: Changes
) -> None:
    """Let the worker work in a sandbox of its own; what it left is on record at the end."""
    with with_doors(attempt, ways, hired.doors) as way:
        near: Sequence[Neighbour] = (*way.neighbours, Services(task.services))
        with _open(attempt, engine, task, near, hired.kits) as box:
            attempt.listen = hired.listen
            recovery = Recovery(changes)
            recovery.begin(box)
            _work(attempt, task, hired.worker, box, recovery, News(way))
            _close_the_record(attempt, box, recovery)


def _work(
    attempt: Attempt, task: Task, worker: Worker, box: Box, recovery: Recovery, news: News
) -> None:
    # From here on, what is in the box is on record only once a full look at it says so.
    attempt.facts = replace(attempt.facts, rehash_equal=None)
    try:
        with closing(worker.work(task, box)) as events:
            for event in events:
                attempt.tell(event)
                news.tell(attempt)
                if isinstance(event, FilesTouched):
                    attempt.tell_all(recovery.record(box, _note(attempt, event)))
                elif isinstance(event, Crashed):
                    attempt.tell_all(recovery.reopen(box, SandboxLostError(event.reason)))
    except KeyboardInterrupt:
        attempt.facts = replace(attempt.facts, cancelled=True)


def _close_the_record(attempt: Attempt, box: Box, recovery: Recovery) -> None:
    """Stop all that still runs in the box, record what it left, and prove the record complete."""
    changes = recovery.changes
    if attempt.facts.cancelled and box.lost():
        return  # a new one would hold what is recorded, and nobody waits for it
    attempt.tell_all(recovery.check(box))
    box.sweep()
    note = _note(attempt, attempt.last_touch())
    attempt.tell_all(recovery.record(box, note))
    whole = box.rehash() == changes.tree
    if not whole:  # a file changed and kept its times, as through a mapping into memory
        attempt.tell_all(changes.record(box, note, anew=True))
        whole = box.rehash() == changes.tree
    if changes.ignored and changes.ignored.paths:
        attempt.tell(changes.ignored)
    attempt.facts = replace(
        attempt.facts,
        left_out=changes.left_out,
        changed=changes.tree != changes.base.tree,
        rehash_equal=whole,
    )


def _judge(attempt: Attempt, changes: Changes) -> None:
    """Let the guardrails see the whole change; where there is none, nothing is said of it."""
    attempt.held.update(tree=changes.tree)
    if not changes.count:
        return
    findings = changes.judge(changes.base.commit, changes.tip)
    verdict = worst(findings)
    attempt.facts = replace(
        attempt.facts, verdict=verdict, changed=changes.tree != changes.base.tree
    )
    attempt.held.update(tip=changes.tip, verdict=verdict, findings=findings)
    attempt.tell(Judged(verdict=verdict, findings=findings))


def _prove(
    attempt: Attempt, engine: Engine, task: Task, changes: Changes, near: Sequence[Neighbour]
) -> None:
    """Run the checks once more, in a fresh container on the recorded tree."""
    if attempt.facts.stop not in ("complete", "gate") or attempt.facts.cancelled:
        return
    if changes.tree == changes.base.tree:  # it was proved before the work began
        (evidence,) = attempt.held.record.evidence
        attempt.facts = replace(attempt.facts, proof=evidence.proof)
        return
    # Until they have run, they are missing: an error below must not look like "nothing to prove".
    attempt.facts = replace(attempt.facts, proof="missing" if task.checks else "none")
    pack = attempt.held.folder.path / "proof.pack"
    changes.quarantine.pack(changes.tree, changes.base.tree, pack)
    subject = Subject(attempt.image, changes.tree, pack)
    checks = verify(engine, subject, task, attempt.id, "proof", near)
    evidence = attempt.tell_evidence(changes.tree, checks)
    attempt.facts = replace(attempt.facts, proof=evidence.proof)
    pack.unlink()


def _deliver(attempt: Attempt, repository: Repository, changes: Changes) -> None:
    """Publish what may be seen. What is blocked stays in quarantine, where `diff` shows it."""
    if not attempt.facts.changed or attempt.facts.verdict is Verdict.BLOCK:
        return
    tip, tainted = changes.tip, changes.tainted
    if tainted:
        # A change with a finding, that a later one took back, must not be seen.
        whole = FilesTouched(step=attempt.totals.turns, tool="all changes as one")
        tip = attempt.held.update(tip=changes.quarantine.squash(tip, _note(attempt, whole))).tip
        attempt.commits = 1
    try:
        delivered = publish(repository, changes.quarantine, attempt.id, tip, squashed=tainted)
    except (OrchestratorError, OSError) as error:
        attempt.held.update(unpublished=str(error))
        return
    attempt.held.update(branch=delivered.branch)
    attempt.tell(delivered)


def _note(attempt: Attempt, touched: FilesTouched) -> Note:
    task = attempt.held.record.task
    return Note(
        subject=attempt.subject(touched),
        run=attempt.id,
        step=touched.step,
        tool=touched.tool,
        worker=task.worker,
        model=attempt.models.get(touched.delegate, ""),
        delegate=touched.delegate,
    )
