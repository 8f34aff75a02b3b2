"""What a run was asked, in a line for people: of one that goes on, the task it all began with."""

from orchestrator.prompts import added
from orchestrator.record import Record
from orchestrator.screen import clean, cut


def task_line(record: Record, width: int) -> str:
    """The first line of the task; it says so where the run goes on with an earlier one."""
    if not record.resumes:
        return cut(_first(record.task.prompt), width)
    return _marked(record, "(resumed)", width)


def whole_line(record: Record, width: int) -> str:
    """That, with the words that were given to `resume`."""
    words = added_line(record, width // 3)
    return _marked(record, f"(resumed: {words})", width) if words else task_line(record, width)


def added_line(record: Record, width: int) -> str:
    """The first line of the words that were given to `resume`; often nothing."""
    return cut(_first(added(record.task.prompt)), width) if record.resumes else ""


def _marked(record: Record, mark: str, width: int) -> str:
    first = _first(record.asked or record.task.prompt)
    return f"{cut(first, width - len(mark) - 1)} {mark}"


def _first(text: str) -> str:
    return clean(text.partition("\n")[0])
