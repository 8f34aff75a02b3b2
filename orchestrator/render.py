"""Events as the lines a person watches."""

import json
import shlex
from collections.abc import Sequence

from orchestrator import foreign
from orchestrator.events import (
    AnyEvent,
    Approved,
    Changed,
    CheckFinished,
    Crashed,
    Delegated,
    Delivered,
    EgressRefused,
    FilesTouched,
    Ignored,
    Judged,
    LeftOut,
    Merged,
    Output,
    Prepared,
    Raw,
    Recovered,
    Restarting,
    Resumed,
    RunFinished,
    RunStarted,
    Session,
    SetupFailed,
    StageStarted,
    Text,
    ToolFinished,
    ToolStarted,
    Turn,
    Warned,
    WorkerFinished,
)
from orchestrator.outcome import Finding, Verdict
from orchestrator.screen import Ink, clean, clean_lines, count, cut, wrapped
from sandbox.gateway.refusals import NO_REMEDY

WIDTH = 100
"""Characters of a line; the rest of a longer one is in the journal and the artifacts."""

MOST_FINDINGS = 12
"""That are listed while a run is watched, and at its end; `show` lists all of them."""

_MOST_LINES = 12
"""Of one answer or one failed result."""


def lines(event: AnyEvent, ink: Ink, *, streamed: bool = False, said: str = "") -> list[str]:
    """What to show of an event; often nothing.

    `streamed` when the run is watched: what commands print is shown as it comes, and which files
    are not in the base before it starts, so neither is to be shown again. Nor are all findings at
    the end: each was with its change, and the summary lists them. Nor is `said`, a final answer.
    """
    match event:
        case RunStarted():
            return _started(event, ink, streamed)
        case StageStarted():
            return [_beginning(event)]
        case Prepared():
            return _prepared(event, ink)
        case SetupFailed():
            return _setup_failed(event, ink, streamed)
        case Turn(text=text, final=final) if text.strip():
            return [f"  {line}" for line in (_whole(text, WIDTH - 2) if final else _some(text))]
        case ToolStarted():
            return [_asked(event)]
        case ToolFinished(error=True):
            return _failed(event, ink, streamed)
        case Output(text=text):
            return [ink.dim(f"     {cut(clean(text), WIDTH - 5)}")]
        case Changed():
            return _changed(event, ink, streamed)
        case LeftOut(paths=paths):
            return [ink.yellow(f"     not recorded: {named(paths)}")]
        case Ignored(paths=paths, total=total):
            return [f"ignored, so not recorded: {named(paths, total)}"]
        case Crashed(reason=reason):
            return [ink.red(f"     {line}") for line in _whole(reason, WIDTH - 5)]
        case Restarting(attempt=attempt, of=of, seconds=seconds):
            return [ink.yellow(f"opening the sandbox again in {seconds:g} s ({attempt} of {of})")]
        case Recovered(tree=tree):
            return [f"the sandbox is open again, its files as last recorded ({tree[:10]})"]
        case CheckFinished():
            return _checked(event, ink, streamed)
        case EgressRefused():
            return [ink.yellow(f"     refused: {refusal(event)}")]
        case Warned(text=text):
            return [ink.yellow(f"     {line}") for line in _whole(text, WIDTH - 5)]
        case WorkerFinished(reason=reason, message=message):
            return [f"worker stopped: {reason}", *_whole("" if message == said else message, WIDTH)]
        case Delegated():
            return _delegated(event, ink)
        case Judged():
            return _judged(event, ink, streamed)
        case Delivered():
            return [f"branch {event.branch} at {event.commit[:10]}"]
        case Approved(by=by, tree=tree):
            return [f"tree {tree[:10]} approved by {clean(by)}"]
        case Merged(branch=branch, commit=commit):
            return [f"merged into {clean(branch)} as {commit[:10]}"]
        case RunFinished():
            return _finished(event, ink, streamed)
        case Session() | Resumed():
            return [_session(event)]
        case Text() | FilesTouched() | Turn() | ToolFinished() | Raw():
            return []


def is_detail(event: AnyEvent) -> bool:
    """Whether an event belongs to the one before it, rather than to a moment of its own."""
    return isinstance(event, Output | Changed | LeftOut | ToolFinished)


def one_line(arguments: str) -> str:
    """A tool call's arguments, shortened: the first text whole, of the others what is short.

    Programs may put a flag of theirs before it: Claude Code's `Edit` begins with `replace_all`.
    """
    try:
        values = foreign.parse(arguments)
    except ValueError:
        return clean(arguments.replace("\n", " "))
    if isinstance(values, list):
        return clean(shlex.join(map(str, values)).replace("\n", " "))
    if not isinstance(values, dict):
        return clean(arguments)
    texts = [key for key, value in values.items() if isinstance(value, str) and value.strip()]
    first = next(iter(texts or values), "")
    others = [f"{key}={_shown(value)}" for key, value in values.items() if key != first]
    named = [each for each in others if len(each.partition("=")[2]) <= 30]
    return clean(" ".join([_shown(values.get(first, "")), *named]))


def finding(found: Finding, ink: Ink) -> str:
    """One finding: how bad, where, which rule, why."""
    place = clean(found.path) + (f":{found.line}" if found.line else "")
    why = f"{clean(found.rule)}: {clean(found.reason)}"
    return "  ".join(filter(None, (verdict_word(found.verdict, ink), place, why)))


def found(findings: Sequence[Finding], ink: Ink, most: int) -> list[str]:
    """The first `most` findings as lines, and how many more there are; one more is a line, too."""
    left = len(findings) - most
    if left <= 1:
        return [finding(each, ink) for each in findings]
    return [*(finding(each, ink) for each in findings[:most]), f"… {left:,} more findings"]


def verdict_word(verdict: Verdict, ink: Ink) -> str:
    match verdict:
        case Verdict.PASS:
            return ink.green(verdict)
        case Verdict.REVIEW:
            return ink.yellow(verdict)
        case Verdict.BLOCK:
            return ink.red(verdict)


def _started(event: RunStarted, ink: Ink, streamed: bool) -> list[str]:
    where = f"on {clean(event.repository)} at {event.base[:10]} with {clean(event.worker)}"
    shown = [ink.bold(f"run {event.run}") + f" {where}"]
    if event.dirty and not streamed:
        are = "is" if event.dirty == 1 else "are"
        text = f"     {count(event.dirty, 'changed file')} {are} not in the base"
        shown.append(ink.yellow(text))
    return shown


def _beginning(event: StageStarted) -> str:
    if event.stage == "setup":
        return "preparing the image ..."
    where = {"base": " on the base", "proof": " in a fresh container"}.get(event.stage, "")
    return f"check {clean(event.command)}{where} ..."


def _prepared(event: Prepared, ink: Ink) -> list[str]:
    how = "was ready" if event.cached else f"prepared in {event.seconds:.1f} s"
    if event.reused:
        how += ", over the set-up of an earlier commit"
    shown = [f"image {event.image.removeprefix('sha256:')[:12]} {how}"]
    if event.left:
        shown.append(f"     set-up left: {named(event.left)}")
    if event.restored:
        shown.append(ink.yellow(f"     set-up had changed: {named(event.restored)} (put back)"))
    return shown


def _changed(event: Changed, ink: Ink, streamed: bool) -> list[str]:
    size = f"{count(event.files, 'file')} {ink.green(f'+{event.added}')}"
    shown = [f"     {event.commit[:10]} {size} {ink.red(f'-{event.removed}')}"]
    most = MOST_FINDINGS if streamed else len(event.findings)
    return shown + [f"     {each}" for each in found(event.findings, ink, most)]


def _setup_failed(event: SetupFailed, ink: Ink, streamed: bool) -> list[str]:
    last = [] if streamed else [f"     {line}" for line in _last(event.tail)]
    return [*map(ink.dim, last), ink.red(f"set-up failed; all it printed: {clean(event.file)}")]


def _failed(event: ToolFinished, ink: Ink, streamed: bool) -> list[str]:
    result = event.result.strip()
    if streamed and event.tool in ("bash", "command"):  # seen already, but for its exit status
        return [ink.red(f"     {cut(line, WIDTH)}") for line in clean_lines(result)[-1:]]
    return [ink.red(f"     {line}") for line in _some(event.result)]


def _finished(event: RunFinished, ink: Ink, streamed: bool) -> list[str]:
    """The end; why it is so, the summary says where the run is watched."""
    why = [] if streamed else _whole(event.message, WIDTH - 5)
    first = ink.bold(f"{event.outcome} after {event.seconds:.0f} s")
    return [first, *(f"     {line}" for line in why)]


def _session(event: Session | Resumed) -> str:
    if isinstance(event, Resumed):
        return f"goes on with run {event.run}, after {count(event.commits, 'commit')}"
    return clean(f"{event.program} with {event.model}" if event.model else event.program)


def _asked(event: ToolStarted) -> str:
    who = f"{clean(event.delegate)}: " if event.delegate else ""
    return cut(f"{event.step:>3}  {who}{clean(event.tool)} {one_line(event.arguments)}", WIDTH)


def of(event: ToolStarted) -> str:
    """Which call the lines below are of."""
    return cut(f"     of {clean(event.tool)} {one_line(event.arguments)}", WIDTH)


def _delegated(event: Delegated, ink: Ink) -> list[str]:
    cost = "cost unknown" if event.cost is None else f"${event.cost:.4f}"
    used = f"{count(event.turns, 'turn')}, {event.seconds:.0f} s, {cost}"
    first = f"     {clean(event.delegate)} stopped: {event.reason} ({used})"
    if event.reason != "complete":  # the call that failed tells the rest
        return [ink.yellow(first)]
    return [first, *(f"     {line}" for line in _some(event.message))]


def _judged(event: Judged, ink: Ink, streamed: bool) -> list[str]:
    all_found = [] if streamed else [f"     {finding(each, ink)}" for each in event.findings]
    return [f"verdict {verdict_word(event.verdict, ink)}", *all_found]


def _checked(event: CheckFinished, ink: Ink, streamed: bool) -> list[str]:
    word = ink.green("passed") if event.passed else ink.red(f"failed ({event.ending})")
    where = {"base": " on the base", "proof": " in a fresh container"}.get(event.stage, "")
    shown = [f"check {clean(event.command)} {word}{where}, {event.seconds:.1f} s"]
    if streamed or event.passed or event.stage == "base":
        return shown
    return shown + [ink.dim(f"     {line}") for line in _last(event.tail)]


def _some(text: str) -> list[str]:
    """The first lines of a text, clean and cut."""
    if not text.strip():
        return []
    found = [cut(line, WIDTH) for line in clean_lines(text.strip())]
    left = len(found) - _MOST_LINES
    return found if left <= 0 else [*found[:_MOST_LINES], f"… {count(left, 'more line')}"]


def _whole(text: str, width: int) -> list[str]:
    """All of a text, clean: advice is often at its end."""
    return [part for line in clean_lines(text) for part in wrapped(line, width)]


def _last(text: str) -> list[str]:
    """The last lines of a text, clean and cut: there a check says what is wrong."""
    found = [cut(line, WIDTH) for line in clean_lines(text.strip())] if text.strip() else []
    left = len(found) - _MOST_LINES
    return found if left <= 0 else [f"… {count(left, 'earlier line')}", *found[-_MOST_LINES:]]


def named(paths: tuple[str, ...], total: int = 0) -> str:
    """The first five paths and how many more there are, of `total` or of all."""
    some = ", ".join(clean(path) for path in paths[:5])
    more = max(total, len(paths)) - len(paths[:5])
    return some if more <= 0 else f"{some} and {more:,} more"


def _shown(value: object) -> str:
    text = value if isinstance(value, str) else json.dumps(value)
    return text.strip().replace("\n", " ")


def refusal(event: EgressRefused) -> str:
    """A host that was asked for in vain, and what would allow it."""
    times = f" ({event.count} times)" if event.count > 1 else ""
    if event.remedy == NO_REMEDY:
        return f"{clean(event.host)}{times} - no setting allows it"
    return f"{clean(event.host)}{times} - allow it with {clean(event.remedy)}"
