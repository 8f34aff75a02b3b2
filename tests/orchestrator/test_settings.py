"""The policy file as its writer meets it, and how flags meet it."""

from pathlib import Path

import pytest

from orchestrator import machine, settings
from orchestrator.beside import Beside
from orchestrator.errors import SettingsError, UsageError
from orchestrator.machine import SandboxSettings
from orchestrator.network import IndexSettings, NetworkSettings
from orchestrator.settings import (
    Flags,
    Planned,
    Policy,
    Settings,
)
from orchestrator.task import Limits, Network, Task
from sandbox.companion import Companion
from sandbox.gateway.hosts import BUNDLES
from sandbox.limits import Limits as BoxLimits

BOX = BoxLimits(
    memory=8 << 30,
    cpus=4,
    pids=2048,
    file_size=2 << 30,
    disk=30 << 30,
    tmp_size=512 << 20,
    workspace="memory",
)
WHOLE = b"""
image = "python:3.12"
setup = ["pip install -e ."]
checks = ["pytest -q", "ruff check ."]
setup_network = true
model = "anthropic:claude-sonnet-4-5"

[limits]
turns = 40
cost = 1.5
seconds = 900
input_tokens = 250000

[sandbox]
memory = "8g"
cpus = 4
pids = 2048
file_size = "2g"
disk = "30g"
tmp = "512m"
workspace = "memory"
runtime = "runsc"

[network]
allow = ["pypi", "api.example.org:8443"]
setup = ["npm"]

[network.indexes.corp]
url = "https://nexus.example.org/simple/"

[guardrails]
protected = ["infra/**"]
review = ["*.sql"]
allow = ["AGENTS.md"]
made_up_secrets = ["tests/fixtures/**"]
max_files = 10
max_lines = 400
max_blob_bytes = 65536

[services.db]
image = "postgres:17"
env = {POSTGRES_PASSWORD = "test"}
command = ["postgres", "-c", "fsync=off"]
ready = "pg_isready -h 127.0.0.1"
port = 5432
user = "postgres"
memory = "512m"
seconds = 90
"""
DB = Companion(
    name="db",
    image="postgres:17",
    env={"POSTGRES_PASSWORD": "test"},
    command=("postgres", "-c", "fsync=off"),
    ready="pg_isready -h 127.0.0.1",
    port=5432,
    user="postgres",
    memory=512 << 20,
    seconds=90.0,
)


CORP = {"corp": "https://nexus.example.org/simple/"}


def test_a_base_without_the_file_gives_the_defaults():
    assert settings.read(None) == Settings()


def test_an_empty_file_gives_the_defaults():
    assert settings.read(b"") == Settings()


def test_every_key_is_read():
    assert settings.read(WHOLE) == Settings(
        image="python:3.12",
        setup=("pip install -e .",),
        checks=("pytest -q", "ruff check ."),
        setup_network=True,
        model="anthropic:claude-sonnet-4-5",
        limits=Limits(turns=40, cost=1.5, seconds=900, input_tokens=250_000),
        sandbox=SandboxSettings("8g", 4, 2048, "2g", "30g", "512m", "memory", "runsc"),
        network=NetworkSettings(
            allow=("pypi", "api.example.org:8443"),
            setup=("npm",),
            indexes={"corp": IndexSettings(url="https://nexus.example.org/simple/")},
        ),
        guardrails=Policy(
            protected=("infra/**",),
            review=("*.sql",),
            allow=("AGENTS.md",),
            made_up_secrets=("tests/fixtures/**",),
            max_files=10,
            max_lines=400,
            max_blob_bytes=65_536,
        ),
        services={
            "db": Beside(
                image="postgres:17",
                env={"POSTGRES_PASSWORD": "test"},
                command=("postgres", "-c", "fsync=off"),
                ready="pg_isready -h 127.0.0.1",
                port=5432,
                user="postgres",
                memory="512m",
                seconds=90.0,
            )
        },
    )


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (b"imag = 1", "there is no setting 'imag' (nearest: image)"),
        (b"[limits]\nturn = 3", "there is no setting 'limits.turn' (nearest: turns)"),
        (
            b"[sandbox]\nzz = 1",
            "there is no setting 'sandbox.zz' (known: memory, cpus, pids, "
            "file_size, disk, tmp, workspace, runtime)",
        ),
        (b"setup = 'make'", "setup: expected a list, got a string"),
        (b"[limits]\nturns = true", "limits.turns: expected an integer, got true or false"),
        (b"image = {a = 1}", "image: expected a string, got a table"),
        (b"limits = 3", "limits: expected a table, got an integer"),
        (b"[limits]\nturns = 0", "limits.turns must be at least 1, not 0"),
        (b"[limits]\ncost = inf", "limits.cost must be more than 0 dollars, not inf"),
        (b"[limits]\nseconds = nan", "limits.seconds must be between 1 and 604800, not nan"),
        (b"model = 'opus'", "model must be written as provider:name, not 'opus'"),
        (b"checks = [' ']", "a set-up or check command is empty, leave it out"),
        (
            b"[sandbox]\nmemory = '4x'",
            'sandbox: \'4x\' is not a size: write it like "512m" or "4g"',
        ),
        (
            b"[sandbox]\nmemory = '1m'",
            'sandbox: memory must be between "64m" and "1024g"',
        ),
        (b"[sandbox]\ndisk = '0'", 'sandbox: disk must be between "64m" and "1024g"'),
        (b"[sandbox]\nfile_size = '2000g'", 'sandbox: file_size must be between "64m" and "1024g"'),
        (b"[sandbox]\ntmp = '1k'", 'sandbox: tmp must be between "1m" and "1024g"'),
        (b"[sandbox]\ncpus = 0", "sandbox: cpus must be between 0.1 and 1024"),
        (b"[sandbox]\npids = 1", "sandbox: pids must be between 16 and 4194304"),
        (
            b"[network]\nallow = ['https://a.b']",
            "network: 'https://a.b' is neither a host such as example.org or example.org:8443 nor"
            " one of the bundles pypi, npm, debian, crates, go, rubygems, maven, github",
        ),
        (
            b"[network]\nsetup = ['pipy']",
            "network: 'pipy' is none of the bundles: did you mean pypi? A host of that name is"
            " written with its port: pipy:443",
        ),
        (
            b"[network.indexes.a]\nurl = 'ftp://b'",
            "network: the index a needs a url that begins with https://",
        ),
        (b"[guardrails]\nmax_files = 0", "guardrails: max_files must be at least 1"),
        (b"[guardrails]\nprotected = ['/']", "guardrails: a glob must not be empty"),
        *(
            (
                f"[guardrails]\nprotected = ['{glob}']".encode(),
                f"guardrails: '{glob}' fits no path: leave out what is ., .. or empty in it",
            )
            for glob in ("./infra/**", "../x", "infra//x", "a/./b")
        ),
        (
            b"[guardrails]\nreview = ['!a']",
            "guardrails: '!a': exceptions are written in allow, without the !",
        ),
        (
            b"[services.db]\nimage = 'a'\nredy = 'x'",
            "there is no setting 'services.db.redy' (nearest: ready)",
        ),
        (
            b"[services.db]\nimage = 'a'",
            "services.db: say ready or port, to know when it can be used",
        ),
        (b"[services.db]\nimage = ''\nport = 1", "services.db: image must not be empty"),
        (
            b"[services.db]\nimage = 'a'\nport = 65536",
            "services.db: port must be between 1 and 65535, not 65536",
        ),
        (
            b"[services.db]\nimage = 'a'\nport = 13128",
            "services.db: port 13128 is taken by the sandbox's way out: choose another",
        ),
        (
            b"[services.db]\nimage = 'a'\nport = 1\nmemory = 'x'",
            'services.db: \'x\' is not a size: write it like "512m" or "4g"',
        ),
        (
            b"[services.db]\nimage = 'a'\nport = 1\nmemory = '1m'",
            'services.db: memory must be at least "16m"',
        ),
        (
            b"[services.db]\nimage = 'a'\nport = 1\nseconds = 0",
            "services.db: seconds must be between 1 and 600, not 0",
        ),
        (
            b"[services.db]\nimage = 'a'\nport = 1\nenv = {'A-B' = 'x'}",
            "services.db: env: 'A-B' is not the name of a variable",
        ),
        (
            b"[services.a]\nimage = 'a'\nport = 1\n[services.b]\nimage = 'b'\nport = 1",
            "services: two of them have the same port, and all share one 127.0.0.1",
        ),
        (
            b"[services.DB]\nimage = 'a'\nport = 1",
            "services.DB: a name is lower case letters, digits and -, at most 31",
        ),
        (b"checks = 'a'", "checks: expected a list, got a string"),
        (
            b"[commands.b]\ncommand = ['x']\n[commands.a]\ncommand = 'x'",
            "commands.a.command: expected a list, got a string",
        ),
        (b"[commands.a]\ndescription = 'x'", "commands.a: there has to be a setting 'command'"),
        (
            b"[commands.a]\ncommand = ['x']\ntimeout = 'x'",
            "commands.a.timeout: expected a number, got a string",
        ),
        (
            b"[commands.a]\ncommand = ['x']\n[commands.a.args.p]\ntype = 'path'",
            "commands.a.args.p.type: there is no value 'path'"
            " (known: 'str', 'int', 'float', 'bool')",
        ),
        (
            b"[agent]\ndelegates = ['claude', 'x']",
            "agent.delegates[1]: there is no value 'x' (known: 'claude', 'codex')",
        ),
        (b"history = 'x'", "history: there is no value 'x' (known: an integer, 'all')"),
        (b"image = 'a'\n\nb = [", "this is not valid TOML: Invalid value (at line 3)"),
        (b"image = 'a'\nb = \xff", "line 2 is not UTF-8, save the file as UTF-8"),
        (b"a = " + b"[" * 30_000, "values are nested too deeply, flatten them"),
        (b"#" * 70_000, "the file is larger than 64 KiB, shorten it"),
    ],
)
def test_a_wrong_file_is_refused_in_one_sentence(text, says):
    with pytest.raises(SettingsError) as error:
        settings.read(text)
    assert str(error.value) == f".orchestrator.toml: {says}."


def test_defaults_alone_make_a_task():
    assert settings.task("repo", "mend it", Settings()) == Planned(
        Task(repository="repo", prompt="mend it")
    )


def test_the_file_fills_what_flags_leave_open():
    planned = settings.task("repo", "mend it", settings.read(WHOLE), Flags(base="main"))
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
    assert settings.task("repo", "mend it", settings.read(WHOLE), flags).task == Task(
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
    assert settings.task("repo", "mend it", Settings(), flags).task.checks == ("b", "a")


def test_more_turns_than_any_run_takes_are_clamped_with_a_warning():
    planned = settings.task("repo", "mend it", Settings(), Flags(turns=51))
    assert (planned.task.limits.turns, planned.warnings) == (
        50,
        ("51 turns were asked for; no run takes more than 50.",),
    )


@pytest.mark.parametrize("flags", [Flags(worker="claude"), Flags(delegates=("claude",))])
def test_more_turns_of_a_delegate_than_any_run_takes_are_told(flags):
    said = settings.read(b"[delegates.claude]\nmax_turns = 500\n[delegates.codex]\nmax_turns = 500")
    assert settings.task(".", "mend", said, flags).warnings == (
        "delegates.claude.max_turns is 500; no run takes more than 50.",
    )


def test_fifty_turns_are_not_worth_a_warning():
    assert settings.task("repo", "mend it", Settings(), Flags(turns=50)).warnings == ()


def test_a_long_run_gets_a_container_that_outlives_it():
    planned = settings.task("repo", "mend it", Settings(), Flags(seconds=86_400))
    assert planned.task.box.seconds == 90_000


def test_a_command_makes_the_command_worker_and_its_own_prompt():
    planned = settings.task("repo", "", Settings(), Flags(command=("ruff", "check", "a b")))
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
        ("x", Flags(model=":m"), "model must be written as provider:name, not ':m'."),
        ("x", Flags(checks=("",)), "a set-up or check command is empty, leave it out."),
    ],
)
def test_a_request_that_makes_no_sense_is_refused(prompt, flags, says):
    with pytest.raises(UsageError) as error:
        settings.task("repo", prompt, Settings(), flags)
    assert str(error.value) == says


@pytest.mark.parametrize(
    ("text", "expected"),
    [("512", 512), ("1k", 1024), ("512m", 512 << 20), ("4G", 4 << 30), ("4 GiB", 4 << 30)],
)
def test_sizes_are_read_as_docker_reads_them(text, expected):
    assert machine.size(text) == expected


@pytest.mark.parametrize("text", ["", "g", "-1g", "1.5g", "4t", "1e9", "٣g"])
def test_what_is_no_size_is_refused(text):
    with pytest.raises(ValueError, match="is not a size"):
        machine.size(text)


def test_the_documented_example_is_a_valid_policy_file():
    page = (Path(__file__).parents[2] / "docs" / "policy.md").read_text()
    example = page.partition("```toml\n")[2].partition("```")[0]
    assert settings.read(example.encode()).checks == ("pytest -q", "ruff check .")


@pytest.mark.parametrize(
    ("said", "depth"), [("", 50), ("history = 1", 1), ('history = "all"', None)]
)
def test_history_is_a_depth_or_all_of_it(said, depth):
    assert settings.task(".", "x", settings.read(said.encode())).task.history == depth


@pytest.mark.parametrize("said", ["history = 0", 'history = "some"', "history = 100001"])
def test_any_other_history_is_refused(said):
    with pytest.raises(SettingsError, match="history"):
        settings.read(said.encode())


def test_a_map_is_asked_for_by_file_or_flag():
    file = settings.read(b"[agent]\nmap_tokens = 500\n")
    asked = [settings.task("/r", "mend", file, Flags(map_tokens=n)) for n in (None, 0, 9)]
    assert [planned.task.map_tokens for planned in asked] == [500, 0, 9]


def test_a_map_is_for_our_own_agent():
    file = settings.read(b"[agent]\nmap_tokens = 500\n")
    asked = settings.task("/r", "mend", file, Flags(worker="claude", map_tokens=9))
    assert (asked.task.map_tokens, asked.warnings) == (
        0,
        ("a map is for our own agent: --map-tokens has no effect with --worker claude.",),
    )
    for unasked in (Flags(worker="codex"), Flags(command=("true",), map_tokens=0)):
        planned = settings.task("/r", "mend", file, unasked)
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
    assert settings.task("/r", "mend", file, flags).task.delegates == delegates


def test_only_our_own_agent_delegates():
    asked = Flags(worker="codex", delegates=("claude",))
    told = ("only our own agent delegates: --delegate has no effect with --worker codex.",)
    assert settings.task("/r", "mend", Settings(), asked).warnings == told
    unasked = Flags(worker="codex", delegates=("none",))
    assert settings.task("/r", "mend", Settings(), unasked).warnings == ()


def test_no_other_program_can_be_delegated_to():
    with pytest.raises(SettingsError, match="delegates"):
        settings.read(b'[agent]\ndelegates = ["gemini"]\n')
    with pytest.raises(UsageError, match="allows no other"):
        settings.task("/r", "mend", Settings(), Flags(delegates=("none", "claude")))


@pytest.mark.parametrize("said", ["-1", "32769", '"many"'])
def test_a_map_of_any_other_size_is_refused(said):
    with pytest.raises(SettingsError, match="map_tokens"):
        settings.read(f"[agent]\nmap_tokens = {said}\n".encode())


def test_set_up_inputs_are_globs():
    read = settings.read(b'setup_inputs = ["*.list"]')
    assert settings.task(".", "x", read).task.setup_inputs == ("*.list",)
    with pytest.raises(SettingsError, match="a glob must not be empty"):
        settings.read(b'setup_inputs = [""]')


def test_setup_with_network_reaches_every_bundle_where_nothing_is_said():
    planned = settings.task("repo", "mend it", Settings(), Flags(setup_network=True))
    assert planned.task.network == Network(setup=tuple(BUNDLES))


@pytest.mark.parametrize("flags", [Flags(allow=("a b",)), Flags(private_hosts=("10.0.0.0/8",))])
def test_a_flag_that_is_no_host_is_refused(flags):
    with pytest.raises(UsageError, match="host"):
        settings.task("repo", "mend it", Settings(), flags)


def test_delegates_are_lent_our_tools_unless_the_file_says_no():
    asked = [settings.read(said) for said in (b"", b"[delegates]\ntools = false\n")]
    assert [settings.task("/r", "mend", each).task.lend for each in asked] == [True, False]


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
    assert settings.task("repo", "x", said, flags).task.command == words


@pytest.mark.parametrize("command", ["   ", "it's", "''"])
def test_an_agent_that_cannot_be_started_is_refused_with_the_file(command):
    with pytest.raises(SettingsError, match=r"delegates\.acp"):
        settings.read(f'[delegates.acp]\ncommand = "{command}"\n'.encode())


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
    made = settings.task(".", "mend", said, flags).task
    assert (made.limits.seconds, made.timed_by) == timed
