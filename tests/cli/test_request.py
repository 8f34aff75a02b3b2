"""Which word is the repository and which the task."""

from pathlib import Path

import pytest

from orchestrator.cli.request import Request, read
from orchestrator.errors import UsageError


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("repo").mkdir()
    Path("task.txt").write_text("from the file\n")


def ask(*words: str, task_file: str | None = None, command: bool = False) -> Request:
    return read(
        words,
        task_file=Path(task_file) if task_file else None,
        stdin=lambda: b"from stdin\n",
        has_command=command,
    )


@pytest.mark.parametrize(
    ("words", "request_"),
    [
        (("repo", "mend it"), Request("repo", "mend it")),
        (("mend it",), Request(".", "mend it")),
        (("mend",), Request(".", "mend")),
        (("fix a/b and c",), Request(".", "fix a/b and c")),
        (("repo",), Request("repo", "")),
        ((), Request(".", "")),
        (("-",), Request(".", "from stdin")),
        (("repo", "-"), Request("repo", "from stdin")),
        (("lead", "-"), Request(".", "lead\n\nfrom stdin")),
        (("repo", "lead", "-"), Request("repo", "lead\n\nfrom stdin")),
        (("https://example.org/r.git", "mend"), Request("https://example.org/r.git", "mend")),
        (("https://example.org/r.git",), Request("https://example.org/r.git", "")),
        (("git@example.org:r.git",), Request("git@example.org:r.git", "")),
    ],
)
def test_words_are_told_apart(words, request_):
    assert ask(*words) == request_


def test_a_file_and_stdin_are_joined():
    request = ask("repo", "lead", "-", task_file="task.txt")
    assert request.prompt == "lead\n\nfrom the file\n\nfrom stdin"


def test_one_word_beside_a_task_is_the_repository():
    assert ask("repo", task_file="task.txt") == Request("repo", "from the file")
    assert ask("repo", command=True) == Request("repo", "")


def test_a_sentence_beside_a_command_is_the_task():
    assert ask("change log", command=True) == Request(".", "change log")
    assert ask("fix a/b and c", command=True) == Request(".", "fix a/b and c")
    assert ask("repo", "mend", command=True) == Request("repo", "mend")


@pytest.mark.parametrize(
    ("words", "options", "message"),
    [
        (("a", "b", "c"), {}, "There is a word too many: 'c'"),
        (("a", "b", "c"), {}, "put the task in quotes, and a command after `--`"),
        (("fix", "totals"), {}, "no folder fix: .*; if that was the task, put the task in quotes"),
        (("text",), {"task_file": "task.txt"}, "both it and --task-file were given: leave one"),
        (("./missing",), {}, "There is no folder ./missing"),
        (("/missing/r",), {}, "There is no folder /missing/r"),
        (("missing",), {"task_file": "task.txt"}, "There is no folder missing"),
        (("missing",), {"command": True}, "There is no folder missing"),
        (("missing",), {"command": True}, "put a repository before it: `. missing`"),
        (("./my repo",), {"command": True}, r"put a repository before it: `. './my repo'`"),
        (("repo",), {"task_file": "none.txt"}, "none.txt cannot be read: No such file"),
    ],
)
def test_what_cannot_be_meant_is_said(words, options, message):
    with pytest.raises(UsageError, match=message):
        ask(*words, **options)


def test_a_task_has_to_be_text():
    with pytest.raises(UsageError, match="not text in UTF-8"):
        read(("-",), task_file=None, stdin=lambda: b"\xff", has_command=False)
