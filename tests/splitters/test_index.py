"""The index as JSON: what is read is what was written, and all else is refused."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

import splitters
from splitters.form import encoding, line_ending
from splitters.index import BadIndexError, decode, encode, file_name, of

FOLDER = "/folder"
CUT = splitters.split(b"para-a\n\npara-b\n\npara-c\n", natural=True)
INDEX = of(CUT, "/source/notes.txt", FOLDER, "2026-01-31T12:00:00Z")
PLAIN = json.loads(encode(INDEX))


def test_what_is_written_is_read():
    assert decode(encode(INDEX), FOLDER) == INDEX


def test_its_bytes_are_those_that_were_sealed():
    laid = json.dumps(PLAIN, indent=2, ensure_ascii=False)
    assert encode(decode(laid.encode(), FOLDER)).decode() == laid + "\n"
    assert [*PLAIN][:2] == ["schema", "source_path"]
    assert [*PLAIN["segments"][0]][-1] == "names"


ODD = st.one_of(
    st.none(), st.booleans(), st.integers(-2, 30), st.floats(), st.text(max_size=9), st.just([{}])
)


def refused_or_the_same(value) -> None:
    try:
        found = decode(json.dumps(value).encode(), FOLDER)
    except BadIndexError:
        return
    assert json.loads(encode(found)) | {"seal": ""} == value | {"seal": ""}


@given(st.sampled_from(sorted(PLAIN)), ODD)
def test_a_key_with_another_value(key, value):
    refused_or_the_same(PLAIN | {key: value})


@given(st.integers(0, 2), st.sampled_from(sorted(PLAIN["segments"][0])), ODD)
def test_a_key_of_a_segment_with_another_value(number, key, value):
    segments = [dict(segment) for segment in PLAIN["segments"]]
    segments[number][key] = value
    refused_or_the_same(PLAIN | {"segments": segments})


@given(st.binary())
def test_any_bytes_are_refused_in_words(content):
    with pytest.raises(BadIndexError):
        decode(content, FOLDER)


@pytest.mark.parametrize(
    "content",
    [b"[" * 100_000, b'{"schema": 1' + b"0" * 5000 + b"}", b"\xff", b'{"schema": 1}', b"null"],
)
def test_hostile_json_is_refused(content):
    with pytest.raises(BadIndexError):
        decode(content, FOLDER)


def test_half_a_character_is_refused():
    content = encode(INDEX).replace(b"/source/notes.txt", b"/source/\\ud800.txt")
    with pytest.raises(BadIndexError):
        decode(content, FOLDER)


@pytest.mark.parametrize("order", [(1, 0, 2), (0, 1), (0, 1, 1, 2), ()])
def test_segments_have_to_cover_the_source(order):
    """X6"""
    segments = [PLAIN["segments"][at] for at in order]
    for count in (3, len(segments)):
        content = json.dumps(PLAIN | {"segments": segments, "segment_count": count}).encode()
        with pytest.raises(BadIndexError):
            decode(content, FOLDER)


def test_an_index_is_of_its_folder():
    """X7"""
    with pytest.raises(BadIndexError, match="its place is '/elsewhere/notes-0001"):
        decode(encode(INDEX), "/elsewhere")


@pytest.mark.parametrize(
    ("source", "name"),
    [
        ("/a/notes.txt", "notes-0012.txt"),
        ("/a/Makefile", "Makefile-0012"),
        ("/a/.bashrc", ".bashrc-0012"),
        ("/a/x.tar.gz", "x.tar-0012.gz"),
        ("/a/" + "é" * 125 + ".txt", "é" * 123 + "-0012.txt"),
    ],
)
def test_the_file_of_a_piece_is_named_after_the_source(source, name):
    assert file_name(source, 12) == name
    assert len(name.encode()) <= 255


@pytest.mark.parametrize(
    ("data", "form"),
    [
        (b"", ("utf-8", "none")),
        (b"a\n", ("utf-8", "lf")),
        (b"a\r\nb\r\n", ("utf-8", "crlf")),
        (b"a\rb\r", ("utf-8", "cr")),
        (b"a\r\nb\n", ("utf-8", "mixed")),
        ("é\n".encode("latin-1"), ("8-bit", "lf")),
        (b"abc\0def\n", ("binary", "lf")),
        (b"\0" * 40, ("binary", "none")),
        ("a\r\n".encode("utf-8-sig"), ("utf-8-sig", "crlf")),
        (b"\xff\xfe" + "ਊ\n".encode("utf-16-le"), ("utf-16-le", "lf")),
        (b"\xfe\xff" + "ਊ".encode("utf-16-be"), ("utf-16-be", "none")),
        ("no mark\r\n".encode("utf-16-be"), ("utf-16-be", "crlf")),
        ("a\n".encode("utf-32"), ("utf-32-le", "lf")),
    ],
)
def test_the_form_of_a_text(data, form):
    assert (encoding(data), line_ending(data)) == form
