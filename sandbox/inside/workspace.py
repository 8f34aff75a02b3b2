"""Carry /workspace from one container to another. Runs in both, on the toolbox's Python.

inside.workspace out    its files as a tar archive on stdout
inside.workspace in     the archive on stdin becomes its files
"""

import sys
import tarfile

WORK = "/workspace"


def out() -> None:
    """Everything, with the bytes of every name and times to the nanosecond."""
    with tarfile.open(fileobj=sys.stdout.buffer, mode="w|", format=tarfile.PAX_FORMAT) as archive:
        archive.add(WORK, arcname=".")


def into() -> None:
    """Folders get their permissions last: some may not be written to."""
    with tarfile.open(fileobj=sys.stdin.buffer, mode="r|") as archive:
        archive.extractall(WORK, numeric_owner=True)


def main(arguments: list[str]) -> int:
    match arguments:
        case ["out"]:
            out()
        case ["in"]:
            into()
        case _:
            print(__doc__, file=sys.stderr)
            return 2
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except (OSError, tarfile.TarError) as error:
        print(error, file=sys.stderr)
        sys.exit(1)
