"""What a fresh container showed: checks run on one tree, bound to that tree's id."""

from msgspec import Struct

from orchestrator.events import CheckFinished
from orchestrator.outcome import Proof


class Evidence(Struct, frozen=True):
    """The results of all checks on exactly one tree, in exactly one prepared image."""

    tree: str
    image: str
    checks: tuple[CheckFinished, ...] = ()

    @property
    def proof(self) -> Proof:
        """What the checks prove together."""
        if not self.checks:
            return "none"
        return "passed" if all(check.passed for check in self.checks) else "failed"
