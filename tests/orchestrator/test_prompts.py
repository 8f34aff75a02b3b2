"""What a model is told about its place."""

import platform

from orchestrator import prompts
from orchestrator.delegates.lent import LENT
from orchestrator.task import Task
from sandbox.companion import Companion


def told(**asked):
    return prompts.system(Task("r", "mend it", **asked))


def test_the_checks_are_named_before_the_work_begins():
    assert "- pytest -q\n- ruff check" in told(checks=("pytest -q", "ruff check"))


def test_services_are_named_with_their_ports():
    services = (Companion("db", "postgres:17", port=5432), Companion("kv", "redis:8"))
    said = told(services=services)
    assert "on 127.0.0.1: db (postgres:17, port 5432), kv (redis:8)." in said


def test_nothing_is_said_of_checks_where_there_are_none():
    assert "these commands" not in told()


def test_nothing_of_the_host_is_told():
    said = told()
    assert platform.node() not in said
    assert "/home" not in said


def test_what_alone_may_change_is_named():
    assert "You may change nothing but: a.py, docs." in told(only=("a.py", "docs"))
    assert "nothing but" not in told()


def test_remarks_come_as_they_are():
    assert "\n\nHere is a remark.\n" in told(notes=("Here is a remark.",), checks=("true",))


def test_a_program_is_told_its_task_first_and_then_its_place():
    said = prompts.delegated(
        Task("r", "mend it", worker="claude", only=("a.py",), checks=("make",))
    )
    assert said.startswith("mend it\n\nYou work in a sealed container")
    assert "nothing but: a.py" in said
    assert said.endswith("- make")


def test_a_program_is_told_of_the_tools_that_it_is_lent_and_of_no_others():
    said = prompts.delegated(Task("r", "mend it", only=("a.py",)))
    assert [name for name in LENT if name not in said] == []
    assert "move_file" not in said
    assert "split_file" not in prompts.delegated(Task("r", "mend it", lend=False))
