"""The ways in which the programs change files: each arrives as it was made."""

from orchestrator.events import Changed, FilesTouched, ToolStarted
from orchestrator.outcome import Outcome
from tests.api.scenario import Call, Expect, Step
from tests.delegates.test_runs import ADD, asks, scenario

APP = "/workspace/src/app.py"
MENDED = b"def add(a, b):\n    return b + a\n"
COMMIT = "git -c user.name=me -c user.email=me@localhost commit -qam mine"
PATCH = """*** Begin Patch
*** Add File: new.txt
+brand new
*** Update File: src/app.py
@@
-    return a + b
+    return b + a
*** End Patch"""


def edits(worker):
    """Steps that write one file and edit another, with the program's own tools."""
    if worker == "codex":
        return (Step(calls=(Call("apply_patch", text=PATCH, kind="custom"),)),)
    new = {"file_path": "/workspace/new.txt", "content": "brand new\n"}
    edit = {"file_path": APP, "old_string": "a + b", "new_string": "b + a"}
    return (
        Step(calls=(Call("Write", new),)),
        Step(calls=(Call("Read", {"file_path": APP}),)),
        Step(calls=(Call("Edit", edit),), expect=Expect(said=("return a + b",))),
    )


def test_what_it_writes_and_edits_is_on_the_branch(desk, worker):
    ran = desk.run(worker, scenario(*edits(worker), Step("Done.")))
    assert ran.record.outcome is Outcome.DONE
    assert (ran.file("new.txt"), ran.file("src/app.py")) == (b"brand new\n", MENDED)
    tools = {"claude": ["Write", "Edit"], "codex": ["file_change"]}[worker]
    assert [event.tool for event in ran.told(Changed)] == tools


def test_what_only_a_shell_does_is_on_the_branch(desk, worker):
    work = "git mv src/app.py 'src/größe π.py' && printf '\\000\\377' > bin.dat && rm README.md"
    ran = desk.run(worker, scenario(asks(worker, work), Step("Done.")))
    assert (ran.record.outcome, len(ran.commits)) == (Outcome.NEEDS_REVIEW, 1)  # it is binary
    assert ran.file("bin.dat") == b"\x00\xff"
    assert ran.file("src/größe π.py") == b"def add(a, b):\n    return a + b\n"
    assert ran.paths == [".gitignore", "bin.dat", "src/größe π.py"]


def test_what_it_commits_and_resets_itself_is_of_no_account(desk, worker):
    own = f"git checkout -q -b mine && {COMMIT} && git reset -q --hard HEAD~1"
    steps = (asks(worker, ADD), asks(worker, own), asks(worker, ADD), Step("Done."))
    ran = desk.run(worker, scenario(*steps))
    assert ran.file("src/app.py") == MENDED
    assert not [subject for subject in ran.commits if "mine" in subject.split()[:1]]


def test_what_a_sub_agent_changes_is_a_commit_of_its_own(desk):
    hand_over = {
        "description": "Mend add",
        "prompt": "Mend it.",
        "subagent_type": "general-purpose",
        "run_in_background": False,
    }
    steps = (
        Step(calls=(Call("Agent", hand_over),), expect=Expect(tools=("Agent",))),
        asks("claude", ADD, expect=Expect(said=("Mend it.",))),
        Step("It is mended."),
        Step("Done.", expect=Expect(said=("It is mended.",))),
    )
    ran = desk.run("claude", scenario(*steps), turns=2)
    assert (ran.record.outcome, ran.record.said) == (Outcome.DONE, "Done.")
    assert [event.tool for event in ran.told(ToolStarted)] == ["Agent", "Bash"]
    assert [event.tool for event in ran.told(FilesTouched)] == ["Bash", "Agent", "claude"]
    assert ran.commits == [f"Bash: {ADD}"]
