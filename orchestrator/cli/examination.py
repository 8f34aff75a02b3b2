"""Looking at what a run needs, one thing after the other; each in its time, whatever it meets."""

import threading
from collections.abc import Callable, Iterable
from dataclasses import dataclass

Look = Callable[[], "Iterable[Examined]"]


@dataclass(frozen=True, slots=True)
class Examined:
    """One thing that was looked at."""

    name: str
    ok: bool
    found: str
    """What is there, or what is wrong."""
    needed: bool = True
    """False where runs of some kind work without it."""
    fix: str = ""
    """What to do, in one sentence; empty where all is well."""


def examine(name: str, look: Look, seconds: float) -> tuple[Examined, ...]:
    """What a look finds; that it failed, or took longer than `seconds`, is a finding, too."""
    found: list[Examined] = []

    def carry_out() -> None:
        try:
            found.extend(look())
        except Exception as error:  # whatever it is: the other looks go on
            said = " ".join(str(error).split()) or type(error).__name__
            found.append(Examined(name, False, said))

    # A thread that waits for an engine that never answers ends with the program.
    thread = threading.Thread(target=carry_out, daemon=True)
    thread.start()
    thread.join(seconds)
    if thread.is_alive():
        late = f"there was no answer within {seconds:.0f} s"
        return (*found, Examined(name, False, late, fix="Look why it hangs, and try again."))
    return tuple(found)
