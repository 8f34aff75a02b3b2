"""A kit: programs out of an image, mounted read-only at one place of a container."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Kit:
    """What a volume is filled with; nothing in a sandbox can change it."""

    image: str
    place: str
    """The folder in the image, and in every container that has the kit."""
    recipe: str = ""
    """The command that builds the image, for the message that it is missing."""
