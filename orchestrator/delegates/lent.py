"""Our tools for large files, lent to somebody's program: offered over MCP, at work in its box."""

import json
import threading
import time
from collections.abc import Callable, Generator, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from orchestrator.delegation import PREFIX, SERVER
from orchestrator.events import AnyEvent
from orchestrator.models.model import ToolCall
from orchestrator.task import Task
from orchestrator.tools.boundary import Boundary
from orchestrator.tools.desk import Desk
from orchestrator.tools.table import TOOLS
from orchestrator.tools.tool import Context, Tool, use
from orchestrator.worker import Worker
from sandbox.box import Box
from sandbox.errors import SandboxError, SandboxLostError
from sandbox.files import FileError, anything
from sandbox.gateway.mcp import PATH, Mcp, Offer, Told
from sandbox.gateway.relay import PORT
from sandbox.stream import Line

URL = f"http://127.0.0.1:{PORT}{PATH}"
LENT = {"split_file", "read_piece", "patch_file", "outline", "apply_patch"}
"""What their own tools cannot do: files too large for one answer, and several files at once."""
NAMES = {f"{PREFIX}__{name}" for name in LENT}
"""As programs call them. They run out here: of whether a program's own tools work they say nothing.
"""
READING = NAMES - {f"{PREFIX}__patch_file", f"{PREFIX}__apply_patch"}
"""Those after which the files cannot differ."""
WHOLE = 48_000
"""Characters of a result, as a JSON text, that both programs hand to their models as it is. Of more
Codex leaves out the middle, and Claude Code shows 2 KB and writes the rest to a file (measured)."""
LAST_CALL = 15.0
"""Seconds that the end waits for a call; what that would write later is refused."""
_AROUND = 1_000
"""For what stands around a piece, ours and theirs."""
_KEPT = 8
"""So many long results are kept, the last ones: a sandbox may ask without end."""
_OVER = "not executed: the work is over"
_FAILED = "not executed: the sandbox failed"


class Lent:
    """The tools of one run; calls come from its sandbox, one after another."""

    def __init__(self, artifacts: Path, token: str) -> None:
        """Long results go to files in `artifacts`; `token` is what the sandbox holds."""
        lent = [each for each in TOOLS if each.name in LENT]
        self.door = Mcp(SERVER, token, [_offer(each, partial(self._use, each)) for each in lent])
        self._artifacts = artifacts
        self._calls = 0
        self._caller = 0
        """The thread of the last call: what others do to the files is not for us to allow."""
        self._lock = threading.Lock()
        self._context: Context | None = None
        self._failed: SandboxError | None = None

    @contextmanager
    def at(self, task: Task, box: Box) -> Iterator[None]:
        """Carry out calls on the files of this box until the end of the block."""
        until = time.monotonic() + task.limits.seconds
        context = Context(box, self._artifacts, "", until, _unseen, Desk(), _whole)
        allowed, before = Boundary(task.only) if task.only else anything, box.guard

        def guard(path: str, renamed: str) -> None:
            if threading.get_ident() != self._caller:
                before(path, renamed)
            elif self._context is not context:
                raise FileError(_OVER)
            else:
                allowed(path, renamed)

        box.guard_files(guard)
        self._context = context
        try:
            yield
        finally:
            self._context = None
            if self._lock.acquire(timeout=LAST_CALL):
                self._lock.release()
                box.guard_files(before)
            context.desk.parser.close()

    def require_sound(self) -> None:
        """Raise the SandboxError of a call, such as a full disk; a box that died says so itself."""
        if self._failed:
            raise self._failed

    def _use(self, used: Tool, arguments: str) -> Told:
        with self._lock:
            context = self._context
            if context is None:
                return Told(_OVER, error=True)
            self._calls += 1
            self._caller = threading.get_ident()
            label = f"mcp-{self._calls % _KEPT}"
            call = ToolCall(label, used.name, arguments)
            try:
                result = use(used, call, replace(context, label=label))
            except SandboxError as problem:  # its words may be about this machine
                if not isinstance(problem, SandboxLostError):
                    self._failed = problem
                return Told(_FAILED, error=True)
            finally:
                if self._context is not context:  # the end did not wait for this
                    context.desk.parser.close()
            return Told(result.text, result.error)


@dataclass(frozen=True, slots=True)
class Equipped:
    """A worker that is lent our tools."""

    worker: Worker
    lent: Lent

    def work(self, task: Task, box: Box) -> Generator[AnyEvent, None, None]:
        """Work on the task, as `Worker.work` says."""
        with self.lent.at(task, box), closing(self.worker.work(task, box)) as events:
            for event in events:
                yield event
                self.lent.require_sound()


def _offer(lent: Tool, call: Callable[[str], Told]) -> Offer:
    schema = lent.schema
    return Offer(
        schema.name, schema.description, schema.parameters, call, reads=lent.category == "read"
    )


def _whole(text: str) -> bool:
    return len(json.dumps(text)) <= WHOLE - _AROUND


def _unseen(line: Line) -> None:
    """No tool that is lent runs a command."""
