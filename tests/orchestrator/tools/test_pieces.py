"""Large files in pieces: cut, read, changed; all of it or nothing, and no byte beside it."""

import time
from dataclasses import replace

import pytest

from orchestrator.tools.desk import Desk
from orchestrator.tools.edited import PieceEdit
from orchestrator.tools.files import read_file
from orchestrator.tools.outline import outline
from orchestrator.tools.pieces import patch_file, read_piece, split_file
from orchestrator.tools.tool import Context, ToolError

BODY = "".join(f"    total += {n}\n" for n in range(40))
FUNCTION = f"def f%d():\n    total = 0\n{BODY}    return total\n\n\n"
SOURCE = "".join(FUNCTION % n for n in range(12)).encode()


@pytest.fixture
def context(workspace, tmp_path):
    with Desk() as desk:
        yield Context(workspace.box, tmp_path, "step-1-call-1", time.monotonic() + 60, print, desk)


@pytest.fixture
def cut(context, workspace):
    """A file in twelve pieces, one for each function."""
    workspace.fill({"a.py": SOURCE})
    split_file(context, "a.py", target_bytes=1000)
    return context


def refused(function, *arguments, **named):
    with pytest.raises(ToolError) as caught:
        function(*arguments, **named)
    return str(caught.value)


def test_the_pieces_of_a_file_are_listed(context, workspace):
    workspace.fill({"a.py": SOURCE})
    head, first, second, *_ = split_file(context, "a.py", target_bytes=2000).split("\n")
    assert head == f"a.py: {len(SOURCE):,} bytes, python, in 6 pieces"
    size = len(SOURCE) // 12
    assert first.startswith("   1  lines 1-90, ")
    assert first.endswith("function f0: f0, f1")
    assert second.startswith("   2  lines 91-180, ")
    assert size * 2 < 2000


def test_a_patch_makes_no_file_binary(cut, workspace):
    edit = PieceEdit(1, "total\0", "total = 0")
    assert "NUL" in refused(patch_file, cut, "a.py", [edit])
    assert workspace.tree() == {"a.py": SOURCE}


def test_half_a_character_at_the_end_of_utf_16_is_no_trouble(context, workspace):
    source = "\ufeffä = 1\n".encode("utf-16-le")
    workspace.fill({"a.py": source[:-1], "b.py": "\ufeff\u4f60".encode("utf-16-le") + b"x"})
    assert "binary" in refused(split_file, context, "a.py")
    assert "binary" in refused(read_file, context, "a.py")
    split_file(context, "b.py")
    patch_file(context, "b.py", [PieceEdit(1, "y", "x")])
    assert workspace.tree()["b.py"] == "\ufeff\u4f60".encode("utf-16-le") + b"y"


def test_utf_32_is_not_taken_for_utf_16(context, workspace):
    workspace.fill({"a.py": "\ufeffa = 1\n".encode("utf-32-le")})
    assert "binary" in refused(split_file, context, "a.py")
    assert "binary" in refused(read_file, context, "a.py")


def test_nothing_is_written_by_splitting(context, workspace):
    workspace.fill({"a.py": SOURCE})
    split_file(context, "a.py", natural=True)
    assert workspace.tree() == {"a.py": SOURCE}


def test_the_pieces_joined_are_the_file(cut):
    texts = []
    for number in range(1, 13):
        shown = read_piece(cut, "/workspace/a.py", number).split("\n")[:-1]
        texts += [line.split("\t", 1) for line in shown]
    assert "".join(f"{line}\n" for _, line in texts).encode() == SOURCE
    assert [int(number) for number, _ in texts] == list(range(1, SOURCE.count(b"\n") + 1))


def test_a_piece_that_was_read_is_replaced_whole(cut, workspace):
    read_piece(cut, "a.py", 3)
    said = patch_file(cut, "a.py", [PieceEdit(3, "def new():\n    return 1\n\n\n")])
    old = (FUNCTION % 2).encode()
    after = SOURCE.replace(old, b"def new():\n    return 1\n\n\n")
    assert workspace.tree() == {"a.py": after}
    head, *rows = said.split("\n")
    assert head == f"a.py changed: {len(after):,} bytes in 12 pieces"
    assert [row.split()[0] for row in rows] == ["2", "3", "4"]
    assert rows[1] == "   3  lines 91-94, 26 bytes, function new"
    assert rows[2].startswith("   4  lines 95-139, ")


def test_one_piece_of_one_byte_is_no_several(context, workspace):
    workspace.fill({"a.txt": b"x"})
    assert split_file(context, "a.txt").startswith("a.txt: 1 byte, text, in 1 piece\n")
    said = patch_file(context, "a.txt", [PieceEdit(1, "y", "x")])
    assert said.startswith("a.txt changed: 1 byte in 1 piece\n")


def test_a_text_in_a_piece_is_replaced_without_reading_it(cut, workspace):
    patch_file(cut, "a.py", [PieceEdit(12, "return 12", "return total")])
    assert workspace.tree()["a.py"] == b"return 12".join(SOURCE.rsplit(b"return total", 1))


def test_the_same_numbers_hold_for_the_next_edit(cut, workspace):
    patch_file(cut, "a.py", [PieceEdit(2, "return 2", "return total")])
    patch_file(cut, "a.py", [PieceEdit(9, "return 9", "return total")])
    patch_file(cut, "a.py", [PieceEdit(2, "return 22", "return 2")])
    found = workspace.tree()["a.py"].split(b"\n\n\n")
    assert [part.split(b"\n")[-1].strip() for part in (found[1], found[8])] == [
        b"return 22",
        b"return 9",
    ]


def test_several_edits_happen_together_and_in_order(cut, workspace):
    edits = [
        PieceEdit(1, "return 1", "return total"),
        PieceEdit(5, "return 5", "return total"),
        PieceEdit(1, "return 0", "return 1"),
    ]
    patch_file(cut, "a.py", edits)
    assert workspace.tree()["a.py"].count(b"return total") == 10
    assert b"return 0" in workspace.tree()["a.py"]


def test_one_wrong_edit_and_nothing_is_changed(cut, workspace):
    edits = [PieceEdit(1, "return 1", "return total"), PieceEdit(2, "x", "not there")]
    message = refused(patch_file, cut, "a.py", edits)
    assert message.startswith("edit 2, piece 2: The old text occurs 0 times")
    assert message.endswith("\nNothing was changed.")
    assert workspace.tree() == {"a.py": SOURCE}


def test_a_piece_that_was_not_read_is_not_replaced_whole(cut, workspace):
    message = refused(patch_file, cut, "a.py", [PieceEdit(3, "x\n")])
    assert message.startswith("edit 1: read_piece has not shown piece 3 as it is now")
    assert workspace.tree() == {"a.py": SOURCE}


def test_a_file_that_changed_meanwhile_is_left_alone(cut, workspace):
    workspace.box.files.write("a.py", SOURCE + b"# more\n")
    for function, argument in ((read_piece, 1), (patch_file, [PieceEdit(1, "x", "total")])):
        assert refused(function, cut, "a.py", argument) == (
            "a.py has changed since it was cut into pieces; use split_file again"
        )
    assert workspace.tree() == {"a.py": SOURCE + b"# more\n"}


def test_a_piece_that_grew_is_cut_and_the_new_numbers_are_told(cut, workspace):
    read_piece(cut, "a.py", 2)
    read_piece(cut, "a.py", 3)
    said = patch_file(cut, "a.py", [PieceEdit(2, "".join(FUNCTION % n for n in (20, 21, 22)))])
    assert "in 14 pieces; the pieces behind 2 have new numbers now: +2 for each" in said
    assert "   4  lines 136-180, " in said
    assert refused(patch_file, cut, "a.py", [PieceEdit(3, "x\n")]).startswith("edit 1: read_piece")
    assert read_piece(cut, "a.py", 14).endswith("function f11]")


@pytest.mark.parametrize(
    ("path", "head", "member", "name"),
    [
        ("a.py", "class A:\n", "    def f%d(self):\n{}        return x\n\n", "A.%s"),
        ("a.ts", "class A {\n", "  f%d(x: number) {\n{}    return x;\n  }\n\n", "A.%s"),
        (
            "a.cpp",
            "namespace n {\nclass A {\n",
            "  int f%d(int x) {\n{}  return x;\n  }\n\n",
            "n::A::%s",
        ),
    ],
)
def test_an_edited_member_is_named_as_a_member(context, workspace, path, head, member, name):
    body = "        x = x + 1;\n" * 30
    end = "" if path == "a.py" else "}" * head.count("{") + "\n"
    members = "".join(member.replace("{}", body) % n for n in range(4))
    workspace.fill({path: (head + members + end).encode()})
    split_file(context, path, target_bytes=700)
    said = patch_file(context, path, [PieceEdit(3, "return 2 * x", "return x")]).split("\n")
    assert said[2].endswith(f", method {name % 'f2'}")
    said = patch_file(context, path, [PieceEdit(3, "renamed", "f2")]).split("\n")
    # Alone, a method of TypeScript is a call and a block: it has no name, and never a wrong one.
    assert said[2].endswith(f", method {name % 'renamed'}" if path != "a.ts" else " bytes, lines")


def test_a_piece_can_be_emptied(cut, workspace):
    read_piece(cut, "a.py", 2)
    said = patch_file(cut, "a.py", [PieceEdit(2, "")])
    assert workspace.tree() == {"a.py": SOURCE.replace((FUNCTION % 1).encode(), b"")}
    assert "in 11 pieces; the pieces behind 2 have new numbers now: -1 for each" in said
    assert "   2  lines 46-90, " in said


def test_a_whole_file_can_be_emptied(context, workspace):
    workspace.fill({"a.txt": b"a\n"})
    split_file(context, "a.txt")
    read_piece(context, "a.txt", 1)
    patch_file(context, "a.txt", [PieceEdit(1, "")])
    assert workspace.tree() == {"a.txt": b""}
    assert read_piece(context, "a.txt", 1).startswith("     1\t\n[piece 1 of 1: ")


def test_endings_mark_and_missing_last_break_stay(context, workspace):
    content = b"\xef\xbb\xbf" + b"".join(b"line %d\r\n" % n for n in range(200)) + b"end"
    workspace.fill({"a.txt": content})
    workspace.box.run(["chmod", "755", "a.txt"])
    split_file(context, "a.txt", target_bytes=512)
    read_piece(context, "a.txt", 1)
    edits = [PieceEdit(1, "first\n"), PieceEdit(4, "the end", "end")]
    patch_file(context, "a.txt", edits)
    after = workspace.tree()["a.txt"]
    assert after.startswith(b"\xef\xbb\xbffirst\r\nline ")
    assert after.endswith(b"\r\nthe end")
    assert workspace.box.files.stat("a.txt").mode == 0o755


def test_a_line_over_the_target_is_cut_inside_and_put_together_again(context, workspace):
    content = b"[" + b", ".join(b"%d" % n for n in range(2000)) + b"]"
    workspace.fill({"a.json": content})
    split_file(context, "a.json", target_bytes=2000)
    shown = read_piece(context, "a.json", 2)
    assert shown.endswith("; it begins inside a line; it ends inside a line]")
    patch_file(context, "a.json", [PieceEdit(1, "[0, 1111, 2,", "[0, 1, 2,")])
    assert workspace.tree() == {"a.json": content.replace(b"[0, 1, 2,", b"[0, 1111, 2,")}


@pytest.mark.parametrize(
    ("old", "message"),
    [
        ("total", " occurs 42 times, at lines 47, 48, 49, "),
        ("", "is empty; to fill a file leave it out.\n"),
        ("    totla = 0\n", "Nearest lines:\n    47\t    total = 0"),
    ],
)
def test_a_refusal_says_lines_of_the_file_and_what_this_tool_can(cut, old, message):
    said = refused(patch_file, cut, "a.py", [PieceEdit(2, "x", old)])
    assert message in said
    assert "replace_all" not in said


def test_lines_that_a_lone_return_ends_are_counted_by_all(context, workspace):
    workspace.fill({"a.txt": b"".join(b"line %d\nhalf\rhalf\n" % n for n in range(100))})
    split_file(context, "a.txt", target_bytes=512)
    listed = context.desk.cut("a.txt").pieces
    rows = read_piece(context, "a.txt", 2).split("\n")
    assert int(rows[0].split("\t")[0]) == listed[1].first_line
    assert int(rows[-2].split("\t")[0]) == listed[1].last_line
    patch_file(context, "a.txt", [PieceEdit(1, "LINE 7\n", "line 7\n")])
    spans = [(piece.first_line, piece.last_line) for piece in context.desk.cut("a.txt").pieces]
    assert spans == [(piece.first_line, piece.last_line) for piece in listed]


@pytest.mark.parametrize("newline", [b"\n", b"\r\n"])
def test_the_end_of_a_long_line_is_emptied_and_no_lines_are_joined(context, workspace, newline):
    workspace.fill({"a.txt": b"x" * 1000 + newline + b"next" + newline})
    split_file(context, "a.txt", target_bytes=600)
    read_piece(context, "a.txt", 2)
    patch_file(context, "a.txt", [PieceEdit(2, "")])
    assert workspace.tree() == {"a.txt": b"x" * 600}
    workspace.fill({"a.txt": b"x" * 1000 + newline + b"y" * 595 + newline})
    split_file(context, "a.txt", target_bytes=600)
    read_piece(context, "a.txt", 2)
    patch_file(context, "a.txt", [PieceEdit(2, "")])
    assert workspace.tree() == {"a.txt": b"x" * 600 + newline + b"y" * 595 + newline}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((split_file, "a.py", 511), "target_bytes: expected 512 to 65536, got 511"),
        ((split_file, "a.bin"), "a.bin is a binary file of 3 bytes; look at it with bash"),
        ((read_piece, "other.py", 1), "other.py is not cut into pieces; use split_file first"),
        ((read_piece, "a.py", 13), "piece: a.py has pieces 1 to 12, not 13"),
        ((patch_file, "a.py", []), "edits: at least one is needed"),
        (
            (patch_file, "a.py", [PieceEdit(1, "total", "total")]),
            "edit 1, piece 1: The old and the new text are the same; nothing would change."
            "\nNothing was changed.",
        ),
    ],
)
def test_what_cannot_be_done_is_said(cut, workspace, arguments, message):
    workspace.box.files.write("a.bin", b"\0\1\2")
    function, *rest = arguments
    assert refused(function, cut, *rest) == message


def test_replacing_a_piece_by_itself_changes_nothing(cut):
    read_piece(cut, "a.py", 1)
    message = refused(patch_file, cut, "a.py", [PieceEdit(1, FUNCTION % 0)])
    assert message == "a.py: nothing would change"


def test_a_file_of_64_kib_and_a_byte_names_the_way(context, workspace):
    workspace.fill({"large": b"x" * 65_537})
    assert "use split_file and read_piece" in refused(read_file, context, "large")


def test_a_file_is_outlined(context, workspace):
    workspace.fill({"a.py": b"class A:\n    def f(self):\n        return 1\n"})
    assert outline(context, "a.py") == "1-3  class A\n2-3    def f(self)"
    assert outline(context, "a.py", depth=1) == "1-3  class A"


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-be", "utf-32"])
def test_a_file_in_two_or_four_bytes_a_character_is_outlined(context, workspace, encoding):
    workspace.fill({"a.py": "class A:\n    x = 1\n".encode(encoding)})
    assert outline(context, "a.py") == "1-2  class A"


def test_a_folder_is_outlined_without_foreign_packages(context, workspace):
    workspace.fill(
        {
            "src/a.py": b"def a(): ...\n",
            "src/deep/b.py": b"class B:\n    def c(self): ...\n",
            "src/node_modules/c.py": b"def c(): ...\n",
            "src/.hidden/d.py": b"def d(): ...\n",
            "src/e.unknown": b"e\n",
        }
    )
    assert outline(context, "src") == ("src/a.py\n  1  def a()\nsrc/deep/b.py\n  1-2  class B")
    assert outline(context) == outline(context, "/workspace").replace("/workspace/", "")


def test_an_outline_of_nothing_says_so(context, workspace):
    workspace.fill({"a.unknown": b"x\n", "empty/b.py": b""})
    assert outline(context, "a.unknown") == "(nothing is declared in this file: text)"
    assert outline(context, "empty") == "(nothing is declared in the files of this folder)"


def test_names_from_a_file_are_one_clean_line(context, workspace):
    workspace.fill({"a.md": b"# A \x1b[2J title\n\ntext\n"})
    assert "\x1b" not in outline(context, "a.md") + split_file(context, "a.md")


def test_a_broken_parser_only_costs_the_names(cut, workspace):
    broken = replace(cut, desk=Desk())
    broken.desk.parser._program = "raise SystemExit(3)"
    said = split_file(broken, "a.py", target_bytes=2000)
    assert "\n[the parser ended with status 3; the file is cut as plain text]\n" in said
    assert outline(broken, "a.py").endswith("the file is taken for plain text]")
