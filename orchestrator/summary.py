"""A run as a person reads it afterwards: how it ended, on what grounds, and what to type next."""

from collections.abc import Iterable
from dataclasses import dataclass

from orchestrator.events import Changed, CheckFinished
from orchestrator.journal import Entry
from orchestrator.outcome import Outcome, Verdict
from orchestrator.record import Record
from orchestrator.render import count, finding, verdict_word
from orchestrator.screen import Ink, clean, clean_lines, columns, cut


@dataclass(frozen=True, slots=True)
class Check:
    """What one check said of the base and of the recorded tree; None where it did not run."""

    command: str
    base: bool | None
    proof: bool | None


def checks(entries: Iterable[Entry]) -> tuple[Check, ...]:
    """The evidence in a journal, one row a command."""
    found: dict[str, dict[str, bool]] = {}
    for entry in entries:
        event = entry.event
        if isinstance(event, CheckFinished) and event.stage in ("base", "proof"):
            found.setdefault(event.command, {})[event.stage] = event.passed
    return tuple(
        Check(command, said.get("base"), said.get("proof")) for command, said in found.items()
    )


def summary(record: Record, entries: Iterable[Entry], ink: Ink) -> list[str]:
    """The whole account of a run."""
    entries = tuple(entries)
    changes = sum(isinstance(entry.event, Changed) for entry in entries)
    rows = [
        ("run", record.id),
        ("task", cut(clean(record.task.prompt.partition("\n")[0]), 80)),
        ("repository", f"{clean(record.task.repository)} at {record.base[:10]}"),
        ("branch", _branch(record, changes)),
        ("verdict", _verdict(record, ink)),
        ("spent", _spent(record)),
    ]
    shown = [f"  {name:<11} {value}" for name, value in rows if value]
    shown += [f"  {'':<11} {finding(each, ink)}" for each in record.findings]
    return [headline(record, ink), *shown, *_table(checks(entries)), *_next(record)]


def headline(record: Record, ink: Ink) -> str:
    """The state or the outcome, with one sentence."""
    word = clean(state_word(record))
    match record.outcome:
        case Outcome.DONE | Outcome.NO_CHANGE:
            word = ink.green(word)
        case None | Outcome.NEEDS_REVIEW:
            word = ink.yellow(word)
        case _:
            word = ink.red(word)
    message = cut(" ".join(clean_lines(record.message)).strip(), 200)
    return f"{ink.bold(word)}: {message}" if message else ink.bold(word)


def state_word(record: Record) -> str:
    """`running`, `interrupted`, or the outcome."""
    state = record.shown_state
    return str(record.outcome) if state == "finished" and record.outcome else state


def short(record: Record) -> str:
    """The part of the id that is typed."""
    return record.id.rpartition("-")[2]


def money(cost: float | None) -> str:
    """US dollars; an unknown price is not zero."""
    return "cost unknown" if cost is None else f"${cost:.4f}"


def _branch(record: Record, changes: int) -> str:
    if not record.branch:
        return f"not published, {count(changes, 'commit')}" if changes else ""
    state = ""
    if record.discarded:
        state = ", discarded"
    elif record.merged:
        state = f", merged as {record.merged[:10]}"
    return f"{record.branch} ({count(changes, 'commit')}{state})"


def _verdict(record: Record, ink: Ink) -> str:
    if record.verdict is None:
        return ""
    by = ", ".join(clean(each.by) for each in record.approvals if each.tree == record.tree)
    return verdict_word(record.verdict, ink) + (f", approved by {by}" if by else "")


def _spent(record: Record) -> str:
    spent = [f"{record.seconds:.0f} s"]
    if record.turns:
        tokens = f"{record.input_tokens:,} tokens in, {record.output_tokens:,} out"
        spent += [count(record.turns, "turn"), tokens, money(record.cost)]
    return ", ".join(spent)


def _table(found: tuple[Check, ...]) -> list[str]:
    if not found:
        return []
    words = {None: "-", True: "green", False: "red"}
    rows = [("checks", "base", "proof")]
    rows += [(cut(clean(row.command), 60), words[row.base], words[row.proof]) for row in found]
    return [f"  {line}" for line in columns(rows)]


def _next(record: Record) -> list[str]:
    """The commands that make sense now."""
    if record.shown_state == "running":
        verbs = ["log --follow"]
    elif record.discarded or not record.tip:
        verbs = ["log --journal"]
    elif record.merged:
        verbs = ["diff"]
    elif record.verdict == Verdict.REVIEW and not record.approved:
        verbs = ["diff", "approve", "discard"]
    elif record.verdict == Verdict.BLOCK or not record.branch:
        verbs = ["diff", "discard"]
    else:
        verbs = ["diff", "merge", "discard"]
    return ["next:", *(f"  orchestrator {verb} {short(record)}" for verb in verbs)]
