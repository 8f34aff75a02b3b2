from pathlib import Path

import pytest

from orchestrator.inputs import inputs, remembered
from orchestrator.repository import Repository
from tests.exchange import commit, git, start

FILES = {
    "README.md": b"one\n",
    "web/package.json": b"{}\n",
    "requirements-dev.txt": b"pytest\n",
    "tools/install.sh": b"true\n",
    "tools/dev.list": b"curl\n",
    "src/fast.c": b"int x;\n",
}
MANIFESTS = ("requirements-dev.txt", "web/package.json")


@pytest.fixture
def user(tmp_path: Path) -> Path:
    return start(tmp_path / "user", FILES)


def of(user: Path, *setup: str, globs: tuple[str, ...] = ()):
    repository = Repository.open(str(user), user / "home")
    return inputs(repository, repository.resolve("HEAD"), setup, globs)


def test_manifests_are_known_at_any_depth(user):
    assert of(user).paths == MANIFESTS


@pytest.mark.parametrize(
    "command",
    [
        "tools/install.sh",
        "sh ./tools/install.sh --quick",
        "cd tools && sh install.sh",
        "bash -ec '/workspace/tools/install.sh;true'",
        "make -Ctools; bash -x<tools/install.sh",
        "FILE=tools/install.sh sh $FILE",
        "sh ftools/../tools/install.sh",
    ],
)
def test_a_file_that_set_up_names_is_an_input(user, command):
    assert of(user, command).paths == ("requirements-dev.txt", "tools/install.sh", MANIFESTS[1])


def test_an_option_and_its_file_may_be_one_word(user):
    assert "tools/dev.list" in of(user, "xargs -atools/dev.list apt-get install").paths


def test_globs_name_further_ones(user):
    assert of(user, globs=("*.c",)).paths == (MANIFESTS[0], "src/fast.c", MANIFESTS[1])


def test_what_is_no_input_changes_nothing(user):
    before = of(user, "make")
    commit(user, {"README.md": b"two\n", "src/slow.c": b""})
    assert of(user, "make") == before


@pytest.mark.parametrize("change", ["content", "mode", "name", "new", "gone", "submodule"])
def test_an_input_that_differs_in_any_way_changes_the_digest(user, change):
    before = of(user)
    match change:
        case "content":
            commit(user, {"web/package.json": b"{ }\n"})
        case "mode":
            (user / "web/package.json").chmod(0o755)
        case "name":
            git(user, "mv", "web", "site")
        case "new":
            commit(user, {"deep/in/go.mod": b""})
        case "gone":
            (user / "web/package.json").unlink()
        case "submodule":
            git(user, "update-index", "--add", "--cacheinfo", f"160000,{'1' * 40},sub")
            git(user, "commit", "-qm", "sub")
    if change != "submodule":
        commit(user, {})
    assert of(user).digest != before.digest


def test_without_any_there_is_no_digest(tmp_path):
    assert of(start(tmp_path / "user", {"README.md": b""}), "echo hello").digest == ""


@pytest.fixture
def remember(user, tmp_path):
    """Ask what may be kept from the last time; and the files in which it is."""
    repository = Repository.open(str(user), tmp_path)
    base = repository.resolve("HEAD")
    pack = repository.pack(base, tmp_path / "packs")

    def ask(*setup: str, globs: tuple[str, ...] = ()):
        return remembered(repository, base, setup, globs, pack)

    ask.kept = lambda: sorted(pack.parent.glob(f"{base.commit}-*.inputs"))
    return ask


def test_what_was_found_is_not_looked_for_again(user, remember):
    before = remember("make")
    assert before == of(user, "make")
    (user / ".git/objects").rename(user / "away")
    assert remember("make") == before


def test_other_questions_are_looked_for_apart(user, remember):
    remember("make")
    assert remember("sh tools/install.sh") == of(user, "sh tools/install.sh")
    assert remember("make", globs=("*.c",)) == of(user, "make", globs=("*.c",))
    assert len(remember.kept()) == 3


@pytest.mark.parametrize("damage", [b"", b"\xff", b'{"paths":[],"digest":""}', None])
def test_what_is_kept_but_damaged_is_looked_for_and_kept_again(user, remember, damage):
    before = remember()
    (file,) = remember.kept()
    whole = file.read_bytes()
    file.write_bytes(whole[:-9] if damage is None else damage)
    assert (remember(), file.read_bytes()) == (before, whole)


def test_what_is_kept_but_says_something_else_is_looked_for_again(user, remember):
    before = remember()
    (file,) = remember.kept()
    whole = file.read_bytes()
    assert b"package.json" in whole
    file.write_bytes(whole.replace(b"package.json", b"package.yaml"))
    assert (remember(), file.read_bytes()) == (before, whole)


def test_what_cannot_be_kept_is_found_all_the_same(user, remember):
    before = remember()
    (file,) = remember.kept()
    file.unlink()
    file.mkdir()
    assert remember() == before
