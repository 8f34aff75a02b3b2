"""The command of an agent that speaks the Agent Client Protocol: a flag's words, or a table's."""

import shlex

from msgspec import Struct

from orchestrator.errors import UsageError


class AcpSettings(Struct, frozen=True):
    """The `[delegates.acp]` table: the agent that `--worker acp` means."""

    command: str = ""
    """Its program and arguments, in the quotes of a shell; no shell reads them."""

    def __post_init__(self) -> None:
        if self.command:
            _split(self.command)


def words(worker: str, given: tuple[str, ...], flag: str, settings: AcpSettings) -> tuple[str, ...]:
    """The words of the worker's command: those that were `given` apart, or split.

    Raises UsageError for an agent without a command, and for `--command` with another worker.
    """
    if worker != "acp":
        if flag:
            raise UsageError(
                f"--command names an agent for `--worker acp`, not for {worker!r}: a command to run"
                " is put after `--`."
            )
        return given
    if given and flag:
        raise UsageError("The agent has two commands: drop --command, or what is after `--`.")
    if not (given or flag or settings.command):
        raise UsageError(
            'An agent needs a command, such as --command "codex-acp", or `command` in the table'
            " [delegates.acp]."
        )
    try:
        return given or _split(flag or settings.command)
    except ValueError as error:
        raise UsageError(f"--command: {error}.") from None


def _split(command: str) -> tuple[str, ...]:
    """Raises ValueError for a command that names no program."""
    try:
        found = tuple(shlex.split(command))
    except ValueError as error:
        raise ValueError(f"{command!r} cannot be split into words: {error}") from None
    if not found or not found[0]:
        raise ValueError(f"{command!r} names no program")
    return found
