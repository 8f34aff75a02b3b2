"""One image of every kind that a sandbox has to work on, made from what every machine has."""

import io
import secrets
import tarfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager

from sandbox import BASE_IMAGE, Engine
from sandbox.toolbox import IMAGE as TOOLBOX_IMAGE

KINDS = ("base", "busybox", "odd", "writable")

# fmt: off
APPLETS = (
    "[", "cat", "chmod", "cp", "dd", "echo", "env", "expr", "false", "find", "grep", "head", "id",
    "kill", "ln", "ls", "mkdir", "mkfifo", "mv", "nohup", "od", "pgrep", "pkill", "printf", "ps",
    "pwd", "readlink", "rm", "rmdir", "sed", "seq", "setsid", "sh", "sleep", "sort", "tail",
    "tar", "tee", "test", "touch", "tr", "true", "wc", "xargs", "yes",
)
# fmt: on
PLACE = "opt/orchestrator/bin/busybox"

ODD = f"""
FROM {BASE_IMAGE}
USER 65534
ENTRYPOINT ["/no/such/entrypoint"]
CMD ["nor", "this"]
WORKDIR /nowhere
STOPSIGNAL SIGUSR1
HEALTHCHECK --interval=1s CMD touch /tmp/healthy
ENV HOME=/root GOPATH=/go PYTHONHOME=/nowhere PYTHONPATH=/nowhere LD_LIBRARY_PATH=/nowhere
LABEL app=other run=other
"""
WRITABLE = f"""
FROM {BASE_IMAGE}
RUN mkdir -p /go/bin /usr/local/cargo && chmod -R 777 /go /usr/local/cargo /opt /srv
ENV PATH=/go/bin:$PATH CARGO_HOME=/usr/local/cargo
"""


@contextmanager
def image_kinds(engine: Engine) -> Iterator[Mapping[str, str]]:
    """The name of an image for each of `KINDS`; those made here are removed at the end."""
    # Images of this session alone: another one may run at the same time, and remove its own.
    own = secrets.token_hex(4)
    made = {
        "busybox": busybox(engine, f"orchestrator-test/busybox:{own}"),
        "odd": built(engine, f"orchestrator-test/odd:{own}", f"{ODD}LABEL own={own}\n"),
        "writable": built(engine, f"orchestrator-test/write:{own}", f"{WRITABLE}LABEL own={own}\n"),
    }
    try:
        yield {"base": BASE_IMAGE, **made}
    finally:
        for name in made.values():
            engine.client.images.remove(name, force=True)


def built(engine: Engine, name: str, recipe: str) -> str:
    """An image from a recipe without any file beside it."""
    engine.client.images.build(fileobj=io.BytesIO(recipe.encode()), tag=name, rm=True)
    return name


def busybox(engine: Engine, name: str) -> str:
    """Busybox and nothing else: no git, no Python, no bash, no /etc/passwd, no C library."""
    repository, _, tag = name.partition(":")
    archive = _archive(_program(engine))
    engine.client.api.import_image_from_data(archive, repository=repository, tag=tag)
    return name


def _program(engine: Engine) -> bytes:
    container = engine.client.containers.create(TOOLBOX_IMAGE, network_mode="none")
    try:
        pieces, _ = container.get_archive(f"/{PLACE}")
        with tarfile.open(fileobj=io.BytesIO(b"".join(pieces))) as archive:
            file = archive.extractfile("busybox")
            assert file is not None
            return file.read()
    finally:
        container.remove(v=True)


def _archive(program: bytes) -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as archive:
        for folder, mode in (("bin", 0o755), ("tmp", 0o1777)):
            member = tarfile.TarInfo(folder)
            member.type, member.mode = tarfile.DIRTYPE, mode
            archive.addfile(member)
        member = tarfile.TarInfo("bin/busybox")
        member.size, member.mode = len(program), 0o755
        archive.addfile(member, io.BytesIO(program))
        for applet in APPLETS:
            member = tarfile.TarInfo(f"bin/{applet}")
            member.type, member.linkname = tarfile.SYMTYPE, "busybox"
            archive.addfile(member)
    return out.getvalue()


PreparedKind = Callable[[str], str]
"""From a kind to the id of an image of that kind with the small repository in it."""
