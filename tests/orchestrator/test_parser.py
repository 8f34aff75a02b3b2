"""The splitters in a process of their own: whatever becomes of it, there is an answer."""

import os
import signal
import subprocess
import sys
import threading
import time
from dataclasses import asdict, replace
from hashlib import sha256
from pathlib import Path

import pytest

import splitters
from orchestrator.parser import Bounds, Outlined, Parser
from splitters import Declaration, Piece, UnknownLanguageError

SOURCE = b"class Sum:\n    def add(self):\n        return 1\n\n\ndef zero():\n    return 0\n"
ENDLESS = b"a\n" * (8 << 20)
LARGE = b"def f():\n    return [%s]\n" % (b"1, " * 400_000)


@pytest.fixture
def parser():
    with Parser() as parser:
        yield parser


@pytest.fixture
def small():
    """With a tenth of the memory that the large file takes."""
    with Parser(Bounds(memory=160 << 20)) as parser:
        yield parser


def test_a_file_is_cut_as_the_package_cuts_it(parser):
    parted = parser.split(SOURCE, "sums.py", target=60)
    assert parted.pieces == splitters.split(SOURCE, "python", 60)
    assert parted.trouble == ""


def test_a_file_has_the_outline_that_the_package_finds(parser):
    python = splitters.detect("sums.py")
    outlined = parser.outline(SOURCE, "sums.py")
    assert outlined.language == "python"
    assert outlined.declarations == splitters.outline(SOURCE, python).declarations


def test_what_would_break_its_grammar_is_text_and_says_so(parser):
    deep = b"> " * 300 + b"a\n"
    parser.split(SOURCE, "sums.py")
    process = parser.process
    parted = parser.split(deep, "deep.md", target=300)
    assert parted.pieces == splitters.split(deep, target=300)
    assert parted.trouble == "it is nested too deep for the parser; the file is cut as plain text"
    assert "nested too deep" in parser.outline(deep, "deep.md").trouble
    assert parser.process == process


@pytest.mark.parametrize("data", [b"", b"\0\xff\xfe", b"caf\xe9\r\n", "é\n".encode("utf-16")])
def test_any_bytes_get_an_answer(parser, data):
    assert parser.split(data, "a.py").pieces.data == data


def test_a_path_may_be_any_bytes(parser):
    assert parser.outline(SOURCE, os.fsdecode(b"\xff.py")).language == "python"


def test_a_file_of_no_known_language_has_no_outline(parser):
    assert parser.outline(b"one\n", "a.unknown") == replace(
        parser.outline(b"", "a.unknown"), language="text"
    )


def test_an_unknown_language_is_named(parser):
    with pytest.raises(UnknownLanguageError, match="klingon"):
        parser.split(SOURCE, language="klingon")
    with pytest.raises(UnknownLanguageError, match="klingon"):
        parser.outline(SOURCE, language="klingon")


def test_one_process_answers_many_questions_of_many_threads(parser):
    found = []
    threads = [
        threading.Thread(target=lambda: found.append(parser.outline(SOURCE, "a.py")))
        for _ in range(8)
    ]
    parser.outline(SOURCE, "a.py")
    process = parser.process
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [each.declarations[0].name for each in found] == ["Sum"] * 8
    assert parser.process == process


def test_a_process_that_was_killed_is_replaced(parser):
    parser.split(SOURCE, "a.py")
    first = parser.process
    os.kill(first, signal.SIGSEGV)
    parted = parser.split(SOURCE, "a.py", target=60)
    assert parted.pieces.language == "python"
    assert parser.process != first


def test_a_process_that_hangs_is_ended_and_the_file_is_plain_text():
    with Parser(Bounds(seconds=2)) as parser:
        parser.split(SOURCE, "a.py")
        first = parser.process
        os.kill(first, signal.SIGSTOP)
        parted = parser.split(SOURCE, "a.py")
        assert parted.trouble == "the parser took more than 2 s; the file is cut as plain text"
        assert parted.pieces == splitters.split(SOURCE)
        with pytest.raises(ProcessLookupError):
            os.kill(first, 0)
        assert parser.split(SOURCE, "a.py").trouble == ""


def test_a_file_that_takes_too_long_is_plain_text():
    with Parser(Bounds(seconds=0.01)) as parser:
        outlined = parser.outline(LARGE, "a.py")
    assert outlined.trouble == "the parser took more than 0.01 s; the file is taken for plain text"
    assert outlined.declarations == ()


def test_a_large_plain_text_that_takes_too_long_is_still_cut():
    with Parser(Bounds(seconds=0.5)) as parser:
        before = time.process_time()
        parted = parser.split(ENDLESS, "a.txt")
        assert time.process_time() - before < 2
    assert parted.trouble == "the parser took more than 0.5 s; the file is cut as plain text"
    assert b"".join(map(parted.pieces.content, parted.pieces.pieces)) == ENDLESS


def test_a_file_that_takes_too_much_memory_is_plain_text(small):
    parted = small.split(LARGE * 8, "a.py")
    assert parted.trouble.endswith("; the file is cut as plain text")
    assert b"".join(map(parted.pieces.content, parted.pieces.pieces)) == LARGE * 8
    assert small.split(SOURCE, "a.py").pieces.language == "python"


def test_the_process_ends_with_the_one_that_asked(parser):
    program = (
        "from orchestrator.parser import Parser\n"
        "parser = Parser(); parser.outline(b'', 'a.py'); print(parser.process, flush=True)\n"
        "import os; os._exit(0)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True)
    state = Path(f"/proc/{int(done.stdout)}/stat")
    for _ in range(500):
        if not state.exists() or ") Z " in state.read_text():
            return
        threading.Event().wait(0.02)
    pytest.fail("the parser outlived the process that had asked it")


def test_the_process_knows_nothing_of_ours_and_may_do_little(parser):
    parser.outline(SOURCE, "a.py")
    process = Path(f"/proc/{parser.process}")
    assert process.joinpath("environ").read_bytes() == b""
    limits = process.joinpath("limits").read_text()
    for line in ("core file size", "file size", "open files", "processes"):
        (row,) = [row for row in limits.splitlines() if row.startswith(f"Max {line}")]
        assert row.removeprefix(f"Max {line}").split()[:2] == ["0", "0"], row


PROBE = """
import os, socket, sys
from splitters.__main__ import confine
from splitters.frames import HEADER, head
confine(1 << 31)
out, ask, found = sys.stdout.buffer, sys.stdin.buffer, []
out.write(head({})); out.flush()
tries = (lambda: os.open("/etc/passwd", 0), socket.socket, os.pipe)
for attempt in tries:
    try:
        found.append(repr(attempt()))
    except OSError as problem:
        found.append(problem.strerror)
HEADER.unpack(ask.read(HEADER.size))
out.write(head({"failed": " ".join(sorted(set(found)))})); out.flush()
"""


def test_the_process_can_open_neither_a_file_nor_a_connection():
    with Parser(program=PROBE) as parser:
        outlined = parser.outline(b"", "a.py")
    assert outlined.trouble == "Too many open files; the file is taken for plain text"


FOLDERS = sorted((Path(__file__).parents[1] / "splitters/languages").iterdir())


@pytest.fixture(scope="module")
def one_parser():
    with Parser() as parser:
        yield parser


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "utf-32"])
@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_no_language_misses_what_it_may_not_open_any_more(one_parser, folder, encoding):
    (sample,) = (path for path in folder.iterdir() if path.suffix != ".txt")
    data = sample.read_text("utf-8").encode(encoding)
    parted = one_parser.split(data, sample.name, language=folder.name, target=256)
    assert (parted.trouble, parted.pieces) == ("", splitters.split(data, folder.name, 256))
    outlined = one_parser.outline(data, sample.name, language=folder.name)
    language = splitters.detect(sample.name, data)
    if language and language.name == folder.name:
        assert outlined == Outlined(folder.name, splitters.outline(data, language).declarations)


FORGED = """
import os, sys
from splitters.frames import HEADER, head
out, ask = sys.stdout.buffer, sys.stdin.buffer
out.write(head({})); out.flush()
while start := ask.read(HEADER.size):
    size, length = HEADER.unpack(start)
    ask.read(size + length)
    out.write(%s); out.flush()
"""


@pytest.mark.parametrize(
    "said",
    [
        "head({'pieces': []})",
        "head({'language': 'python', 'target': 9, 'natural': False, 'pieces': []})",
        "HEADER.pack(2**31, 0)",
        "HEADER.pack(4, 0) + b'nope'",
        "b'?'",
    ],
)
def test_an_answer_that_cannot_be_is_not_believed(said):
    with Parser(Bounds(seconds=2), program=FORGED % said) as parser:
        parted = parser.split(SOURCE, "a.py")
        outlined = parser.outline(SOURCE, "a.py")
    assert parted.pieces == splitters.split(SOURCE)
    assert parted.trouble
    assert outlined.declarations == ()
    assert outlined.trouble


def forged(*spans, **changed):
    """A frame with pieces of these spans, each with the right digest."""
    pieces = [
        asdict(
            Piece(
                n, start, end, 1, 1, "lines", "", "", "text", sha256(SOURCE[start:end]).hexdigest()
            )
        )
        for n, (start, end) in enumerate(spans, 1)
    ]
    said = {"language": "text", "target": splitters.TARGET, "natural": False, "pieces": pieces}
    return f"head({said | changed})"


ALL = len(SOURCE)


@pytest.mark.parametrize(
    "said",
    [
        forged((0, 20), (20, 10), (10, ALL)),
        forged((0, 20), (20, 20), (20, ALL)),
        forged((0, ALL), target=9 << 20),
        forged((0, ALL), natural=True),
        forged((0, ALL), language="../x"),
    ],
    ids=["back", "empty", "target", "natural", "language"],
)
def test_pieces_that_are_no_cut_of_the_file_are_not_believed(said):
    with Parser(Bounds(seconds=2), program=FORGED % said) as parser:
        assert "cannot be" in parser.split(SOURCE, "a.py").trouble
    with Parser(Bounds(seconds=2), program=FORGED % forged((0, ALL))) as parser:
        assert parser.split(SOURCE, "a.py").trouble == ""


@pytest.mark.parametrize("depths", [[-1], [10**6], range(50_000)], ids=["below", "far", "deep"])
def test_an_outline_of_impossible_depth_is_not_believed(depths):
    one = asdict(Declaration("function", "f", 0, 1, 1, 1))
    del one["children"]
    program = (
        f"head({{'language': 'python', 'whole': True,"
        f" 'declarations': [dict({one}, depth=d) for d in {depths}]}})"
    )
    with Parser(Bounds(seconds=5), program=FORGED % program) as parser:
        assert "cannot be" in parser.outline(SOURCE, "a.py").trouble


def test_an_outline_that_is_not_whole_is_told(parser):
    outlined = parser.outline(b"function f() {" * 300 + b"}" * 300, "a.js")
    assert "not all of its declarations" in outlined.trouble
    assert outlined.declarations[0].name == "f"


def test_a_process_may_end_by_any_signal():
    program = FORGED.replace("ask.read(size + length)", "os.kill(os.getpid(), 40)") % "b''"
    with Parser(Bounds(seconds=5), program=program) as parser:
        assert "was ended by signal 40" in parser.split(SOURCE, "a.py").trouble


def test_nothing_is_started_before_the_first_file():
    with Parser() as parser:
        assert parser.process is None
