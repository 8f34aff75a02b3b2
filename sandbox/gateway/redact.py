"""Taking secrets out of what comes back: a provider or a proxy may quote the key in an error."""

import re
from collections.abc import Sequence

PLACE = b"[redacted]"


class Redactor:
    """Replaces secrets in a stream of bytes, also where they are split across pieces.

    Of what came, only the end that may be the beginning of a secret is held back: nothing else is
    delayed. Secrets that are encoded (base64, JSON escapes) are not recognised.
    """

    def __init__(self, secrets: Sequence[str]) -> None:
        self._secrets = tuple(sorted({s.encode() for s in secrets if s}, key=len, reverse=True))
        self._pattern = re.compile(b"|".join(map(re.escape, self._secrets)) or rb"(?!)")
        self._held = b""

    def feed(self, data: bytes) -> bytes:
        """What may go on of `data` and what was held back before it."""
        data = self._held + data
        out = bytearray()
        at = 0
        while True:
            hold = self._hold(data, at)
            match = self._pattern.search(data, at)
            if match is None or match.start() >= hold:
                self._held = data[hold:]
                return bytes(out + data[at:hold])
            out += data[at : match.start()] + PLACE
            at = match.end()

    def end(self) -> bytes:
        """What was held back: no secret came of it, or only a shorter one."""
        held, self._held = self._held, b""
        return self._pattern.sub(PLACE, held)

    def whole(self, text: str) -> str:
        """`text` without secrets."""
        return self._pattern.sub(PLACE, text.encode("utf-8", "surrogateescape")).decode(
            "utf-8", "surrogateescape"
        )

    def _hold(self, data: bytes, at: int) -> int:
        """The first place from `at` on where what follows is the beginning of a longer secret."""
        longest = len(self._secrets[0]) if self._secrets else 0
        for start in range(max(at, len(data) - longest + 1), len(data)):
            rest = data[start:]
            if any(len(s) > len(rest) and s.startswith(rest) for s in self._secrets):
                return start
        return len(data)
