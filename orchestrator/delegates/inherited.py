"""The sessions of sub-tasks of an earlier run, kept with the run that goes on with it."""

from collections.abc import Iterable, Mapping
from pathlib import Path

from orchestrator import whole
from orchestrator.delegates.transcript import SESSIONS, Transcript, found, is_session
from orchestrator.events import AnyEvent, Session

_PLACE = "delegation-0"
"""Before the first of the run's own; there is a folder for each program in it."""
_LAST = "last"
"""The file with the id of the session to go on with; the others are what it is a fork of."""


def hand_on(events: Iterable[AnyEvent], earlier: Path, later: Path) -> None:
    """Put each program's last session among the artifacts of the run that goes on.

    `events` are the earlier run's, which may have inherited some itself.
    """
    last = dict(inherited(earlier))
    folders = sorted(earlier.glob("delegation-*"), key=_number)
    for event in events:
        if not (isinstance(event, Session) and event.delegate and is_session(event.id)):
            continue
        for folder in folders:  # of a session that was gone on with the last has all
            if (folder / SESSIONS / f"{event.id}.jsonl").exists():
                last[event.delegate] = Transcript(event.id, found(folder / SESSIONS))
    for program, transcript in last.items():
        place = later / _PLACE / program
        place.mkdir(parents=True)
        for session, content in transcript.parts.items():
            whole.write(place / f"{session}.jsonl", content)
        whole.write(place / _LAST, transcript.session.encode())


def inherited(artifacts: Path) -> Mapping[str, Transcript]:
    """What was handed on to a run, by the programs."""
    return {
        file.parent.name: Transcript(file.read_text(), found(file.parent))
        for file in artifacts.glob(f"{_PLACE}/*/{_LAST}")
    }


def _number(folder: Path) -> int:
    return int(folder.name.rpartition("-")[2])
