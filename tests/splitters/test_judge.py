"""The judge of cuts objects to bad ones, and to no good one. `¦` is a cut, in every text here."""

from itertools import pairwise

import pytest

from tests.splitters.judge import Objection, judge

GOOD = {
    "python": "import a\n¦\n# What it does,\n# in two lines.\n@cached\ndef one():\n    'said'\n"
    "    return 1\n¦\n\n¦class Two:\n    '''Said.'''\n\n    x = 1\n\n¦    def three(self):\n"
    "        return '''\n'''\n",
    "c": "#include <a.h>\n¦\n/* What it\n * does. */\nint one(void)\n{\n\treturn 'x';\n}\n¦\n"
    "// don't\n¦\nstruct two {\n\tint a;\n¦\t/* b */\n\tchar *b;\n};\n"
    'char *c = "\\"/*";\n¦int d;\n',
    "go": "package a\n¦\n// One does\n// this.\nfunc One() {\n\treturn\n}\n¦\nvar a = `\n`\n¦\n"
    "type T struct {\n\ta int\n\n¦\t// b is said.\n\tb int\n}\n",
    "java": "class A {\n  int a;\n\n¦  /** Said. */\n  @Override\n  void one() {\n  }\n\n"
    "¦  void two() {\n  }\n}\n",
    "typescript": "import a from 'a';\n¦\n/** Said. */\nexport function one() {\n"
    "  return `\n`;\n}\n¦\n@sealed\nclass Two {\n  a = 1;\n¦  three() {\n  }\n}\n",
    "rust": 'use a;\n¦\n/// Said.\n#[test]\nfn one() {\n}\n¦\nimpl A {\n    const B: &str = "\n";\n'
    "\n¦    // two\n    fn two() {\n    }\n}\n",
    "json": '{\n "a": {\n  "b": 1\n },\n¦ "c": [1],\n¦ "d": "e"\n}\n',
    "yaml": "a:\n  - b: 1\n    c: 2\n¦  - b: 3\n    c: 4\n¦# next\nd: |\n  e\n  f\n",
    "markdown": "# A\n\ntext\n\n```sh\ncut\n```\n\n¦more\n### C\n¦## B\n\n~~~\n```\n~~~\n",
    "text": "one\r\n¦two\r¦three\n¦four",
}
BAD = [
    ("python", "def one():\n    a = 1\n¦    return a\n", {"function"}),
    ("python", "@cached\n¦def one(): pass\n", {"function", "description"}),
    ("python", "@cached\n¦class One:\n    a = 1\n", {"description"}),
    ("python", "# What it does.\n¦def one():\n    pass\n", {"description"}),
    ("python", "class A:\n    # b\n    # c\n¦    def d(self): pass\n", {"description"}),
    ("python", "class One:\n¦    '''Said.'''\n    a = 1\n", {"description"}),
    ("python", "a = '''\n¦'''\n", {"string"}),
    ("python", "class A:\n    @b\n    ¦def c(self): pass\n", {"description", "function", "line"}),
    ("python", "class A:\n    # b\n  ¦  def c(self): pass\n", {"description", "line"}),
    ("python", "a = 'é¦é'\n", {"string", "line"}),
    ("python", "a = f'''{b}\n¦{c}'''\n", {"string"}),
    ("python", "a = 1  # s¦o\n", {"comment", "line"}),
    ("python", "def broken(:\n    a\n\ndef one():\n    a\n¦    b\n", {"function"}),
    ("python", "# caf\u00e9\r\n¦def one(): pass\r\n", {"description"}),
    ("c", "int one(void)\n{\n¦\treturn 1;\n}\n", {"function"}),
    ("c", "/* One\n¦ * two. */\n", {"comment"}),
    ("c", "/* One. */\n¦int one(void);\n", {"description"}),
    ("c", 'char *a = "b\\\n¦c";\n', {"string"}),
    ("c", "static int\n¦one(void)\n{\n}\n", {"function"}),
    ("cpp", "struct A {\n  void one() {\n¦  }\n};\n", {"function"}),
    ("cpp", 'auto a = R"(\n¦)";\n', {"string"}),
    ("go", "// One.\n¦func One() {\n}\n", {"description"}),
    ("go", "var a = `\n¦`\n", {"string"}),
    ("go", "func (t *T) One() {\n¦\treturn\n}\n", {"function"}),
    ("java", "class A {\n  @Override\n¦  void one() {\n  }\n}\n", {"function", "description"}),
    ("java", "/** Said. */\n¦class A {\n}\n", {"description"}),
    ("java", "@Deprecated\n¦class A {\n}\n", {"description"}),
    ("java", 'String a = """\n¦  b""";\n', {"string"}),
    ("javascript", "it('does', () => {\n¦  one();\n});\n", {"function"}),
    ("javascript", "const a = `\n¦`;\n", {"string"}),
    ("typescript", "// A.\n¦export interface A {\n}\n", {"description"}),
    ("typescript", "@sealed\n¦class A {\n}\n", {"description"}),
    ("typescript", "class A {\n  one(): void {\n¦  }\n}\n", {"function"}),
    ("rust", "/// Said.\n¦fn one() {}\n", {"description"}),
    ("rust", "#[derive(A)]\n¦struct B;\n", {"description"}),
    ("rust", "fn one() {\n¦}\n", {"function"}),
    ("json", '{"a": [1,\n¦2]}', {"member"}),
    ("json", '{"a": "b¦c"}', {"string", "line", "member"}),
    ("yaml", "- a: 1\n¦  b: 2\n", {"member"}),
    ("yaml", "a: |\n  b\n¦  c\n", {"member", "string"}),
    ("markdown", "```\na\n¦b\n```\n", {"fence", "section"}),
    ("markdown", "- a\n\n  ```\n¦  ```\n\n# B\n", {"fence", "section"}),
    ("markdown", "# A\n\n¦text\n", {"description", "section"}),
    ("markdown", "# A\n\n¦## B\n\ntext", {"description"}),
    ("text", "one¦ line\n", {"line"}),
    ("text", "one\r¦\ntwo\n", {"line", "character"}),
]


def cut(text: str) -> tuple[bytes, list[int]]:
    """The text without its marks, and where they stood."""
    parts = [part.encode() for part in text.split("¦")]
    ends = [sum(map(len, parts[:count])) for count in range(1, len(parts))]
    return b"".join(parts), ends


@pytest.mark.parametrize("language", GOOD)
def test_good_cuts_are_let_through(language):
    data, cuts = cut(GOOD[language])
    largest = max(end - start for start, end in pairwise([0, *cuts, len(data)]))
    assert judge(data, language, cuts, largest) == []


@pytest.mark.parametrize(("language", "text", "what"), BAD)
def test_bad_cuts_are_objected_to(language, text, what):
    data, cuts = cut(text)
    assert {one.what for one in judge(data, language, cuts, len(data))} == what


def test_what_does_not_fit_may_be_cut():
    data, cuts = cut("def one():\n    a = 1\n¦    return a\n")
    assert judge(data, "python", cuts, 20) == []


def test_a_comment_may_stand_apart_from_a_function_that_fits_only_without_it():
    data, cuts = cut("# What it does.\n¦def one():\n    a = 1\n    return a\n")
    assert judge(data, "python", cuts, 40) == []
    assert [one.what for one in judge(data, "python", cuts, 30)] == ["description"]


def test_a_line_between_two_strings_of_many_lines_may_be_cut():
    data, cuts = cut("a = `\n` +¦ `\n`\n")
    assert judge(data, "go", cuts, 99) == []


def test_a_line_before_a_string_of_many_lines_that_just_fits_may_be_cut():
    data, cuts = cut("first(¦`\n\n\n\n`)\n")
    assert judge(data, "go", cuts, 10) == []
    assert [one.what for one in judge(data, "go", cuts, 20)] == ["line"]


def test_what_fits_but_for_the_rest_of_its_lines_may_be_cut():
    data, cuts = cut("    def one(self):\n¦        return 1\n")
    size = len(data.strip())
    assert judge(data, "python", cuts, size) == []
    assert [one.what for one in judge(data, "python", cuts, len(data))] == ["function"]


def test_a_line_over_the_target_may_be_cut_but_no_character_in_it():
    data, cuts = cut("éé¦éé")
    assert judge(data, "text", cuts, 4) == []
    assert judge(data, "text", [3], 4) == [Objection(3, "character", 2, 4)]


def test_an_objection_says_what_is_torn_and_where():
    data, cuts = cut("a = 1\ndef one():\n¦    pass\n")
    assert judge(data, "python", cuts, 99) == [Objection(17, "function", 6, 25)]
