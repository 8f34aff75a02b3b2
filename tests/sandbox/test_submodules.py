"""Submodules whose files are here: given at the base's commits, and never the agent's to change."""

import pytest

from orchestrator.repository import Repository
from orchestrator.submodules import submodules
from sandbox.snapshot import rehash, take
from tests.exchange import commit, git, start
from tests.project import Project, said

LIBRARY = {"lib.c": b"int x;\n", "doc/a.txt": b"a\n", ".gitignore": b"*.o\n"}
ADD = ("-c", "protocol.file.allow=always", "submodule", "add", "--quiet")
UPDATE = ("-c", "protocol.file.allow=always", "submodule", "update", "--init", "--recursive")


def build(engine, folder) -> Project:
    """A project with a submodule that has one of its own."""
    start(folder / "deep", {"deep.h": b"deep\n"})
    start(folder / "library", LIBRARY)
    git(folder / "library", *ADD, str(folder / "deep"), "inner/deep")
    commit(folder / "library", {})
    project = Project.create(engine, folder / "project", {"pyproject.toml": b"", "app.c": b"1\n"})
    git(project.user, *ADD, "--name", "the lib", str(folder / "library"), "vendor/lib")
    git(project.user, *UPDATE)
    project.commit({})
    return project


@pytest.fixture(scope="module")
def shared(engine, tmp_path_factory):
    """One for all tests that leave it alone."""
    project = build(engine, tmp_path_factory.mktemp("shared"))
    yield project
    project.remove()


@pytest.fixture(scope="module")
def prepared(shared):
    return shared.prepare()


@pytest.fixture
def project(engine, tmp_path):
    project = build(engine, tmp_path)
    yield project
    project.remove()


@pytest.fixture
def box(shared, prepared):
    with shared.open(prepared) as box:
        yield box


@pytest.fixture
def record(box, shared, tmp_path):
    """Do something and record it: what was left out, and whether the tree is still the base's."""
    tree = shared.git("rev-parse", "HEAD^{tree}")

    def record(script: str):
        said(box, script)
        taken = take(box.channel, tree, tmp_path / "pack")
        assert rehash(box.channel) == taken.tree
        return taken.left_out, taken.tree == tree

    return record


def test_files_are_there_at_every_depth_and_nothing_differs(box, record):
    script = "cat vendor/lib/lib.c vendor/lib/inner/deep/deep.h; git status --short"
    assert said(box, script) == "int x;\ndeep\n"
    assert said(box, "find vendor ! -user agent") == ""
    assert record("true") == ((), True)


@pytest.mark.parametrize(
    ("script", "path"),
    [
        ("echo more >>vendor/lib/lib.c", "vendor/lib/lib.c"),
        ("rm vendor/lib/doc/a.txt", "vendor/lib/doc/a.txt"),
        ("echo x >vendor/lib/new.c", "vendor/lib/new.c"),
        ("chmod +x vendor/lib/lib.c", "vendor/lib/lib.c"),
        ("echo more >>vendor/lib/inner/deep/deep.h", "vendor/lib/inner/deep/deep.h"),
        ("mkfifo vendor/lib/pipe", "vendor/lib/pipe"),
        ("git init -q vendor/lib", "vendor/lib/.git"),
        ("rm -r vendor/lib/inner/deep; echo x >vendor/lib/inner/deep", "vendor/lib/inner/deep"),
    ],
)
def test_a_change_in_one_is_named_and_never_recorded(record, script, path):
    assert record(script) == ((path,), True)
    assert record("true") == ((path,), True)


def test_a_file_in_the_place_of_one_is_named_and_never_recorded(record):
    paths = ("vendor/lib", "vendor/lib/inner/deep")
    assert record("rm -r vendor/lib; echo x >vendor/lib") == (paths, True)


def test_work_around_them_is_recorded(record):
    assert record("echo 2 >app.c; cc=x; echo o >vendor/lib/lib.o") == ((), False)


def test_what_is_put_back_is_no_change(record):
    assert record("echo more >>vendor/lib/lib.c")[0] == ("vendor/lib/lib.c",)
    assert record("echo 'int x;' >vendor/lib/lib.c") == ((), True)


def test_a_spoilt_index_hides_nothing(record):
    index = "/var/lib/orchestrator/snapshot/module"
    spoil = f"echo more >>vendor/lib/lib.c; echo no >{index}/0/index; rm -r {index}/1"
    assert record(spoil) == (("vendor/lib/lib.c",), True)


def test_what_set_up_did_in_one_is_not_the_agents(project, tmp_path):
    prepared = project.prepare("cd vendor/lib; echo >built.o; echo >made; echo x >>lib''.c")
    left = ("vendor/lib/built.o", "vendor/lib/made")
    assert (prepared.left, prepared.restored) == (left, ("vendor/lib/lib.c",))
    project.commit({"app.c": b"2\n"})
    later = project.prepare("cd vendor/lib; echo >built.o; echo >made; echo x >>lib''.c")
    assert (later.reused, later.left) == (True, left)
    tree = project.git("rev-parse", "HEAD^{tree}")
    with project.open(later) as box:
        assert said(box, "cat vendor/lib/lib.c app.c") == "int x;\n2\n"
        taken = take(box.channel, tree, tmp_path / "pack")
        assert (taken.tree, taken.left_out) == (tree, ())


def test_another_commit_of_one_is_another_set_up(project):
    project.prepare("true")
    commit(project.user / "vendor/lib", {"lib.c": b"int y;\n"})
    project.commit({})
    later = project.prepare("true")
    assert not later.reused
    assert project.say(later, "cat vendor/lib/lib.c") == "int y;\n"


# Where they are found


def present(path, home) -> list[str]:
    repository = Repository.open(str(path), home)
    found = submodules(repository, repository.resolve("HEAD"), home / "packs")
    return [each.path for each in found]


def test_they_are_found_by_name_in_worktrees_and_as_whole_repositories(project, tmp_path):
    both = ["vendor/lib", "vendor/lib/inner/deep"]
    assert present(project.user, tmp_path) == both
    project.git("worktree", "add", "-q", str(tmp_path / "linked"))
    assert present(tmp_path / "linked", tmp_path) == both
    start(project.user / "own", {"a": b""})
    own = '[submodule "own"]\npath = own\nurl = ./own\n'
    modules = (project.user / ".gitmodules").read_text()
    project.commit({".gitmodules": (modules + own).encode()})
    assert present(project.user, tmp_path) == ["own", *both]


def test_one_that_is_not_here_stays_an_empty_folder(shared, tmp_path):
    git(tmp_path, "clone", "-q", str(shared.user), "clone")
    assert present(tmp_path / "clone", tmp_path) == []


@pytest.mark.parametrize("name", ["../../../other/.git", "/etc", "a/../../../other/.git"])
def test_a_name_that_leads_elsewhere_finds_nothing(project, tmp_path, name):
    other = start(tmp_path / "other", {"secret": b"hush"})
    head = git(other, "rev-parse", "HEAD").decode().strip()
    (project.user / ".gitmodules").write_text(f'[submodule "{name}"]\npath = x\nurl = x\n')
    project.git("update-index", "--add", "--cacheinfo", f"160000,{head},x")
    project.git("add", ".gitmodules")
    project.git("commit", "-qm", "x")
    assert "x" not in present(project.user, tmp_path)
