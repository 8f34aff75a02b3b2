import hashlib
import io
import json
import ssl
import tarfile
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest
from docker.errors import APIError

from sandbox.box import open_box
from sandbox.engine import connect
from sandbox.errors import DiskFullError, ImageError, SetupError
from sandbox.images import BASE_IMAGE, PREPARED, SETUP, _disk_full_named, prepare
from sandbox.limits import Limits
from sandbox.owner import MAKER
from sandbox.preparation import wants_network
from sandbox.snapshot import rehash, take


@pytest.fixture
def ready(engine, recorded):
    """Prepare an image of the repository `recorded`, to be removed after the test."""
    made = []

    def ready(image=BASE_IMAGE, source=recorded, **options):
        prepared = prepare(engine, image, source, **options)
        made.append(prepared.image)
        return prepared

    yield ready
    for image in set(made):
        engine.client.images.remove(image, force=True)


@pytest.fixture
def said(engine):
    """What a shell script prints in a box on an image, as the agent."""

    def said(prepared, script):
        with open_box(engine, prepared.image, Limits(), run="test", purpose="work") as box:
            done = box.run(["sh", "-ec", script])
        assert done.exit.ok, done.stderr
        return done.stdout.decode()

    return said


def preparing(engine):
    """The preparation containers of this very process."""
    marks = engine.host_labels() | {"purpose": "preparation"}
    wanted = {"label": [f"{name}={value}" for name, value in marks.items()]}
    return engine.client.containers.list(all=True, filters=wanted)


def test_the_agent_finds_its_files_and_a_repository_at_the_base(prepared, recorded, said):
    script = "cat src/app.py; git status --short; git rev-parse HEAD; git log --format=%s"
    assert said(prepared, script) == f"print('hello')\n?? egg/\n{recorded.commit}\nbase\n"


def test_the_agent_owns_its_files_and_home_and_can_commit(prepared, said):
    script = (
        "id -un; stat -c %U . src/app.py egg/PKG ~; echo x >~/x; echo y >y; git add y;"
        "git commit -qm mine; git log -1 --format=%an"
    )
    assert said(prepared, script).split() == ["agent"] * 6


def test_what_setup_did_to_the_tree_is_told(prepared):
    assert prepared.left == ("build/out/", "egg/PKG")
    assert prepared.restored == ("README",)


def test_the_second_time_the_image_is_there(engine, prepared, recorded, ready):
    first = ready(setup=("echo once",))
    again = ready(setup=("echo once",))
    assert (first.cached, again) == (False, replace(first, cached=True, seconds=again.seconds))


def test_another_setup_makes_another_image(ready):
    assert ready(setup=("echo one",)).image != ready(setup=("echo two",)).image


def test_two_at_once_get_one_image(engine, ready):
    with ThreadPoolExecutor() as pool:
        both = list(pool.map(lambda _: ready(setup=("sleep 0.2; echo at once",)), range(2)))
    assert (both[0].image, {one.cached for one in both}) == (both[1].image, {True, False})


def test_setup_runs_as_root_in_the_tree_and_its_lines_are_passed_on(ready):
    heard = []
    ready(setup=("id -u; pwd; echo $HOME", "echo problem >&2"), on_line=heard.append)
    lines = [(line.stream, line.text) for line in heard]
    told = ["0", "/workspace", "/home/agent"]
    assert lines == [*(("stdout", text) for text in told), ("stderr", "problem")]


def test_setup_may_install_into_the_system(ready, said):
    script = "echo tool >/usr/local/bin/tool; install -d -o 33 -g 33 /srv/www; chmod 700 /srv/www"
    assert said(ready(setup=(script,)), "cat /usr/local/bin/tool") == "tool\n"


def test_a_failing_setup_names_its_command_and_leaves_nothing(engine, ready):
    with pytest.raises(SetupError, match=r"`echo hm; exit 7` failed with status 7.*hm") as failed:
        ready(setup=("true", "echo hm; exit 7"))
    assert failed.value.output == "hm"
    assert preparing(engine) == []


@pytest.mark.parametrize(
    ("script", "reach", "told"),
    [
        ("pip install --retries 0 left", "", True),
        ("pip install --retries 0 left", "pypi", False),
        ("git clone https://a.example/b", "", True),
        ("echo 'make: *** No rule to make target all.'; exit 2", "", False),
    ],
)
def test_a_failing_setup_that_lacked_the_network_is_told_so(ready, script, reach, told):
    with pytest.raises(SetupError) as failed:
        ready(setup=(script,), reach=reach)
    assert ("Set-up had no network: did you mean --setup-network?" in str(failed.value)) is told


@pytest.mark.parametrize(
    "said",
    [
        "ERROR: No matching distribution found for requests",
        "E: Unable to locate package cowsay",
        "W: Failed to fetch http://a.example/InRelease  Temporary failure resolving 'a.example'",
        "curl: (6) Could not resolve host: example.org",
        "wget: bad address 'example.org'",
        "npm ERR! request to https://a.example/x failed, reason: getaddrinfo EAI_AGAIN a.example",
        "dial tcp: lookup proxy.golang.org: no such host",
        "OSError: [Errno 101] Network is unreachable",
        "URLError: <urlopen error [Errno -3] Temporary failure in name resolution>",
        "ERROR: Could not find a valid gem 'rake' (>= 0) in any repository",
        "ERROR: unable to select packages: (no such package): temporary error (try again later)",
    ],
)
def test_words_of_a_missing_network_are_known(said):
    assert wants_network("install", said)


@pytest.mark.parametrize(
    "said",
    [
        "",
        "npm ERR! ERESOLVE unable to resolve dependency tree",
        "ModuleNotFoundError: No module named 'setuptools'",
        "error: command 'gcc' failed with exit code 1",
        "sh: 1: npm: not found",
        "note: This error originates from a subprocess, see https://pip.pypa.io/warnings",
    ],
)
def test_other_failures_are_not_taken_for_it(said):
    assert not wants_network("make", said)


def test_a_silent_command_that_names_a_url_is_taken_to_need_the_network():
    assert wants_network("curl -fs https://a.example/x >x", "")


def test_a_setup_that_takes_too_long_ends(ready):
    with pytest.raises(SetupError, match=r"`sleep 60` took more than \d s\b"):
        ready(setup=("sleep 60",), seconds=1)


@pytest.mark.parametrize(
    "script",
    [
        "rm README; mkdir README; echo x >README/x",
        "mv src code; ln -s code src",
        "echo '*' >.gitignore",
        "rm -rf .git",
        "git init -q inner; mkfifo pipe; echo x >vendor/sub/x",
        "find . -name '*.py' -delete; git add -A; git -c user.name=s -c user.email=s commit -qm s",
    ],
)
def test_whatever_setup_did_work_begins_at_the_base(engine, ready, recorded, tmp_path, script):
    prepared = ready(setup=(script,))
    with open_box(engine, prepared.image, Limits(), run="test", purpose="work") as box:
        taken = take(box.channel, recorded.tree, tmp_path / "pack")
        assert (taken.tree, rehash(box.channel)) == (recorded.tree, recorded.tree)
    assert (taken.left_out, taken.ignored) == ((), ())


def test_setup_has_no_network_of_its_own(ready):
    heard = []
    ready(setup=("ls /sys/class/net",), on_line=heard.append)
    assert [line.text for line in heard] == ["lo"]


def test_what_setup_could_reach_makes_another_image(ready):
    assert ready(setup=("true",)).image != ready(setup=("true",), reach="pypi").image


def test_no_run_is_named_on_the_image(engine, prepared):
    labels = engine.client.images.get(prepared.image).labels
    ours = {"app", "run", "purpose", "deadline", "name", MAKER, *engine.host_labels()}
    assert {labels.get(name, "") for name in ours} == {""}


def test_programs_trust_the_authorities_of_the_host(prepared, said):
    known = ssl.create_default_context().get_ca_certs(binary_form=True)
    script = "import ssl; print(len(ssl.create_default_context().get_ca_certs()))"
    assert int(said(prepared, f'python3 -c "{script}"')) >= len(known) > 0
    assert said(prepared, "grep -c BEGIN /etc/ssl/certs/ca-certificates.crt").strip() != "0"


def archive(files: dict[str, bytes]) -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as tar:
        for name, content in files.items():
            member = tarfile.TarInfo(name)
            member.size, member.mode = len(content), 0o755
            tar.addfile(member, io.BytesIO(content))
    return out.getvalue()


@pytest.fixture
def load(engine):
    """Put an image of these files and settings into the engine."""
    loaded = []

    def load(name, files=None, architecture=engine.architecture, **config):
        facts = {"architecture": architecture, "os": "linux", "config": config}
        layer = archive(files or {"empty": b""})
        manifest = [{"Config": "c.json", "RepoTags": [name], "Layers": ["layer.tar"]}]
        packed = {"c.json": facts | {"rootfs": {"type": "layers", "diff_ids": [digest(layer)]}}}
        documents = {key: json.dumps(value).encode() for key, value in packed.items()}
        documents |= {"manifest.json": json.dumps(manifest).encode(), "layer.tar": layer}
        engine.client.images.load(archive(documents))
        loaded.append(name)
        return name

    yield load
    for name in loaded:
        engine.client.images.remove(name, force=True)


def digest(layer: bytes) -> str:
    return f"sha256:{hashlib.sha256(layer).hexdigest()}"


@pytest.fixture(scope="session")
def busybox(engine):
    """The toolbox's busybox, one static program."""
    container = engine.client.containers.create("orchestrator/toolbox:1")
    stream, _ = container.get_archive("/opt/orchestrator/bin/busybox")
    with tarfile.open(fileobj=io.BytesIO(b"".join(stream))) as tar:
        content = tar.extractfile("busybox").read()
    container.remove()
    return content


def test_an_image_needs_no_more_than_a_shell(load, busybox, ready, said):
    image = load("test-bare:1", {"bin/sh": busybox}, Entrypoint=["/none"], User="77", Cmd=["x"])
    prepared = ready(image, setup=("echo x >made",))
    assert said(prepared, "/opt/orchestrator/bin/busybox cat made src/app.py") == (
        "x\nprint('hello')\n"
    )


def test_an_image_of_another_architecture_is_refused(load, ready):
    with pytest.raises(ImageError, match="is for linux/s390x, this Docker Engine runs linux/"):
        ready(load("test-foreign:1", architecture="s390x"))


@pytest.mark.parametrize("place", ["/workspace", "/opt/orchestrator/bin", "/home"])
def test_an_image_whose_volume_would_hide_files_of_ours_is_refused(load, ready, place):
    with pytest.raises(ImageError, match=f"declares a volume at {place}, "):
        ready(load("test-volume:1", Volumes={place: {}}))


def test_an_image_with_files_in_the_way_is_refused(load, ready):
    with pytest.raises(ImageError, match="already has files in /workspace"):
        ready(load("test-full:1", {"workspace/x": b"x"}))


@pytest.mark.parametrize(
    ("name", "advice"),
    [
        ("orchestrator/base:0", r"is missing: run `make images`, or `sh .*build.sh`"),
        ("localhost:1/missing:1", r"is not on this machine and cannot be pulled \(.*\): check"),
        ("Not A Name", "is not the name of an image"),
    ],
)
def test_a_missing_image_says_what_to_do(ready, name, advice):
    with pytest.raises(ImageError, match=advice):
        ready(name)


def test_a_pack_that_is_broken_leaves_nothing(engine, ready, recorded, tmp_path):
    (tmp_path / "pack").write_bytes(recorded.pack.read_bytes()[:-30])
    with pytest.raises(ImageError, match="index-pack"):
        ready(source=replace(recorded, pack=tmp_path / "pack", tree="0" * 40))
    assert preparing(engine) == []


def test_ctrl_c_while_the_engine_makes_the_image_is_told_as_such(engine, recorded):
    made = []
    hasty = connect()
    commit = hasty.client.api.commit

    def interrupted(container, repository, *rest, **options):
        made.append(commit(container, repository, *rest, **options)["Id"])
        if repository:
            raise KeyboardInterrupt
        return {"Id": made[-1]}

    hasty.client.api.commit = interrupted
    with pytest.raises(KeyboardInterrupt):
        prepare(hasty, BASE_IMAGE, recorded, setup=(": pressed",))
    hasty.close()
    engine.client.images.remove(made[1], force=True)
    assert (len(made), preparing(engine)) == (2, [])


def test_an_image_has_a_name_for_its_commit_and_one_for_what_stands_on_it(engine, prepared):
    names = sorted(tag.partition(":")[0] for tag in engine.client.images.get(prepared.image).tags)
    assert names == [PREPARED, SETUP]


def test_a_full_disk_of_the_engine_is_named():
    full = APIError("commit", explanation="write /var/lib/docker/x: no space left on device")
    with pytest.raises(DiskFullError, match="The Docker Engine's disk is full"), _disk_full_named():
        raise full
