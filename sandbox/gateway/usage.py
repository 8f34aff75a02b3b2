"""What a model's answer used."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens of one answer, as the provider counted them."""

    input_tokens: int
    """All input, cached tokens included."""
    output_tokens: int
    cache_read_tokens: int = 0
    cache_write_tokens: int = 0

    def __add__(self, other: "Usage") -> "Usage":
        return Usage(
            self.input_tokens + other.input_tokens,
            self.output_tokens + other.output_tokens,
            self.cache_read_tokens + other.cache_read_tokens,
            self.cache_write_tokens + other.cache_write_tokens,
        )


NOTHING = Usage(0, 0)
