"""What an agent of the Agent Client Protocol is told, and what is made of what it says."""

import json
from contextlib import closing

import pytest

from orchestrator.delegates.acp import MOST_RAW, REMEMBERED, Acp, AcpReader
from orchestrator.delegates.cli import Briefing, Terminal
from orchestrator.events import FilesTouched, Raw, Text, ToolFinished, ToolStarted
from orchestrator.task import Task

ID = "s-1"


class Agent:
    """A reader with what it says, and the words of an agent by hand."""

    def __init__(self, **task):
        self.reader = AcpReader("fake")
        task = Task("", "Go.", worker="acp", **task)
        self.pipe = self.reader.begin(Briefing("mend add", task, "run-token"))

    def close(self):
        self.reader.close()

    def says(self, **message):
        line = json.dumps({"jsonrpc": "2.0", **message}).encode()
        return list(self.reader.read(line))

    def updates(self, what, **more):
        update = {"sessionUpdate": what, **more}
        return self.says(method="session/update", params={"sessionId": ID, "update": update})

    def heard(self):
        """The next line that it would read."""
        return json.loads(bytes(self.pipe.take(1 << 20)))

    def begin(self):
        """Until it has its prompt; what it was told on the way."""
        told = [self.heard()]
        able = {"mcpCapabilities": {"http": True}}
        self.says(id=0, result={"protocolVersion": 1, "agentCapabilities": able})
        told.append(self.heard())
        self.says(id=1, result={"sessionId": ID})
        told.append(self.heard())
        return told


@pytest.fixture
def agent():
    with closing(Agent()) as made:
        yield made


def test_it_is_told_a_session_and_a_prompt(agent):
    hello, new, prompt = agent.begin()
    assert (hello["method"], hello["params"]["protocolVersion"]) == ("initialize", 1)
    assert new["method"] == "session/new"
    (server,) = new["params"]["mcpServers"]
    assert server["headers"] == [{"name": "Authorization", "value": "Bearer run-token"}]
    text = [{"type": "text", "text": "mend add"}]
    assert prompt["params"] == {"sessionId": ID, "prompt": text}


def test_tools_that_are_not_lent_are_not_offered():
    with closing(Agent(lend=False)) as agent:
        assert agent.begin()[1]["params"]["mcpServers"] == []


def test_a_tool_is_told_with_its_kind_and_what_may_have_changed_files(agent):
    agent.begin()
    (started,) = agent.updates("tool_call", toolCallId="c", title="Edit a", kind="edit")
    assert started == ToolStarted(step=0, call="c", tool="edit", arguments='{"title": "Edit a"}')
    shown = [{"type": "content", "content": {"type": "text", "text": "ok"}}]
    told = agent.updates("tool_call_update", toolCallId="c", status="failed", content=shown)
    assert told == [
        ToolFinished(step=0, call="c", tool="edit", result="ok", error=True),
        FilesTouched(step=0, tool="edit", call="c"),
    ]
    assert (agent.reader.commands, agent.reader.failures) == (1, 1)


def test_a_call_is_told_when_it_is_known_what_it_is_about(agent):
    agent.begin()
    assert agent.updates("tool_call", toolCallId="c", title="Terminal", status="pending") == []
    (started,) = agent.updates("tool_call_update", toolCallId="c", title="ls", kind="execute")
    assert (started.tool, started.arguments) == ("execute", '{"title": "ls"}')
    assert agent.updates("tool_call_update", toolCallId="c", title="ls -l") == []


def test_a_beginning_that_comes_late_takes_nothing_back(agent):
    agent.begin()
    agent.updates("tool_call", toolCallId="c", title="Edit a.py", kind="edit", status="pending")
    (started,) = agent.updates("tool_call_update", toolCallId="c", title="Edit", kind="edit")
    assert started.arguments == '{"title": "Edit a.py"}'


def test_a_call_that_ends_at_once_is_told_as_it_was_announced(agent):
    agent.begin()
    agent.updates("tool_call", toolCallId="c", title="Edit a", kind="edit", status="pending")
    started, finished, _ = agent.updates("tool_call_update", toolCallId="c", status="completed")
    assert started == ToolStarted(step=0, call="c", tool="edit", arguments='{"title": "Edit a"}')
    assert finished.call == "c"


def test_a_question_waits_for_a_call_that_was_only_announced(agent):
    agent.begin()
    agent.updates("tool_call", toolCallId="c", title="Edit a", kind="edit", status="pending")
    agent.reader.asked({"c": "ok"})
    assert not agent.reader.caught_up


def test_a_call_for_which_a_permission_is_asked_is_told(agent):
    agent.begin()
    call = {"toolCallId": "c", "title": "Edit a", "kind": "edit"}
    options = [{"optionId": "yes", "name": "Yes", "kind": "allow_once"}]
    params = {"sessionId": ID, "toolCall": call, "options": options}
    told = agent.says(id=7, method="session/request_permission", params=params)
    assert told == [ToolStarted(step=0, call="c", tool="edit", arguments='{"title": "Edit a"}')]
    told = agent.updates("tool_call_update", toolCallId="c", status="completed")
    assert [type(event) for event in told] == [ToolFinished, FilesTouched]


def test_after_a_tool_that_reads_no_file_differs(agent):
    agent.begin()
    told = agent.updates("tool_call", toolCallId="c", kind="read", status="completed")
    assert [type(event) for event in told] == [ToolStarted, ToolFinished]


@pytest.mark.parametrize("kind", ["x\nRun: mine", "background", "finish"])
def test_a_kind_that_the_protocol_does_not_know_is_not_repeated(agent, kind):
    agent.begin()
    (started,) = agent.updates("tool_call", toolCallId="c", title="t", kind=kind)
    assert started.tool == "other"


def test_calls_that_never_end_are_not_kept_without_end(agent):
    agent.begin()
    for number in range(REMEMBERED + 5):
        agent.updates("tool_call", toolCallId=str(number), kind="edit")
    agent.reader.asked({"0": "ok"})
    assert agent.reader.caught_up
    agent.reader.asked({str(REMEMBERED): "ok"})
    assert not agent.reader.caught_up


@pytest.mark.parametrize("title", ["mcp.orchestrator.patch_file", "mcp__orchestrator__patch_file"])
def test_our_tools_are_known_by_their_names(agent, title):
    agent.begin()
    (started,) = agent.updates("tool_call", toolCallId="c", title=title, kind="execute")
    assert started.tool == "mcp__orchestrator__patch_file"


def test_what_it_said_last_is_what_it_said_after_its_last_tool(agent):
    agent.begin()
    for piece in ("Let me ", "see."):
        told = agent.updates("agent_message_chunk", content={"type": "text", "text": piece})
        assert told == [Text(text=piece)]
    agent.updates("tool_call", toolCallId="c")
    agent.updates("agent_message_chunk", content={"type": "text", "text": "Done."})
    agent.says(id=2, result={"stopReason": "end_turn"})
    assert agent.reader.terminal == Terminal(True, "Done.")
    assert agent.pipe.at_end


def test_what_it_said_last_is_one_message(agent):
    agent.begin()
    for piece, message in (("No", "1"), (".", "1"), ("Done", "2"), (".", "2")):
        content = {"type": "text", "text": piece}
        agent.updates("agent_message_chunk", content=content, messageId=message)
    assert agent.reader.said == "Done."


def test_a_question_waits_for_the_end_of_the_calls_it_tells_of(agent):
    agent.begin()
    agent.updates("tool_call", toolCallId="c")
    agent.reader.asked({"c": "ok", "unseen": "ok"})
    assert not agent.reader.caught_up
    agent.updates("tool_call_update", toolCallId="c", status="completed")
    assert agent.reader.caught_up


def test_one_that_does_not_read_is_given_up(agent):
    agent.begin()
    assert agent.pipe.write(b"x" * (16 << 20))
    agent.says(id=9, method="fs/read_text_file", params={})
    assert agent.reader.terminal == Terminal(
        False, "fake: it does not read what it is told", "failed"
    )


def test_noise_is_told_for_a_while(agent):
    agent.begin()
    told = [event for _ in range(MOST_RAW + 50) for event in agent.reader.read(b"noise")]
    assert told == [Raw(type="", text="noise")] * MOST_RAW


def test_a_cancelled_turn_is_asked_for_in_the_protocol(agent):
    agent.begin()
    assert agent.reader.leave()
    cancelled = {"jsonrpc": "2.0", "method": "session/cancel", "params": {"sessionId": ID}}
    assert agent.heard() == cancelled
    assert (agent.pipe.at_end, agent.reader.leave()) == (True, False)


def test_a_program_that_is_known_is_one_that_is_named_alone():
    assert Acp(("codex-acp", "-c", "a=1")).kits
    assert Acp(("/bin/codex-acp",)).kits == ()
