"""What a sandbox may call a session."""

import pytest

from orchestrator.delegates.transcript import found, is_session

GOOD = "01a1ff5b-600b-7671-afa6-823c2e7918cc"


@pytest.mark.parametrize(
    "name",
    ["", "../../run", f"../{GOOD}", f"{GOOD}/x", f"{GOOD}\n", GOOD.upper(), "*", "--last", "{}"],
)
def test_only_an_id_is_used_in_paths_and_command_lines(name):
    assert is_session(GOOD)
    assert not is_session(name)


def test_only_sessions_are_found_in_a_folder(tmp_path):
    for name in (f"{GOOD}.jsonl", "x.jsonl", f".{GOOD}.jsonl.new"):
        (tmp_path / name).write_bytes(b"kept")
    assert found(tmp_path) == {GOOD: b"kept"}
    assert found(tmp_path / "none") == {}
