"""The `[agent]` table of the policy file."""

from typing import Literal

from msgspec import Struct

LARGEST_MAP = 32_768
NONE = "none"
"""Said by a flag: no delegates, whatever the file names."""
Program = Literal["claude", "codex"]


class AgentSettings(Struct, frozen=True):
    """The `[agent]` table: what our own agent is given."""

    map_tokens: int = 0
    """Size of the map of the repository in its prompt; 0: none."""
    instructions: bool = True
    """Whether it is told what the repository says to agents, in AGENTS.md and the like."""

    delegates: tuple[Program, ...] = ()
    """Programs to which it may hand over parts of a task."""

    def __post_init__(self) -> None:
        if not 0 <= self.map_tokens <= LARGEST_MAP:
            raise ValueError(f"map_tokens must be between 0 and {LARGEST_MAP}")
