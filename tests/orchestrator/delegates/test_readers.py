"""What the programs print, and the events it means."""

import json
import time

import pytest

from orchestrator.delegates.acp import AcpReader
from orchestrator.delegates.claude import ClaudeReader
from orchestrator.delegates.cli import Terminal
from orchestrator.delegates.codex import CodexReader
from orchestrator.delegates.parsed import without_gateway
from orchestrator.events import (
    FilesTouched,
    Output,
    Raw,
    Session,
    Text,
    ToolFinished,
    ToolStarted,
    Warned,
)
from sandbox.gateway.relay import PORT
from sandbox.values import MOST


def events(reader, *lines):
    return [event for line in lines for event in reader.read(json.dumps(line).encode())]


def message(*blocks, parent=None, **more):
    return {
        "type": "assistant",
        "parent_tool_use_id": parent,
        "message": {"id": f"m{blocks}", "content": list(blocks)},
        **more,
    }


def use(tool, call="c1"):
    return {"type": "tool_use", "id": call, "name": tool, "input": {"path": "a"}}


def result(call="c1", content="ok", **more):
    block = {"type": "tool_result", "tool_use_id": call, "content": content, **more}
    return {"type": "user", "message": {"content": [block]}}


@pytest.fixture(params=[ClaudeReader, CodexReader])
def reader(request):
    return request.param()


@pytest.mark.parametrize(
    ("line", "kind"),
    [
        (b'{"type": "of tomorrow", "x": 1}', "of tomorrow"),
        (b"a line that is not JSON", ""),
        (b'{"type": "result", "subtype', ""),
        (b"[1, 2]", ""),
        (b'{"no": "type"}', ""),
        (b'{"type": 7}', ""),
        (b"\xff\xfe", ""),
    ],
)
def test_what_is_not_known_is_kept_as_it_came(reader, line, kind):
    assert list(reader.read(line)) == [Raw(type=kind, text=line.decode("utf-8", "replace"))]
    assert reader.terminal is None


@pytest.mark.parametrize("kind", ["assistant", "user", "system", "result", "stream_event"])
def test_events_of_another_shape_than_claude_s_are_no_error(kind):
    for rest in ({}, {"message": "text"}, {"message": {"content": "text"}}, {"message": None}):
        events(ClaudeReader(), {"type": kind, **rest})


@pytest.mark.parametrize("kind", ["thread.started", "item.started", "item.completed", "error"])
def test_events_of_another_shape_than_codex_s_are_no_error(kind):
    for rest in ({}, {"item": "text"}, {"item": {"type": 7}}, {"item": None}):
        events(CodexReader(), {"type": kind, **rest})


def test_claude_names_its_session():
    line = {
        "type": "system",
        "subtype": "init",
        "session_id": "s",
        "model": "claude-x",
        "claude_code_version": "2.1",
    }
    assert events(ClaudeReader(), line) == [Session(id="s", program="claude 2.1", model="claude-x")]


def test_claude_s_text_is_told_as_it_streams():
    delta = {"type": "content_block_delta", "delta": {"type": "text_delta", "text": "Hi"}}
    line = {"type": "stream_event", "event": delta}
    assert events(ClaudeReader(), line) == [Text(text="Hi")]
    assert events(ClaudeReader(), {**line, "parent_tool_use_id": "c1"}) == []


def test_a_call_of_claude_begins_ends_and_may_have_changed_files():
    assert events(ClaudeReader(), message(use("Edit")), result()) == [
        ToolStarted(step=1, call="c1", tool="Edit", arguments='{"path": "a"}'),
        ToolFinished(step=1, call="c1", tool="Edit", result="ok"),
        FilesTouched(step=1, tool="Edit", call="c1"),
    ]


def test_after_a_call_that_only_reads_nobody_looks_at_the_files():
    found = events(ClaudeReader(), message(use("Read")), result())
    assert [event for event in found if isinstance(event, FilesTouched)] == []


def test_claude_s_sub_agents_are_not_its_steps():
    reader = ClaudeReader()
    events(reader, message(use("Task")), message(use("Bash", "c2"), parent="c1"), result("c2"))
    assert (reader.steps, reader.commands) == (1, 1)


def test_one_message_in_several_events_is_one_step():
    reader = ClaudeReader()
    part = message({"type": "text", "text": "a"})
    events(reader, part, part, message({"type": "text", "text": "b"}))
    assert (reader.steps, reader.said) == (2, "b")


def test_a_result_of_claude_may_be_blocks():
    blocks = [{"type": "text", "text": "a"}, {"type": "image"}, {"type": "text", "text": "b"}]
    found = events(ClaudeReader(), message(use("Bash")), result(content=blocks, is_error=True))
    assert found[1] == ToolFinished(step=1, call="c1", tool="Bash", result="a\n\nb", error=True)


@pytest.mark.parametrize(
    ("line", "terminal"),
    [
        ({"subtype": "success", "is_error": False, "result": "x"}, Terminal(True, "x")),
        ({"subtype": "success", "is_error": True, "result": "x"}, Terminal(False, "x", "failed")),
        ({"subtype": "success", "result": "x"}, Terminal(False, "x", "failed")),
        (
            {"subtype": "success", "is_error": True, "stop_reason": "refusal", "result": "x"},
            Terminal(False, "x", "refused"),
        ),
        (
            {"subtype": "error_max_turns", "is_error": True},
            Terminal(False, "error_max_turns", "turns"),
        ),
        (
            {"subtype": "error_during_execution", "is_error": True},
            Terminal(False, "error_during_execution", "failed"),
        ),
    ],
)
def test_claude_s_last_event_is_success_only_when_it_names_no_error(line, terminal):
    reader = ClaudeReader()
    events(reader, {"type": "result", **line})
    assert reader.terminal == terminal


def test_that_claude_asks_again_is_told():
    line = {"type": "system", "subtype": "api_retry", "attempt": 1, "max_retries": 3}
    assert events(ClaudeReader(), line) == [
        Warned(text="Claude Code asks again (1 of 3): no answer")
    ]


def test_a_line_of_five_million_bytes_is_one_event():
    (finished, _) = events(ClaudeReader(), result(content="x" * 5_000_000))
    assert len(finished.result) == 5_000_000


def item(kind, stage="completed", **more):
    return {"type": f"item.{stage}", "item": {"id": "i1", "type": kind} | more}


def test_a_command_of_codex_begins_ends_and_may_have_changed_files():
    found = events(
        CodexReader(),
        item("command_execution", "started", command="ls"),
        item("command_execution", aggregated_output="a", exit_code=3, status="failed"),
    )
    assert found == [
        ToolStarted(step=0, call="i1", tool="command_execution", arguments='{"command": "ls"}'),
        ToolFinished(step=0, call="i1", tool="command_execution", result="a", error=True),
        FilesTouched(step=0, tool="command_execution", call="i1"),
    ]


def test_codex_s_steps_are_the_answers_that_the_gateway_saw():
    reader = CodexReader()
    reader.answered()
    reader.answered()
    assert reader.steps == 2


def exited(number=0, output=""):
    return f"Chunk ID: 9540ad\nWall time: 0.1 seconds\nProcess exited with code {number}\n{output}"


def ended(call, kind="command_execution"):
    return item(kind, id=call, status="completed")


@pytest.mark.parametrize(
    ("kind", "said"),
    [
        ("command_execution", exited(3, "Output:\n")),
        ("file_change", "Exit code: 0\nWall time: 0 seconds\nOutput:\nSuccess."),
        ("mcp_tool_call", "Wall time: 0.0876 seconds\nOutput:\nother.py added"),
    ],
)
def test_a_call_of_codex_that_ended_is_awaited_in_its_line_and_is_of_its_own_step(kind, said):
    reader = CodexReader()
    reader.asked({"old": said})
    reader.answered()
    reader.asked({"old": said, "call_1": said})
    assert (reader.caught_up, reader.steps) == (False, 1)
    assert {event.step for event in events(reader, ended("item_0", kind))} == {1}
    assert (reader.caught_up, reader.steps) == (True, 2)


@pytest.mark.parametrize(
    "said",
    [
        "unsupported call: nonesuch",
        "apply_patch verification failed: invalid patch",
        "Wall time: 0.3 seconds\nProcess running with session ID 6015\nOutput:\n",
        "Plan updated\nOutput:\nProcess exited with code 0",
        "",
    ],
)
def test_what_codex_tells_in_no_line_is_not_awaited(said):
    reader = CodexReader()
    reader.asked({})
    reader.asked({"call_1": said})
    assert reader.caught_up


def test_a_command_of_codex_that_ends_in_the_background_is_ahead():
    reader = CodexReader()
    reader.asked({})
    events(reader, ended("item_0"))
    reader.asked({"call_2": exited()})
    reader.asked({"call_2": exited()})
    assert reader.caught_up
    reader.asked({"call_2": exited(), "call_3": exited()})
    assert not reader.caught_up


def test_codex_s_steps_begin_with_the_question_and_a_question_that_failed_is_none():
    reader = CodexReader()
    for _ in range(3):
        reader.asked({})
    assert reader.steps == 1
    reader.answered()
    assert reader.steps == 1


def test_a_call_of_claude_is_awaited_in_its_line_when_it_began_in_one():
    reader = ClaudeReader()
    events(reader, message(use("Bash")))
    reader.asked({"of an earlier session": "ok"})
    assert reader.caught_up
    reader.asked({"c1": "ok"})
    assert not reader.caught_up
    events(reader, result())
    reader.asked({"c1": "ok"})
    assert reader.caught_up


def test_that_codex_connects_again_is_not_its_end():
    reader = CodexReader()
    assert events(reader, {"type": "error", "message": "Reconnecting... 1/2"}) == [
        Warned(text="Codex: Reconnecting... 1/2")
    ]
    assert reader.terminal is None


def test_the_last_message_of_codex_is_its_answer():
    reader = CodexReader()
    events(reader, item("agent_message", text="one"), item("agent_message", text="two"))
    events(reader, {"type": "turn.completed", "usage": {}})
    assert reader.terminal == Terminal(True, "two")


def test_a_turn_of_codex_that_failed_says_why():
    reader = CodexReader()
    events(reader, {"type": "turn.failed", "error": {"message": "401"}})
    assert reader.terminal == Terminal(False, "401", "failed")


def test_a_refusal_of_codex_s_model_is_named():
    reader = CodexReader()
    said = "Incomplete response returned, reason: content_filter"
    events(reader, {"type": "turn.failed", "error": {"message": said}})
    assert reader.terminal == Terminal(False, said, "refused")


@pytest.mark.parametrize(
    ("make", "line", "kind"),
    [
        (ClaudeReader, {"type": "system", "subtype": "of tomorrow"}, "system of tomorrow"),
        (CodexReader, {"type": "item.completed", "item": {"type": "new"}}, "item new"),
    ],
)
def test_parts_that_are_not_known_are_kept_too(make, line, kind):
    assert events(make(), line) == [Raw(type=kind, text=json.dumps(line))]


@pytest.mark.parametrize(
    ("make", "file"),
    [(ClaudeReader, "claude"), (CodexReader, "codex"), (lambda: AcpReader("fake"), "acp")],
)
def test_a_long_line_that_is_not_known_is_told_by_its_start(make, file):
    (told,) = make().read(b'{"type": "new", "x": "%s"}' % (b"y" * 5_000_000))
    shown, note = told.text.split("\n")
    assert shown == '{"type": "new", "x": "' + "y" * 3_978
    assert note == (
        f"[4,000 of 5,000,024 bytes; the whole line is in {file}.jsonl among the run's artifacts]"
    )


def test_our_own_gateway_is_no_part_of_an_error():
    url = f"http://127.0.0.1:{PORT}/v1/responses?beta=true&n=1.5"
    failed = {"type": "turn.failed", "error": {"message": f"status 502: gone, url: {url}, id: 7"}}
    reader = CodexReader()
    (warned,) = events(reader, {"type": "error", "message": f"Reconnecting (404, url: {url})"})
    events(reader, failed)
    assert warned == Warned(text="Codex: Reconnecting (404)")
    assert reader.terminal == Terminal(False, "status 502: gone, id: 7", "failed")
    said = f"Overloaded. If it persists, check your inference gateway (127.0.0.1:{PORT})."
    reader = ClaudeReader()
    events(reader, {"type": "result", "subtype": "success", "is_error": True, "result": said})
    assert reader.terminal == Terminal(False, "Overloaded.", "failed")


@pytest.mark.parametrize(
    "part", [" If it persists, check your inference gateway (", ", url: http://127.0.0.1:"]
)
def test_an_error_of_any_length_is_read_at_once(part):
    said = part * 20_000
    began = time.process_time()
    assert without_gateway(said) == said
    assert time.process_time() - began < 2  # 7 s, were each of them looked at to the end


def test_what_only_looks_like_a_broken_sandbox_is_none():
    reader = CodexReader()
    said = "bwrap: a page about it"
    events(reader, item("command_execution", aggregated_output=said, status="completed"))
    assert not reader.broken


def test_codex_s_own_sandbox_that_cannot_start_is_seen():
    reader = CodexReader()
    out = "bwrap: No permissions to create new namespace"
    events(reader, item("command_execution", aggregated_output=out, status="failed"))
    assert (reader.broken, reader.commands, reader.failures) == (True, 1, 1)


NO_BWRAP = "thread 'main' (87) panicked at linux-sandbox/src/launcher.rs:60:13:\nno bwrap"


@pytest.mark.parametrize(
    "said",
    [
        exited(101, f"Output:\n\n{NO_BWRAP}"),
        exited(1, "Output:\nbwrap: No permissions to create new namespace"),
        "patch rejected: writing is blocked by read-only sandbox",
    ],
)
def test_what_codex_s_own_sandbox_kept_from_running_is_seen_in_what_its_model_is_told(said):
    reader = CodexReader()
    reader.asked({})
    reader.asked({"call_1": said})
    assert (reader.broken, reader.caught_up) == (True, True)


@pytest.mark.parametrize("said", [exited(0, "Output:\nsee bwrap: a page"), "", "Output:\nOutput:"])
def test_other_words_are_of_no_broken_sandbox(said):
    reader = CodexReader()
    reader.asked({"old": "bwrap: of an earlier session"})
    reader.asked({"old": "bwrap: of an earlier session", "call_1": said})
    assert not reader.broken


OURS = "mcp__orchestrator__patch_file"


def test_claude_s_calls_of_our_tools_say_nothing_of_its_own():
    reader = ClaudeReader()
    found = events(reader, message(use(OURS)), result(is_error=True))
    assert found[-1] == FilesTouched(step=1, tool=OURS, call="c1")
    assert (reader.commands, reader.failures) == (0, 0)


def codex_call(tool, status="completed", **more):
    item = {"id": "i1", "type": "mcp_tool_call", "server": "orchestrator", "tool": tool}
    return {"type": "item.completed", "item": {**item, "status": status, **more}}


def test_codex_s_calls_of_our_tools_say_nothing_of_its_own():
    reader, said = CodexReader(), [{"type": "text", "text": "bwrap: a line of a file"}]
    assert events(reader, codex_call("patch_file", "failed", result={"content": said})) == [
        ToolFinished(step=0, call="i1", tool=OURS, result="bwrap: a line of a file", error=True),
        FilesTouched(step=0, tool=OURS, call="i1"),
    ]
    assert (reader.commands, reader.failures, reader.broken) == (0, 0, False)


def test_a_call_of_codex_that_found_no_server_says_why():
    (told, _) = events(CodexReader(), codex_call("patch_file", "failed", error={"message": "gone"}))
    assert (told.result, told.error) == ("gone", True)


@pytest.mark.parametrize("name", ["split_file", "read_piece", "outline"])
def test_after_a_call_of_ours_that_only_reads_nobody_looks_at_the_files(name):
    found = events(ClaudeReader(), message(use(f"mcp__orchestrator__{name}")), result())
    found += events(CodexReader(), codex_call(name))
    assert [event for event in found if isinstance(event, FilesTouched)] == []


def hook(status, output):
    return {
        "type": "system",
        "subtype": "hook_response",
        "hook_name": "SessionStart:startup",
        "output": output,
        "exit_code": status,
    }


def test_what_a_hook_printed_and_that_it_failed_is_told():
    begun = {"type": "system", "subtype": "hook_started"}
    said = {"type": "system", "subtype": "notification", "text": "Stop hook error occurred"}
    assert events(ClaudeReader(), begun, hook(0, "ready\n"), hook(2, ""), said) == [
        Output(stream="stdout", text="hook SessionStart:startup: ready"),
        Warned(text="Claude Code: the hook SessionStart:startup ended with status 2"),
        Warned(text="Claude Code: Stop hook error occurred"),
    ]


@pytest.mark.parametrize("made", [ClaudeReader, CodexReader, lambda: AcpReader("fake")])
def test_a_line_of_too_many_values_is_none_that_is_known(made):
    known = b'{"type":"result","subtype":"success","is_error":false,"a":[%s{}]}'
    reader = made()
    (told,) = reader.read(known % (b"{}," * MOST))
    assert (type(told), told.type, reader.terminal) == (Raw, "", None)
