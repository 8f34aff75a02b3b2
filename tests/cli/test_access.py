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
    environ = {"ORCHESTRATOR_INDEX_MY_CORP": "u:p", "ORCHESTRATOR_INDEX_OTHER": "", "HOME": "/"}
    assert access.credentials(indexes, environ) == {"my-corp": "u:p"}


@pytest.mark.parametrize(
    ("said", "credential"),
    [("https://u:p%40ss@a.example", "u:p@ss"), ("https://token@a.example/x", "token")],
)
def test_a_credential_can_be_bound_to_its_host(said, credential):
    environ = {"ORCHESTRATOR_INDEX_CORP": said}
    assert access.credentials({"corp": "https://a.example/s/"}, environ) == {"corp": credential}
    for other in ("https://evil.example/", "http://a.example/", "https://a.example:444/"):
        with pytest.raises(UsageError, match=r"is for a\.example, but the repository's settings"):
            access.credentials({"corp": other}, environ)
