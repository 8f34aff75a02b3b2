"""A commit for each call that changed files: the program waits for the host, not the other way."""

import pytest

from orchestrator.events import ToolFinished
from orchestrator.outcome import Outcome
from tests.api.scenario import Call, Expect, Fault, Step
from tests.conftest import git
from tests.delegates.test_runs import ADD, asks, scenario, shell

CALLS = 8
TRAILERS = "%(trailers:key=Step,valueonly,separator=)%x20%(trailers:key=Tool,valueonly,separator=)"


def trailers(ran):
    """Step and tool of each commit, oldest first."""
    span = f"main..{ran.record.branch}"
    told = git(ran.repository, "log", "--reverse", f"--format={TRAILERS}", span).decode()
    return told.splitlines()


def shells(worker):
    return [asks(worker, f"echo {n} > {n}.txt") for n in range(CALLS)]


def writes(worker):
    """Calls of the quickest tool there is for it: they end as soon as they are asked for."""
    if worker == "codex":
        patch = "*** Begin Patch\n*** Add File: {0}.txt\n+{0}\n*** End Patch"
        calls = [Call("apply_patch", text=patch.format(n), kind="custom") for n in range(CALLS)]
    else:
        place = "/workspace/{}.txt"
        files = [{"file_path": place.format(n), "content": f"{n}\n"} for n in range(CALLS)]
        calls = [Call("Write", file) for file in files]
    return [Step(calls=(call,)) for call in calls]


TOOLS = {
    ("claude", shells): "Bash",
    ("claude", writes): "Write",
    ("codex", shells): "command_execution",
    ("codex", writes): "file_change",
}


@pytest.mark.parametrize("steps", [shells, writes])
def test_each_of_many_calls_at_once_is_a_commit_of_its_own(desk, worker, steps):
    """The model answers without any delay: only what the host holds back keeps them apart."""
    ran = desk.run(worker, scenario(*steps(worker), Step("Done.")))
    tool = TOOLS[worker, steps]
    assert trailers(ran) == [f"{n} {tool}" for n in range(1, CALLS + 1)]
    span = f"main..{ran.record.branch}"
    names = git(ran.repository, "log", "--reverse", "--format=", "--name-only", span).decode()
    assert names.split() == [f"{n}.txt" for n in range(CALLS)]


def test_a_call_that_ends_before_the_answer_that_asks_for_it_is_of_that_answer_s_step(desk):
    """Codex runs a call as soon as it is whole."""
    slow = Step(calls=(shell("codex", ADD), shell("codex", "ls")), fault=Fault(slow=0.4))
    ran = desk.run("codex", scenario(slow, asks("codex", "echo > new.txt"), Step("Done.")))
    assert trailers(ran) == ["1 command_execution", "2 command_execution"]
    assert [event.step for event in ran.told(ToolFinished)] == [1, 1, 2]


def test_what_codex_tells_in_no_line_is_waited_for_by_nobody(desk):
    """A call that is refused, and a command that goes on while the model does."""
    wait = "until [ -e /tmp/go ]; do sleep 0.1; done"
    goes_on = {"cmd": f"{wait}; echo new > new.txt; sleep 4242", "yield_time_ms": 300}
    ran = desk.run(
        "codex",
        scenario(
            Step(calls=(Call("nonesuch", {}),)),
            Step(calls=(Call("apply_patch", text="no patch", kind="custom"),)),
            Step(calls=(Call("exec_command", goes_on),)),
            asks("codex", ADD, expect=Expect(said=("running",))),
            asks("codex", "touch /tmp/go; while [ ! -e new.txt ]; do sleep 0.1; done"),
            Step("Done."),
        ),
    )
    assert trailers(ran) == ["4 command_execution", "5 command_execution"]
    assert ran.record.outcome is Outcome.DONE


def test_sub_agents_that_work_at_once_keep_nobody_waiting(desk):
    def hand_over(name):
        given = {"description": name, "prompt": name, "subagent_type": "general-purpose"}
        return Call("Agent", {**given, "run_in_background": False})

    both = Step(calls=(hand_over("one"), hand_over("two")))
    work = [asks("claude", f"echo {n} > {n}.txt") for n in range(6)]
    ends = [Step("It is done."), Step("It is done.")]
    ran = desk.run("claude", scenario(both, *work, *ends, Step("Done.")))
    assert (ran.record.outcome, ran.record.said) == (Outcome.DONE, "Done.")
    assert {f"{n}.txt" for n in range(6)} < set(ran.paths)
