"""`orchestrator edit`: one conversation a file, which outlives runs, renames and crashes."""

import json
import os
import shlex
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from orchestrator.dialogue import read
from orchestrator.edits import Edits
from orchestrator.models.model import Answer, Prompt, Results
from orchestrator.repository import Repository
from tests.api.scenario import Call, Step
from tests.api.server import play
from tests.cli.conftest import git

ROOT = Path(__file__).parents[2]
PLUS = ("edit_file", {"path": "sums.py", "old_string": "a - b", "new_string": "a + b"})
TURN = ("edit_file", {"path": "sums.py", "old_string": "a + b", "new_string": "b + a"})
BODY = "def add(a, b):\n    return {}"


@pytest.fixture
def edit(orchestrator, tmp_path):
    """Edit a file with a model that makes these calls and then says that it is done."""

    def say(file, prompt, *calls, flags=("-q", "--json"), expect=""):
        steps = [{"calls": [{"tool": tool, "arguments": given}]} for tool, given in calls]
        steps.append({"text": f"Done: {prompt}."})
        steps[0]["expect"] = expect or prompt
        path = tmp_path / "script.json"
        path.write_text(json.dumps({"steps": steps}))
        return orchestrator("edit", file, prompt, "--model", f"scripted:{path}", *flags)

    return say


def known(home, repository):
    (only,) = Edits(home, Repository.open(str(repository), home)).all()
    return only


def prompts(conversation):
    return [each.text for each in read(conversation).messages if isinstance(each, Prompt)]


def test_a_second_edit_goes_on_with_the_conversation_and_the_branch(repository, home, edit):
    first = edit("sums.py", "mend it", PLUS)
    assert (first.code, first.err) == (0, "")
    second = edit("sums.py", "turn it", TURN)
    assert (second.code, second.json["file_id"]) == (0, first.json["file_id"])
    branch = first.json["branch"]
    assert second.err == f"note: going on from {branch}, which has the last edit of sums.py.\n"
    assert (second.json["task"]["base"], second.json["base"]) == (branch, first.json["tip"])
    assert git("show", f"{second.json['branch']}:sums.py") == BODY.format("b + a")
    assert second.json["task"]["only"] == ["sums.py"]
    edited = known(home, repository)
    assert second.json["conversation"] == str(edited.conversation)
    assert prompts(edited.conversation) == ["mend it", "turn it"]
    assert edited.told().runs == (first.json["id"], second.json["id"])
    meta = json.loads(edited.conversation.read_bytes().partition(b"\n")[0])
    assert {"role": "meta", "id": edited.file_id}.items() <= meta.items()
    assert meta["created"] > 0
    assert git("status", "--porcelain") == ""


def test_the_model_is_sent_the_earlier_turn(repository, orchestrator, home, monkeypatch):
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-ant-0123456789abcdef")
    edited = Step("I mend it.", (Call(*PLUS),), thinking="Hm.")
    with play(edited, Step("Mended."), Step("Nothing to do.")) as api:
        monkeypatch.setenv("ANTHROPIC_BASE_URL", api.url)
        assert orchestrator("edit", "sums.py", "mend it", "-q").code == 0
        assert orchestrator("edit", "sums.py", "look again", "-q").code == 0
    sent = api.requests[-1].body
    assert [message["role"] for message in sent["messages"]] == ["user", "assistant"] * 2 + ["user"]
    assert "mend it" in json.dumps(sent["messages"][0])
    kinds = [block["type"] for block in sent["messages"][1]["content"]]
    assert kinds == ["thinking", "text", "tool_use"]
    assert "look again" in json.dumps(sent["messages"][-1])
    assert "as the last of them left them" in json.dumps(sent["system"])
    assert "nothing but: sums.py" in json.dumps(sent["system"])


def test_an_edit_can_be_played_again(repository, orchestrator, home, monkeypatch):
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-ant-0123456789abcdef")
    steps = (Step(calls=(Call(*PLUS),)), Step("Mended."), Step(calls=(Call(*TURN),)), Step("Ok."))
    with play(*steps) as api:
        monkeypatch.setenv("ANTHROPIC_BASE_URL", api.url)
        orchestrator("edit", "sums.py", "mend it", "-q")
        second = orchestrator("edit", "sums.py", "turn it", "-q", "--json").json
    before = known(home, repository).conversation.read_bytes()
    played = orchestrator("run", "--replay", second["id"], "-q", "--json")
    assert (played.code, played.json["outcome"], played.err) == (0, "done", "")
    assert played.json["tree"] == second["tree"]
    assert known(home, repository).conversation.read_bytes() == before
    (home / "runs" / second["id"] / "earlier.jsonl").unlink()
    refused = orchestrator("run", "--replay", second["id"])
    assert (refused.code, "it cannot be replayed" in refused.err) == (2, True)


@pytest.mark.parametrize("committed", [True, False])
def test_a_renamed_file_keeps_its_conversation(repository, home, edit, committed):
    first = edit("sums.py", "mend it", PLUS).json
    git("merge", "-q", "--no-edit", first["branch"])
    git("mv", "sums.py", "a: b.py")
    if committed:
        git("commit", "-qm", "renamed")
    there = "a: b.py" if committed else "sums.py"
    second = edit("a: b.py", "turn it", ("edit_file", {**TURN[1], "path": there}))
    assert (second.code, second.json["file_id"]) == (0, first["file_id"])
    assert second.json["task"]["only"] == [there]
    assert ("note: a: b.py is called sums.py there.\n" in second.err) is not committed
    edited = known(home, repository)
    assert (edited.path, prompts(edited.conversation)) == ("a: b.py", ["mend it", "turn it"])


def test_a_file_that_an_edit_renamed_is_found_by_both_names(repository, home, edit):
    moved = ("move_file", {"source": "sums.py", "destination": "plus.py"})
    first = edit("sums.py", "rename it", moved)
    assert (first.code, first.json["outcome"]) == (0, "done")
    second = edit("sums.py", "mend it", ("edit_file", {**PLUS[1], "path": "plus.py"}))
    assert (second.code, second.json["task"]["only"]) == (0, ["plus.py"])
    git("merge", "-q", "--no-edit", second.json["branch"])
    third = edit("plus.py", "turn it", ("edit_file", {**TURN[1], "path": "plus.py"}))
    assert (third.code, third.json["file_id"]) == (0, first.json["file_id"])
    assert (third.err, third.json["task"]["base"]) == ("", "HEAD")
    assert "HEAD, which has the last of them" in third.json["task"]["notes"][0]


def test_a_name_that_another_file_has_by_now_is_followed_no_more(repository, home, edit):
    first = edit("sums.py", "mend it", PLUS).json
    edits = Edits(home, Repository.open(str(repository), home))
    git("mv", "sums.py", "plus.py")
    git("commit", "-qm", "renamed")
    assert edits.find("plus.py").file_id == first["file_id"]
    Path("sums.py").write_text("another\n")
    assert edits.find("plus.py") is None
    assert edits.find("sums.py").file_id == first["file_id"]


def test_what_is_damaged_in_a_conversation_is_told(repository, home, edit, orchestrator):
    edit("sums.py", "mend it", PLUS)
    edited = known(home, repository)
    with edited.conversation.open("ab") as file:
        file.write(b"{not ours\n")
    note = f"note: 1 line of {edited.conversation} cannot be read: left out.\n"
    assert orchestrator("edit", "sums.py", "--status").err == note
    assert edit("sums.py", "turn it", TURN).err.startswith(note)


def test_a_name_that_was_tried_too_early_hides_no_conversation(repository, home, edit):
    moved = ("move_file", {"source": "sums.py", "destination": "plus.py"})
    first = edit("sums.py", "rename it", moved).json
    assert edit("plus.py", "mend it", PLUS).code == 2  # HEAD does not have it yet
    git("merge", "-q", "--no-edit", first["branch"])
    second = edit("plus.py", "mend it", ("edit_file", {**PLUS[1], "path": "plus.py"}))
    assert (second.code, second.json["file_id"]) == (0, first["file_id"])


def test_an_edit_that_head_does_not_have_is_told(repository, edit):
    first = edit("sums.py", "mend it", PLUS).json
    git("commit", "-q", "--allow-empty", "-m", "other work")
    second = edit("sums.py", "mend it again", PLUS)
    assert second.err == (
        f"note: the last edit of sums.py, {first['branch']}, does not stand on HEAD: starting from"
        f" HEAD, without it; `--base {first['branch']}` goes on from there.\n"
    )
    assert second.json["task"]["base"] == "HEAD"
    assert "read the file again" in second.json["task"]["notes"][0]
    third = edit("sums.py", "turn it", TURN, flags=("-q", "--json", "--base", first["branch"]))
    assert (third.code, third.json["base"]) == (0, first["tip"])


def test_names_that_look_alike_are_two_conversations(repository, home, edit, orchestrator):
    for name in ("a:b", "a_b", "a b"):
        Path(name).write_text("x\n")
    git("add", ".")
    git("commit", "-qm", "names")
    look = ("read_file", {"path": "sums.py"})
    ids = [edit(name, "look", look).json["file_id"] for name in ("a:b", "a_b", "a b", "./a:b")]
    assert (len(set(ids)), ids[0]) == (3, ids[3])
    listed = orchestrator("edit", "--list", "--json").json
    assert [(each["path"], each["file_id"]) for each in listed] == [
        ("a b", ids[2]),
        ("a:b", ids[0]),
        ("a_b", ids[1]),
    ]
    assert len(read(Path(listed[1]["conversation"])).runs) == 2
    assert "a:b   " in orchestrator("edit", "--list").text


def test_a_cleared_conversation_is_in_the_archive(repository, home, edit, orchestrator):
    first = edit("sums.py", "mend it", PLUS).json
    before = Path(first["conversation"]).read_bytes()
    cleared = orchestrator("edit", "sums.py", "--clear", "--json").json
    assert Path(cleared["archived"]).read_bytes() == before
    assert orchestrator("edit", "--list", "--json").json == []
    again = orchestrator("edit", "sums.py", "--clear")
    assert (again.code, again.out) == (0, b"")
    assert again.err == "There is no conversation about sums.py: nothing to clear.\n"
    second = edit("sums.py", "mend it anew", PLUS)
    assert (second.code, second.json["file_id"], second.err) == (0, first["file_id"], "")
    assert prompts(known(home, repository).conversation) == ["mend it anew"]


def test_the_status_tells_where_the_next_edit_starts(repository, edit, orchestrator):
    assert orchestrator("edit", "sums.py", "--status").err == (
        "There is no conversation about sums.py yet.\n"
    )
    first = edit("sums.py", "mend it", PLUS).json
    status = orchestrator("edit", "sums.py", "--status", "--json").json
    assert (status["base"], status["runs"], status["messages"]) == (
        first["branch"],
        [first["id"]],
        4,
    )
    assert f"next from  {first['branch']}\n" in orchestrator("edit", "sums.py", "--status").text


def test_another_file_is_refused_by_name_and_a_command_s_change_of_it_blocks(repository, edit):
    other = ("write_file", {"path": "check.py", "content": ""})
    by_force = ("bash", {"command": "echo >> check.py"})
    said = edit("sums.py", "mend it", other, PLUS, by_force)
    assert (said.code, said.json["outcome"], said.json["branch"]) == (3, "blocked", "")
    (found,) = said.json["findings"]
    assert (found["rule"], found["path"]) == ("boundary.outside", "check.py")
    journal = Path(os.environ["ORCHESTRATOR_HOME"], "runs", said.json["id"], "journal.jsonl")
    assert "check.py: not allowed; only sums.py may be changed" in journal.read_text()


def test_after_a_blocked_edit_the_one_before_is_gone_on_from(repository, edit):
    first = edit("sums.py", "mend it", PLUS).json
    blocked = edit("sums.py", "break out", ("bash", {"command": "echo >> check.py"}), flags=())
    _, verb, file, words = shlex.split(blocked.text.splitlines()[-1])
    assert (verb, words) == ("edit", "...")
    third = edit(file, "turn it", TURN)
    assert (third.code, third.json["base"]) == (0, first["tip"])


@pytest.fixture
def killed(repository, edit, tmp_path):
    """After one edit, another is killed in the midst of its second call; its process is given."""
    edit("sums.py", "mend it", PLUS)
    calls = [{"tool": "read_file", "arguments": {"path": "sums.py"}}]
    sleep = [{"tool": "bash", "arguments": {"command": "echo begun; sleep 600"}}]
    script = tmp_path / "slow.json"
    script.write_text(json.dumps({"steps": [{"calls": calls}, {"calls": sleep}]}))
    start = (sys.executable, "-c", "from orchestrator.cli import main; main()")
    child = subprocess.Popen(
        [*start, "edit", "sums.py", "be slow", "--model", f"scripted:{script}"],
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        stderr=subprocess.PIPE,
        text=True,
    )
    with child:
        for line in child.stderr:
            if line.split() == ["begun"]:
                break
        yield child
        child.kill()


def test_two_edits_of_one_file_at_once_do_not_mix(killed, orchestrator, edit):
    for command in (
        ("edit", "sums.py", "--clear"),
        ("edit", "sums.py", "x", "--model", "ollama:x"),
    ):
        said = orchestrator(*command)
        assert (said.code, said.err) == (
            1,
            "error: sums.py is being edited by another command: wait for its end, or stop it.\n",
        )
    assert edit("check.py", "look", ("list_dir", {})).code == 0


def test_nothing_is_lost_when_an_edit_is_killed(killed, repository, home, edit):
    killed.send_signal(signal.SIGKILL)
    killed.wait()
    conversation = known(home, repository).conversation
    with conversation.open("ab") as file:
        file.write(b'{"role":"user","content":"torn')
    third = edit("sums.py", "turn it", TURN)
    assert (third.code, third.json["outcome"]) == (0, "done")
    assert prompts(conversation) == ["mend it", "be slow", "turn it"]
    messages = read(conversation).messages
    cut = next(
        at
        for at, each in enumerate(messages)
        if isinstance(each, Answer) and each.calls and each.calls[0].name == "bash"
    )
    assert isinstance(messages[cut + 1], Results)
    assert "that run was ended here" in messages[cut + 1].results[0].text


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ((), "Name a file: orchestrator edit FILE"),
        (("sums.py",), "The task is empty"),
        ((".", "x"), ". is a folder: name a file."),
        (("none.py", "x"), "There is no file none.py in HEAD: check the path."),
        (("no/where/none.py", "x"), "There is no file no/where/none.py in HEAD"),
        (("new.py", "x"), "new.py is not in HEAD: commit it first, or name another commit"),
        (("link.py", "x"), "link.py is a link: name the file that it leads to."),
        (("sums.py", "x", "y"), "There is a word too many: 'y'; put the task in quotes."),
        (("sums.py", "x", "--clear"), "--clear takes a file and nothing else: drop 'x'."),
        (("--list", "x"), "--list takes no file: drop 'x'."),
        (("sums.py", "x", "--base", "v9"), "has no commit called 'v9'"),
        (("sums.py", "x"), "There is no model"),
        (("../x.py", "x"), "is not a git repository"),
    ],
)
def test_what_cannot_be_done_is_one_sentence(repository, orchestrator, home, words, message):
    Path("new.py").write_text("x = 1\n")
    Path("link.py").symlink_to("sums.py")
    said = orchestrator("edit", *words)
    assert (said.code, said.out) == (2, b"")
    *notes, error = said.err.splitlines()
    assert error.startswith("error: ")
    assert message in error
    assert all(note.startswith("note: ") for note in notes)
    assert not (home / "runs").exists()
    assert orchestrator("edit", "--list", "--json").json == []
