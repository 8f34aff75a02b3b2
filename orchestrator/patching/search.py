"""Where some lines stand among others, found in time that grows with both together."""

from collections.abc import Sequence


def search(lines: Sequence[bytes], wanted: Sequence[bytes]) -> list[int]:
    """Every place at which `wanted`, one line at least, stands in `lines`."""
    first, size, sought = wanted[0], len(wanted), list(wanted)
    likely = [at for at, line in enumerate(lines) if line == first]
    if len(likely) * size > len(lines):  # a file of equal lines would take hours
        return _linear(lines, wanted)
    return [at for at in likely if list(lines[at : at + size]) == sought]


def _linear(lines: Sequence[bytes], wanted: Sequence[bytes]) -> list[int]:
    """As Knuth, Morris and Pratt do it: no line of the file is looked at again."""
    again = _again(wanted)
    found = []
    fit = 0
    for at, line in enumerate(lines, 1):
        while fit and line != wanted[fit]:
            fit = again[fit - 1]
        fit += line == wanted[fit]
        if fit == len(wanted):
            found.append(at - fit)
            fit = again[fit - 1]
    return found


def _again(wanted: Sequence[bytes]) -> list[int]:
    """For each beginning of `wanted`, how many lines at its end are a shorter one."""
    again = [0]
    fit = 0
    for line in wanted[1:]:
        while fit and line != wanted[fit]:
            fit = again[fit - 1]
        fit += line == wanted[fit]
        again.append(fit)
    return again
