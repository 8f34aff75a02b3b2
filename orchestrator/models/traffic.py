"""What a model is asked and answers, on its way: recorded as it happens, or played again."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from orchestrator.errors import UsageError
from orchestrator.models.access import Access
from orchestrator.models.retry import Patience
from sandbox.gateway.cassette import CassetteError, label, read
from sandbox.gateway.player import Player
from sandbox.gateway.recorder import LIMIT, Recorder
from sandbox.gateway.tape import RecordedUpstream, ReplayedUpstream
from sandbox.gateway.upstream import Upstream

if TYPE_CHECKING:
    import httpx2


class Recording:
    """Traffic that is recorded from `begin` on."""

    source = ""

    def __init__(self, limit: int = LIMIT) -> None:
        self.patience = Patience()
        self.recorder: Recorder | None = None
        """None before it has begun."""
        self._limit = limit

    def client(self, access: Access, make: "Callable[..., httpx2.Client]") -> "httpx2.Client":
        from orchestrator.models.transport import RecordingTransport  # noqa: PLC0415  # 0.1 s

        # A transport switches off the proxies of the environment: the client inside keeps them.
        return make(transport=RecordingTransport(make(), access, lambda: self.recorder))

    def upstream(self, upstream: Upstream, token: str) -> Upstream:
        if self.recorder is None:
            raise ValueError("the recording has not begun")
        return RecordedUpstream(upstream, self.recorder, token)

    def begin(self, folder: Path, model: str) -> None:
        self.recorder = Recorder(folder, model=model, limit=self._limit)

    def end(self) -> str:
        if self.recorder is None or not self.recorder.stopped:
            return ""
        count = self.recorder.exchanges
        return (
            f"The recording ended after {count} request{'' if count == 1 else 's'}, because"
            f" {self.recorder.stopped}: the run cannot be replayed to its end."
        )


class Replay:
    """Traffic that is played from a cassette; no connection is made."""

    def __init__(self, folder: Path) -> None:
        """Raises UsageError when there is no cassette in the folder, or it cannot be read."""
        self.source = str(folder)
        # The waiting was done when it was recorded.
        self.patience = Patience(wait=lambda seconds: False)
        try:
            self.model = label(folder).model
            self._player = Player(read(folder))
        except CassetteError as problem:
            raise UsageError(str(problem)) from None

    def client(self, access: Access, make: "Callable[..., httpx2.Client]") -> "httpx2.Client":
        from orchestrator.models.transport import ReplayingTransport  # noqa: PLC0415  # 0.1 s

        return make(transport=ReplayingTransport(self._player, access))

    def upstream(self, upstream: Upstream, token: str) -> Upstream:
        return ReplayedUpstream(self._player, token)

    def begin(self, folder: Path, model: str) -> None:
        """A replay is not recorded again."""

    def end(self) -> str:
        left = self._player.left
        if not left:
            return ""
        one = left == 1
        return (
            f"{left} recorded request{'' if one else 's'} {'was' if one else 'were'} not made"
            " again: the run ended earlier than the recorded one."
        )
