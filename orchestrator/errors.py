"""Every error the orchestrator raises on purpose, with the exit code it ends in.

    OrchestratorError            1
    ├── UsageError               2   the request cannot be understood or carried out as asked
    │   ├── SettingsError        2   .orchestrator.toml or a flag is wrong
    │   ├── RepositoryError      2   the repository cannot be worked on
    │   └── RecordError          2   no such run, or several
    ├── BlockedError             3   a guardrail stands in the way
    ├── ApprovalError            4   a person has to approve first
    ├── BudgetError              5   a limit on money, tokens or time is used up
    ├── BusyError                1   another command works on the same thing
    ├── GitError                 1   the git program failed
    ├── ConflictError            1   a merge found conflicts, or a ref moved meanwhile
    ├── QuarantineError          1   what came out of a sandbox was refused
    ├── PieceError               1   the pieces of a file do not fit it, or are not to be trusted
    └── ModelError               1   the model's API failed
        ├── ModelAuthError       1   the provider rejected the key
        ├── RateLimitedError     1   the provider says: later
        ├── ModelRefusedError    1   the request itself was refused; a retry cannot help
        └── ScriptError          1   a scripted model's script and the run disagree

Errors of sealed containers live in `sandbox.errors`. A command that fails is a value, not an error.
Every message is one sentence that says what to do next.
"""


class OrchestratorError(Exception):
    """Something the user should read; `exit_code` is what the command line ends with."""

    exit_code = 1


class UsageError(OrchestratorError):
    """The request cannot be understood or carried out as asked."""

    exit_code = 2


class SettingsError(UsageError):
    """A setting in `.orchestrator.toml` or a flag is wrong."""


class RepositoryError(UsageError):
    """The repository is missing or of a kind that cannot be worked on."""


class RecordError(UsageError):
    """No such run, or the given start of its id fits several."""


class BlockedError(OrchestratorError):
    """A guardrail stands in the way."""

    exit_code = 3


class ApprovalError(OrchestratorError):
    """A person has to approve first."""

    exit_code = 4


class BudgetError(OrchestratorError):
    """A limit on money, tokens or time is used up."""

    exit_code = 5


class BusyError(OrchestratorError):
    """Another command works on the same thing; the message says how to go on."""


class GitError(OrchestratorError):
    """The git program failed; the message ends with its last words."""


class ConflictError(OrchestratorError):
    """A merge found conflicts, or a ref moved between reading and writing it."""


class QuarantineError(OrchestratorError):
    """What came out of a sandbox was refused: too large, malformed, incomplete or late."""


class PieceError(OrchestratorError):
    """The pieces of a file and its source do not fit together, or the index is not trusted."""


class ModelError(OrchestratorError):
    """The model's API failed.

    `retryable` says whether the same request may succeed later; `until` is a Unix time in seconds
    before which the provider does not want it, when it said one.
    """

    def __init__(
        self, message: str, *, retryable: bool = False, until: float | None = None
    ) -> None:
        super().__init__(message)
        self.retryable = retryable
        self.until = until


class ModelAuthError(ModelError):
    """The provider rejected the key."""


class RateLimitedError(ModelError):
    """The provider answered "later"; `until` is a Unix time in seconds when it said one."""

    def __init__(self, message: str, until: float | None = None) -> None:
        super().__init__(message, retryable=True, until=until)


class ModelRefusedError(ModelError):
    """The provider refused the request itself; sending it again cannot help."""


class ScriptError(ModelError):
    """A scripted model was asked more, or less, than its script says."""
