"""The tool for programs that want a terminal: a debugger, a prompt, an editor."""

import time
from dataclasses import dataclass
from typing import Literal

from orchestrator.tools.command import shell
from orchestrator.tools.tool import Context, ToolError
from sandbox.display import Screen
from sandbox.stream import Line
from sandbox.terminal import Reason, Terminal, TerminalError
from sandbox.terminals import COLUMNS, ROWS

_LONGEST = 120
_WORDS: dict[Reason, str] = {
    "found": "what was waited for is there",
    "quiet": "it is silent",
    "time": "the time is up, it goes on",
    "ended": "it has ended",
}
Action = Literal["open", "send", "read", "close"]


@dataclass(frozen=True, slots=True)
class _Asked:
    """What to wait for after an action."""

    texts: tuple[str, ...]
    seconds: float


def terminal(
    context: Context,
    action: Action,
    command: str | None = None,
    session: int | None = None,
    text: str | None = None,
    keys: list[str] | None = None,
    until: list[str] | None = None,
    seconds: int = 10,
    rows: int = ROWS,
    columns: int = COLUMNS,
) -> str:
    """Run an interactive program on a terminal and use it step by step; a session stays open
    between your calls.

    open starts `command`; send types `text`, then presses `keys`; read only looks; close ends the
    program and all it started. Each of the first three waits, then returns the screen as a person
    would see it, with the lines that scrolled off it since your last look. Use bash for whatever
    needs no input.

    Args:
        action: What to do.
        command: For open: the command line, run in /workspace.
        session: Which session, by the number that open told; needed only when several are open.
        text: For send: what to type. A newline in it is the Enter key.
        keys: For send: keys to press after the text, such as enter, tab, escape, up, page-down,
            backspace, f1, ctrl-c, alt-x.
        until: Wait until one of these texts appears, such as the program's next prompt. What you
            type usually appears, too. Without it: until nothing more is printed for half a second.
        seconds: How long to wait at most, up to 120; the program goes on after that.
        rows: For open: lines of the screen.
        columns: For open: characters of a line.
    """
    if not 1 <= seconds <= _LONGEST:
        raise ToolError(f"seconds: expected 1 to {_LONGEST}, got {seconds}")
    left = max(1.0, context.until - time.monotonic())
    asked = _Asked(tuple(each for each in until or () if each), min(seconds, left))
    terminals = context.box.terminals
    try:
        if action == "open":
            if not command or "\0" in command:
                raise ToolError("command: a command line is needed to open a session")
            line = shell(command)
            return _shown(terminals.open(line, rows=rows, columns=columns), asked, context)
        chosen = terminals.get(session)
        if action == "send":
            _send(chosen, text or "", keys or [])
        elif action == "close":
            terminals.forget(chosen.number)
            return f"[session {chosen.number} is closed]"
        return _shown(chosen, asked, context)
    except TerminalError as problem:
        raise ToolError(str(problem)) from None


def _send(chosen: Terminal, text: str, keys: list[str]) -> None:
    if not text and not keys:
        raise ToolError("send needs text or keys")
    chosen.send(text, *keys)


def _shown(chosen: Terminal, asked: _Asked, context: Context) -> str:
    reason = chosen.wait(*asked.texts, seconds=asked.seconds)
    screen = chosen.look()
    for line in screen.text.split("\n"):
        if line:
            context.output(Line("stdout", line.encode()))
    skipped = f"[{screen.skipped:,} bytes came too fast to be shown]" if screen.skipped else ""
    return "\n".join(filter(None, (screen.text, skipped, _state(chosen, screen, reason))))


def _state(chosen: Terminal, screen: Screen, reason: Reason) -> str:
    if chosen.ended:
        return f"[session {chosen.number} has ended, exit status {chosen.status}]"
    place = f"row {screen.row} of {len(screen.lines)}, column {screen.column}"
    return f"[session {chosen.number}: {_WORDS[reason]}; the cursor is in {place}]"
