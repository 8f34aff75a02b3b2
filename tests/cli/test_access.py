"""What the environment of the person at this machine opens and holds."""

import pytest

from orchestrator.cli import access
from orchestrator.errors import UsageError


@pytest.mark.parametrize(
    ("said", "hosts"), [("", ()), ("a.example, b.example c", ("a.example", "b.example", "c"))]
)
def test_private_hosts_stand_with_commas_or_spaces(said, hosts):
    assert access.private_hosts({"ORCHESTRATOR_PRIVATE_HOSTS": said}) == hosts
    assert access.private_hosts({}) == ()


def test_each_index_has_its_own_variable():
    indexes = {"my-corp": "https://a", "other": "https://b", "open": "https://c"}
    environ = {"ORCHESTRATOR_INDEX_MY_CORP": "https://u:p@a", "ORCHESTRATOR_INDEX_OTHER": ""}
    assert access.credentials(indexes, environ) == {"my-corp": "u:p"}


@pytest.mark.parametrize(
    ("said", "credential"),
    [("https://u:p%40ss@a.example", "u:p@ss"), ("https://token@A.example:443/x", "token")],
)
def test_a_credential_is_for_its_host_alone(said, credential):
    environ = {"ORCHESTRATOR_INDEX_CORP": said}
    assert access.credentials({"corp": "https://a.example/s/"}, environ) == {"corp": credential}
    for other in ("https://evil.example/", "http://a.example/", "https://a.example:444/"):
        with pytest.raises(UsageError, match=r"is for a\.example, but the repository's settings"):
            access.credentials({"corp": other}, environ)


@pytest.mark.parametrize(
    "said",
    [
        "swordfish",
        "reader:swordfish",
        "https://a.example",
        "ftp://reader:swordfish@a.example",
        "https://reader:sword/fish@a.example",
        "https://sword/fish@a.example",
        "https://reader:123/swordfish@a.example",
        "https://reader:sword#fish@a.example",
        "https://sword@fish/x@a.example",
        "https://reader:swordfish@a.example:x",
        "https://reader:swordfish@[a.example",
    ],
)
def test_a_credential_that_names_no_host_goes_nowhere_and_is_not_quoted(said):
    with pytest.raises(UsageError) as refused:
        access.credentials({"corp": "https://a.example/"}, {"ORCHESTRATOR_INDEX_CORP": said})
    assert str(refused.value) == (
        "ORCHESTRATOR_INDEX_CORP must say which host it is for, because the repository's settings"
        " would send it to a.example: write it as https://USER:PASSWORD@HOST or"
        " https://TOKEN@HOST, and in them %2F for /, %40 for @, %23 for #, %3F for ?."
    )
    assert refused.value.__cause__ is None
    assert refused.value.__context__ is None


def test_a_credential_that_no_header_holds_is_refused_and_not_quoted():
    environ = {"ORCHESTRATOR_INDEX_CORP": "https://swordfish%0A@a.example"}
    with pytest.raises(UsageError) as refused:
        access.credentials({"corp": "https://a.example/"}, environ)
    assert str(refused.value) == (
        "ORCHESTRATOR_INDEX_CORP holds characters no credential has: copy it again."
    )
