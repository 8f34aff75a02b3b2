"""What is kept of a program's sessions, whatever is printed in its place."""

import uuid

from orchestrator.delegates.claude import Claude
from orchestrator.delegates.remembered import HOME, MOST, Remembered
from orchestrator.delegates.transcript import Transcript, found
from orchestrator.events import FilesTouched, Session
from orchestrator.task import Task
from tests.workspace import bench as bench
from tests.workspace import workspace as workspace


class Naming:
    """A worker that says to have begun one session after another; each is there."""

    def __init__(self, sessions):
        self.sessions = sessions

    def work(self, task, box):
        for session in self.sessions:
            place = f"{HOME}/{Claude.transcript.format(session)}"
            assert box.run(["sh", "-c", 'mkdir -p "${1%/*}"; echo x > "$1"', "", place]).exit.ok
            yield Session(id=session, program="claude")
            yield FilesTouched(step=1, tool="claude")
            yield FilesTouched(step=2, tool="claude")


def test_no_more_sessions_are_kept_than_a_program_can_have(workspace, tmp_path):
    earlier, *named = (str(uuid.uuid4()) for _ in range(MOST + 6))
    before = Transcript(earlier, {earlier: b"kept"})
    kept = tmp_path / "sessions"
    worker = Remembered(Naming([earlier, *named]), Claude(), kept, frozenset(), before)
    told = list(worker.work(Task("", "Go.", worker="claude"), workspace.box))
    assert len(told) == 3 * (MOST + 6)
    assert found(kept) == dict.fromkeys((earlier, *named[:MOST]), b"x\n")
