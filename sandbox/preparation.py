"""The steps that put a repository and its set-up into one image layer."""

import contextlib
import json
import mmap
import os
import re
from collections import deque
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from docker.api.client import APIClient
from docker.errors import APIError
from docker.models.images import Image

from sandbox import container, toolbox
from sandbox.channel import Chunk
from sandbox.engine import Engine
from sandbox.errors import ImageError, SetupError
from sandbox.exec import ExecChannel
from sandbox.framed import FramedChannel
from sandbox.hardening import preparation_flags
from sandbox.limits import Limits
from sandbox.lines import lines
from sandbox.neighbour import Neighbour
from sandbox.owner import MAKER, Owner
from sandbox.source import Known, Source, end_of
from sandbox.stream import Exit, Line

ROOT = "0:0"
LIMITS = Limits(file_size=64 << 30)
"""A pack of a large repository is one file."""
STEP_SECONDS = 1800.0
ENGINE_SECONDS = 3600
"""The engine answers only when all files are copied: 11-18 s for 20,000 files on a busy disk."""
TAIL = 20
"""Lines of output that a failure shows."""
OFFLINE = " Set-up had no network: did you mean --setup-network?"
OUTWARD = re.compile(
    r"network|connect|unreachable|no route|\bhost\b|resolving|name resolution|bad address|dns|"
    r"dial |name or service|getaddrinfo|fetch|download|unable to access|temporary error|offline|"
    r"no matching distribution|unable to locate package|installation candidate|valid gem",
    re.IGNORECASE,
)
"""Words of a failure for which a missing network may be why. Each program has its own, so these are
wide: of apk, apt, Cargo, curl, gem, git, Go, Maven, npm, pip, Python, wget."""
TOLD = 1000
LABEL = "orchestrator.prepared"
"""What is known of the image; of what set-up left and what was put back at most `TOLD` paths."""

BUNDLE = "/var/lib/orchestrator/authorities.crt"
TRUST = (
    "SSL_CERT_FILE",
    "CURL_CA_BUNDLE",
    "GIT_SSL_CAINFO",
    "REQUESTS_CA_BUNDLE",
    "PIP_CERT",
    "NODE_EXTRA_CA_CERTS",
    "CARGO_HTTP_CAINFO",
)
"""Variables that make programs with authorities of their own (pip, npm, cargo) trust ours too."""


@dataclass(frozen=True, slots=True)
class Recipe:
    """All that makes a prepared image what it is."""

    base: str
    """Id of the image it starts from."""
    source: Source
    setup: tuple[str, ...]
    reach: str
    """What set-up can reach of the world, in words that are compared; empty: nothing."""
    authorities: str
    """The host's certificates, PEM; may be empty."""
    seconds: float
    """Time limit of one set-up command."""
    owner: str = ""
    """Noted on the image; makes no other one."""
    neighbours: tuple[Neighbour, ...] = ()
    """What set-up reaches, beside the container in which it runs."""


@dataclass(frozen=True, slots=True)
class Layer:
    """A prepared image: which commit it holds, and what set-up did to the tree in it."""

    image: str
    commit: str
    end: str
    """Where the history in it ends."""
    left: tuple[str, ...]
    restored: tuple[str, ...]

    @classmethod
    def of(cls, image: Image) -> "Layer":
        """Read it back from the image's labels."""
        told = json.loads(image.labels[LABEL])
        left, restored = tuple(told["left"]), tuple(told["restored"])
        return cls(str(image.id), told["commit"], told["end"], left, restored)

    @property
    def known(self) -> Known:
        return Known(self.commit, self.end)


def build(engine: Engine, recipe: Recipe, tag: str, on_line: Callable[[Line], None]) -> Layer:
    """Build the image and tag it when it is complete; nothing is left of one that failed.

    Raises SetupError, ImageError.
    """
    source = recipe.source
    with _container(engine, recipe, recipe.base, recipe.neighbours) as preparing:
        preparing.step("begin", stdin=recipe.authorities.encode())
        boundary = preparing.take(source, known=None)
        preparing.step("checkout", source.commit, stdin=boundary)
        preparing.fill(source)
        for command in recipe.setup:
            _set_up(preparing, command, recipe, on_line)
        told = preparing.step("finish", source.commit, stdin=boundary)
        raw, labels = _commit(preparing, recipe, told)
    return _settled(engine, recipe, raw, labels, tag)


def extend(engine: Engine, recipe: Recipe, over: Layer, tag: str) -> Layer:
    """Build the image upon one whose set-up ran at another commit; all else as in `build`."""
    source = recipe.source
    with _container(engine, recipe, over.image) as preparing:
        boundary = preparing.take(source, over.known)
        told = preparing.step("advance", source.commit, stdin=boundary)
        raw, labels = _commit(preparing, recipe, told, over.image)
    return _settled(engine, recipe, raw, labels, tag)


def _commit(
    preparing: "_Preparing", recipe: Recipe, answer: bytes, over: str = ""
) -> tuple[str, Mapping[str, str]]:
    source = recipe.source
    told = json.loads(answer)
    facts = {name: told[name][:TOLD] for name in ("left", "restored")}
    facts |= {"commit": source.commit, "end": end_of(source.given.shallow)}
    facts |= {"owner": recipe.owner, "over": over}
    labels = {LABEL: json.dumps(facts)}
    return preparing.commit(labels), labels


def _settled(
    engine: Engine, recipe: Recipe, raw: str, labels: Mapping[str, str], tag: str
) -> Layer:
    """Only in a container of the layer do files have the inode and change time git will see."""
    try:
        with _container(engine, recipe, raw, own_tmp=True) as settling:
            settling.step("refresh")
            settling.commit(labels, tag)
    except BaseException:
        # The engine may have made the next image of it, as after Ctrl-C: then it has to stay.
        with contextlib.suppress(APIError):
            engine.client.images.remove(raw)
        raise
    return Layer.of(engine.client.images.get(tag))


def _set_up(
    preparing: "_Preparing", command: str, recipe: Recipe, on_line: Callable[[Line], None]
) -> None:
    tail: deque[str] = deque(maxlen=TAIL)
    for item in preparing.stream(command, recipe.seconds):
        if isinstance(item, Line):
            tail.append(item.text)
            on_line(item)
        elif not item.ok:
            offline = not recipe.reach and wants_network(command, "\n".join(tail))
            raise SetupError(
                f"The set-up command `{command}` {_ended(item)}; mend it, or the image it runs in."
                + (OFFLINE if offline else "")
                + (f' Its last line: "{tail[-1].strip()}".' if tail else ""),
                "\n".join(tail),
            )


def wants_network(command: str, said: str) -> bool:
    """Whether a command that failed without one may have needed the network, by its last words.

    Programs can be silent; where it names a URL it is taken to need one.
    """
    return "://" in command or OUTWARD.search(said) is not None


def _ended(end: Exit) -> str:
    if end.timed_out:
        return f"took more than {end.seconds:.0f} s"
    return f"failed with status {end.status}"


class _Preparing:
    """A container that becomes a layer."""

    def __init__(
        self, engine: Engine, identity: str, marks: Collection[str], env: Mapping[str, str]
    ) -> None:
        self._api = engine.client.api
        self._id = identity
        self._marks = marks
        self._env = env
        self.seen: dict[str, str] = {}
        """Further variables of set-up commands; none of them goes into the image."""
        self._exec = ExecChannel(engine, identity, user=ROOT)
        # A set-up command that starts a daemon, or takes too long, is what this one is for.
        self.channel = FramedChannel(engine, identity, user=ROOT)

    def step(self, *arguments: str, stdin: bytes | mmap.mmap = b"") -> bytes:
        """Run our own program; what it prints. Raises ImageError."""
        printed = {"stdout": bytearray(), "stderr": bytearray()}
        for item in self._exec.call("prepare", *arguments, stdin=stdin, seconds=STEP_SECONDS):
            if isinstance(item, Chunk):
                printed[item.stream] += item.data
            elif not item.ok:
                said = printed["stderr"].decode("utf-8", "replace").strip() or _ended(item)
                raise ImageError(f"The repository cannot be put into the image: {said}")
        return bytes(printed["stdout"])

    def take(self, source: Source, known: Known | None) -> bytes:
        """Bring the base's objects in; where the history in them ends, line by line."""
        with source.given.objects(known) as given:
            self._take(given.pack, "whole" if given.whole else "more")
        return "".join(f"{commit}\n" for commit in source.given.shallow).encode()

    def fill(self, source: Source) -> None:
        """Bring in the files of submodules."""
        for link in source.submodules:
            self._take(link.pack, "more")
        rows = b"".join(
            b"%s\0%s\0" % (os.fsencode(link.path), link.commit.encode())
            for link in source.submodules
        )
        if rows:
            self.step("fill", stdin=rows)

    def _take(self, pack: Path, how: str) -> None:
        with pack.open("rb") as file:
            # Its pages are read as they are sent: a pack may be larger than the memory.
            self.step("take", how, stdin=mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))

    def stream(self, command: str, seconds: float) -> Iterator[Line | Exit]:
        """Run a set-up command as root."""
        arguments = ["sh", "-c", command]
        return lines(self.channel.start(arguments, env={**self._env, **self.seen}, seconds=seconds))

    def commit(self, labels: Mapping[str, str], tag: str | None = None) -> str:
        """Make the container's files an image; its id."""
        # The engine copies labels from the container: emptied, or a sweep would take it for one.
        blank = dict.fromkeys((*self._marks, container.NAME), "")
        # Of an image without a name only; what somebody makes from a named one would inherit it.
        own = {MAKER: "" if tag else Owner.of_this_process().text}
        env = [f"{name}={value}" for name, value in self._env.items()]
        conf = {"Labels": blank | own | dict(labels), "Env": env}
        repository, _, version = (tag or "").partition(":")
        made = self._api.commit(self._id, repository or None, version or None, conf=conf)
        return str(made["Id"])


@contextlib.contextmanager
def _container(
    engine: Engine,
    recipe: Recipe,
    image: str,
    neighbours: Sequence[Neighbour] = (),
    *,
    own_tmp: bool = False,
) -> Iterator[_Preparing]:
    marks = container.labels(engine, LIMITS, run="", purpose="preparation")
    volume = toolbox.volume(engine)
    flags = preparation_flags(image, LIMITS, toolbox=volume, labels=marks, own_tmp=own_tmp)
    with (
        _patience(engine.client.api),
        container.running(engine, flags) as identity,
        contextlib.ExitStack() as beside,
    ):
        preparing = _Preparing(engine, identity, marks, _trust(recipe))
        beside.callback(preparing.channel.close)
        for neighbour in neighbours:
            preparing.seen |= beside.enter_context(neighbour.join(engine, identity, marks))
        yield preparing


def _trust(recipe: Recipe) -> dict[str, str]:
    return dict.fromkeys(TRUST, BUNDLE) if recipe.authorities else {}


@contextlib.contextmanager
def _patience(api: APIClient) -> Iterator[None]:
    """docker-py's own limit of 60 s is for all requests; commit and removal may take longer."""
    usual, api.timeout = api.timeout, ENGINE_SECONDS
    try:
        yield
    finally:
        api.timeout = usual
