"""Recipes of the images every run needs."""

from pathlib import Path

BUILD = Path(__file__).with_name("build.sh")
"""Builds them all; does nothing, quickly, when they are there and up to date. Run it with `sh`."""

AGENTS = Path(__file__).with_name("agents.sh")
"""Builds the images of other people's agents, by their names."""
