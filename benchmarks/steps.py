"""What one step costs with a model that answers at once, against mini-swe-agent.

A step runs `true` in the container. Ours also looks at the files after it and journals the step;
mini-swe-agent runs it and rewrites its trajectory. Both start their container before the clock.
"""

import subprocess
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.material import prepared, small_repository
from orchestrator.agent.loop import Agent
from orchestrator.changes import Changes
from orchestrator.events import FilesTouched
from orchestrator.journal import Journal
from orchestrator.models.scripted import Call, Script, ScriptedModel, Step
from orchestrator.quarantine import Note, Quarantine
from orchestrator.repository import Repository
from orchestrator.settings import Policy
from orchestrator.task import Limits, Task
from sandbox import connect, open_box
from sandbox.images import BASE_IMAGE

MINI = "mini-swe-agent==2.4.6"
PEERS = Path(sys.prefix) / "peers"
COUNTS = (20, 200, 1000)


def _mini(steps: int) -> float:
    program = Path(__file__).with_name("peer_mini.py")
    command = [str(PEERS / "bin/python"), str(program), str(steps), BASE_IMAGE]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    return float(done.stdout.split()[-1])


def _install_mini() -> None:
    if not (PEERS / "bin/mini").exists():
        print(f"Installing {MINI} into {PEERS} ...")
        subprocess.run([sys.executable, "-m", "venv", str(PEERS)], check=True)
        subprocess.run([str(PEERS / "bin/pip"), "install", "--quiet", MINI], check=True)


def _ours(steps: int, path: Path, home: Path) -> float:
    step = Step(text="next", calls=(Call("bash", {"command": "true"}),))
    model = ScriptedModel(Script((*(step for _ in range(steps)), Step(text="done"))))
    task = Task(str(path), "a task", limits=Limits(turns=steps + 1, cost=None))
    with TemporaryDirectory(prefix="benchmark-") as folder:
        return _work(Agent(model, Path(folder)), task, path, home, Path(folder))


def _work(agent: Agent, task: Task, path: Path, home: Path, folder: Path) -> float:
    repository = Repository.open(str(path), home)
    base = repository.resolve("HEAD")
    quarantine = Quarantine.create(folder / "q.git", repository.pack(base, home / "packs"), base)
    changes = Changes.of(quarantine, Policy(), base)
    engine = connect()
    image = prepared(engine, path, home).image
    with (
        open_box(engine, image, task.box, run="benchmark", purpose="work") as box,
        Journal(folder / "journal.jsonl") as journal,
    ):
        began = time.perf_counter()
        for event in agent.work(task, box):
            journal.write(event)
            if isinstance(event, FilesTouched):
                for told in changes.record(box, Note("step", "benchmark", event.step, "bash", "a")):
                    journal.write(told)
        return time.perf_counter() - began


def main() -> None:
    _install_mini()
    print("\nOne step with a free model, in a container")
    with small_repository() as path, TemporaryDirectory(prefix="benchmark-") as home:
        _ours(1, path, Path(home))
        for steps in COUNTS:
            mini, ours = _mini(steps) / steps, _ours(steps, path, Path(home)) / steps
            print(
                f"  {steps:>5} steps   mini-swe-agent {mini * 1000:7.1f} ms a step"
                f"   ours {ours * 1000:7.1f} ms   {ours / mini:5.2f} x"
            )


if __name__ == "__main__":
    main()
