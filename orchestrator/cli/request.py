"""What `run` was asked to do, from its words, a file and stdin."""

import shlex
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from orchestrator.clone import address
from orchestrator.errors import RepositoryError, UsageError

_QUOTES = "put the task in quotes, and a command after `--`"


@dataclass(frozen=True, slots=True)
class Request:
    """A repository and what is to be done in it; an empty prompt is for others to judge."""

    repository: str
    prompt: str


def read(
    words: Sequence[str],
    *,
    task_file: Path | None,
    stdin: Callable[[], bytes],
    has_command: bool,
) -> Request:
    """Tell repository and task apart: `[REPO] [TASK] [-]`.

    A single word is the repository when it is a folder or a URL, and the task otherwise; beside
    a command, which needs no task, only a sentence is one. A last `-` adds what stdin says,
    `task_file` what a file says. Raises UsageError when the words can be meant in more than one
    way.
    """
    from_stdin = bool(words) and words[-1] == "-"
    rest = list(words[:-1] if from_stdin else words)
    if len(rest) > 2:
        raise UsageError(f"There is a word too many: {rest[2]!r}; {_QUOTES}.")
    repository = "."
    if rest and _is_repository(rest[0]):
        repository = rest.pop(0)
    elif rest and (
        len(rest) == 2
        or task_file
        or _is_path(rest[0])
        or (has_command and not _is_sentence(rest[0]))
    ):
        raise UsageError(_no_folder(rest, task_file))
    parts = rest
    if task_file:
        parts.append(_text(_content(task_file), str(task_file)))
    if from_stdin:
        parts.append(_text(stdin(), "stdin"))
    return Request(repository, "\n\n".join(part for part in parts if part.strip()))


def prompt(words: Sequence[str], stdin: Callable[[], bytes]) -> str:
    """What is to be done, of `[TASK] [-]`. Raises UsageError when there is a word too many."""
    from_stdin = bool(words) and words[-1] == "-"
    parts = list(words[:-1] if from_stdin else words)
    if len(parts) > 1:
        raise UsageError(f"There is a word too many: {parts[1]!r}; put the task in quotes.")
    if from_stdin:
        parts.append(_text(stdin(), "stdin"))
    return "\n\n".join(part for part in parts if part.strip())


def _no_folder(words: list[str], task_file: Path | None) -> str:
    if task_file and len(words) == 1:
        return (
            f"There is no folder {words[0]}; if that is the task, both it and --task-file"
            " were given: leave one out."
        )
    there = f"There is no folder {words[0]}: give the path of a repository; if that was the task,"
    if len(words) == 1:
        return f"{there} put a repository before it: `. {shlex.quote(words[0])}`."
    return f"{there} {_QUOTES}."


def _is_repository(word: str) -> bool:
    try:
        return Path(word).is_dir() or word.startswith("file://") or address(word) is not None
    except (RepositoryError, OSError):
        return "://" in word and " " not in word  # an address, if not one that is supported


def _is_path(word: str) -> bool:
    return ("/" in word or word.startswith((".", "~"))) and len(word.split()) == 1


def _is_sentence(word: str) -> bool:
    return len(word.split()) > 1 and not word.startswith(("/", "./", "../", "~/"))


def _content(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise UsageError(f"The task file {path} cannot be read: {error.strerror}.") from None


def _text(content: bytes, name: str) -> str:
    try:
        return content.decode("utf-8").strip()
    except UnicodeDecodeError:
        raise UsageError(f"The task in {name} is not text in UTF-8.") from None
