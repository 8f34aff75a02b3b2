"""The toolbox in an image that holds a busybox and nothing else: no loader, no C library."""

import io
import json
import tarfile

import pytest

from sandbox import toolbox
from sandbox.engine import connect
from tests.beside import run_in

GIT = "/opt/orchestrator/bin/git"
PYTHON = "/opt/orchestrator/bin/python"


@pytest.fixture(scope="module")
def bare():
    """A running container, started with what breaks a program that trusts its surroundings."""
    engine = connect()
    image = bare_image(engine)
    container = engine.client.containers.run(
        image,
        ["/bin/busybox", "sleep", "300"],
        detach=True,
        network_mode="none",
        volumes={toolbox.volume(engine): {"bind": toolbox.PLACE, "mode": "ro"}},
        tmpfs={"/workspace": "uid=10001,mode=0755"},
        environment={
            "LD_PRELOAD": "/lib/libmusl-only.so",
            "LD_LIBRARY_PATH": "/lib",
            "PYTHONHOME": "/nowhere",
            "LANG": "C",
        },
    )
    yield container
    container.remove(force=True)
    engine.client.images.remove(image)
    engine.client.close()


def bare_image(engine) -> str:
    source = engine.client.containers.create("orchestrator/base:1", "true")
    stream, _ = source.get_archive("/usr/bin/busybox")
    packed = b"".join(stream)
    source.remove()
    out = io.BytesIO()
    with (
        tarfile.open(fileobj=io.BytesIO(packed)) as given,
        tarfile.open(fileobj=out, mode="w") as archive,
    ):
        member = given.getmember("busybox")
        content = given.extractfile(member)
        member.name = "bin/busybox"
        archive.addfile(member, content)
    answer = engine.client.api.import_image_from_data(out.getvalue())
    return json.loads(answer.splitlines()[-1])["status"]


@pytest.fixture
def run(engine, bare):
    def run(*command: str) -> str:
        done = run_in(engine, bare.id, command, user="10001:10001", cwd="/workspace")
        assert done.exit.ok, done
        return done.stdout.decode()

    return run


def test_git_records_a_tree(run):
    run(GIT, "init", "-q", ".")
    run("/bin/busybox", "sh", "-c", "echo hello > greeting")
    run(GIT, "add", "-A")
    assert run(GIT, "write-tree") == "9fbac661424a5e1e7fb9c1a6a516b58fc701f2f0\n"


def test_git_packs_what_it_recorded(run):
    run(GIT, "init", "-q", "packed")
    tree = run(GIT, "-C", "packed", "write-tree").strip()
    pack = (
        f"echo {tree} | {GIT} -C packed pack-objects --revs --stdout -q | {GIT} index-pack --stdin"
    )
    assert run("/bin/busybox", "sh", "-c", f"{GIT} init -q . && {pack}").startswith("pack\t")


def test_git_starts_itself(run):
    """`repack` starts `git pack-objects`, found in git's own folder of programs."""
    run(GIT, "init", "-q", "itself")
    assert run(GIT, "-C", "itself", "repack", "-a", "-d") == "Nothing new to pack.\n"


def test_python_has_its_own_library(run):
    said = run(PYTHON, "-I", "-S", "-c", "import json, sys; print(json.dumps(sys.prefix))")
    assert json.loads(said) == toolbox.PLACE


def test_python_can_call_the_kernel(run):
    """PR_GET_DUMPABLE, as the reaper's PR_SET_DUMPABLE needs."""
    assert (
        run(PYTHON, "-I", "-S", "-c", "import ctypes; print(ctypes.CDLL(None).prctl(3))") == "1\n"
    )


def test_python_reads_any_file_name(run):
    assert (
        run(PYTHON, "-I", "-S", "-c", "import sys; print(sys.getfilesystemencoding())") == "utf-8\n"
    )


def test_what_the_image_preloads_is_kept_for_its_own_commands(run):
    code = "import os; print(os.environ.get('LD_PRELOAD'), os.environ['ORCHESTRATOR_LD_PRELOAD'])"
    assert run(PYTHON, "-I", "-S", "-c", code) == "None /lib/libmusl-only.so\n"
