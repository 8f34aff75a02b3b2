"""A sealed container in which work is done: run commands in it, read and write its files."""

import contextlib
import time
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import BinaryIO, Literal

from sandbox import container, disk, snapshot, toolbox, workspace
from sandbox.channel import NOTHING, WORKSPACE, Channel, Chunk, Nothing
from sandbox.engine import Engine
from sandbox.errors import DiskFullError, SandboxLostError
from sandbox.exec import ExecChannel
from sandbox.files import Files, Guard, anything
from sandbox.framed import FramedChannel
from sandbox.hardening import work_flags
from sandbox.kit import Kit
from sandbox.limits import Limits
from sandbox.lines import CAP, lines
from sandbox.memory import Kills
from sandbox.neighbour import Neighbour
from sandbox.pipe import Pipe
from sandbox.signals import Signals
from sandbox.snapshot import Snapshot
from sandbox.stream import Completed, Exit, Line
from sandbox.terminals import Terminals

KEPT = 256 << 20
"""Bytes of a command's raw output that are kept, at most."""


@dataclass(frozen=True, slots=True)
class Opened:
    """A container that runs, with its neighbours beside it."""

    id: str
    environment: Mapping[str, str]
    """What the neighbours want commands to see."""
    watch: disk.Watch


class Box:
    """One open sandbox. The files of the run are at /workspace; all work is done by uid 10001."""

    id: str
    channel: FramedChannel
    files: Files
    terminals: Terminals

    def __init__(
        self,
        engine: Engine,
        limits: Limits,
        life: contextlib.ExitStack,
        begin: Callable[[], Opened],
    ) -> None:
        self.limits = limits
        self.openings = 0
        """How often a container was opened: 2 after the first one died."""
        self._engine = engine
        self._life = life
        self._begin = begin
        self._guard: Guard = anything
        self.reopen()

    @property
    def guard(self) -> Guard:
        """What `files` asks before each change."""
        return self._guard

    def guard_files(self, guard: Guard) -> None:
        """From now on `files` asks before each change, also when the box was opened again.

        Commands are not asked: what they may change is decided on what is recorded.
        """
        self._guard = guard
        self.files = Files(self.channel, guard)

    def reopen(self) -> None:
        """Go on in a new container with new neighbours, its files those of the prepared image.

        Nothing of the old one is kept; `id`, `channel` and `files` are new. Raises as `open_box`.
        """
        if self.openings:
            # It raises while the engine is away, and then there is nothing to be forgotten yet.
            container.remove(self._engine.client.api, self.id)
        self._life.close()
        opened = self._begin()
        self.id = opened.id
        self.channel = FramedChannel(self._engine, opened.id)
        self._life.callback(self.channel.close)
        self._evidence = ExecChannel(self._engine, opened.id, end_all=self.channel.sweep)
        self.files = Files(self.channel, self._guard)
        self._kills = Kills(self._engine, opened.id)
        self.terminals = Terminals(
            self._engine, opened.id, opened.environment, self.channel.disturbing
        )
        self._life.callback(self.terminals.leave)
        self.openings += 1
        self._environment = opened.environment
        self._watch = opened.watch

    def stream(
        self,
        command: Sequence[str],
        *,
        stdin: bytes | Pipe = b"",
        cwd: str = WORKSPACE,
        env: Mapping[str, str] = NOTHING,
        seconds: float = 120.0,
        evidence: bool = False,
        keep: BinaryIO | None = None,
        longest: int = CAP,
    ) -> Generator[Line | Exit, None, None]:
        """Run a command and yield its lines, then its Exit; closing the iterator ends the command.

        Time limit and errors as in `Channel.start`. With `evidence` the exit status is the engine's
        own, which nothing in the sandbox can forge; that costs an exec, and what else runs in the
        sandbox is ended at the time limit as well. `keep` gets every byte of both streams
        in the order of arrival, up to `KEPT`; where more came, its last line says so. A line over
        `longest` bytes is cut.
        """
        by, env = self._by(evidence), self._seen(env)
        said = by.start(command, stdin=stdin, cwd=cwd, env=env, seconds=seconds)
        with contextlib.closing(self._told(said)) as items:
            yield from lines(items if keep is None else _kept(items, keep), longest)

    def watch(
        self,
        command: Sequence[str],
        ready: Callable[[], None],
        *,
        signals: Signals,
        stdin: bytes | Pipe,
        env: Mapping[str, str],
        seconds: float,
        keep: BinaryIO,
        longest: int,
    ) -> Generator[Line | Exit | None, None, None]:
        """Run a command as in `stream`, for who has other things to wait for besides its lines.

        This waits for nothing: it yields None after each piece of output, and where there is none.
        `ready` is called, in another thread, for each piece that has come and for the end. What is
        sent by `signals` reaches the command's process group.
        """
        items = self._told(
            self.channel.watch(
                command,
                ready,
                stdin=stdin,
                env=self._seen(env),
                seconds=seconds,
                signals=signals,
            )
        )
        with contextlib.closing(items):
            yield from lines(_kept(items, keep), longest)

    def run(
        self,
        command: Sequence[str],
        *,
        stdin: bytes = b"",
        cwd: str = WORKSPACE,
        env: Mapping[str, str] = NOTHING,
        seconds: float = 120.0,
        evidence: bool = False,
        limit: int = 1_000_000,
    ) -> Completed:
        """Run a command as in `stream`; of each stream the first `limit` bytes are returned."""
        by, env = self._by(evidence), self._seen(env)
        said = by.start(command, stdin=stdin, cwd=cwd, env=env, seconds=seconds)
        with contextlib.closing(self._told(said)) as items:
            return _completed(items, limit)

    def _by(self, evidence: bool) -> Channel:
        if not evidence:
            return self.channel
        self.channel.distrust()
        return self._evidence

    def _seen(self, env: Mapping[str, str]) -> Mapping[str, str]:
        """The variables of one command: what neighbours gave, then its own."""
        return {**self._environment, **env}

    def _told(
        self, items: Generator[Chunk | Exit | Nothing, None, None]
    ) -> Generator[Chunk | Exit | Nothing, None, None]:
        """The same, the Exit with what only the container as a whole knows."""
        with self.channel.disturbing(), contextlib.closing(items):
            for item in items:
                if (
                    isinstance(item, Exit)
                    and not item.timed_out
                    and self._kills.behind(item.status)
                ):
                    yield replace(item, out_of_memory=True)
                else:
                    yield item

    def snapshot(
        self, previous: str, pack: Path, cap: int = snapshot.PACK_CAP, *, anew: bool = False
    ) -> Snapshot:
        """Record the files of /workspace, see `snapshot.take`; `anew`: without any cache.

        A sandbox without room for that is ended.
        """
        seconds = snapshot.REHASH_SECONDS if anew else snapshot.SECONDS
        with self._recording():
            return snapshot.take(self.channel, previous, pack, cap=cap, seconds=seconds, anew=anew)

    def rehash(self) -> str:
        """The tree of the files as they are, found without any cache, see `snapshot.rehash`."""
        with self._recording():
            return snapshot.rehash(self.channel)

    def reset(self, pack: Path | None, tree: str) -> None:
        """Make the files exactly `tree`; what set-up left untracked stays, see `snapshot.reset`."""
        with self._recording():
            snapshot.reset(self.channel, pack, tree)

    def sweep(self) -> None:
        """Kill every process of the working user, daemons and a live fork bomb included.

        Where no command was started since the last time, there is none. Raises SandboxLostError
        when the container does not answer.
        """
        if not self.channel.quiet:
            self.channel.sweep()

    def lost(self) -> SandboxLostError | None:
        """Why the sandbox is dead, as the error to raise; None while it lives.

        Where its files are counted quickly it is ended first, when it is over its limit.
        """
        if self._watch.quick():
            return None
        return self._watch.over or container.lost(self._engine.client.api, self.id)

    def require_limit(self) -> None:
        """Count its files, however long that takes.

        Raises SandboxLostError when it was over its limit, now or before; it has ended then.
        """
        self._watch.count()
        if self._watch.over:
            raise self._watch.over

    def require_room(self, left: disk.Left) -> None:
        """End the sandbox where it has no room left, by what a snapshot says of that.

        Raises DiskFullError, or SandboxLostError when it was over its limit.
        """
        if sentence := disk.full(left, self.limits):
            self._end()
            raise DiskFullError(sentence)
        self._watch.told(left.root.size)
        if self._watch.over:
            raise self._watch.over

    @contextlib.contextmanager
    def _recording(self) -> Iterator[None]:
        try:
            with self._kills.told(self.limits):
                yield
        except DiskFullError as error:
            self._end()
            raise DiskFullError(disk.unrecordable(self.limits, error.said), error.said) from error

    def _end(self) -> None:
        """End it for its full disk: what works in it could ask a model for more."""
        with contextlib.suppress(*disk.GONE):  # it has ended already
            self._watch.end()


@contextlib.contextmanager
def open_box(
    engine: Engine,
    image: str,
    limits: Limits,
    *,
    run: str,
    purpose: Literal["work", "proof"],
    neighbours: Sequence[Neighbour] = (),
    kits: Sequence[Kit] = (),
) -> Iterator[Box]:
    """Open a sandbox on a prepared image and remove it at the end, whatever happens.

    `neighbours` join it before its first command; `kits` are programs it finds beside its own.
    Raises ImageError when an image is missing or cannot be started, SandboxError when a neighbour
    does not come up.
    """
    until = time.monotonic() + limits.seconds

    def begin() -> Opened:
        left = replace(limits, seconds=max(1.0, until - time.monotonic()))
        labels = container.labels(engine, left, run, purpose)
        return life.enter_context(_opened(engine, image, left, labels, neighbours, kits))

    with contextlib.ExitStack() as life:
        yield Box(engine, limits, life, begin)


@contextlib.contextmanager
def _opened(
    engine: Engine,
    image: str,
    limits: Limits,
    labels: Mapping[str, str],
    neighbours: Sequence[Neighbour],
    kits: Sequence[Kit],
) -> Iterator[Opened]:
    volume, quota = toolbox.volume(engine), disk.has_quota(engine)
    beside = {kit.place: toolbox.filled(engine, {}, kit) for kit in kits}
    flags = work_flags(image, limits, toolbox=volume, labels=labels, quota=quota, kits=beside)
    with container.running(engine, flags) as identity, contextlib.ExitStack() as near:
        watch = near.enter_context(disk.watched(engine, identity, limits.disk))
        if limits.workspace == "memory":
            workspace.fill(engine, identity, image, limits, volume, labels)
        environment: dict[str, str] = {}
        for neighbour in neighbours:
            environment |= near.enter_context(neighbour.join(engine, identity, labels))
        yield Opened(identity, environment, watch)


def _kept(
    items: Iterator[Chunk | Exit | Nothing], keep: BinaryIO
) -> Iterator[Chunk | Exit | Nothing]:
    left = KEPT
    for item in items:
        if isinstance(item, Chunk):
            keep.write(item.data[:left])
            left = max(0, left - len(item.data))
        elif isinstance(item, Exit) and item.size > KEPT:
            keep.write(b"\n[%d bytes more are not kept]\n" % (item.size - KEPT))
        yield item


def _completed(items: Iterator[Chunk | Exit], limit: int) -> Completed:
    kept = {"stdout": bytearray(), "stderr": bytearray()}
    for item in items:
        if isinstance(item, Exit):
            return Completed(item, bytes(kept["stdout"]), bytes(kept["stderr"]))
        room = limit - len(kept[item.stream])
        kept[item.stream] += item.data[:room]
    raise AssertionError("a channel's last item is its Exit")
