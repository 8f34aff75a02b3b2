"""Writing a cassette while the traffic goes on."""

import os
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import Lock

import msgspec

from sandbox.gateway import mask
from sandbox.gateway.canonical import parsed
from sandbox.gateway.cassette import Chunk, End, Exchange, Label, encode

LIMIT = 64 << 20
"""Bytes of one cassette. A request repeats the whole conversation, so that a long run of many
turns has some ten MiB."""
TOO_LARGE = "the run's model traffic is larger than a recording may be"

KEPT = {"content-type", "location", "retry-after", "retry-after-ms", "x-should-retry"}
"""Headers of a response that a client acts on."""
_CHUNK = 40
"""Bytes that a chunk takes beside its content."""
KEPT_FAMILIES = ("anthropic-ratelimit-", "x-ratelimit-")


class Recorder:
    """Writes a cassette. What goes wrong with it never reaches those whose traffic it is.

    Its methods may be called from several threads.
    """

    def __init__(self, folder: Path, *, model: str = "", limit: int = LIMIT) -> None:
        """The folder is made for the first exchange; without one there is no cassette."""
        self.stopped = ""
        """Why it does not go on, as a clause; empty while it does."""
        self.exchanges = 0
        """How many were written."""
        self._folder = folder
        self._limit = limit
        self._room = limit
        self._written = 0
        self._begun = 0
        self._lock = Lock()
        self._label = Label(model=model)

    def begin(
        self,
        method: str,
        target: str,
        headers: Mapping[str, str],
        body: bytes,
        keys: Iterable[str] = (),
        tokens: Iterable[str] = (),
    ) -> "Taking":
        """Take down a request that is being made.

        `keys` and `tokens` are secret beside what headers and parameters hold by their names. A
        token may stand in the body: it is worth nothing after the run. A key there ends the
        recording: the answer may spell it in pieces, which nobody would find.
        """
        with self._lock:
            self._begun += 1
            number = self._begun
            if number == 1:
                self._open()
        if mask.masked(body, mask.spellings(keys)) != body:
            self.stop("a request held the key itself")
        secret = mask.spellings({*mask.secrets(headers, target), *keys, *tokens})
        return Taking(self, number, method, mask.masked_url(target, secret), body, secret)

    def stop(self, why: str) -> None:
        """Record no more; what is on disk stays."""
        self.stopped = self.stopped or why

    def claim(self, count: int) -> bool:
        """Whether there is room for so many bytes more; where there is not, recording stops."""
        with self._lock:
            self._room -= count
            if self._room < 0:
                self.stop(TOO_LARGE)
        return not self.stopped

    def keep(self, number: int, exchange: Exchange) -> None:
        """Write one exchange, unless recording has stopped."""
        if self.stopped:
            return
        content = encode(exchange)
        with self._lock, self._losing():
            # What was claimed is in memory; quotes, escapes and line breaks make it more on disk.
            if self._written + len(content) > self._limit:
                self.stop(TOO_LARGE)
            else:
                self._write(f"{number:04}.json", content)
                self._written += len(content)
                self.exchanges += 1

    def _open(self) -> None:
        with self._losing():
            self._folder.mkdir(parents=True, exist_ok=True)
            self._write("cassette.json", encode(self._label))

    @contextmanager
    def _losing(self) -> Iterator[None]:
        """A full disk ends the recording, and nothing else."""
        try:
            yield
        except OSError as problem:
            self.stop(f"it could not be written: {problem.strerror or problem}")

    def _write(self, name: str, content: bytes) -> None:
        temporary = self._folder / f".{name}.new"
        try:
            temporary.write_bytes(content)
            os.replace(temporary, self._folder / name)
        except OSError:
            with suppress(OSError):
                temporary.unlink()
            raise


class Taking:
    """One exchange while it is recorded: `answered`, any number of `chunk`, `finish`."""

    def __init__(
        self,
        recorder: Recorder,
        number: int,
        method: str,
        target: str,
        body: bytes,
        secret: set[bytes],
    ) -> None:
        self._recorder = recorder
        self._number = number
        self._secret = secret
        self._began = time.monotonic()
        self._at: list[float] = []
        self._chunks: list[bytes] = []
        self._over = not recorder.claim(len(body))
        self._exchange = Exchange(
            time=round(time.time(), 3),
            method=method,
            target=target,
            body=parsed(mask.masked(body, secret)),
        )

    def answered(self, status: int, headers: Mapping[str, str]) -> None:
        """The answer's head has come."""
        lower = {name.lower(): value for name, value in headers.items()}
        if lower.get("content-encoding", "identity") != "identity":
            self._recorder.stop("an answer was compressed, although none was to be")
        kept = {
            name: mask.masked_text(value, self._secret)
            for name, value in lower.items()
            if name in KEPT or name.startswith(KEPT_FAMILIES)
        }
        if "location" in kept:
            kept["location"] = mask.masked_url(kept["location"], self._secret)
        self._exchange = msgspec.structs.replace(self._exchange, status=status, headers=kept)

    def chunk(self, content: bytes) -> None:
        """A piece of the answer's body has come."""
        if not self._over and self._recorder.claim(len(content) + _CHUNK):
            self._at.append(round(time.monotonic() - self._began, 3))
            self._chunks.append(content)

    def finish(self, end: End = "complete", error: str = "") -> None:
        """Nothing more comes; only the first call counts."""
        if self._over:
            return
        self._over = True
        told = mask.masked_text(error, self._secret)
        self._recorder.keep(
            self._number,
            msgspec.structs.replace(
                self._exchange, chunks=tuple(self._pieces()), end=end, error=told
            ),
        )

    def _pieces(self) -> Iterable[Chunk]:
        """The chunks without secrets, those that were torn apart included: no length changes."""
        whole = mask.masked(b"".join(self._chunks), self._secret)
        start = 0
        for at, chunk in zip(self._at, self._chunks, strict=True):
            yield Chunk.of(at, whole[start : start + len(chunk)])
            start += len(chunk)
