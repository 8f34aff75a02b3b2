"""The real Claude Code in an image: its native binary from npm, over the base image."""

import base64
import hashlib
import shutil
import subprocess
import tarfile
import tempfile
from pathlib import Path

from docker.errors import ImageNotFound

from sandbox import BASE_IMAGE, Engine

VERSION = "2.1.197"
PACKAGE = f"@anthropic-ai/claude-code-linux-x64@{VERSION}"
SHA512 = "rIlKmrY0QMyHgPRX/MYWNj039vbypICvI9jVe3rs9Xy2RnNklySjyPxqh62QadznzoftEO23uYQ1tFePcQ//bg=="
"""As the registry lists it: a run of the tests never executes another file."""
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
    subprocess.run(["npm", "pack", "--silent", PACKAGE], cwd=folder, check=True)
    (packed,) = folder.glob("*.tgz")
    found = base64.b64encode(hashlib.sha512(packed.read_bytes()).digest()).decode()
    assert found == SHA512, f"{PACKAGE} is {found}"
    with tarfile.open(packed) as package, open(folder / "claude", "wb") as binary:
        shutil.copyfileobj(package.extractfile("package/claude"), binary)
    packed.unlink()
    (folder / "claude").chmod(0o755)
    (folder / "Dockerfile").write_text(RECIPE)
    subprocess.run(["docker", "build", "--quiet", "--tag", IMAGE, "."], cwd=folder, check=True)
