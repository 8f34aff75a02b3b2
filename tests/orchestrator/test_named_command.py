"""Commands with arguments, in the settings and after `--`."""

import pytest

from orchestrator import planning, settings
from orchestrator.errors import SettingsError, UsageError
from orchestrator.named_command import Argument, CommandSettings
from orchestrator.planning import Flags

FIX = """
[commands.fix]
command = ["tool", "--level={level}", "{path}", "{only}", "--note", "{note}{{}}", "--", "{rest}"]
description = "Mends what it finds"
timeout = 60

[commands.fix.args.path]
description = "the folder to mend"

[commands.fix.args.level]
type = "int"
optional = true

[commands.fix.args.note]
default = ""

[commands.fix.args.rest]
optional = true
"""
TASK = '[commands.tell]\ncommand = ["tool", "-m", "{prompt}", "--base={base}", "{only}"]'


def words(text: str, *arguments: str, prompt: str = "", use: str = "fix", **more: object):
    flags = Flags(use=use, arguments=arguments, **more)
    return planning.task(".", prompt, settings.read(text.encode()), flags, "c0ffee").task.command


def plain(*command: str, prompt: str = "mend it", only: tuple[str, ...] = ()):
    flags = Flags(command=command, only=only)
    return planning.task(".", prompt, settings.Settings(), flags, "c0ffee").task.command


def test_every_key_is_read():
    assert settings.read(FIX.encode()).commands == {
        "fix": CommandSettings(
            ("tool", "--level={level}", "{path}", "{only}", "--note", "{note}{{}}", "--", "{rest}"),
            "Mends what it finds",
            60,
            {
                "path": Argument(description="the folder to mend"),
                "level": Argument(type="int", optional=True),
                "note": Argument(default=""),
                "rest": Argument(optional=True),
            },
        )
    }


def test_what_is_missing_and_optional_takes_its_element_along():
    assert words(FIX, "path=src") == ("tool", "src", "--note", "{}", "--")


def test_each_value_is_one_argument_and_never_looked_at_again():
    said = ("path=a b;{level} $(x)", "level=-3", "note={path}", "rest=--force")
    assert words(FIX, *said) == (
        "tool",
        "--level=-3",
        "a b;{level} $(x)",
        "--note",
        "{path}{}",
        "--",
        "--force",
    )


def test_an_element_with_only_stands_for_each_path():
    assert words(FIX, "path=.", only=("a/b", "./c"))[1:4] == (".", "a/b", "c")


def test_every_command_can_have_the_task_and_the_base():
    said = words(TASK, prompt="  mend {base}\nnow", use="tell")
    assert said == ("tool", "-m", "mend {base}\nnow", "--base=c0ffee")


def test_the_task_of_a_run_without_one_is_the_command():
    flags = Flags(use="fix", arguments=("path=a b",))
    task = planning.task(".", "", settings.read(FIX.encode()), flags).task
    assert (task.prompt, task.worker) == ("tool 'a b' --note '{}' --", "command")


@pytest.mark.parametrize(("flag", "seconds"), [(None, 60), (900.0, 900)])
def test_a_commands_time_is_its_own_unless_a_flag_says_otherwise(flag, seconds):
    flags = Flags(use="fix", arguments=("path=a",), seconds=flag)
    assert planning.task(".", "", settings.read(FIX.encode()), flags).task.limits.seconds == seconds


@pytest.mark.parametrize(
    ("type_", "said"),
    [
        ("int", "+3"),
        ("int", "0"),
        ("float", "1e-3"),
        ("float", ".5"),
        ("float", "2"),
        ("bool", "true"),
    ],
)
def test_a_value_of_its_type_stays_as_it_was_written(type_, said):
    table = f'[commands.x]\ncommand = ["t", "--n={{n}}"]\nargs.n = {{type = "{type_}"}}'
    assert words(table, f"n={said}", use="x") == ("t", f"--n={said}")


@pytest.mark.parametrize(
    ("type_", "default", "word"),
    [("int", "3", "3"), ("float", "3", "3"), ("float", "0.5", "0.5"), ("bool", "true", "true")],
)
def test_a_default_is_written_as_in_toml(type_, default, word):
    argument = f'{{type = "{type_}", default = {default}}}'
    assert words(f'[commands.x]\ncommand = ["t", "{{n}}"]\nargs.n = {argument}', use="x")[1] == word


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ((), "The command fix: an argument is missing: --arg path=VALUE (the folder to mend)"),
        (
            ("path=a", "levle=1"),
            "The command fix: there is no argument 'levle' (known: path, level",
        ),
        (("path=a", "prompt=1"), "The command fix: there is no argument 'prompt'"),
        (("path=a", "path=b"), "The command fix: the argument 'path' is said twice"),
        (("path",), "The command fix: 'path': an argument is written as NAME=VALUE"),
        (("path=a", "level=x"), "the argument 'level' has to be an integer, not x"),
        (("path=a", "level=1_0"), "the argument 'level' has to be an integer, not 1_0"),
        (("path=a", "level=٣"), "the argument 'level' has to be an integer"),
        (("path=a", "level=1\n"), "the argument 'level' has to be an integer"),
        (
            ("path=-rf",),
            "'-rf' in the place of {path} would be an option: put an element -- before",
        ),
        (("path=a\0",), "'a\\x00' in the place of {path} has a NUL character in it"),
        ((f"path={'a' * 131072}",), "what stands in the place of {path} is longer than 128 KiB"),
    ],
)
def test_a_wrong_argument_is_one_sentence(arguments, says):
    with pytest.raises(UsageError) as error:
        words(FIX, *arguments)
    assert says in str(error.value)


@pytest.mark.parametrize(
    ("flags", "says"),
    [
        (
            Flags(use="fx"),
            "There is no command 'fx' in the base's settings (known: fix: Mends what it finds).",
        ),
        (
            Flags(use="fix", command=("a",)),
            "Two commands were given: drop --use, or what is after `--`.",
        ),
        (Flags(use="fix", worker="agent"), "The agent takes no command: say `--worker command`"),
        (Flags(arguments=("a=b",)), "--arg is for a command of the settings: name it with --use."),
        (
            Flags(worker="command"),
            "The command worker needs a command: put it after `--`, or name one",
        ),
    ],
)
def test_what_does_not_go_together_is_one_sentence(flags, says):
    with pytest.raises(UsageError) as error:
        planning.task(".", "", settings.read(FIX.encode()), flags)
    assert str(error.value).startswith(says)


@pytest.mark.parametrize(
    ("said", "says"),
    [
        ("command = []", "command must not be empty"),
        ('command = [""]', "command must not be empty"),
        ('command = ["{prompt}"]', "the program itself has to be named, without a placeholder"),
        ('command = ["a", "{pth}"]', "there is no argument for {pth} (known: prompt, base, only)"),
        ('command = ["a", "{}"]', "'{}' has a { that is no placeholder's: write it twice"),
        ('command = ["a", "b}"]', "'b}' has a } that is no placeholder's: write it twice"),
        ('command = ["a\\u0000"]', "a NUL character cannot be part of a command"),
        ('command = ["a"]\nargs.n = {}', "the argument 'n' stands nowhere in the command"),
        ('command = ["a", "{base}"]\nargs.base = {}', "the argument 'base' is there for every"),
        ('command = ["a"]\nargs.A-B = {}', "'A-B': a name is lower case letters, digits and _"),
        (
            'command = ["a", "{n}"]\nargs.n = {type = "int", default = "3"}',
            "the default of 'n' is not an integer",
        ),
        (
            'command = ["a", "{n}"]\nargs.n = {type = "int", default = true}',
            "the default of 'n' is not an integer",
        ),
        (
            'command = ["a", "{n}"]\nargs.n = {type = "float", default = inf}',
            "the argument 'n' has to be a number",
        ),
        ('command = ["a"]\ntimeout = 0', "timeout must be between 1 and 604800 seconds, not 0"),
    ],
)
def test_a_wrong_table_is_one_sentence(said, says):
    with pytest.raises(SettingsError) as error:
        settings.read(f"[commands.x]\n{said}".encode())
    assert str(error.value).startswith(f".orchestrator.toml: commands.x: {says}")


def test_a_misspelt_key_of_an_argument_is_named():
    with pytest.raises(
        SettingsError, match=r"no setting 'commands.x.args.n.typ' \(nearest: type\)"
    ):
        settings.read(b'[commands.x]\ncommand = ["a", "{n}"]\nargs.n = {typ = "int"}')


@pytest.mark.parametrize(
    "command",
    [
        ("find", ".", "-exec", "x", "{}", ";"),
        ("awk", "{print}"),
        ("sh", "-c", "echo ${base} ${prompt} {only}"),
        ("x", "{path}", "{{base}}", "a{base}", "{", "}"),
    ],
)
def test_braces_after_the_dashes_stay(command):
    assert plain(*command) == command


def test_an_element_that_is_a_given_name_and_nothing_else_is_filled_in():
    said = plain("tool", "{only}", "-m", "{prompt}", "{base}", only=("a", "b"))
    assert said == ("tool", "a", "b", "-m", "mend it", "c0ffee")


@pytest.mark.parametrize(
    ("command", "prompt", "says"),
    [
        (("tool", "{prompt}"), "", "{prompt} stands for the task, and there is none."),
        (("tool", "{prompt}"), "- this", "'- this' in the place of {prompt} would be an option"),
        (("{prompt}",), "ls", "The program itself has to be named, without a placeholder."),
    ],
)
def test_what_cannot_be_filled_in_is_one_sentence(command, prompt, says):
    with pytest.raises(UsageError) as error:
        plain(*command, prompt=prompt)
    assert str(error.value).startswith(says)
