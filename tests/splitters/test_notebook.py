"""Notebooks are split and listed by cell."""

import json
from pathlib import Path

from splitters import detect, outline, split

SAMPLE = (Path(__file__).parent / "languages" / "notebook" / "sample.ipynb").read_bytes()
CELLS = [
    ("markdown cell", "A shelf of jars"),
    ("code cell", "import pantry"),
    ("code cell", "# not a heading"),
    ("code cell", "(empty)"),
    ("raw cell", "plain words"),
]


def test_each_cell_is_a_piece_when_pieces_are_natural():
    cut = split(SAMPLE, "notebook", natural=True)
    assert [(piece.kind, piece.name) for piece in cut.pieces] == CELLS
    assert b"".join(cut.content(piece) for piece in cut.pieces) == SAMPLE


def test_cuts_fall_between_cells_and_behind_them():
    pieces = split(SAMPLE, "notebook", 350).pieces
    behind = SAMPLE[: SAMPLE.index(b' "metadata": {\n  "kernelspec"')].count(b"\n") + 1
    assert [piece.first_line for piece in pieces] == [1, 12, 30, behind]


def test_a_notebook_on_one_line_lists_its_cells():
    dense = json.dumps(json.loads(SAMPLE)).encode()
    listed = outline(dense, detect("a.ipynb", dense)).declarations
    assert [(one.kind, one.name) for one in listed] == CELLS
    assert {one.first_line for one in listed} == {1}


def test_a_cell_can_be_taken_out_and_read():
    first = outline(SAMPLE, detect("a.ipynb", SAMPLE)).declarations[0]
    assert json.loads(SAMPLE[first.start : first.end])["cell_type"] == "markdown"


def test_cells_that_share_one_line_are_cut_apart_and_named():
    cells = [{"cell_type": "code", "source": [f"f({number})\n" * 40]} for number in range(20)]
    cut = split(json.dumps({"cells": cells}).encode(), "notebook", 1_000)
    for piece in cut.pieces[1:]:
        assert cut.content(piece).startswith(b'{"cell_type"')
        assert piece.kind == "code cell"
