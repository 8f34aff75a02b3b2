"""S01-S08: whatever a command prints and however it ends, the next line and step are fine."""

import json
import re
import resource
from pathlib import Path

import pytest

from sandbox.lines import CAP
from sandbox.stream import Exit, Line

SANDBOX = Path(__file__).parents[2] / "sandbox"


def told(box, script: str, seconds: float = 60.0) -> tuple[list[Line], Exit]:
    """The lines of a script, and how it ended."""
    *lines, end = box.stream(["sh", "-c", script], seconds=seconds)
    return lines, end


def test_s01_after_a_line_of_100_mb_the_next_one_is_whole(box):
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    lines, end = told(box, "head -c 100000000 /dev/zero | tr '\\0' x; echo; echo next")
    assert [(len(line.data), line.cut) for line in lines] == [(CAP, True), (4, False)]
    assert (lines[1].text, end.ok, end.size) == ("next", True, 100_000_006)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 64 << 10


def test_s02_bytes_that_are_no_text_are_kept_and_shown_as_such(box):
    lines, _ = told(box, "printf 'a\\000b\\377\\n\\rc\\033[2J\\n'")
    assert [line.data for line in lines] == [b"a\0b\xff", b"\rc\x1b[2J"]
    assert lines[0].text == "a\0b\ufffd"


def test_s03_a_record_with_odd_separators_is_one_line(box):
    record = {"text": "one\u2028two\u2029three\x85four\x0cfive\r"}
    done = box.stream(["cat"], stdin=json.dumps(record, ensure_ascii=False).encode() + b"\n")
    (line,) = [each for each in done if isinstance(each, Line)]
    assert json.loads(line.text) == record


@pytest.mark.parametrize(
    "child", ["sleep 61 &", "setsid sleep 61 &", "(trap '' HUP TERM; sleep 61) &"]
)
def test_s05_a_child_that_keeps_the_pipe_open_does_not_hold_the_step(box, child):
    lines, end = told(box, f"{child} echo said")
    assert ([line.text for line in lines], end.ok) == (["said"], True)
    assert end.seconds < 10
    box.sweep()


def test_s06_what_has_no_last_newline_or_comes_in_pieces_is_whole(box):
    lines, _ = told(box, "printf '{\"a\": '; sleep 0.2; printf '[1, '; sleep 0.2; printf '2]}'")
    assert [json.loads(line.text) for line in lines] == [{"a": [1, 2]}]


def test_s07_no_limit_looks_at_the_clock_on_the_wall():
    # It cannot be set for one process: what could look at it is looked for instead.
    clock = re.compile(r"time\.time\(|datetime\.now|CLOCK_REALTIME|utcnow")
    carriers = ("attach", "channel", "connection", "exec", "framed", "frames", "lines", "program")
    sources = [SANDBOX / f"{name}.py" for name in carriers] + list(SANDBOX.glob("inside/*.py"))
    assert [path.name for path in sources if clock.search(path.read_text())] == []


def test_s07_a_limit_holds(box):
    _, end = told(box, "sleep 61", seconds=1)
    assert (end.timed_out, end.status) == (True, 124)
    assert 1 <= end.seconds < 7


def test_s08_a_flood_on_stderr_and_a_silent_stdout_do_not_lock(box):
    script = "yes $(printf %0199d 0) | head -c 30000000 >&2; sleep 0.1; echo out"
    counted = {"stdout": 0, "stderr": 0}
    for item in box.stream(["sh", "-c", script], seconds=60):
        if isinstance(item, Line):
            counted[item.stream] += 1
        else:
            assert item.ok
    assert counted == {"stdout": 1, "stderr": 150_000}
