"""Reading in pages, and changes that happen whole or not at all."""

import time

import pytest

from orchestrator.tools.files import delete_file, edit_file, move_file, read_file, write_file
from orchestrator.tools.tool import Context, ToolError
from sandbox.files import FileError


@pytest.fixture
def context(workspace, tmp_path):
    return Context(workspace.box, tmp_path, "step-1-call-1", time.monotonic() + 60, print)


def test_a_file_is_shown_with_line_numbers(context, workspace):
    workspace.fill({"a.py": b"one\n\nthree\n"})
    assert read_file(context, "a.py") == "     1\tone\n     2\t\n     3\tthree"


def test_a_page_tells_where_it_stands(context, workspace):
    workspace.fill({"a.txt": b"".join(b"%d\n" % n for n in range(1, 11))})
    assert read_file(context, "a.txt", offset=4, limit=2) == (
        "     4\t4\n     5\t5\n[lines 4-5 of 10; go on with offset=6]"
    )


def test_the_last_page_says_no_more(context, workspace):
    workspace.fill({"a.txt": b"1\n2\n3\n"})
    assert read_file(context, "a.txt", offset=3) == "     3\t3\n[lines 3-3 of 3]"


def test_a_file_of_64_kib_is_shown_and_one_byte_more_is_not(context, workspace):
    line = b"x" * 63 + b"\n"
    workspace.fill({"fits": line * 1024, "large": line * 1024 + b"\n"})
    assert read_file(context, "fits").endswith("  1024\t" + "x" * 63)
    with pytest.raises(ToolError) as caught:
        read_file(context, "large")
    assert str(caught.value) == (
        "large has 65,537 bytes in 1,025 lines, more than the 65,536 that are shown whole; "
        "use split_file and read_piece, or read it in pages, for example offset=1 and limit=500"
    )


def test_pages_join_to_the_whole_large_file(context, workspace):
    workspace.fill({"a.txt": b"".join(b"line %d\n" % n for n in range(1, 20001))})
    pages = [read_file(context, "a.txt", offset=n) for n in range(1, 20001, 2000)]
    shown = [line.split("\t")[1] for page in pages for line in page.splitlines() if "\t" in line]
    assert shown == [f"line {n}" for n in range(1, 20001)]


def test_more_than_a_page_of_short_lines_is_paged(context, workspace):
    workspace.fill({"a.txt": b"\n" * 2001})
    assert read_file(context, "a.txt").endswith("[lines 1-2000 of 2001; go on with offset=2001]")


def test_one_endless_line_is_cut(context, workspace):
    workspace.fill({"a.json": b"x" * 160_000})
    shown = read_file(context, "a.json", limit=1)
    assert shown.startswith("     1\t" + "x" * 2000 + "[cut: the line has 160,000 characters]")


def test_what_numbered_lines_cannot_show_is_named(context, workspace):
    workspace.fill({"a.txt": b"\xef\xbb\xbfa\r\nb"})
    assert read_file(context, "a.txt") == (
        "     1\t\ufeffa\n     2\tb\n"
        "[the file has CRLF line breaks, a byte order mark, no line break at the end]"
    )


def test_an_empty_file_is_said_to_be_empty(context, workspace):
    workspace.fill({"a.txt": b""})
    assert read_file(context, "a.txt") == "(the file is empty)"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"offset": 0}, "offset: expected 1 or more, got 0"),
        ({"limit": 2001}, "limit: expected 1 to 2000, got 2001"),
        ({"offset": 4}, "a.txt has only 3 lines"),
    ],
)
def test_a_page_that_cannot_be_is_refused(context, workspace, arguments, message):
    workspace.fill({"a.txt": b"1\n2\n3\n"})
    with pytest.raises(ToolError, match=message):
        read_file(context, "a.txt", **arguments)


def test_text_in_utf_16_is_not_called_binary_and_the_tools_that_read_it_are_named(
    context, workspace
):
    workspace.fill({"a.txt": "text\n".encode("utf-16")})
    with pytest.raises(ToolError, match=r"a\.txt is text in UTF-16; read it with split_file"):
        read_file(context, "a.txt")


def test_a_binary_file_is_not_shown(context, workspace):
    workspace.fill({"a.bin": b"\0\1\2"})
    with pytest.raises(ToolError, match=r"a\.bin is a binary file of 3 bytes"):
        read_file(context, "a.bin")


def test_a_file_is_written_exactly(context, workspace):
    assert write_file(context, "new/a.txt", "é\r\nb") == "new/a.txt written, 5 bytes"
    assert workspace.tree() == {"new/a.txt": "é\r\nb".encode()}


def test_one_of_a_thing_is_no_several(context, workspace):
    workspace.fill({"long": b"x" * 65_537, "nul": b"\0", "one": b"1\n"})
    refused = []
    for path, options in (("long", {}), ("nul", {}), ("one", {"offset": 2})):
        with pytest.raises(ToolError) as caught:
            read_file(context, path, **options)
        refused.append(str(caught.value))
    assert refused[0].startswith("long has 65,537 bytes in 1 line, more than ")
    assert refused[1:] == [
        "nul is a binary file of 1 byte; look at it with bash",
        "one has only 1 line",
    ]
    assert write_file(context, "new", "x") == "new written, 1 byte"


def test_an_edit_keeps_every_other_byte_and_the_mode(context, workspace):
    workspace.fill({"run.sh": b"\xef\xbb\xbfa\r\n\xff\r\nb"})
    workspace.box.run(["chmod", "755", "run.sh"])
    assert edit_file(context, "run.sh", "a\n", "x\ny\n") == "run.sh edited"
    assert workspace.tree() == {"run.sh": b"\xef\xbb\xbfx\r\ny\r\n\xff\r\nb"}
    assert workspace.box.files.stat("run.sh").mode == 0o755


def test_an_edit_that_does_not_fit_changes_nothing(context, workspace):
    workspace.fill({"a.txt": b"x x"})
    with pytest.raises(ToolError, match=r"^a\.txt: The old text occurs 2 times"):
        edit_file(context, "a.txt", "x", "y")
    assert workspace.tree() == {"a.txt": b"x x"}


def test_every_occurrence_is_replaced_when_asked(context, workspace):
    workspace.fill({"a.txt": b"x x"})
    edit_file(context, "a.txt", "x", "y", replace_all=True)
    assert workspace.tree() == {"a.txt": b"y y"}


def test_a_file_is_deleted(context, workspace):
    workspace.fill({"a.txt": b"", "b.txt": b""})
    assert delete_file(context, "a.txt") == "a.txt deleted"
    assert workspace.tree() == {"b.txt": b""}


def test_a_file_is_moved_and_never_over_another(context, workspace):
    workspace.fill({"a.txt": b"a", "b.txt": b"b"})
    with pytest.raises(FileError):
        move_file(context, "a.txt", "b.txt")
    assert move_file(context, "a.txt", "c/a.txt") == "a.txt moved to c/a.txt"
    assert workspace.tree() == {"c/a.txt": b"a", "b.txt": b"b"}


def test_a_missing_file_is_a_problem_to_show(context):
    with pytest.raises(FileError, match="missing"):
        read_file(context, "missing.txt")
