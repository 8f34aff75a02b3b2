"""Files of public registries that tests read: pinned, kept in the user's cache, never executed."""

import hashlib
import os
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path

from platformdirs import user_cache_path

CACHE = user_cache_path("orchestrator-tests")


@dataclass(frozen=True, slots=True)
class Package:
    """One version of a package, as its registry packs it."""

    registry: str
    """`npm`, or `apt`: whatever Debian or Ubuntu this machine is set up for."""
    name: str
    version: str
    sha256: str


class NotOfferedError(Exception):
    """This machine's Debian or Ubuntu has no such version, or there is no apt."""


def fetch(package: Package) -> Path:
    """The package's file: from the cache, or else from its registry."""
    place = CACHE / package.sha256
    if not place.exists():
        CACHE.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=CACHE) as folder:
            os.replace(download(package, Path(folder)), place)
    return place


def download(package: Package, folder: Path) -> Path:
    """The package's file in an empty folder; an error when it is another than expected."""
    _ask(package, folder)
    (packed,) = folder.iterdir()
    found = hashlib.sha256(packed.read_bytes()).hexdigest()
    assert found == package.sha256, f"{package.name} {package.version} is {found}"
    return packed


def _ask(package: Package, folder: Path) -> None:
    if package.registry == "npm":
        wanted = f"{package.name}@{package.version}"
        command = ["npm", "pack", "--silent", "--ignore-scripts", wanted]
        subprocess.run(command, cwd=folder, check=True, stdout=subprocess.DEVNULL)
        return
    command = ["apt-get", "--quiet", "download", f"{package.name}={package.version}"]
    try:
        subprocess.run(command, cwd=folder, check=True, capture_output=True, text=True)
    except (FileNotFoundError, subprocess.CalledProcessError) as error:
        said = getattr(error, "stderr", error)
        raise NotOfferedError(f"{package.name} {package.version}: {said}") from error
