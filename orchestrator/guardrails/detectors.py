"""The searches for secrets: our own patterns, and detect-secrets' detectors of provider tokens.

Every pattern of ours is linear, or bounded by the windows it is applied to: the text searched is
hostile, and a stalled host is a failed run. That is why detect-secrets' keyword, basic-auth and
npm detectors, whose patterns backtrack over whole lines, have a counterpart here instead.
"""

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any

from orchestrator.guardrails.guess import Guess, entropy, guess, is_monotonous, is_stand_in
from orchestrator.outcome import Verdict

Judge = Callable[[str], Verdict]


@dataclass(frozen=True, slots=True)
class Detector:
    """One kind of secret: how to find it, and what a found value means."""

    rule: str
    find: Callable[[str], Iterable[str]]
    judge: Judge
    needs: tuple[str, ...] = ()
    """Lower-case words of which one is in any text it can find something in; quick to rule out."""
    bare: bool = False
    """It reads `name: value` without quotes, which is an assignment only in settings files."""


@cache
def detectors() -> tuple[Detector, ...]:
    """All of them, the surest first; detect-secrets, slow to load, is loaded here."""
    return (*_TOKENS, *_provider_detectors(), *_ASSIGNMENTS)


def _token(value: str) -> Verdict:
    """A token's own format says what it is; an example of the format is for a person to tell."""
    if is_monotonous(value):
        return Verdict.PASS
    return Verdict.REVIEW if is_stand_in(value) else Verdict.BLOCK


def _key(value: str) -> Verdict:
    return Verdict.BLOCK if guess(value) is Guess.STRONG else Verdict.PASS


def _password(value: str) -> Verdict:
    return (Verdict.PASS, Verdict.REVIEW, Verdict.BLOCK)[guess(value)]


def _noise(value: str) -> Verdict:
    """A random string that nobody calls a secret may be a digest, an id, test input: ask."""
    varied = all(re.search(kind, value) for kind in ("[a-z]", "[A-Z]", "[0-9]"))
    random = varied and guess(value) is Guess.STRONG and entropy(value) >= 4.2
    return Verdict.REVIEW if random else Verdict.PASS


def _pattern(
    rule: str,
    pattern: str,
    judge: Judge = _token,
    needs: tuple[str, ...] = (),
    *,
    bare: bool = False,
) -> Detector:
    compiled = re.compile(pattern)

    def find(text: str) -> Iterator[str]:
        return (match[match.lastindex or 0] for match in compiled.finditer(text))

    return Detector(f"secrets.{rule}", find, judge, needs, bare)


# Each starts with fixed characters, for which the regex engine can skip ahead.
_TOKENS = (
    _pattern("private-key", r"-----BEGIN (?:[A-Z0-9]{1,12} ){0,3}PRIVATE KEY(?: BLOCK)?-----"),
    _pattern("anthropic-key", r"sk-ant-[\w-]{20,200}"),
    _pattern("openai-key", r"sk-(?:proj|svcacct|admin|None)-[\w-]{20,200}"),
    _pattern("openai-key", r"sk-[A-Za-z0-9]{20}T3BlbkFJ[A-Za-z0-9]{20}"),
    _pattern("github-token", r"gh[pousr]_[A-Za-z0-9]{36,80}"),
    _pattern("github-token", r"github_pat_\w{22,90}"),
    _pattern("gitlab-token", r"gl(?:pat|dt|ft|soat|rt|cbt|ptt)-[\w-]{20,60}"),
    _pattern("google-key", r"AIza[\w-]{35}"),
    _pattern("google-key", r"GOCSPX-[\w-]{28}"),
    _pattern("huggingface-token", r"hf_[A-Za-z0-9]{30,60}"),
    _pattern("slack-token", r"xox[abeoprs]-[\w-]{10,200}"),
    _pattern("slack-token", r"xapp-[\w-]{10,200}"),
    _pattern("aws-key", r"A(?:KIA|SIA|BIA|CCA)[0-9A-Z]{16}"),
    _pattern("npm-token", r"npm_[A-Za-z0-9]{36}"),
    _pattern("npm-token", r"_authToken=([\w-]{20,100})"),
    _pattern("pypi-token", r"pypi-[\w-]{60,200}"),
    _pattern("json-web-token", r"eyJ[\w-]{10,300}\.eyJ[\w-]{10,300}"),
)

_KEY_WORDS = ("key", "token", "credential", "secret", "auth")
_KEYS = (
    r"(?i:(?:api|access|auth|secret|private|account)_?-?key|client_?-?secret"
    r"|(?<!next)(?<!client)(?<!request)token|credential|auth(?![a-z]))"
)
_PASSWORD_WORDS = ("passw", "passphrase", "pwd", "db_pass", "dbpass", "secret")
_PASSWORDS = r"(?i:passw(?:or)?d|passphrase|(?<![a-z])pwd|db_?pass|secret)"
_GIVEN = r"[_-]?\w{0,8}[\"'\]]{0,2}[ \t]{0,8}(?:=>|:=|[=:!]=?)[ \t]{0,8}"
_QUOTED = r"[@rbfu]{0,2}[\"'`]([^\"'`\s]{6,256})[\"'`]"
_BARE = r"([^\"'`\s,;(){}\[\]<>]{6,256})"
_CALLED = r"[\w.-]{0,30}\([\"']([^\"'\s]{6,256})[\"']"

_ASSIGNMENTS = (
    _pattern("assigned-key", _KEYS + _GIVEN + _QUOTED, _key, _KEY_WORDS),
    _pattern("assigned-key", _KEYS + _GIVEN + _BARE, _key, _KEY_WORDS, bare=True),
    _pattern("assigned-password", _PASSWORDS + _GIVEN + _QUOTED, _password, _PASSWORD_WORDS),
    _pattern(
        "assigned-password", _PASSWORDS + _GIVEN + _BARE, _password, _PASSWORD_WORDS, bare=True
    ),
    _pattern("assigned-password", _PASSWORDS + _CALLED, _key, _PASSWORD_WORDS),
    _pattern("password-in-url", r"://[^\s/:@{}\"']{0,100}:([^\s/@{}\"']{3,200})@", _key),
    _pattern(
        "authorization",
        r"(?i:bearer|basic)[ \t]{1,4}([\w.~+/=-]{16,512})",
        _key,
        ("bearer", "basic"),
    ),
    _pattern("random-string", r"[\"'`]([\w+/=-]{32,256})[\"'`]", _noise),
)


def _provider_detectors() -> tuple[Detector, ...]:
    """Detectors of detect-secrets that know one provider's token, without any of its filters.

    Its filters obey `# pragma: allowlist secret`, which the author of a change could just write.
    They are not applied to a detector's own `analyze_string`; `transient_settings` is the public
    way to make detectors.
    """
    from detect_secrets.settings import get_plugins, transient_settings  # noqa: PLC0415 - slow

    names = [{"name": name} for name in _PROVIDERS]
    with transient_settings({"plugins_used": names, "filters_used": []}):
        return tuple(_adopt(plugin) for plugin in get_plugins())


def _adopt(plugin: Any) -> Detector:  # noqa: ANN401 - detect-secrets ships no usable types
    rule = re.sub(r"[^a-z0-9]+", "-", plugin.secret_type.lower()).strip("-")
    return Detector(f"secrets.{rule}", plugin.analyze_string, _token)


# Left out beside the three above: what has the same fixed prefix as one of ours, high entropy
# (ours knows words from noise), and four whose provider's name is optional, so that they are an
# assignment of a random string: ours finds it too, ten times faster.
_PROVIDERS = (
    "ArtifactoryDetector",
    "AWSKeyDetector",
    "AzureStorageKeyDetector",
    "DiscordBotTokenDetector",
    "JwtTokenDetector",
    "MailchimpDetector",
    "PrivateKeyDetector",
    "SendGridDetector",
    "SlackDetector",
    "SquareOAuthDetector",
    "StripeDetector",
    "TelegramBotTokenDetector",
    "TwilioKeyDetector",
)
