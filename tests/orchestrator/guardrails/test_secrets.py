"""Planted secrets are found, honest look-alikes are not, and no finding repeats what it found.

Every secret is put together at run time from a seeded generator, so that this file holds none.
"""

import random
import string
import time

import pytest

from orchestrator.guardrails import secrets
from orchestrator.outcome import Finding, Verdict, worst
from orchestrator.settings import Policy

WORD = string.ascii_letters + string.digits
UPPER = string.ascii_uppercase + string.digits
HEX = "0123456789abcdef"


def made(prefix, length, alphabet=WORD, seed=7):
    return prefix + "".join(random.Random(f"{prefix}{length}{seed}").choices(alphabet, k=length))


def planted():
    """27 lines with a secret each, and the kind of file where such a line is found."""
    dashes = "-" * 5
    human = "S3cr3t" + "-Passw0rd!"
    return {
        "anthropic": ("a.py", f'client = Client("{made("sk-" + "ant-api03-", 90)}")'),
        "openai project": ("a.py", f"KEY = '{made('sk-' + 'proj-', 48)}'"),
        "openai old": ("a.js", f'k = "{made("sk-", 20)}{"T3Blbk" + "FJ"}{made("", 20)}";'),
        "github classic": ("a.md", f"git clone https://{made('gh' + 'p_', 36)}@github.com/o/r"),
        "github fine": ("a.sh", f"export T={made('github' + '_pat_', 82)}"),
        "gitlab": ("a.yml", f"  job: {made('gl' + 'pat-', 20)}"),
        "google": ("a.html", f'<script src="//maps?key={made("AI" + "za", 35)}"></script>'),
        "hugging face": ("a.py", f'login("{made("h" + "f_", 34)}")'),
        "slack bot": (
            "a.rb",
            f"Slack.new('{made('xox' + 'b-', 12, string.digits)}-{made('', 24)}')",
        ),
        "slack hook": (
            "a.py",
            "u = 'https://hooks.slack.com/" + f"services/T{made('', 8, UPPER)}/"
            f"B{made('', 8, UPPER)}/{made('', 24)}'",
        ),
        "aws id": ("a.tf", f'access = "{made("AK" + "IA", 16, UPPER)}"'),
        "aws secret": ("a.ini", f"aws_secret_access_key = {made('', 40, WORD + '/+')}"),
        "rsa key": ("a.txt", f"{dashes}BEGIN RSA PRIVATE" + f" KEY{dashes}"),
        "openssh key": ("id_ed25519", f"{dashes}BEGIN OPENSSH PRIVATE" + f" KEY{dashes}"),
        "stripe": ("a.php", f'$stripe = "{made("sk_" + "live_", 24)}";'),
        "npm": ("a.txt", "//registry.npmjs.org/:_auth" + f"Token={made('npm' + '_', 36)}"),
        "pypi": ("a.cfg", f"x = {made('py' + 'pi-AgEIcHlwaS5vcmc', 80)}"),
        "sendgrid": ("a.go", f'm := "{made("S" + "G.", 22)}.{made("", 43)}"'),
        "twilio": ("a.js", f"twilio('{made('A' + 'C', 32, HEX)}')"),
        "telegram": ("a.py", f"bot = '{made('', 9, '123456789')}:{made('', 35)}'"),
        "jwt": ("a.http", "x: eyJhbGciOiJIUzI1NiJ9." + f"eyJzdWIiOiIxIn0.{made('', 43)}"),
        "azure": ("a.cs", 'var c = "Account' + f'Key={made("", 86)}==";'),
        "url": ("a.py", f"db = 'postgres://app:{made('', 16)}@db.internal/app'"),
        "password": ("a.py", f'password = "{human}"'),
        "password env": (".env", f"DB_PASSWORD={made('', 20)}"),
        "api key hex": ("a.json", f'"api_key": "{made("", 32, HEX)}",'),
        "bearer": ("a.sh", f'curl -H "Authorization: Bearer {made("", 40)}" https://api'),
    }


BENIGN = {
    "placeholder": ("a.py", 'api_key = "<your-api-key-goes-here>"'),
    "environment": ("a.py", 'password = os.environ["DB_PASSWORD_2"]'),
    "template": ("a.yml", "password: ${{ secrets.DEPLOY_PASSWORD_1 }}"),
    "documented example": ("a.md", "Use AKIA" + "IOSFODNN7EXAMPLE as the key id."),
    "commit id": ("a.md", f"Fixed in {'0123456789abcdef' * 2}01234567."),
    "digest": ("a.py", f'assert sha256(data) == "{made("", 64, HEX)}"'),
    "lock file": ("package-lock.json", f'"integrity": "sha512-{made("", 86, WORD + "+/")}=="'),
    "uuid": ("a.py", 'NAMESPACE = "6ba7b810-9dad-11d1-80b4-00c04fd430c8"'),
    "variable": ("a.go", "token := s.nextToken(reader2, options.TokenKind3)"),
}


def found(change, path, *lines, policy=None):
    text = "\n".join(lines).encode() + b"\n"
    return tuple(secrets.check(change((path.encode(), None, text)), policy or Policy()))


def verdicts(change, cases):
    return {name: worst(found(change, path, line)) for name, (path, line) in cases.items()}


def test_at_least_25_of_27_planted_secrets_are_blocked(change):
    missed = [n for n, v in verdicts(change, planted()).items() if v != "block"]
    assert (len(planted()), len(missed) <= 2, missed) == (27, True, missed)


def test_at_most_2_of_9_honest_lines_are_blocked(change):
    wrong = [n for n, v in verdicts(change, BENIGN).items() if v == "block"]
    assert (len(BENIGN), len(wrong) <= 2, wrong) == (9, True, wrong)


def test_a_finding_shows_four_characters_and_the_length(change):
    secret = made("gh" + "p_", 36)
    assert found(change, "a.py", "x = 1", f"t = '{secret}'") == (
        Finding(
            "secrets.github-token",
            Verdict.BLOCK,
            "a.py",
            "looks like a secret: ghp_… (40 characters)",
            2,
        ),
    )


def test_no_finding_repeats_its_secret(change):
    for path, line in planted().values():
        for finding in found(change, path, line):
            told = finding.reason.partition(": ")[2].partition("…")[0]
            assert len(told) <= 4


def test_a_pragma_on_the_line_changes_nothing(change):
    line = f"t = '{made('gh' + 'p_', 36)}'  # pragma: allowlist" + " secret"
    assert [f.verdict for f in found(change, "a.py", line)] == ["block"]


def test_a_secret_that_was_there_before_is_not_this_changes(change):
    line = f"t = '{made('gh' + 'p_', 36)}'".encode()
    moved = change((b"a.py", line + b"\nx = 1\n", b"x = 2\n" + line + b"\n"))
    assert tuple(secrets.check(moved, Policy())) == ()


def test_a_second_copy_of_an_old_secret_is_added(change):
    line = f"t = '{made('gh' + 'p_', 36)}'\n".encode()
    assert [f.line for f in secrets.check(change((b"a", line, line * 2)), Policy())] == [2]


def test_taking_a_secret_away_is_fine(change):
    line = f"t = '{made('gh' + 'p_', 36)}'\n".encode()
    assert tuple(secrets.check(change((b"a", line, b"")), Policy())) == ()


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-32", "latin-1"])
def test_no_encoding_hides_a_token(change, encoding):
    text = f"é\nt = {made('gh' + 'p_', 36)}\n".encode(encoding)
    assert [f.line for f in secrets.check(change((b"a", None, text)), Policy())] == [2]


@pytest.mark.parametrize("mark", [b"\xff\xfe", b"\xfe\xff", b"\xff\xfe\0\0"])
def test_a_false_byte_order_mark_does_not_hide_a_token(change, mark):
    data = mark + b"\n" + made("gh" + "p_", 36).encode()
    assert [f.line for f in secrets.check(change((b"a", None, data)), Policy())] == [2]


def test_a_nul_does_not_hide_a_token(change):
    data = b"\0\n" + made("gh" + "p_", 36).encode()
    assert [f.line for f in secrets.check(change((b"a", None, data)), Policy())] == [2]


@pytest.mark.parametrize("before", [0, 1700, 1748, 2000, 2047, 2048, 9999])
def test_a_token_is_found_wherever_it_stands_in_a_long_line(change, before):
    line = " " * before + made("gh" + "p_", 36) + " " * 5000
    assert [f.verdict for f in found(change, "a.js", line)] == ["block"]


def test_the_worst_secret_of_a_line_is_told(change):
    line = "pass" + f"word = 'hunter12'; password = '{made('', 20)}'"
    assert [(f.rule, f.verdict) for f in found(change, "a.py", line)] == [
        ("secrets.assigned-password", "block")
    ]


def test_many_weak_findings_do_not_crowd_out_a_block(change):
    lines = ["pass" + f"word = 'hunter{n}'" for n in range(100)]
    findings = found(change, "a.py", *lines, f"t = '{made('gh' + 'p_', 36)}'")
    assert (len(findings), worst(findings)) == (20, Verdict.BLOCK)


def test_a_weak_password_is_a_question_and_none_at_all_in_a_test(change):
    line = "pass" + "word = 'hunter12'"
    assert [f.verdict for f in found(change, "src/a.py", line)] == ["review"]
    assert found(change, "tests/test_a.py", line) == ()


@pytest.mark.parametrize(
    ("tail", "expected"), [("x" * 36, []), (made("", 29) + "Example", ["review"])]
)
def test_an_example_of_a_token_is_no_token(change, tail, expected):
    assert [f.verdict for f in found(change, "README.md", "gh" + "p_" + tail)] == expected


def test_secrets_of_declared_fixtures_are_for_review(change):
    policy = Policy(made_up_secrets=("tests/fixtures/**",))
    line = f"t = '{made('gh' + 'p_', 36)}'"
    assert [f.verdict for f in found(change, "tests/fixtures/a", line, policy=policy)] == ["review"]
    assert [f.verdict for f in found(change, "tests/a", line, policy=policy)] == ["block"]


@pytest.mark.parametrize("evil", ["eyJ", "://:", "password", "token ", "auth", "`", "sk-", "\t"])
def test_a_hostile_mebibyte_is_searched_in_seconds(change, evil):
    text = (evil * (1 << 20))[: 1 << 20].encode()
    started = time.monotonic()
    tuple(secrets.check(change((b"a.env", None, text)), Policy()))
    assert time.monotonic() - started < 20
