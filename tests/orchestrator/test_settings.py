"""The policy file as its writer meets it, a key at a time."""

from pathlib import Path

import pytest

from orchestrator import machine, planning, settings
from orchestrator.beside import Beside
from orchestrator.errors import SettingsError, UsageError
from orchestrator.machine import SandboxSettings
from orchestrator.network import IndexSettings, NetworkSettings
from orchestrator.planning import Flags
from orchestrator.settings import Policy, Settings
from orchestrator.task import Limits
from sandbox.companion import Companion

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
    assert planning.task(".", "x", settings.read(said.encode())).task.history == depth


@pytest.mark.parametrize("said", ["history = 0", 'history = "some"', "history = 100001"])
def test_any_other_history_is_refused(said):
    with pytest.raises(SettingsError, match="history"):
        settings.read(said.encode())


def test_no_other_program_can_be_delegated_to():
    with pytest.raises(SettingsError, match="delegates"):
        settings.read(b'[agent]\ndelegates = ["gemini"]\n')
    with pytest.raises(UsageError, match="allows no other"):
        planning.task("/r", "mend", Settings(), Flags(delegates=("none", "claude")))


@pytest.mark.parametrize("said", ["-1", "32769", '"many"'])
def test_a_map_of_any_other_size_is_refused(said):
    with pytest.raises(SettingsError, match="map_tokens"):
        settings.read(f"[agent]\nmap_tokens = {said}\n".encode())


def test_set_up_inputs_are_globs():
    read = settings.read(b'setup_inputs = ["*.list"]')
    assert planning.task(".", "x", read).task.setup_inputs == ("*.list",)
    with pytest.raises(SettingsError, match="a glob must not be empty"):
        settings.read(b'setup_inputs = [""]')


@pytest.mark.parametrize("command", ["   ", "it's", "''"])
def test_an_agent_that_cannot_be_started_is_refused_with_the_file(command):
    with pytest.raises(SettingsError, match=r"delegates\.acp"):
        settings.read(f'[delegates.acp]\ncommand = "{command}"\n'.encode())
