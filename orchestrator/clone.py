"""Copies of remote repositories, kept and fetched again for each run.

A copy is bare and holds no address, so a password in the address the user gave is never written.
"""

import fcntl
import hashlib
import ipaddress
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import SplitResult, urlsplit

from orchestrator.errors import GitError, RepositoryError
from orchestrator.git import Git

_PASSED_ON = (
    *("SSH_AUTH_SOCK", "GIT_SSL_CAINFO", "SSL_CERT_FILE", "SSL_CERT_DIR"),
    *("http_proxy", "https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY", "no_proxy", "NO_PROXY"),
)
"""All that a fetch may know of the caller's environment: how to get out, and whom to trust."""

_OLD_SINS = (
    "badTimezone",
    "missingSpaceBeforeDate",
    "missingSpaceBeforeEmail",
    "zeroPaddedFilemode",
)
"""Harmless faults in the early history of well-known projects, which could not be fetched else."""

_SETTINGS = (
    "transfer.fsckObjects=true",
    *(f"fetch.fsck.{sin}=ignore" for sin in _OLD_SINS),
    "http.followRedirects=initial",
)

_REFS = (
    "+refs/heads/*:refs/heads/*",
    "+refs/tags/*:refs/tags/*",
    "^refs/heads/agent/*",  # ours: neither overwritten nor pruned
)

_SECONDS = 3600.0


@dataclass(frozen=True, slots=True)
class Address:
    """Where a remote repository is, and separately the secret that opens it."""

    url: str
    """Without user name and password, except the login name of ssh: fit for records."""
    protocol: str
    secret: str = ""
    """`user:password` as it stood in the URL."""


def address(where: str) -> Address | None:
    """The address that `where` is, or None when it is a local path.

    Raises RepositoryError for a kind of address that is not supported.
    """
    if re.match(r"[A-Za-z0-9+.-]+::", where):
        raise _unsupported(where.split("::")[0] + "::")
    if re.match(r"[\w.-]+@[\w.-]+:", where):
        return Address(where, "ssh")
    if "://" not in where or where.startswith("file://"):
        return None
    parts = urlsplit(where)
    if parts.scheme == "ssh":
        return Address(_without_login(parts, keep=parts.username or ""), "ssh")
    if parts.scheme == "https" or (parts.scheme == "http" and _is_loopback(parts.hostname or "")):
        login = parts.netloc.rpartition("@")[0]
        return Address(_without_login(parts), parts.scheme, login)
    raise _unsupported(parts.scheme + "://")


def fetch(remote: Address, folder: Path, environ: Mapping[str, str]) -> Path:
    """Bring the copy in `folder` up to date and return its git directory."""
    folder.mkdir(parents=True, exist_ok=True)
    name = hashlib.sha256(remote.url.encode()).hexdigest()[:16]
    with _locked(folder / f"{name}.lock"):
        git = Git(folder / f"{name}.git", env=_network(remote, environ), settings=_SETTINGS)
        try:
            _update(git, remote.url)
        except GitError as error:
            reason = str(error).replace(remote.secret, "***") if remote.secret else str(error)
            raise RepositoryError(
                f"{remote.url} cannot be fetched, check the address and your access to it: {reason}"
            ) from None
    return git.directory


def _update(git: Git, url: str) -> None:
    if not (git.directory / "HEAD").is_file():
        git.run("init", "--bare", "--quiet", "--template=", "--object-format=sha1")
    heads = git.run("ls-remote", "--symref", url, "HEAD", seconds=_SECONDS).decode()
    git.run(
        *("fetch", "--quiet", "--prune", "--force", "--no-tags", "--no-write-fetch-head"),
        *("--no-recurse-submodules", "--no-auto-maintenance", url, *_REFS),
        seconds=_SECONDS,
    )
    head = _default_branch(git, heads)
    if head:
        git.run("symbolic-ref", "HEAD", head)


def _default_branch(git: Git, heads: str) -> str:
    """The remote's HEAD; a server that only names its commit is matched with a branch there."""
    named = re.match(r"ref: (refs/heads/\S+)\t", heads)
    if named:
        return named[1]
    commit = heads.partition("\t")[0]
    if not commit:
        return ""
    fitting = git.text("for-each-ref", "--format=%(refname)", f"--points-at={commit}", "refs/heads")
    return fitting.partition("\n")[0]


def _network(remote: Address, environ: Mapping[str, str]) -> dict[str, str]:
    env = {name: environ[name] for name in _PASSED_ON if name in environ}
    env |= {
        "GIT_ALLOW_PROTOCOL": remote.protocol,
        "GIT_SSH_COMMAND": "ssh -oBatchMode=yes -oConnectTimeout=30",  # never asks
        "GIT_SSH_VARIANT": "ssh",
    }
    if remote.secret:
        # In the environment, which only this user can read; arguments are open to everybody.
        start = f"{remote.protocol}://"
        host = remote.url.removeprefix(start).partition("/")[0]
        env |= {
            "GIT_CONFIG_COUNT": "1",
            "GIT_CONFIG_KEY_0": f"url.{start}{remote.secret}@{host}/.insteadOf",
            "GIT_CONFIG_VALUE_0": f"{start}{host}/",
        }
    return env


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    """One fetch at a time; the lock ends with the process that holds it."""
    with path.open("wb") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def _without_login(parts: SplitResult, keep: str = "") -> str:
    host = parts.netloc.rpartition("@")[2]
    return parts._replace(netloc=f"{keep}@{host}" if keep else host).geturl()


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _unsupported(kind: str) -> RepositoryError:
    return RepositoryError(
        f"{kind} addresses are not supported: give a local path, https:// or ssh://"
        " (http:// only for this machine)."
    )
