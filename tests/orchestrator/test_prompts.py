"""What a model is told about its place."""

import platform

from orchestrator import prompts
from sandbox.companion import Companion


def test_the_checks_are_named_before_the_work_begins():
    assert "- pytest -q\n- ruff check" in prompts.system(["pytest -q", "ruff check"])


def test_services_are_named_with_their_ports():
    services = (Companion("db", "postgres:17", port=5432), Companion("kv", "redis:8"))
    said = prompts.system([], services=services)
    assert "on 127.0.0.1: db (postgres:17, port 5432), kv (redis:8)." in said


def test_nothing_is_said_of_checks_where_there_are_none():
    assert "these commands" not in prompts.system([])


def test_nothing_of_the_host_is_told():
    said = prompts.system([])
    assert platform.node() not in said
    assert "/home" not in said
