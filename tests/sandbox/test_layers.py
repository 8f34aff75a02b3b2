"""Images upon images: set-up once for its inputs, and each commit as a layer over it."""

from contextlib import ExitStack
from dataclasses import replace

import pytest

from sandbox import BASE_IMAGE, prepare
from sandbox.errors import ImageError
from sandbox.snapshot import rehash, take
from sandbox.stock import stored
from tests.project import MANIFEST, Project, said

FILES = {
    **MANIFEST,
    ".gitignore": b"*.log\nbuild/\n",
    "README": b"one\n",
    "src/app.py": b"print('one')\n",
    "src/old.py": b"old\n",
}
SETUP = "mkdir -p egg build; echo 1 >egg/PKG; echo o >build/o; echo no >>README"


@pytest.fixture
def project(engine, tmp_path):
    project = Project.create(engine, tmp_path, FILES)
    yield project
    project.remove()


def depth(project, prepared) -> int:
    return len(project.engine.client.images.get(prepared.image).attrs["RootFS"]["Layers"])


def test_a_new_commit_costs_no_set_up_while_its_inputs_stay(project):
    setup = "date +%N >~/when"
    first = project.prepare(setup)
    project.commit({"src/app.py": b"print('two')\n", "new": b"n\n"}, gone=("src/old.py",))
    second = project.prepare(setup)
    assert (first.reused, second.reused, second.cached) == (False, True, False)
    script = "cat ~/when; cat src/app.py new; ls src; git status --short; git rev-parse HEAD"
    when = project.say(first, "cat ~/when")
    assert project.say(second, script) == (
        f"{when}print('two')\nn\napp.py\n{project.git('rev-parse', 'HEAD')}\n"
    )
    assert project.prepare(setup).cached


@pytest.mark.parametrize(
    ("files", "globs"),
    [
        ({"pyproject.toml": b"[project]\nname = 'q'\n"}, ()),
        ({"deep/er/package-lock.json": b"{}"}, ()),
        ({"src/app.py": b"other"}, ("src/*.py",)),
        ({"setup.sh": b"other"}, ()),
    ],
)
def test_a_new_commit_with_other_inputs_is_set_up_again(project, files, globs):
    project.commit({"setup.sh": b"true\n"})
    first = project.source(("sh ./setup.sh",), globs)
    project.commit(files)
    assert project.source(("sh ./setup.sh",), globs).inputs != first.inputs


def test_where_no_inputs_are_known_every_file_is_one(engine, tmp_path):
    project = Project.create(engine, tmp_path, {"README": b"one\n"})
    try:
        first = project.prepare("true")
        project.commit({"README": b"two\n"})
        assert (first.reused, project.prepare("true").reused) == (False, False)
    finally:
        project.remove()


def test_work_on_a_later_commit_begins_clean_and_nothing_of_set_up_is_the_agents(project, tmp_path):
    project.prepare(SETUP)
    project.commit({"src/app.py": b"print('two')\n"}, gone=("src/old.py",))
    prepared = project.prepare(SETUP)
    assert (prepared.left, prepared.restored) == (("build/", "egg/PKG"), ("README",))
    tree = project.git("rev-parse", "HEAD^{tree}")
    with project.open(prepared) as box:
        taken = take(box.channel, tree, tmp_path / "pack")
        assert (taken.tree, taken.left_out, taken.ignored) == (tree, (), ())
        assert rehash(box.channel) == tree
        said(box, "echo more >>src/app.py; echo x >mine; stat -c %U src/app.py . egg/PKG")
        assert take(box.channel, tree, tmp_path / "pack").tree == rehash(box.channel) != tree


PLACES = {  # A name that a command writes whole would be one of its inputs.
    "file": "echo left >fi''le",
    "folder": "mkdir fol''der; echo left >fol''der/x; echo left >fol''der/y",
    "below/x": "echo left >be''low",
    "link/x": "ln -s /etc li''nk",
    "pipe/x": "mkdir pi''pe; mkfifo pi''pe/x",
    "build/x": "mkdir bu''ild; echo left >bu''ild/x",
}
"""Files of a commit, and what set-up leaves there before; builds are ignored by then."""


def test_a_file_of_the_commit_takes_the_place_of_what_set_up_left(project):
    setup = "; ".join(PLACES.values())
    project.prepare(setup)
    project.commit(dict.fromkeys(PLACES, b"tracked\n") | {".gitignore": b""})
    prepared = project.prepare(setup)
    assert (prepared.reused, prepared.restored) == (True, tuple(sorted(PLACES)))
    with project.open(prepared) as box:
        assert said(box, f"cat {' '.join(PLACES)}; test ! -e /etc/x") == "tracked\n" * len(PLACES)
        assert rehash(box.channel) == project.git("rev-parse", "HEAD^{tree}")


def test_layers_never_pile_up(project):
    depths = []
    for number in range(3):
        project.commit({"src/app.py": b"%d" % number})
        depths.append(depth(project, project.prepare("true")))
    assert depths == [depths[0], depths[0] + 2, depths[0] + 2]


def test_without_set_up_a_new_commit_is_a_layer_too(project):
    first = project.prepare()
    project.commit({"src/app.py": b"two"})
    second = project.prepare()
    assert depth(project, second) == depth(project, first) + 2
    assert not second.reused
    assert project.say(second, "cat src/app.py; git status --short") == "two"


def test_two_repositories_share_no_set_up(engine, tmp_path):
    with ExitStack() as stack:
        both = [Project.create(engine, tmp_path / name, FILES) for name in ("one", "two")]
        for project in both:
            stack.callback(project.remove)
        assert [project.prepare("true").reused for project in both] == [False, False]


def test_nothing_of_another_branch_is_there(project):
    project.git("checkout", "-q", "-b", "private")
    secret = project.commit({"src/secret.py": b"hush\n"})
    project.prepare("true")
    project.git("checkout", "-q", "main")
    project.commit({"src/app.py": b"two"})
    prepared = project.prepare("true")
    assert prepared.reused
    with project.open(prepared) as box:
        assert box.run(["git", "cat-file", "-t", secret]).exit.status != 0
        assert said(box, "ls src; git fsck --full").split() == ["app.py", "old.py"]


def test_what_set_up_put_into_the_repositorys_settings_stays(project):
    setup = "git config user.name Setup; echo x >.git/hooks-mark; git commit -qm own --allow-empty"
    project.prepare("mkdir -p .git/hooks; echo true >.git/hooks/pre-commit; " + setup)
    project.commit({"src/app.py": b"two"})
    prepared = project.prepare("mkdir -p .git/hooks; echo true >.git/hooks/pre-commit; " + setup)
    script = "git config user.name; cat .git/hooks/pre-commit; git log --format=%s; git fsck"
    assert project.say(prepared, script) == "Setup\ntrue\nwork\nwork\n"


def test_a_layer_that_fails_leaves_nothing(engine, project):
    def mine() -> list[str]:
        return [image.id for image in stored(engine, lambda owner: owner != project.owner)]

    project.owner = str(project.folder)
    project.prepare("true")
    before = mine()
    broken = replace(project.source(("true",)), commit="1" * 40, history=None)
    with pytest.raises(ImageError, match="cannot be put into the image"):
        prepare(engine, BASE_IMAGE, broken, setup=("true",), owner=project.owner)
    assert mine() == before
