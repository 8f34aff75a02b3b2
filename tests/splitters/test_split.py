"""Cutting whole files: what comes back is the file, in pieces a reader would choose."""

import argparse
from pathlib import Path

import splitters

ARGPARSE = Path(argparse.__file__).read_bytes()


def test_the_pieces_of_a_file_are_the_file():
    cut = splitters.split(ARGPARSE, "python")
    assert b"".join(cut.content(piece) for piece in cut.pieces) == ARGPARSE


def test_no_piece_is_larger_than_the_target():
    assert all(piece.size <= 4_096 for piece in splitters.split(ARGPARSE, "python", 4_096).pieces)


def test_each_paragraph_is_a_piece_of_its_own_when_asked_for():
    cut = splitters.split(b"para-a\n\npara-b\n\npara-c\n", natural=True)
    assert [cut.content(piece) for piece in cut.pieces] == [
        b"para-a\n\n",
        b"para-b\n\n",
        b"para-c\n",
    ]
