"""The unified diff between two trees, and questions about it."""

from dataclasses import dataclass
from typing import Literal

Status = Literal["A", "D", "M", "T"]


@dataclass(frozen=True, slots=True)
class Entry:
    """One changed path, from `diff-tree --raw`: modes, blob ids and the raw bytes of its name."""

    status: Status
    old_mode: str
    """Six octal digits; 000000 where there is none."""
    new_mode: str
    old_blob: str
    """40 hex digits; all zeros where there is none."""
    new_blob: str
    path: bytes

    @property
    def name(self) -> str:
        """The path for showing; bytes that are not UTF-8 stay visible as escapes."""
        return self.path.decode("utf-8", "backslashreplace")
