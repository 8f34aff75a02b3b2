"""Which language a file is in: by name, then first line, then content."""

import pytest

from splitters import detect


def name(path: str, data: bytes = b"") -> str | None:
    row = detect(path, data)
    return row and row.name


@pytest.mark.parametrize(
    ("path", "language"),
    [
        ("src/app.py", "python"),
        ("stubs/app.pyi", "python"),
        ("APP.PY", "python"),
        ("a.c", "c"),
        ("a.h", "c"),
        ("a.hpp", "cpp"),
        ("a.hxx", "cpp"),
        ("a.yml", "yaml"),
        ("a.html", "html"),
        ("a.xhtml", "html"),
        ("a.json5", "json"),
        ("a.jsonc", "json"),
        ("a.mdx", "markdown"),
        ("a.tsx", "tsx"),
        ("a.d.ts", "typescript"),
        ("deep/Makefile", "make"),
        ("Dockerfile", "dockerfile"),
        ("Dockerfile.dev", "dockerfile"),
        ("Rakefile", "ruby"),
        (".bashrc", "bash"),
        ("Cargo.lock", "toml"),
        ("main.tf", "hcl"),
        ("a.ipynb", "notebook"),
        ("CMakeLists.txt", None),
        ("notes.txt", None),
        ("a.unknown", None),
        ("README", None),
        ("py", None),
        ("", None),
    ],
)
def test_by_name(path, language):
    assert name(path) == language


@pytest.mark.parametrize(
    ("first", "language"),
    [
        (b"#!/usr/bin/python\n", "python"),
        (b"#!/usr/bin/env python3.12\n", "python"),
        (b"#!/usr/bin/env -S python3 -u\n", "python"),
        (b"#!/usr/bin/env -S PYTHONPATH=. pypy3\n", "python"),
        (b"#! /bin/sh -e\r\nx\r\n", "bash"),
        (b"\xef\xbb\xbf#!/bin/bash\n", "bash"),
        ("\ufeff#!/bin/bash\n".encode("utf-16-le"), "bash"),
        (b"#!/usr/local/bin/lua5.4\n", "lua"),
        (b"#!/usr/bin/env node\n", "javascript"),
        (b"#!/usr/bin/env deno run\n", "typescript"),
        (b"#!/usr/bin/ruby3.2", "ruby"),
        (b"#!/usr/bin/php8.3\n", "php"),
        (b"#!/opt/own-program\n", None),
        (b"#!/usr/bin/env\n", None),
        (b"#!\n", None),
        (b" #!/bin/sh\n", None),
    ],
)
def test_by_the_program_of_the_first_line(first, language):
    assert name("tool", first) == language


@pytest.mark.parametrize(
    ("content", "language"),
    [
        (b'<?xml version="1.0"?>\n<a/>', "xml"),
        (b"\n  <!DOCTYPE html>\n", "html"),
        (b"<html>", "html"),
        (b"<svg xmlns='x'/>", "xml"),
        (b"<?php echo 1;", "php"),
        (b'{\n  "a": 1\n}', "json"),
        (b'\xef\xbb\xbf[{"a": 1}]', "json"),
        (b'["a", "b"]', "json"),
        (b"[section]\nkey = 1\n", None),
        (b"[1] a footnote\n", None),
        (b"{not json}", None),
        (b"%YAML 1.2\n---\n", "yaml"),
        (b"# vim: set ft=ruby :\n", "ruby"),
        (b"# -*- mode: Python; coding: utf-8 -*-\n", "python"),
        (b"// -*- C++ -*-\n", "cpp"),
        (b"# -*- coding: utf-8 -*-\n", None),
        (b"plain words\n", None),
        (b"", None),
    ],
)
def test_by_content(content, language):
    assert name("file", content) == language


@pytest.mark.parametrize(
    ("path", "content", "language"),
    [
        ("a.h", b"#include <stdio.h>\nint f(void);\n", "c"),
        ("a.h", b"/* a class of its own */\nstruct s;\n", "c"),
        ("a.h", b"class Jar {\n public:\n};\n", "cpp"),
        ("a.h", b"#include <string>\n", "cpp"),
        ("a.h", b"std::string name();\n", "cpp"),
        ("a.c", b"int f(void) { return a::b; }\n", "c"),
        ("a.ts", b"<?xml version='1.0'?><TS/>", "xml"),
        ("a.py", b"#!/bin/sh\n", "python"),
        ("a.txt", b'{"a": 1}', None),
        ("a.json", b"\x89PNG\0\0", None),
        ("a.ts", b"G@\0\x10", None),
        ("a.json", '\ufeff{"a": 1}'.encode("utf-16-be"), "json"),
    ],
)
def test_a_name_and_what_the_content_says_of_it(path, content, language):
    assert name(path, content) == language


def test_only_the_head_of_a_file_is_looked_at():
    assert name("a", b" " * 5_000 + b'{"a": 1}') is None
