"""Characters that make text read differently from what a compiler or a model is told.

After "Trojan Source" (CVE-2021-42574) and Unicode TR 36. Letters of any script are welcome;
only what nobody can see is not.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from orchestrator.guardrails.added import AddedLine, additions
from orchestrator.guardrails.guardrail import Difference
from orchestrator.outcome import Finding, Verdict

MOST = 10
"""Findings of one rule in one file; more would say nothing new."""


@dataclass(frozen=True, slots=True)
class Rule:
    """One kind of deceptive character."""

    id: str
    verdict: Verdict
    reason: str
    pattern: re.Pattern[str]


RULES = (
    Rule(
        "text.bidi",
        Verdict.BLOCK,
        "it reverses what is shown, so that code reads as something else",
        re.compile("[\u202a-\u202e\u2066-\u2069]"),
    ),
    Rule(
        "text.invisible",
        Verdict.BLOCK,
        "it cannot be seen, but compilers and models read it",
        re.compile(
            # Zero width, fillers, a byte order mark inside the text.
            "[\u200b\u2060-\u2064\u180e\u115f\u1160\u3164\uffa0\ufeff]"
            # Joiners belong between letters of scripts and emoji that need them.
            "|(?<=[0-9A-Za-z_])[\u200c\u200d]|[\u200c\u200d](?=[0-9A-Za-z_])"
            # Tags, except in the flags of regions: a black flag followed by its letters.
            "|(?<![\U0001f3f4\U000e0020-\U000e007f])[\U000e0000-\U000e007f]"
            # One selector chooses a glyph; a row of them carries a message.
            "|[\ufe00-\ufe0f\U000e0100-\U000e01ef]{2}"
        ),
    ),
    Rule(
        "text.control",
        Verdict.REVIEW,
        "a control character: terminals and editors may show the line as another one",
        # Tab, form feed and a trailing CR are old habits of honest files.
        re.compile("[\x01-\x08\x0b\x0e-\x1f\x7f-\x9f\u2028\u2029\u200e\u200f\u061c]|\r(?!$)"),
    ),
)


def check(difference: Difference) -> Iterator[Finding]:
    """Search the added lines of every text file; what was there before is not this change's."""
    for addition in additions(difference):
        if not addition.binary:
            for rule in RULES:
                yield from _search(rule, addition.entry.name, addition.lines)


def _search(rule: Rule, path: str, lines: tuple[AddedLine, ...]) -> Iterator[Finding]:
    found = 0
    for line in lines:
        text = line.text.removeprefix("\ufeff") if line.number == 1 else line.text
        match = None if text.isascii() and text.isprintable() else rule.pattern.search(text)
        if match and found < MOST:
            found += 1
            reason = f"U+{ord(match[0][0]):04X}: {rule.reason}"
            yield Finding(rule.id, rule.verdict, path, reason, line.number)
