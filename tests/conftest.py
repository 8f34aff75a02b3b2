"""What tests of several rooms need: an engine, small repositories, prepared images, boxes."""

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, closing, suppress
from pathlib import Path

import pytest

from sandbox import BASE_IMAGE, Box, Engine, Limits, Source, connect, open_box, prepare
from sandbox.errors import EngineError
from tests.images_kinds import PreparedKind, image_kinds
from tests.recorder import SETUP, TRACKED, Recorder, shallow_source
from tests.tidy import remove_images

FILES = {
    "README.md": b"# Tiny\n",
    "src/app.py": b"def add(a, b):\n    return a + b\n",
    ".gitignore": b"*.log\n",
}
MakeBox = Callable[..., Box]
MakeSource = Callable[[Mapping[str, bytes]], Source]
USUAL = Limits()


def pytest_configure() -> None:
    """A shell that starts us in the background lets us ignore Ctrl-C, which tests send."""
    signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Once all workers have ended, what they left on the engine goes."""
    if not hasattr(session.config, "workerinput"):
        # As pytest-xdist does it: nothing else tells the folder that is above those of all workers.
        folder = session.config._tmp_path_factory.getbasetemp()
        with suppress(EngineError), closing(connect()) as engine:
            remove_images(engine, folder)


OWNER = """
import sys
from sandbox import Limits, connect, open_box
with open_box(connect(), sys.argv[1], Limits(), run="owned", purpose="work") as box:
    print(box.id, flush=True)
    sys.stdin.read()
"""


def git(folder: Path, *arguments: str, stdin: bytes = b"") -> bytes:
    """The host's git on a repository that the test itself made."""
    who = {
        f"GIT_{role}_{key}": key for role in ("AUTHOR", "COMMITTER") for key in ("NAME", "EMAIL")
    }
    dates = {f"GIT_{role}_DATE": "@1700000000 +0000" for role in ("AUTHOR", "COMMITTER")}
    env = {"PATH": os.environ["PATH"], "HOME": str(folder), "GIT_CONFIG_NOSYSTEM": "1"}
    command = ["git", "-C", str(folder), *arguments]
    return subprocess.run(
        command, input=stdin, env=env | who | dates, check=True, capture_output=True
    ).stdout


def tiny_repository(folder: Path, files: Mapping[str, bytes] = FILES) -> Path:
    """A repository with one commit that holds these files, on the branch main."""
    for name, content in files.items():
        place = folder / name
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(content)
    git(folder, "init", "--quiet", "--initial-branch=main")
    git(folder, "add", "--all", "--force")
    git(folder, "commit", "--quiet", "--message=base")
    return folder


def source_of(repository: Path, pack: Path) -> Source:
    """The repository's HEAD as a pack of that commit alone."""
    commit, tree = git(repository, "rev-parse", "HEAD", "HEAD^{tree}").decode().split()
    objects = git(repository, "rev-list", "--objects", "--no-walk", "HEAD")
    listed = b"".join(line[:40] + b"\n" for line in objects.splitlines())
    pack.write_bytes(git(repository, "pack-objects", "--stdout", "--quiet", stdin=listed))
    return Source(commit, tree, pack)


@pytest.fixture(scope="session")
def engine() -> Iterator[Engine]:
    engine = connect()
    yield engine
    engine.client.close()


@pytest.fixture(scope="session")
def make_source(tmp_path_factory) -> MakeSource:
    """Make a repository of these files, and of its only commit what `prepare` takes."""

    def make(files: Mapping[str, bytes]) -> Source:
        folder = tmp_path_factory.mktemp("source")
        return source_of(tiny_repository(folder / "repository", files), folder / "base.pack")

    return make


@pytest.fixture(scope="session")
def source(make_source) -> Source:
    return make_source(FILES)


@pytest.fixture(scope="session")
def image(engine, source) -> str:
    """The small repository prepared on the base image."""
    return prepare(engine, BASE_IMAGE, source).image


@pytest.fixture(scope="session")
def kinds(engine) -> Iterator[Mapping[str, str]]:
    """An image of every kind, by the words of `tests.images_kinds.KINDS`."""
    with image_kinds(engine) as names:
        yield names


@pytest.fixture(scope="session")
def prepared_kind(engine, kinds, source) -> Iterator[PreparedKind]:
    """The small repository prepared on an image of a kind."""
    made: dict[str, str] = {}

    def make(kind: str) -> str:
        if kind not in made:
            made[kind] = prepare(engine, kinds[kind], source).image
        return made[kind]

    yield make
    for kind, image in made.items():
        if kind != "base":  # that one is everybody's
            engine.client.images.remove(image, force=True)


@pytest.fixture
def make_box(engine, image) -> Iterator[MakeBox]:
    """Open boxes; all of them are closed at the end of the test."""
    with ExitStack() as stack:

        def make(limits: Limits = USUAL, image: str = image, purpose: str = "work") -> Box:
            opened = open_box(engine, image, limits, run="test", purpose=purpose)
            return stack.enter_context(opened)

        yield make


@pytest.fixture(scope="module")
def box(engine, image) -> Iterator[Box]:
    """One box for all tests of a module that do not get in each other's way."""
    with open_box(engine, image, Limits(), run="test", purpose="work") as box:
        yield box


@pytest.fixture
def owner(image) -> Iterator[subprocess.Popen[bytes]]:
    """Another process with an open box, whose id is the line that it prints."""
    command = [sys.executable, "-c", OWNER, image]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    ) as process:
        yield process
        process.kill()


@pytest.fixture(scope="session")
def recorded(tmp_path_factory):
    """The base of `record`: with a tracked file that is ignored, and a submodule."""
    return shallow_source(tmp_path_factory.mktemp("recorded"), TRACKED, submodule="vendor/sub")


@pytest.fixture(scope="session")
def prepared(engine, recorded):
    """`recorded` after a set-up that left files and altered one."""
    prepared = prepare(engine, BASE_IMAGE, recorded, setup=(SETUP,))
    yield prepared
    engine.client.images.remove(prepared.image, force=True)


@pytest.fixture
def record(engine, prepared, recorded, tmp_path):
    """Take snapshots of a box of its own, and look at what came out."""
    store = tmp_path / "store"
    store.mkdir()
    with open_box(engine, prepared.image, Limits(), run="test", purpose="work") as box:
        yield Recorder(box, recorded, store, TRACKED)
