"""Every error is one sentence and one exit code."""

import ast
import errno
import inspect
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

import sandbox.errors
from orchestrator import errors
from orchestrator.cli import failure
from orchestrator.cli.failure import Failure, described

ROOT = Path(__file__).parents[2]
CODES = {
    "OrchestratorError": 1,
    "UsageError": 2,
    "SettingsError": 2,
    "RepositoryError": 2,
    "RecordError": 2,
    "BlockedError": 3,
    "ApprovalError": 4,
    "BudgetError": 5,
    "BusyError": 1,
    "GitError": 1,
    "ConflictError": 1,
    "PieceError": 1,
    "QuarantineError": 1,
    "ModelError": 1,
    "ModelAuthError": 1,
    "RateLimitedError": 1,
    "ModelRefusedError": 1,
    "ScriptError": 1,
    "SandboxError": 1,
    "EngineError": 1,
    "NoRuntimeError": 2,
    "ImageError": 1,
    "SetupError": 1,
    "SandboxLostError": 1,
    "DiskFullError": 1,
    "CrossingError": 1,
    "CrowdedError": 1,
    "KilledError": 1,
    "GatewayError": 1,
}


def ours() -> dict[str, type[Exception]]:
    modules = (errors, sandbox.errors)
    members = [member for module in modules for member in vars(module).values()]
    return {each.__name__: each for each in members if inspect.isclass(each)}


def test_every_error_of_ours_has_its_exit_code():
    assert {name: described(kind("Why.")) for name, kind in ours().items()} == {
        name: Failure(code, "Why.") for name, code in CODES.items()
    }


@pytest.mark.parametrize("kind", [errors, sandbox.errors])
def test_the_drawn_tree_names_every_error(kind):
    defined = {name for name, member in ours().items() if member.__module__ == kind.__name__}
    assert {name for name in defined if name not in kind.__doc__} == set()


def beginnings() -> Iterator[str]:
    """How what is written in our errors begins, where it does with words."""
    for path in (*ROOT.glob("orchestrator/**/*.py"), *ROOT.glob("sandbox/**/*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and ast.unparse(node.func) in CODES and node.args:
                text = node.args[0]
                first = text.values[0] if isinstance(text, ast.JoinedStr) else text
                if isinstance(first, ast.Constant) and isinstance(first.value, str):
                    yield first.value


def test_every_error_begins_as_a_sentence_does_or_with_the_name_of_a_program():
    found = list(beginnings())
    assert len(found) > 100
    assert [text for text in found if text[0].islower() and not text.startswith("git ")] == []


def test_what_set_up_printed_is_shown():
    error = sandbox.errors.SetupError("Set-up failed.", "line 1\nline 2")
    assert described(error) == Failure(1, "Set-up failed.", "line 1\nline 2")


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        (KeyboardInterrupt(), Failure(130, "Stopped.")),
        (click.Abort(), Failure(130, "Stopped.")),
        (BrokenPipeError(), Failure(1)),
        (SystemExit(3), Failure(3)),
        (click.UsageError("No such option."), Failure(2, "No such option.")),
        (
            OSError(errno.ENOSPC, "No space left on device", "/h/x"),
            Failure(1, "The disk is full at /h/x: free some space and try again."),
        ),
        (
            PermissionError(errno.EACCES, "Permission denied", "/h/x"),
            Failure(1, "Permission denied at /h/x: see who may use it, or name another."),
        ),
        (ValueError("odd"), None),
    ],
)
def test_other_errors_are_told_too(error, expected):
    assert described(error) == expected


def test_a_word_too_many_is_a_sentence():
    context = click.Context(click.Command("split"), info_name="split")
    error = click.UsageError("Got unexpected extra argument (x)", context)
    sentence = "Got unexpected extra argument (x). See `split --help`."
    assert described(error) == Failure(2, sentence)


def test_a_message_cannot_drive_the_terminal():
    error = errors.GitError("git failed: \x1b]0;owned\x07bad\nsecond line")
    assert described(error) == Failure(1, "git failed: bad second line")


def test_a_bug_leaves_a_report_without_passwords(home: Path, capsys):
    error = ValueError("cannot open https://ada:secret@example.org/r.git")
    code = failure.end(error, ["run", "https://ada:secret@example.org/r.git"])
    (report,) = (home / "logs").iterdir()
    assert code == 1
    assert capsys.readouterr().err == (
        f"error: This is a bug (ValueError): please report it with {report}.\n"
    )
    text = report.read_text()
    assert "arguments: 'run' 'https://***@example.org/r.git'" in text
    assert "ValueError: cannot open https://***@example.org/r.git" in text


def test_a_bug_without_a_place_for_its_report_is_printed(home: Path, capsys):
    home.write_text("a file where the folder should be")
    assert failure.end(ValueError("odd"), []) == 1
    assert "ValueError: odd" in capsys.readouterr().err
