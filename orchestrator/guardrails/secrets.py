"""Keys, tokens and passwords in added lines. A finding never repeats the secret it is about."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from orchestrator.guardrails.added import AddedLine, additions
from orchestrator.guardrails.detectors import Detector, detectors
from orchestrator.guardrails.globs import compile_globs
from orchestrator.guardrails.guardrail import Difference
from orchestrator.outcome import Finding, Verdict, worst
from orchestrator.settings import Policy

MOST = 20
"""Findings in one file; with more, the file is what has to be looked at."""

WINDOW = 2048
"""Characters searched at once: the bound on what a backtracking pattern can cost."""

OVERLAP = 300
"""Characters that two windows on one long line share, so that no token is cut in both."""

_SETTINGS_FILE = re.compile(
    r"(^|/)\.env|\.(env|ini|cfg|conf|cnf|properties|ya?ml|toml|sh|bash|zsh|tfvars|netrc)$"
    r"|(^|/)(dockerfile|\.netrc|\.pgpass|credentials)",
    re.IGNORECASE,
)
_LOCK_FILE = re.compile(r"(\.lock|(^|/)(go\.sum|package-lock\.json|pnpm-lock\.yaml))$")
_TEST_FILE = re.compile(
    r"(^|/)(tests?|testing|specs?|__tests__|fixtures|testdata)/|[._]test\.|(^|/)test_[^/]*$"
)


@dataclass(frozen=True, slots=True)
class Window:
    """Neighbouring added lines, or a piece of a long one, short enough to search at once."""

    text: str
    folded: str
    """The text in lower case."""
    lines: tuple[AddedLine, ...]


def check(difference: Difference, policy: Policy) -> Iterator[Finding]:
    """Search what was added, file by file; binary content too, where NULs would hide a token."""
    made_up = compile_globs(*policy.made_up_secrets)
    for addition in additions(difference):
        path = addition.entry.name
        for finding in _search(path, addition.lines):
            if not made_up.fit(addition.entry.path):
                yield finding
            elif finding.verdict is Verdict.BLOCK:
                yield Finding(finding.rule, Verdict.REVIEW, path, finding.reason, finding.line)


def _search(path: str, lines: tuple[AddedLine, ...]) -> list[Finding]:
    """Find the worst of each line, blocks first, as many as are worth telling."""
    found: dict[int | None, Finding] = {}
    suitable = [detector for detector in detectors() if _suits(detector, path)]
    for window in _windows(lines):
        for detector in suitable:
            for finding in _locate(detector, path, window):
                told = found.get(finding.line)
                if told is None or worst((told, finding)) is not told.verdict:
                    found[finding.line] = finding
    ranked = sorted(found.values(), key=lambda f: (f.verdict is not Verdict.BLOCK, f.line or 0))
    return ranked[:MOST]


def _windows(lines: tuple[AddedLine, ...]) -> Iterator[Window]:
    """Cut the lines into windows; only lines longer than one are cut themselves."""
    held: list[AddedLine] = []
    size = 0
    for piece in _pieces(lines):
        if held and size + len(piece.text) > WINDOW:
            yield _window(held)
            held, size = [], 0
        held.append(piece)
        size += len(piece.text) + 1
    if held:
        yield _window(held)


def _window(lines: list[AddedLine]) -> Window:
    text = "\n".join(line.text for line in lines)
    return Window(text, text.lower(), tuple(lines))


def _pieces(lines: tuple[AddedLine, ...]) -> Iterator[AddedLine]:
    for line in lines:
        for start in range(0, max(len(line.text) - OVERLAP, 1), WINDOW - OVERLAP):
            yield AddedLine(line.number, line.text[start : start + WINDOW])


def _suits(detector: Detector, path: str) -> bool:
    if detector.bare:
        return _SETTINGS_FILE.search(path) is not None
    return detector.rule != "secrets.random-string" or _LOCK_FILE.search(path) is None


def _locate(detector: Detector, path: str, window: Window) -> Iterator[Finding]:
    """Search the window at once, and line by line only when something is in it: much faster."""
    if detector.needs and not any(word in window.folded for word in detector.needs):
        return
    if not any(True for _ in detector.find(window.text)):
        return
    for line in window.lines:
        for value in detector.find(line.text):
            verdict = detector.judge(value)
            if verdict is Verdict.REVIEW and _TEST_FILE.search(path):
                continue  # `login("alice", "wrong-pass1")` is what tests are made of
            if verdict is not Verdict.PASS:
                reason = f"looks like a secret: {_shown(value)}"
                yield Finding(detector.rule, verdict, path, reason, line.number)


def _shown(value: str) -> str:
    """The most of a secret that may be written down: its first four characters and its length."""
    return f"{value[:4]}… ({len(value)} characters)"
