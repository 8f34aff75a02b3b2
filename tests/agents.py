"""The images of the programs that are delegated to; they come from npm when they are missing."""

import fcntl
import subprocess

from containers import AGENTS
from tests.downloads import CACHE


def have_agents(*names: str) -> None:
    """Build what is missing of these, or of the usual ones: in one process, while others wait."""
    CACHE.mkdir(parents=True, exist_ok=True)
    with (CACHE / "agents.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        subprocess.run(["sh", str(AGENTS), *names], check=True, stdout=subprocess.DEVNULL)
