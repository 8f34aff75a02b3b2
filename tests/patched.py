"""A patch applied to files in memory, as the agent's tool applies it to those of a sandbox."""

from collections.abc import Mapping

from orchestrator.patching.forms import read
from orchestrator.patching.hunks import PatchProblem
from orchestrator.patching.plan import paths, plan
from orchestrator.patching.trial import Blob, tried

Files = Mapping[str, bytes]


def patched_blobs(files: Mapping[bytes, Blob], patch: bytes) -> dict[bytes, Blob]:
    """All files after the patch; PatchProblem when it is refused."""
    changes = read(patch)
    touched = {path: files.get(path) for path in paths(changes)}
    placed = plan(changes, {path: blob and blob.content for path, blob in touched.items()})
    after = tried({path: blob for path, blob in touched.items() if blob}, placed)
    return {path: blob for path, blob in files.items() if path not in touched} | after


def patched(files: Files, patch: bytes) -> dict[str, bytes]:
    """The same for plain files."""
    blobs = {path.encode(): Blob(content, False) for path, content in files.items()}
    return {path.decode(): blob.content for path, blob in patched_blobs(blobs, patch).items()}


def refused(files: Files, patch: bytes) -> str:
    """What is said of a patch that cannot be applied."""
    try:
        applied = patched(files, patch)
    except PatchProblem as problem:
        return str(problem)
    raise AssertionError(f"it was applied: {applied}")
