"""The real Claude Code in an image: its native binary from npm, over the base image."""

import shutil
import subprocess
import tarfile
import tempfile
from pathlib import Path

from docker.errors import ImageNotFound

from sandbox import BASE_IMAGE, Engine
from tests.downloads import Package, download

VERSION = "2.1.197"
PACKAGE = Package(
    "npm",
    "@anthropic-ai/claude-code-linux-x64",
    VERSION,
    "42b12aa7a1d57d9f48b49acecca37643a81528ad873629e0fc5f043730621b14",
)
"""A run of the tests never executes another file."""
IMAGE = f"orchestrator-test/claude:{VERSION}"
RECIPE = f"""
FROM {BASE_IMAGE}
COPY claude /usr/local/bin/claude
"""


def image(engine: Engine) -> str:
    """The image, built when it is missing; needs npm and its registry then."""
    try:
        engine.client.images.get(IMAGE)
    except ImageNotFound:
        with tempfile.TemporaryDirectory() as folder:
            _build(Path(folder))
    return IMAGE


def _build(folder: Path) -> None:
    packed = download(PACKAGE, folder)
    with tarfile.open(packed) as package, open(folder / "claude", "wb") as binary:
        shutil.copyfileobj(package.extractfile("package/claude"), binary)
    packed.unlink()
    (folder / "claude").chmod(0o755)
    (folder / "Dockerfile").write_text(RECIPE)
    subprocess.run(["docker", "build", "--quiet", "--tag", IMAGE, "."], cwd=folder, check=True)
