"""What tokens cost, from a dated table; an unknown price is an unknown cost, never zero."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens of one answer, as the provider counted them."""

    input_tokens: int
    """All input, cached tokens included."""
    output_tokens: int
    cache_read_tokens: int = 0
    cache_write_tokens: int = 0
