"""Each event, and a whole run, as a person reads it."""

from pathlib import Path

import msgspec
import pytest

from orchestrator.asked import whole_line
from orchestrator.events import (
    Changed,
    CheckFinished,
    Crashed,
    Delegated,
    Delivered,
    EgressRefused,
    Ignored,
    Judged,
    LeftOut,
    Output,
    Prepared,
    Recovered,
    Restarting,
    RunFinished,
    RunStarted,
    Text,
    ToolFinished,
    ToolStarted,
    Turn,
    Warned,
    WorkerFinished,
)
from orchestrator.evidence import Evidence
from orchestrator.journal import Entry
from orchestrator.outcome import Finding, Outcome, Verdict
from orchestrator.prompts import resumed
from orchestrator.record import Approval, Owner, Record
from orchestrator.render import lines
from orchestrator.screen import Ink
from orchestrator.summary import GREEN_BEFORE, summary
from orchestrator.task import Task
from sandbox.gateway.refusals import NO_REMEDY

PLAIN = Ink(on=False)
FINDING = Finding("protected.ci", Verdict.BLOCK, ".github/ci.yml", "CI runs it", 3)
CHANGED = Changed(commit="c" * 40, tree="d" * 40, step=1, tool="bash", files=2, added=3, removed=1)


def check(stage, passed):
    return CheckFinished(
        command="make test",
        stage=stage,
        passed=passed,
        status=0 if passed else 2,
        seconds=1.25,
        tail="one\ntwo",
    )


SHOWN = {
    "start": (
        RunStarted(run="r1", repository="/r", base="a" * 40, worker="agent", prompt="p", dirty=3),
        ["run r1 on /r at aaaaaaaaaa with agent", "     3 changed files are not in the base"],
    ),
    "image": (
        Prepared(image="sha256:" + "e" * 64, cached=False, seconds=2.5, left=("a", "b")),
        ["image eeeeeeeeeeee prepared in 2.5 s", "     set-up left: a, b"],
    ),
    "crash": (Crashed(reason="The sandbox ended."), ["     The sandbox ended."]),
    "restart": (
        Restarting(attempt=2, of=5, seconds=2.0),
        ["opening the sandbox again in 2 s (2 of 5)"],
    ),
    "recovery": (
        Recovered(attempt=2, tree="d" * 40),
        ["the sandbox is open again, its files as last recorded (dddddddddd)"],
    ),
    "answer": (
        Turn(step=1, model="m", text="I look\x1b[2J.", input_tokens=1, output_tokens=1),
        ["  I look."],
    ),
    "silent answer": (Turn(step=1, model="m", text="", input_tokens=1, output_tokens=1), []),
    "streamed text": (Text(text="I lo"), []),
    "tool": (
        ToolStarted(
            step=2,
            call="c",
            tool="edit_file",
            arguments='{"path": "a.py", "all": true, "new": "' + "x" * 40 + '"}',
        ),
        ["  2  edit_file a.py all=true"],
    ),
    "tool whose flag comes first": (
        ToolStarted(
            step=2, call="c", tool="Edit", arguments='{"replace_all": false, "file_path": "/a.py"}'
        ),
        ["  2  Edit /a.py replace_all=false"],
    ),
    "tool without a text": (
        ToolStarted(step=2, call="c", tool="t", arguments='{"number": 3, "all": true}'),
        ["  2  t 3 all=true"],
    ),
    "tool without arguments": (
        ToolStarted(step=2, call="c", tool="t", arguments="{}"),
        ["  2  t "],
    ),
    "tool with broken arguments": (
        ToolStarted(step=2, call="c", tool="bash", arguments='{"command": "l\n'),
        ['  2  bash {"command": "l '],
    ),
    "command": (
        ToolStarted(step=1, call="c", tool="command", arguments='["sh", "-c", "a b"]'),
        ["  1  command sh -c 'a b'"],
    ),
    "tool of a delegate": (
        ToolStarted(
            step=2, call="c", tool="Bash", arguments='{"command": "ls"}', delegate="claude"
        ),
        ["  2  claude: Bash ls"],
    ),
    "end of a delegate": (
        Delegated(
            delegate="claude", step=2, reason="complete", message="So.", turns=1, seconds=4.2
        ),
        ["     claude stopped: complete (1 turn, 4 s, $0.0000)", "     So."],
    ),
    "failed delegate": (
        Delegated(delegate="codex", step=2, reason="auth", message="No.", turns=2, cost=None),
        ["     codex stopped: auth (2 turns, 0 s, cost unknown)"],
    ),
    "result": (ToolFinished(step=2, call="c", tool="bash", result="ok"), []),
    "failed call": (
        ToolFinished(step=2, call="c", tool="bash", result="no such\nfile", error=True),
        ["     no such", "     file"],
    ),
    "failed read": (
        ToolFinished(step=2, call="c", tool="read_file", result="no such\nfile", error=True),
        ["     no such", "     file"],
    ),
    "output": (Output(stream="stdout", text="\x1b[31mred"), ["     red"]),
    "change": (CHANGED, ["     cccccccccc 2 files +3 -1"]),
    "ignored": (
        Ignored(paths=("a", "b"), total=7),
        ["ignored, so not recorded: a, b and 5 more"],
    ),
    "long warning": (
        Warned(text="The price of a model is unknown. " * 4 + "Set a limit."),
        [
            "     The price of a model is unknown. The price of a model is unknown. "
            "The price of a model is",
            "     unknown. The price of a model is unknown. Set a limit.",
        ],
    ),
    "left out": (LeftOut(paths=("a", "b")), ["     not recorded: a, b"]),
    "red base": (check("base", False), ["check make test failed (2) on the base, 1.2 s"]),
    "red check": (
        check("work", False),
        ["check make test failed (2), 1.2 s", "     one", "     two"],
    ),
    "green proof": (check("proof", True), ["check make test passed in a fresh container, 1.2 s"]),
    "a refused host": (
        EgressRefused(
            host="a.example:443", count=3, remedy="--allow-private a.example", stage="work"
        ),
        ["     refused: a.example:443 (3 times) - allow it with --allow-private a.example"],
    ),
    "a host that stays closed": (
        EgressRefused(host="169.254.0.1:80", count=1, remedy=NO_REMEDY, stage="work"),
        ["     refused: 169.254.0.1:80 - no setting allows it"],
    ),
    "warning": (Warned(text="careful\nnow"), ["     careful", "     now"]),
    "end of work": (
        WorkerFinished(reason="turns", message="out of turns"),
        ["worker stopped: turns", "out of turns"],
    ),
    "verdict": (
        Judged(verdict=Verdict.BLOCK, findings=(FINDING,)),
        ["verdict block", "     block  .github/ci.yml:3  protected.ci: CI runs it"],
    ),
    "branch": (Delivered(branch="agent/r1", commit="c" * 40), ["branch agent/r1 at cccccccccc"]),
    "end": (RunFinished(outcome=Outcome.DONE, seconds=12.4), ["done after 12 s"]),
    "end with a reason": (
        RunFinished(outcome=Outcome.WORKER_ERROR, message="It ended.\n  It said:", seconds=0.1),
        ["worker_error after 0 s", "     It ended.", "       It said:"],
    ),
}


@pytest.mark.parametrize("name", SHOWN)
def test_an_event_is_shown(name):
    event, expected = SHOWN[name]
    assert lines(event, PLAIN) == expected


@pytest.mark.parametrize(
    ("event", "expected"),
    [
        (SHOWN["failed call"][0], ["     file"]),
        (SHOWN["red check"][0], ["check make test failed (2), 1.2 s"]),
        (SHOWN["verdict"][0], ["verdict block"]),
        (SHOWN["end with a reason"][0], ["worker_error after 0 s"]),
    ],
)
def test_what_was_streamed_is_not_shown_again(event, expected):
    assert lines(event, PLAIN, streamed=True) == expected


def test_the_end_of_a_long_check_is_shown():
    red = msgspec.structs.replace(check("proof", False), tail="\n".join(map(str, range(20))))
    shown = lines(red, PLAIN)
    assert (shown[1], shown[-1]) == ("     … 8 earlier lines", "     19")


def test_arguments_that_no_parser_can_walk_are_shown():
    (shown,) = lines(ToolStarted(step=1, call="c", tool="t", arguments="[" * 100_000), PLAIN)
    assert shown.startswith("  1  t [[[[")


def test_a_long_answer_is_cut():
    text = "\n".join(map(str, range(20)))
    shown = lines(Turn(step=1, model="m", text=text, input_tokens=1, output_tokens=1), PLAIN)
    assert shown[-2:] == ["  11", "  … 8 more lines"]


def test_a_final_answer_is_shown_whole_and_once():
    text = "\n".join(map(str, range(20)))
    turn = Turn(step=1, model="m", text=text, input_tokens=1, output_tokens=1, final=True)
    assert lines(turn, PLAIN)[-1] == "  19"
    ended = WorkerFinished(reason="complete", message=text)
    assert lines(ended, PLAIN, said=text) == ["worker stopped: complete"]


def record(**changes) -> Record:
    finished = Record(
        id="20261121-090000-abcde",
        task=Task(repository="/r", prompt="mend it\nplease"),
        git_dir=str(Path("/r/.git")),
        base="a" * 40,
        base_tree="b" * 40,
        created=0.0,
        owner=Owner(1, "", ""),
        state="finished",
        outcome=Outcome.DONE,
        verdict=Verdict.PASS,
        message="Mended.",
        tip="c" * 40,
        tree="d" * 40,
        branch="agent/20261121-090000-abcde",
        seconds=9.6,
        turns=2,
        input_tokens=1200,
        output_tokens=34,
        cost=0.0123,
        evidence=(
            Evidence("b" * 40, "image", (check("base", False),)),
            Evidence("d" * 40, "image", (check("proof", True),)),
        ),
    )
    return msgspec.structs.replace(finished, **changes)


def test_a_run_is_summed_up():
    assert summary(record(), [Entry(1, 0.0, CHANGED)], PLAIN) == [
        "done: Mended.",
        "  run         20261121-090000-abcde",
        "  task        mend it",
        "  worker      agent",
        "  repository  /r at aaaaaaaaaa",
        "  branch      agent/20261121-090000-abcde (1 commit)",
        "  verdict     pass",
        "  spent       10 s, 2 turns, 1,200 tokens in, 34 out, $0.0123",
        "  checks     base  proof",
        "  make test  red   green",
        "next:",
        "  orchestrator diff abcde",
        "  orchestrator discard abcde",
        "  git -C /r merge --no-ff agent/20261121-090000-abcde",
    ]


@pytest.mark.parametrize(
    ("asked", "words", "listed"),
    [
        ("mend it\nplease", "", "mend it (resumed)"),
        ("mend it\nplease", "write,\ntoo", "mend it (resumed: write,)"),
        ("m" * 60, "", "m" * 49 + "… (resumed)"),
        ("m" * 60, "w" * 60, "m" * 27 + "… (resumed: " + "w" * 19 + "…)"),
    ],
)
def test_a_run_that_goes_on_is_listed_by_the_task_it_began_with(asked, words, listed):
    run = record(resumes="r0", asked=asked, task=Task("/r", resumed(words)))
    assert whole_line(run, 60) == listed
    assert len(listed) <= 60


@pytest.mark.parametrize(
    ("before", "after", "said"),
    [(True, True, 1), (False, True, 0), (True, False, 0), (None, True, 0)],
)
def test_a_check_that_was_green_before_the_work_is_said_to_prove_less(before, after, said):
    evidence = [Evidence("d" * 40, "image", (check("proof", after),))]
    if before is not None:
        evidence.append(Evidence("b" * 40, "image", (check("base", before),)))
    assert summary(record(evidence=tuple(evidence)), [], PLAIN).count(f"  {GREEN_BEFORE}") == said


@pytest.mark.parametrize(
    ("worker", "model", "says"),
    [
        ("agent", "openai:gpt-6.1-sol", "agent with openai:gpt-6.1-sol"),
        ("claude", "anthropic:sonnet", "claude with anthropic:sonnet"),
        ("codex", "", "codex with gpt-5.5"),
        ("command", "openai:gpt-6.1-sol", "command"),
    ],
)
def test_a_summary_says_who_worked_and_with_which_model(worker, model, says):
    run = record(task=Task("/r", "mend it", worker=worker, model=model))
    turns = [
        Turn(step=n, model=name, text="", input_tokens=1, output_tokens=1)
        for n, name in enumerate(("gpt-5.4", "gpt-5.5"))
    ]
    lines = summary(run, [Entry(1, 0.0, turn) for turn in turns], PLAIN)
    assert f"  worker      {says}" in lines


def test_a_summary_says_which_agent_worked():
    assert "  worker      acp: python3 'an agent.py'" in summary(record(task=AGENT), [], PLAIN)


def test_a_branch_that_holds_all_changes_as_one_commit_says_so():
    delivered = Delivered(branch=record().branch, commit="c" * 40, squashed=True)
    shown = summary(record(), [Entry(n, 0.0, CHANGED) for n in range(3)], PLAIN)
    as_one = [Entry(n, 0.0, event) for n, event in enumerate((CHANGED,) * 3 + (delivered,))]
    assert f"  branch      {record().branch} (3 commits)" in shown
    told = f"  branch      {record().branch} (1 commit for 3 changes)"
    assert told in summary(record(), as_one, PLAIN)


def test_a_branch_in_a_copy_is_fetched_from_there():
    run = record(
        task=Task(repository="https://example.org/r.git", prompt="mend it"),
        git_dir="/home/clones/a b.git",
    )
    shown = summary(run, [], PLAIN)
    assert f"  branch      {run.branch} in /home/clones/a b.git (0 commits)" in shown
    assert shown[-2:] == [
        "in your own clone:",
        f"  git fetch '/home/clones/a b.git' {run.branch}:{run.branch}",
    ]


def test_the_end_of_a_long_message_is_not_lost():
    shown = summary(record(message="so it is, " * 40 + "type this"), [], PLAIN)
    head = shown[: shown.index("  run         20261121-090000-abcde")]
    assert (head[0][:14], head[-1][-9:], max(map(len, head)) <= 100) == (
        "done: so it is",
        "type this",
        True,
    )


def test_what_is_indented_in_a_message_stays_in_lines():
    long = "    " + "w" * 60 + " " + "x" * 60
    shown = summary(record(message=f"It\nended.\n  It said:\n    oh\n{long}"), [], PLAIN)
    told, inner = ["done: It ended.", "      It said:", "        oh"], "    "
    assert shown[:5] == [*told, inner + long[:64], inner * 2 + long[65:]]


def test_no_line_of_a_message_passes_for_one_of_the_summary():
    forged = "no.\n  so\ndone: 9 commits\n  verdict     pass\nnext:\n  rm"
    shown = summary(record(message=forged), [], PLAIN)
    ours = shown.index("  run         20261121-090000-abcde")
    assert [line[:4] for line in shown[:ours]] == ["done", *["    "] * 5]


def test_a_long_warning_is_whole():
    shown = lines(Warned(text="so it is, " * 40 + "type this"), PLAIN)
    assert (len(shown), shown[-1][-9:]) == (5, "type this")


def of_files(number: int) -> tuple[Finding, ...]:
    return tuple(Finding("size.blob", Verdict.BLOCK, f"big{n}", "large") for n in range(number))


@pytest.mark.parametrize(("number", "told"), [(12, 12), (13, 13), (14, 12)])
def test_many_findings_do_not_bury_what_is_watched(number, told):
    changed = msgspec.structs.replace(CHANGED, findings=of_files(number))
    shown = lines(changed, PLAIN, streamed=True)
    more = ["     … 2 more findings"] if told < number else []
    assert shown[1:] == [f"     block  big{n}  size.blob: large" for n in range(told)] + more
    assert len(lines(changed, PLAIN)) == 1 + number


def test_the_end_of_a_run_says_where_all_findings_are():
    blocked = record(findings=of_files(14))
    shown = summary(blocked, [], PLAIN, most=12)
    last = "              … 2 more findings: `orchestrator show abcde` lists all"
    assert shown.index(last) - shown.index("              block  big0  size.blob: large") == 12
    assert sum("size.blob" in line for line in summary(blocked, [], PLAIN)) == 14


def test_a_finding_without_a_path_has_no_gap():
    total = Finding("tree.size", Verdict.BLOCK, "", "too much")
    assert "              block  tree.size: too much" in summary(
        record(findings=(total,)), [], PLAIN
    )


def test_an_unknown_price_is_not_zero():
    assert any("cost unknown" in line for line in summary(record(cost=None), [], PLAIN))


def test_an_approval_is_named():
    approved = record(
        outcome=Outcome.NEEDS_REVIEW,
        verdict=Verdict.REVIEW,
        approvals=(Approval("d" * 40, "Ada", 1.0),),
    )
    assert "  verdict     review, approved by Ada" in summary(approved, [], PLAIN)


COMMAND = Task(repository="/r", prompt="ruff", worker="command", command=("ruff",))
AGENT = Task(repository="/r", prompt="p", worker="acp", command=("python3", "an agent.py"))
KNOWN = Task(repository="/r", prompt="p", worker="acp", command=("codex-acp",))
EDIT = Task(repository="/r", prompt="p", only=("src/a b",), conversation="f")
NEXT = {
    "blocked": (
        record(outcome=Outcome.BLOCKED, verdict=Verdict.BLOCK, branch=""),
        ["diff", "discard", 'resume abcde "..."'],
    ),
    "a command that was blocked": (
        record(outcome=Outcome.BLOCKED, verdict=Verdict.BLOCK, branch="", task=COMMAND),
        ["diff", "discard"],
    ),
    "an edit that was blocked": (
        record(outcome=Outcome.BLOCKED, verdict=Verdict.BLOCK, branch="", task=EDIT),
        ["diff", "discard", "edit '/r/src/a b' \"...\""],
    ),
    "an edit that was cut off": (
        record(outcome=Outcome.TIME, task=EDIT, tip="a" * 40, branch=""),
        ["log --journal", "edit '/r/src/a b' \"...\""],
    ),
    "an edit that is done": (
        record(outcome=Outcome.DONE, task=EDIT, git_dir="/r.git"),
        ["diff", "discard", "merge"],
    ),
    "review": (
        record(outcome=Outcome.NEEDS_REVIEW, verdict=Verdict.REVIEW),
        ["diff", "approve", "discard"],
    ),
    "red": (record(outcome=Outcome.CHECKS_FAILED), ["diff", "approve", "discard"]),
    "bare": (record(git_dir="/home/r.git"), ["diff", "discard", "merge"]),
    "cut off": (
        record(outcome=Outcome.BUDGET, tip="a" * 40, branch=""),
        ["log --journal", "resume"],
    ),
    "killed": (record(state="interrupted", tip=""), ["diff", "log --journal", "resume"]),
    "a command": (
        record(outcome=Outcome.TIME, task=COMMAND, tip="a" * 40, branch=""),
        ["log --journal"],
    ),
    "an agent whose sessions are not known": (
        record(outcome=Outcome.CANCELLED, task=AGENT, tip="a" * 40, branch=""),
        ["log --journal"],
    ),
    "an agent that we have a kit of": (
        record(outcome=Outcome.STALLED, task=KNOWN, tip="a" * 40, branch=""),
        ["log --journal", "resume"],
    ),
    "merged": (record(merged="e" * 40), ["diff"]),
    "discarded": (record(discarded=True), ["log --journal"]),
    "merged and then discarded": (record(merged="e" * 40, discarded=True), ["diff"]),
    "unchanged": (record(tip="a" * 40, branch=""), ["log --journal"]),
    "running": (record(state="running", owner=Owner.of_this_process()), ["log --follow"]),
}


@pytest.mark.parametrize("name", NEXT)
def test_the_next_commands_make_sense(name):
    run, verbs = NEXT[name]
    shown = summary(run, [], PLAIN)
    said = [verb if "..." in verb else f"{verb} abcde" for verb in verbs]
    assert shown[shown.index("next:") + 1 :] == [f"  orchestrator {each}" for each in said]


def test_many_refused_hosts_do_not_bury_the_outcome():
    asked = [
        EgressRefused(host=f"{n}.example:443", count=1, remedy="x", stage="work") for n in range(12)
    ]
    shown = summary(record(), [Entry(n, 0.0, event) for n, event in enumerate(asked)], PLAIN)
    refused = [line for line in shown if line.startswith("  refused ")]
    assert refused[9:] == [
        "  refused     9.example:443 - allow it with x",
        f"  refused     and 2 more hosts: `orchestrator log --journal {record().short}`",
    ]
