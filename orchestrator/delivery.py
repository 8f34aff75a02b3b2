"""Publishing a run's branch in the user's repository; merging it; taking it back.

Only `refs/heads/agent/<run>` is written, and by a merge the branch that was asked for. A branch
that is checked out anywhere is never moved: its files would stay behind, and the next commit there
would undo the merge. Such a merge is checked for conflicts and left to one command of the user's.
"""

import shlex
from collections.abc import Mapping

from orchestrator.errors import ConflictError, GitError, RepositoryError, UsageError
from orchestrator.events import Delivered, Merged
from orchestrator.git import Git
from orchestrator.patch import shown
from orchestrator.quarantine import Quarantine
from orchestrator.repository import Repository
from orchestrator.screen import one_line
from sandbox import scratch

REACH = 20_000
"""Commits since a run that are looked through for its merge; they take about 0.2 s."""

ID = 40
"""Hexadecimal digits of a commit's name."""


def branch_of(run: str) -> str:
    """The branch that belongs to a run."""
    return f"agent/{run}"


def require_room(repository: Repository) -> None:
    """Raise RepositoryError when git could not hold `agent/<run>` beside a branch of the user's."""
    if repository.branch("agent"):
        raise RepositoryError(
            f"{repository.name} has a branch called agent, so none can be called agent/...:"
            " rename it with `git branch -m agent NEW-NAME`."
        )


def publish(
    repository: Repository, quarantine: Quarantine, run: str, tip: str, *, squashed: bool = False
) -> Delivered:
    """Create the run's branch at `tip`, with all its commits; one that is there stays.

    Raises ConflictError when the branch is elsewhere or checked out, GitError when another process
    holds its lock; nothing is left then but objects that git will remove.
    """
    branch = branch_of(run)
    delivered = Delivered(branch=branch, commit=tip, squashed=squashed)
    if repository.branch(branch) == tip:
        return delivered
    _not_checked_out(repository, branch)
    with scratch.folder() as place:
        repository.import_pack(quarantine.pack(tip, quarantine.base, place / "pack"))
    repository.create_branch(branch, tip)
    return delivered


def merge(repository: Repository, run: str, tip: str, into: str | None = None) -> Merged:
    """Merge the run's last commit into a branch, always with a merge commit.

    `into` is by default the branch that HEAD names. A branch that holds the commit already stays
    as it is, and the commit that brought it there is returned, or the run's own where that is long
    past. Raises ConflictError with the paths in conflict, or when the branch moved meanwhile;
    UsageError with the command to type when it is checked out.
    """
    target = into or repository.current_branch()
    if target is None:
        raise UsageError("HEAD is detached: name the branch to merge into with --into.")
    old = repository.branch(target)
    if old is None:
        raise UsageError(f"There is no branch {target}: name an existing one with --into.")
    if repository.git.ok("merge-base", "--is-ancestor", tip, old):
        brought = _brought(repository, old, f"{tip}~1")
        return Merged(branch=target, commit=brought.get(tip, tip))
    with repository.workbench() as bench:
        tree = _merged_tree(bench, old, tip, target, branch_of(run))
        _left_to_the_user(repository, run, target)
        message = f"Merge branch '{branch_of(run)}' into {target}\n\nRun: {run}\n".encode()
        new = bench.text("commit-tree", tree, "-p", old, "-p", tip, stdin=message)
        repository.import_pack(bench.pack(bench.directory / "merge.pack", new, old, tip))
    repository.move_branch(target, new, old)
    return Merged(branch=target, commit=new)


def merged_by_hand(repository: Repository, since: str) -> Mapping[str, str]:
    """What the branch that HEAD names has and `since`, a commit, has not: see `_brought`.

    Empty where HEAD is detached or names a branch of ours: whoever looks at it has not merged it.
    """
    brought = _brought(repository, "HEAD", since)
    branch = repository.current_branch() if brought else None
    return brought if branch and not branch.startswith(branch_of("")) else {}


def _brought(repository: Repository, branch: str, since: str) -> Mapping[str, str]:
    """Each commit that a branch has and `since` has not, with the one that brought it there.

    That is the first of the branch's own that holds it: a merge, or itself where it was
    fast-forwarded. At most REACH commits are looked through.
    """
    limit = f"--max-count={REACH}"
    wanted = ("rev-list", limit, "--parents", "--ignore-missing", branch, f"^{since}")
    lines = repository.git.text(*wanted).splitlines()
    parents = {line[:ID]: line.split(" ")[1:] for line in lines}
    own = [lines[0][:ID]] if lines else []
    while own and (first := parents[own[-1]][:1]) and first[0] in parents:
        own += first
    found: dict[str, str] = {}
    for commit in reversed(own):
        left = [commit]
        while left:
            each = left.pop()
            if each in parents and each not in found:
                found[each] = commit
                left += parents[each]
    return found


def discard(repository: Repository, run: str, tip: str) -> bool:
    """Delete the run's branch; False when there is none.

    Raises ConflictError when it is checked out, or no longer at `tip`, the commit that was
    published: then somebody else's work is on it.
    """
    branch = branch_of(run)
    commit = repository.branch(branch)
    if commit is None:
        return False
    _not_checked_out(repository, branch)
    if commit != tip:
        raise ConflictError(
            f"{branch} has commits that are not the run's;"
            f" if they are not needed, delete it with `git branch -D {branch}`."
        )
    repository.delete_branch(branch, tip)
    return True


def _not_checked_out(repository: Repository, branch: str) -> None:
    place = repository.checked_out().get(branch)
    if place:
        raise ConflictError(f"{branch} is checked out in {place}: switch to another branch there.")


def _left_to_the_user(repository: Repository, run: str, target: str) -> None:
    place = repository.checked_out().get(target)
    if place:
        command = f"git -C {shlex.quote(str(place))} merge --no-ff {branch_of(run)}"
        raise UsageError(
            f"{target} is checked out in {place}, where files are never touched;"
            f" it merges without conflict, so type `{command}`,"
            " or merge into another branch with --into."
        )


def _merged_tree(bench: Git, old: str, tip: str, target: str, branch: str) -> str:
    done = bench.call("merge-tree", "--write-tree", "-z", "--name-only", "--no-messages", old, tip)
    tree, *paths = done.stdout.split(b"\0")[:-1] or [b""]
    if done.status == 1 and tree:
        names = ", ".join(one_line(shown(path)) for path in paths if path)
        raise ConflictError(
            f"{branch} and {target} changed the same lines of: {names}; to settle that by hand,"
            f" switch to {target} and type `git merge --no-ff {branch}`."
        )
    if done.status != 0:
        raise GitError(f"git merge-tree failed: {done.message}")
    return tree.decode("ascii")
