"""What the environment of the person at this machine opens and holds."""

import pytest

from orchestrator.cli import access


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
