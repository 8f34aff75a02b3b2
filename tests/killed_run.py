"""A run that kills itself, as `kill -9` would, at a named step; a program, started by tests.

    python -m tests.killed_run REPOSITORY HOME STEP

The steps are what a run tells (events and whose output it shows), and what Python tells of itself
(audit events: the programs it starts, the files it renames). Nothing of the product knows of it.
"""

import os
import signal
import sys
from pathlib import Path

from orchestrator import settings
from orchestrator.events import AnyEvent, Output, StageStarted
from orchestrator.records import Records
from orchestrator.repository import Repository
from orchestrator.run import run
from orchestrator.settings import Flags

SCRIPT = "echo '# more' >> README.md"


PROGRAMS = {
    "admit": ("index-pack", "quarantine.git"),
    "import": ("index-pack", "repository/.git"),
    "branch": ("update-ref", "refs/heads/agent/"),
}
"""Steps that are a program's start, and words of its command line."""


def name(event: AnyEvent) -> str:
    """What tests call an event: `changed`, `proof output`."""
    kind = str(event.__struct_config__.tag)
    return f"{event.stage} {kind}" if isinstance(event, Output | StageStarted) else kind


def audited(event: str, arguments: tuple[object, ...]) -> str:
    """What tests call an audit event: `branch`, `record finished`."""
    if event == "subprocess.Popen":
        line = " ".join(str(word) for word in arguments[1])  # type: ignore[attr-defined]
        for what, words in PROGRAMS.items():
            if all(word in line for word in words):
                return what
    if event == "os.rename" and str(arguments[1]).endswith("run.json"):
        state = "finished" if b'"finished"' in Path(str(arguments[0])).read_bytes() else "running"
        return f"record {state}"
    return ""


def main(repository: str, home: str, step: str) -> None:
    def die_at(where: str) -> None:
        if where == step:
            os.kill(os.getpid(), signal.SIGKILL)

    sys.addaudithook(lambda event, arguments: die_at(audited(event, arguments)))
    opened = Repository.open(repository, Path(home))
    flags = Flags(command=("sh", "-ec", SCRIPT), checks=("cat README.md",), setup=(f"echo {home}",))
    planned = settings.task(repository, "a task", settings.Settings(), flags)
    run(planned.task, opened, Records(Path(home)), None, lambda event: die_at(name(event)))


if __name__ == "__main__":
    main(*sys.argv[1:])
