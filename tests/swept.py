"""A sweep beside those of other tests, each of which may take what another one was to remove."""

import time
from collections.abc import Callable

from sandbox.engine import Engine
from sandbox.sweep import sweep

PATIENCE = 30.0
"""Seconds after which nobody else's sweep can still be at it."""


def is_swept(engine: Engine, there: Callable[[], object]) -> bool:
    """Sweep until it is gone: another sweep may have begun to remove it, and not be done."""
    until = time.monotonic() + PATIENCE
    sweep(engine)
    while there() and time.monotonic() < until:
        time.sleep(0.1)
        sweep(engine)
    return not there()
