"""For any bytes, in any language: the pieces are the file, within bounds, and rightly counted."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import splitters
from splitters.document import Document

NAMES = ["text", *(row.name for row in splitters.LANGUAGES)]
PARTS = st.sampled_from(
    [
        *(b"\n", b"\r\n", b"\r", b"\n\n", b"\t", b"    ", b" ", b"\f", b"\v", b"\0", b"\xff"),
        *("\x85\u2028\ufeffäé€\N{GRINNING FACE}".encode(), "日本".encode("euc_jp")),
        *(b"{", b"}", b"(", b")", b"[", b"]", b"<a>", b"</a>", b"<", b">", b"/", b"\\", b"$", b"%"),
        *(b'"', b"'", b'"""', b"`", b"```", b"/*", b"*/", b"//", b"#", b"--", b"<!--", b"-->"),
        *(
            b"# A",
            b"===",
            b"---",
            b"- ",
            b"|",
            b":",
            b";",
            b",",
            b".",
            b"=",
            b"@",
            b"!",
            b"&",
            b"*",
        ),
        *(b"def f():", b"class A", b"function f()", b"fn f()", b"func f()", b"int f()", b"end"),
        *(b"do", b"begin", b"module M where", b"<?php", b"<script>", b"<<EOF", b"EOF", b"#if X"),
        *(
            b"key: value",
            b'"key": 1',
            b"return 1",
            b"x",
            b"if",
            b"else",
            b"<<<<<<< HEAD",
            b"import x",
        ),
    ]
)
TEXTS = st.one_of(st.lists(PARTS, max_size=60).map(b"".join), st.binary(max_size=200))
WIDE = st.builds(
    lambda text, encoding, tail: text.encode(encoding) + tail,
    st.text(max_size=60),
    st.sampled_from(["utf-16", "utf-32"]),
    st.binary(max_size=3),
)
FILES = st.one_of(TEXTS, TEXTS, WIDE)
TARGETS = st.one_of(st.integers(1, 40), st.just(splitters.TARGET))


def broken(data: bytes, end: int) -> int:
    """Line breaks before a place of a file of one byte a character."""
    head = data[:end]
    split = head.endswith(b"\r") and data[end : end + 1] == b"\n"
    return head.replace(b"\r\n", b"\n").replace(b"\r", b"\n").count(b"\n") - split


@pytest.mark.parametrize("language", NAMES)
@settings(max_examples=30, deadline=None)
@given(data=FILES, target=TARGETS, natural=st.booleans())
def test_the_pieces_are_the_file_and_fit(language, data, target, natural):
    pieces = splitters.split(data, language, target, natural).pieces
    ends = [piece.end for piece in pieces]
    assert [piece.start for piece in pieces] == [0, *ends[:-1]]
    assert ends[-1] == len(data)
    assert all(0 < piece.size <= target for piece in pieces) or not data
    assert [piece.number for piece in pieces] == list(range(1, len(pieces) + 1))


@settings(max_examples=200, deadline=None)
@given(data=TEXTS, target=TARGETS, language=st.sampled_from(NAMES))
def test_lines_are_counted_from_the_first(data, target, language):
    if data[:2] in (b"\xff\xfe", b"\xfe\xff") or data.count(0) * 4 > len(data):
        return  # UTF-16, whose line breaks are of two bytes
    for piece in splitters.split(data, language, target).pieces:
        assert piece.first_line == broken(data, piece.start) + 1
        ended = broken(data, piece.end) > broken(data, piece.end - 1) if piece.size else True
        assert piece.last_line == broken(data, piece.end) + 1 - ended


CODE = {
    "python": b"def f(a):\n    '''Doc.'''\n    return [a, 1]\n\n\nclass A:\n    x = 1\n\n",
    "c": b"/* Doc. */\nint f(int a)\n{\n  return a + 1;\n}\n\n",
    "go": b"package a\n\n// Doc.\nfunc f(a int) int {\n\treturn a\n}\n\n",
    "typescript": b"/** Doc. */\nexport class A {\n  f(): number { return 1; }\n}\n\n",
    "json": b'{"a": [1, 2], "b": {"c": null}}\n',
    "markdown": b"# A\n\ntext\n\n```\ncode\n```\n\n## B\n\n- x\n- y\n\n",
    "yaml": b"a: 1\nb:\n  - c\n  - d: e\n",
    "ruby": b"class A\n  def f\n    <<~X\n      a\n    X\n  end\nend\n\n",
}
EDITS = st.lists(st.tuples(st.integers(0, 400), st.integers(0, 20), PARTS), max_size=4)


@pytest.mark.parametrize("language", CODE)
@settings(max_examples=60, deadline=None)
@given(before=TEXTS, edits=EDITS, target=st.integers(20, 200))
def test_an_edited_document_is_cut_as_a_new_one(language, before, edits, target):
    code = CODE[language] * 4
    document = Document.of(code + before[:10], language)
    for start, size, replacement in edits:
        places = (min(at, len(document.data)) for at in (start, start + size))
        document = document.edit(*places, replacement)
    assert document.split(target) == splitters.split(document.data, language, target)
