"""How flags meet a repository's settings, and the defaults, in a task."""

import pytest

from orchestrator import planning, settings
from orchestrator.errors import UsageError
from orchestrator.planning import Flags, Planned
from orchestrator.settings import Settings
from orchestrator.task import Limits, Network, Task
from sandbox.gateway.hosts import BUNDLES
from sandbox.limits import Limits as BoxLimits
from tests.orchestrator.test_settings import DB, WHOLE

BOX = BoxLimits(
    memory=8 << 30,
    cpus=4,
    pids=2048,
    file_size=2 << 30,
    disk=30 << 30,
    tmp_size=512 << 20,
    workspace="memory",
)
CORP = {"corp": "https://nexus.example.org/simple/"}


def test_defaults_alone_make_a_task():
    assert planning.task("repo", "mend it", Settings()) == Planned(
        Task(repository="repo", prompt="mend it")
    )


def test_the_file_fills_what_flags_leave_open():
    planned = planning.task("repo", "mend it", settings.read(WHOLE), Flags(base="main"))
    assert planned.task == Task(
        repository="repo",
        prompt="mend it",
        base="main",
        model="anthropic:claude-sonnet-4-5",
        image="python:3.12",
        runtime="runsc",
        setup=("pip install -e .",),
        setup_network=True,
        network=Network(("pypi", "api.example.org:8443"), ("npm",), CORP),
        checks=("pytest -q", "ruff check ."),
        limits=Limits(turns=40, cost=1.5, seconds=900, input_tokens=250_000),
        box=BOX,
        services=(DB,),
    )


def test_flags_win_over_the_file():
    flags = Flags(
        model="openai:gpt-5",
        image="other",
        runtime="kata",
        setup=("true",),
        setup_network=False,
        allow=("npm",),
        private_hosts=("Nexus.Example.org",),
        checks=("make test",),
        turns=3,
        cost=0.5,
        seconds=60,
        input_tokens=9,
    )
    assert planning.task("repo", "mend it", settings.read(WHOLE), flags).task == Task(
        repository="repo",
        prompt="mend it",
        model="openai:gpt-5",
        image="other",
        runtime="kata",
        setup=("true",),
        network=Network(("npm",), (), CORP, ("nexus.example.org",)),
        checks=("make test",),
        limits=Limits(turns=3, cost=0.5, seconds=60, input_tokens=9),
        box=BOX,
        services=(DB,),
    )


def test_a_check_that_is_named_twice_runs_once():
    flags = Flags(checks=("b", "a", "b"))
    assert planning.task("repo", "mend it", Settings(), flags).task.checks == ("b", "a")


def test_more_turns_than_any_run_takes_are_clamped_with_a_warning():
    planned = planning.task("repo", "mend it", Settings(), Flags(turns=51))
    assert (planned.task.limits.turns, planned.warnings) == (
        50,
        ("51 turns were asked for; no run takes more than 50.",),
    )


@pytest.mark.parametrize("flags", [Flags(worker="claude"), Flags(delegates=("claude",))])
def test_more_turns_of_a_delegate_than_any_run_takes_are_told(flags):
    said = settings.read(b"[delegates.claude]\nmax_turns = 500\n[delegates.codex]\nmax_turns = 500")
    assert planning.task(".", "mend", said, flags).warnings == (
        "delegates.claude.max_turns is 500; no run takes more than 50.",
    )


def test_fifty_turns_are_not_worth_a_warning():
    assert planning.task("repo", "mend it", Settings(), Flags(turns=50)).warnings == ()


def test_a_long_run_gets_a_container_that_outlives_it():
    planned = planning.task("repo", "mend it", Settings(), Flags(seconds=86_400))
    assert planned.task.box.seconds == 90_000


def test_a_command_makes_the_command_worker_and_its_own_prompt():
    planned = planning.task("repo", "", Settings(), Flags(command=("ruff", "check", "a b")))
    assert (planned.task.worker, planned.task.prompt) == ("command", "ruff check 'a b'")


@pytest.mark.parametrize(
    ("prompt", "flags", "says"),
    [
        (
            " \n",
            Flags(),
            "The task is empty: say in a sentence what should change,"
            " or send one to standard input, with `-`.",
        ),
        (
            "x",
            Flags(worker="command"),
            "The command worker needs a command: put it after `--`, or name one of"
            " .orchestrator.toml with --use.",
        ),
        (
            "x",
            Flags(worker="agent", command=("true",)),
            "The agent takes no command: say `--worker command`, or drop what is after `--`.",
        ),
        (
            "x",
            Flags(worker="acp"),
            'An agent needs a command, such as --command "codex-acp", or `command` in the table'
            " [delegates.acp].",
        ),
        (
            "x",
            Flags(worker="acp", agent="it's"),
            '--command: "it\'s" cannot be split into words: No closing quotation.',
        ),
        (
            "x",
            Flags(worker="acp", agent="a", command=("b",)),
            "The agent has two commands: drop --command, or what is after `--`.",
        ),
        (
            "x",
            Flags(worker="agent", agent="codex-acp"),
            "--command names an agent for `--worker acp`, not for 'agent': a command to run is put"
            " after `--`.",
        ),
        (
            " ",
            Flags(worker="acp", agent="codex-acp"),
            "The task is empty: say in a sentence what should change,"
            " or send one to standard input, with `-`.",
        ),
        ("x", Flags(turns=0), "--max-turns must be at least 1, not 0."),
        ("x", Flags(input_tokens=-1), "--max-input-tokens must be at least 1, not -1."),
        ("x", Flags(cost=0), "--max-cost must be more than 0 dollars, not 0."),
        ("x", Flags(seconds=float("inf")), "--max-seconds must be between 1 and 604800, not inf."),
        ("x", Flags(model=":m"), "Model must be written as provider:name, not ':m'."),
        ("x", Flags(checks=("",)), "A set-up or check command is empty, leave it out."),
    ],
)
def test_a_request_that_makes_no_sense_is_refused(prompt, flags, says):
    with pytest.raises(UsageError) as error:
        planning.task("repo", prompt, Settings(), flags)
    assert str(error.value) == says


def test_a_map_is_asked_for_by_file_or_flag():
    file = settings.read(b"[agent]\nmap_tokens = 500\n")
    asked = [planning.task("/r", "mend", file, Flags(map_tokens=n)) for n in (None, 0, 9)]
    assert [planned.task.map_tokens for planned in asked] == [500, 0, 9]


def test_a_map_is_for_our_own_agent():
    file = settings.read(b"[agent]\nmap_tokens = 500\n")
    asked = planning.task("/r", "mend", file, Flags(worker="claude", map_tokens=9))
    assert (asked.task.map_tokens, asked.warnings) == (
        0,
        ("a map is for our own agent: --map-tokens has no effect with --worker claude.",),
    )
    for unasked in (Flags(worker="codex"), Flags(command=("true",), map_tokens=0)):
        planned = planning.task("/r", "mend", file, unasked)
        assert (planned.task.map_tokens, planned.warnings) == (0, ())


@pytest.mark.parametrize(
    ("said", "flags", "delegates"),
    [
        ("", Flags(), ()),
        ('["claude"]', Flags(), ("claude",)),
        ('["claude"]', Flags(delegates=("codex", "claude", "codex")), ("codex", "claude")),
        ('["claude"]', Flags(delegates=("none",)), ()),
        ('["claude"]', Flags(worker="codex"), ()),
    ],
)
def test_to_whom_the_agent_may_delegate(said, flags, delegates):
    file = settings.read(f"[agent]\ndelegates = {said}\n".encode() if said else b"")
    assert planning.task("/r", "mend", file, flags).task.delegates == delegates


def test_only_our_own_agent_delegates():
    asked = Flags(worker="codex", delegates=("claude",))
    told = ("only our own agent delegates: --delegate has no effect with --worker codex.",)
    assert planning.task("/r", "mend", Settings(), asked).warnings == told
    unasked = Flags(worker="codex", delegates=("none",))
    assert planning.task("/r", "mend", Settings(), unasked).warnings == ()


def test_setup_with_network_reaches_every_bundle_where_nothing_is_said():
    planned = planning.task("repo", "mend it", Settings(), Flags(setup_network=True))
    assert planned.task.network == Network(setup=tuple(BUNDLES))


@pytest.mark.parametrize("flags", [Flags(allow=("a b",)), Flags(private_hosts=("10.0.0.0/8",))])
def test_a_flag_that_is_no_host_is_refused(flags):
    with pytest.raises(UsageError, match="host"):
        planning.task("repo", "mend it", Settings(), flags)


def test_delegates_are_lent_our_tools_unless_the_file_says_no():
    asked = [settings.read(said) for said in (b"", b"[delegates]\ntools = false\n")]
    assert [planning.task("/r", "mend", each).task.lend for each in asked] == [True, False]


@pytest.mark.parametrize(
    ("flags", "words"),
    [
        (Flags(worker="acp"), ("my-agent", "--acp")),
        (Flags(worker="acp", agent="other 'a b' {prompt}"), ("other", "a b", "{prompt}")),
        (
            Flags(worker="acp", command=("codex-acp", "-c", "a={b=1}")),
            ("codex-acp", "-c", "a={b=1}"),
        ),
    ],
)
def test_an_agent_is_what_a_flag_or_else_the_file_says(flags, words):
    said = settings.read(b'[delegates.acp]\ncommand = "my-agent --acp"\n')
    assert planning.task("repo", "x", said, flags).task.command == words


@pytest.mark.parametrize(
    ("flags", "timed"),
    [
        (Flags(use="slow"), (2.0, "commands.slow.timeout")),
        (Flags(use="slow", seconds=9.0), (9.0, "")),
        (Flags(use="slower"), (60.0, "")),
        (Flags(worker="claude"), (30.0, "delegates.claude.timeout")),
        (Flags(worker="claude", seconds=9.0), (9.0, "")),
        (Flags(worker="codex"), (60.0, "")),
        (Flags(), (60.0, "")),
    ],
)
def test_what_sets_the_time_is_known(flags, timed):
    said = settings.read(
        b"limits.seconds = 60\ndelegates.claude.timeout = 30\ndelegates.codex.timeout = 90\n"
        b"[commands.slow]\ncommand = ['sleep', '9']\ntimeout = 2\n"
        b"[commands.slower]\ncommand = ['sleep', '9']\ntimeout = 600\n"
    )
    made = planning.task(".", "mend", said, flags).task
    assert (made.limits.seconds, made.timed_by) == timed
