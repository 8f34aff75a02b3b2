"""A run as a person reads it afterwards: how it ended, on what grounds, and what to type next."""

import shlex
from collections.abc import Iterable, Sequence
from itertools import dropwhile
from pathlib import Path

from orchestrator.asked import added_line, task_line
from orchestrator.clone import address
from orchestrator.events import AnyEvent, Changed, Delivered, EgressRefused, Resumed, Turn
from orchestrator.journal import Entry
from orchestrator.outcome import Outcome, Verdict
from orchestrator.record import Record
from orchestrator.render import WIDTH, found, refusal, verdict_word
from orchestrator.screen import Ink, clean, clean_lines, columns, count, cut, wrapped
from orchestrator.task import Task

REFUSED = 10
"""Hosts that are listed; a program can ask for any number, and the outcome stands above them."""
_CUT_OFF = {
    Outcome.BUDGET,
    Outcome.TIME,
    Outcome.STALLED,
    Outcome.RATE_LIMITED,
    Outcome.CANCELLED,
}
GREEN_BEFORE = (
    "A check that was green before the work shows that nothing broke, not that the task is done."
)
_RESULTS = {None: "-", True: "green", False: "red"}


def summary(
    record: Record,
    entries: Iterable[Entry],
    ink: Ink,
    *,
    gone: bool = False,
    most: int | None = None,
) -> list[str]:
    """The whole account of a run; the entries are those of its journal.

    `gone` where its branch was deleted without a word to us; `most` findings are listed, or all.
    """
    events = [entry.event for entry in entries]
    refused = [refusal(event) for event in events if isinstance(event, EgressRefused)]
    rows = [
        ("run", record.id),
        ("task", task_line(record, 80)),
        ("added", added_line(record, 80)),
        ("worker", _worker(record, events)),
        ("resumes", record.resumes),
        ("repository", f"{clean(record.task.repository)} at {record.base[:10]}"),
        ("only", cut(clean(", ".join(record.task.only)), 80)),
        ("branch", _branch(record, events, gone)),
        ("verdict", _verdict(record, ink)),
        ("spent", _spent(record)),
        ("recorded", f"{record.recorded:,} bytes of model traffic" if record.recorded else ""),
        ("replayed", _replayed(record)),
        *(("refused", each) for each in refused[:REFUSED]),
        ("refused", _more_refused(record, len(refused) - REFUSED)),
        ("said", cut(" ".join(clean_lines(record.said)), 80) if record.turns else ""),
    ]
    shown = [f"  {name:<11} {value}" for name, value in rows if value]
    told = found(record.findings, ink, len(record.findings) if most is None else most)
    if len(told) < len(record.findings):
        told[-1] += f": `orchestrator show {short(record)}` lists all"
    shown += [f"  {'':<11} {each}" for each in told]
    return [*headline(record, ink), *shown, *_checks(record), *next_steps(record, gone)]


def _worker(record: Record, events: Iterable[AnyEvent]) -> str:
    """Who worked, with the model that was named or, where none was, the one that answered last."""
    answered = [event.model for event in events if isinstance(event, Turn)]
    model = record.task.model or (answered[-1] if answered else "")
    with_model = model and record.task.worker != "command"
    worker: str = record.task.worker
    if worker == "acp":
        worker += f": {cut(clean(shlex.join(record.task.command)), 80)}"
    return worker + (f" with {cut(clean(model), 80)}" if with_model else "")


def _more_refused(record: Record, number: int) -> str:
    listed = f"`orchestrator log --journal {short(record)}`"
    return f"and {count(number, 'more host')}: {listed}" if number > 0 else ""


def headline(record: Record, ink: Ink) -> list[str]:
    """The state or the outcome, with the whole message: advice is often at its end.

    What is indented in it, such as the log of a service, stays in lines, further in than ours.
    """
    state = clean(record.state_word)
    told = clean_lines(record.message)
    lines = list(dropwhile(lambda line: not line.startswith("  "), told))
    message = " ".join(told[: len(told) - len(lines)]).strip()
    first, *rest = wrapped(f"{state}: {message}" if message else state, WIDTH)
    below = [part for line in lines for part in wrapped(f"    {line}", WIDTH)]
    return [_painted(record, state, ink) + first.removeprefix(state), *rest, *below]


def _painted(record: Record, word: str, ink: Ink) -> str:
    match record.outcome:
        case Outcome.DONE | Outcome.NO_CHANGE:
            return ink.bold(ink.green(word))
        case None | Outcome.NEEDS_REVIEW:
            return ink.bold(ink.yellow(word))
        case _:
            return ink.bold(ink.red(word))


def short(record: Record) -> str:
    """The part of the id that is typed."""
    return record.short


def money(cost: float | None) -> str:
    """US dollars; an unknown price is not zero."""
    return "cost unknown" if cost is None else f"${cost:.4f}"


def _branch(record: Record, events: Sequence[AnyEvent], gone: bool) -> str:
    changes = sum(isinstance(event, Changed) for event in events)
    changes += sum(event.commits for event in events if isinstance(event, Resumed))
    commits = count(changes, "commit")
    if not record.branch:
        return f"not published, {commits}" if changes else ""
    if any(event.squashed for event in events if isinstance(event, Delivered)):
        commits = f"1 commit for {count(changes, 'change')}"
    state = f", merged as {record.merged[:10]}" if record.merged else ""
    state += ", discarded" if record.discarded else ", deleted" if gone else ""
    where = f" in {clean(record.git_dir)}" if in_copy(record) else ""
    return f"{record.branch}{where} ({commits}{state})"


def in_copy(record: Record) -> bool:
    """Whether the run's branch is in our own copy of a remote repository, and nowhere else."""
    return address(record.task.repository) is not None


def _verdict(record: Record, ink: Ink) -> str:
    if record.verdict is None:
        return ""
    by = ", ".join(map(clean, approvers(record)))
    return verdict_word(record.verdict, ink) + (f", approved by {by}" if by else "")


def approvers(record: Record) -> list[str]:
    """Who put a name to the recorded tree."""
    return [each.by for each in record.approvals if each.tree == record.tree]


def _spent(record: Record) -> str:
    if record.outcome is None:
        return ""  # it is counted at the end
    spent = [f"{record.seconds:.0f} s"]
    if record.turns:
        tokens = f"{record.input_tokens:,} tokens in, {record.output_tokens:,} out"
        part = " in part" if record.task.delegates else ""
        list_prices = f"{part} at list prices, which a subscription does not bill"
        billed = list_prices if record.task.login else ""
        spent += [count(record.turns, "turn"), tokens, money(record.cost) + billed]
    return ", ".join(spent)


def _replayed(record: Record) -> str:
    """Which recording stood in for the model, by its run where it is one of ours."""
    if not record.task.replay:
        return ""
    folder = Path(record.task.replay)
    name = folder.parent.name if folder.name == "cassette" else str(folder)
    return f"{clean(name)}: no model was asked, and nothing paid"


def _checks(record: Record) -> list[str]:
    """Each check, as it was on the base and as it is on the recorded tree."""
    base = _results(record, record.base_tree)
    # An unchanged tree has been checked as the base; nothing was proved a second time.
    proof = {} if record.tree == record.base_tree else _results(record, record.tree)
    if not base and not proof:
        return []
    rows = [("checks", "base", "proof")]
    rows += [
        (cut(clean(each), 60), _RESULTS[base.get(each)], _RESULTS[proof.get(each)])
        for each in {**base, **proof}
    ]
    shown = columns(rows)
    if any(base.get(each) and passed for each, passed in proof.items()):
        shown.append(GREEN_BEFORE)
    return [f"  {line}" for line in shown]


def _results(record: Record, tree: str) -> dict[str, bool]:
    """What the checks showed on one tree, by their commands."""
    shown = (check for each in record.evidence if each.tree == tree for check in each.checks)
    return {check.command: check.passed for check in shown}


def next_steps(record: Record, gone: bool = False) -> list[str]:
    """The commands that make sense now; `gone` where the branch is no longer there."""
    ours = [f"  orchestrator {verb} {short(record)}" for verb in _verbs(record)]
    git = _bringing_back(record) if gone else _merging(record)
    return ["next:", *ours, *_going_on(record), *git]


def _bringing_back(record: Record) -> list[str]:
    folder = shlex.quote(record.git_dir)
    return [f"  git -C {clean(folder)} branch {record.branch} {record.tip}"]


def _going_on(record: Record) -> list[str]:
    """How its worker goes on: as it was, where it was cut off; told what to do, where blocked."""
    stopped = record.shown_state == "interrupted" or record.outcome in _CUT_OFF
    blocked = record.outcome is Outcome.BLOCKED
    if not (stopped or blocked) or record.discarded:
        return []
    if record.task.conversation:
        file = Path(record.task.repository, record.task.only[0])
        return [f'  orchestrator edit {clean(shlex.quote(str(file)))} "..."']
    if not _has_session(record.task):
        return []
    words = ' "..."' if blocked else ""
    return [f"  orchestrator resume {short(record)}{words}"]


def _has_session(task: Task) -> bool:
    """Whether its worker can go on with what it said and did."""
    if task.worker == "command":
        return False
    if task.worker == "acp":
        from orchestrator.delegates.acp_agents import resumable  # noqa: PLC0415  # 0.2 s

        return resumable(task.command)
    return True


def _verbs(record: Record) -> list[str]:
    if record.shown_state == "running":
        return ["log --follow"]
    if record.shown_state == "interrupted" and not record.discarded:
        return ["diff", "log --journal"]  # what was recorded before can be applied from there
    if record.merged:
        return ["diff"]
    if record.discarded or record.tip in ("", record.base):
        return ["log --journal"]
    if record.unpublished:
        done = record.outcome is Outcome.DONE
        return ["diff", "merge" if done else "approve", "discard"]
    if record.branch and record.verdict is not Verdict.BLOCK and not _ready(record):
        return ["diff", "approve", "discard"]
    return ["diff", "discard"]


def _ready(record: Record) -> bool:
    """Whether nothing stands between the branch and its merge."""
    finished = record.shown_state == "finished" and bool(record.branch)
    return finished and (record.outcome is Outcome.DONE or record.approved)


def _merging(record: Record) -> list[str]:
    """How to get it: fetch it from a copy of ours, merge it by git where a work tree is."""
    if not _ready(record) or record.merged or record.discarded:
        return []
    if in_copy(record):
        fetch = f"git fetch {shlex.quote(record.git_dir)} {record.branch}:{record.branch}"
        return ["in your own clone:", f"  {clean(fetch)}"]
    if Path(record.git_dir).name == ".git":
        # Where the run was asked for: of several worktrees, that one is meant.
        folder = shlex.quote(record.task.repository)
        return [f"  git -C {clean(folder)} merge --no-ff {record.branch}"]
    return [f"  orchestrator merge {short(record)}"]
