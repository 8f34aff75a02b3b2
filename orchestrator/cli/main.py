"""The verbs of the command line, and the one place where every error ends."""

import difflib
import importlib
import os
import sys
from collections.abc import Sequence

import click

from orchestrator.cli.options import common
from orchestrator.errors import UsageError

VERBS = {
    "run": ("orchestrator.cli.run", "Work on a task in a sealed container."),
    "resume": ("orchestrator.cli.resume", "Go on with a run: its files, and its session."),
    "edit": ("orchestrator.cli.edit", "Edit one file, with one lasting conversation about it."),
    "summarize": ("orchestrator.cli.summarize", "Say what a file is about."),
    "list": ("orchestrator.cli.list", "List the runs of this repository."),
    "show": ("orchestrator.cli.show", "Tell how a run ended, and on what grounds."),
    "log": ("orchestrator.cli.log", "List a run's changes, or all that happened in it."),
    "diff": ("orchestrator.cli.diff", "Print a run's change as a patch."),
    "approve": ("orchestrator.cli.approve", "Put your name to a change that needs a review."),
    "merge": ("orchestrator.cli.merge", "Merge a run's branch."),
    "discard": ("orchestrator.cli.discard", "Delete a run's branch."),
    "split": ("orchestrator.cli.split", "Cut a file into pieces, with an index of them."),
    "patch": ("orchestrator.cli.patch", "Merge edited pieces back into their file."),
    "outline": ("orchestrator.cli.outline", "Show what is declared in files, and where."),
    "doctor": ("orchestrator.cli.doctor", "Say what this machine still needs."),
    "gc": ("orchestrator.cli.gc", "Remove what dead and old runs left behind."),
}
"""Where each verb is: one is imported when it is called, so that help comes at once."""

OTHER_WORDS = {
    "map": "outline --map",
    "symbols": "outline",
    "ls": "list",
    "ps": "list",
    "runs": "list",
    "status": "show",
    "history": "log",
    "journal": "log --journal",
    "continue": "resume",
    "fork": "resume --fork",
    "accept": "approve",
    "rm": "discard",
    "delete": "discard",
    "undo": "discard",
    "clean": "gc",
    "prune": "gc",
    "refresh": "split --refresh",
    "join": "patch",
    "replay": "run --replay",
    "version": "--version",
    "help": "--help",
}
"""What is called otherwise here, by names that it has elsewhere."""


class Verbs(click.Group):
    """A group whose members are imported when they are called."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(VERBS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in VERBS:
            return None
        command: click.Command = importlib.import_module(VERBS[cmd_name][0]).command
        return command

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        before = list(args)
        try:
            return super().parse_args(ctx, args)
        except click.NoSuchOption as error:
            verb = next((word for word in before if word in VERBS), "")
            if verb and error.option_name in self._options(ctx, verb):
                right = f"orchestrator {verb} {error.option_name}"
                message = f"{error.option_name} stands after the verb: `{right}`."
                raise click.UsageError(message, ctx) from None
            raise

    def _options(self, ctx: click.Context, verb: str) -> set[str]:
        command = self.get_command(ctx, verb)
        return {name for each in command.params for name in each.opts} if command else set()

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        word = args[0]
        other = [OTHER_WORDS[word]] if word in OTHER_WORDS else []
        near = other or difflib.get_close_matches(word, VERBS, n=1)
        if word not in VERBS and near:
            raise click.UsageError(f"No such command {word!r}: did you mean {near[0]}?", ctx)
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(verb, says) for verb, (_, says) in VERBS.items()])


@click.group(
    cls=Verbs,
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"]},
)
@click.version_option(package_name="orchestrator")
@click.pass_context
@common
def verbs(ctx: click.Context) -> int:
    """Coding agents in sealed containers: a task in, a judged branch out.

    Start with `orchestrator doctor`, then `orchestrator run "what should change"`.
    """
    if ctx.invoked_subcommand is None:
        click.echo(ctx.get_help(), err=True)
        return 2
    return 0


def call(arguments: Sequence[str]) -> int:
    """Carry out one command line and return its exit code."""
    try:
        _check_text(arguments)
        code = verbs.main(list(arguments), prog_name="orchestrator", standalone_mode=False)
        sys.stdout.flush()
    except BaseException as error:
        from orchestrator.cli import failure  # noqa: PLC0415 - knows all errors, so imports much

        return failure.end(error, arguments)
    return int(code or 0)


def _check_text(arguments: Sequence[str]) -> None:
    """Records and JSON are UTF-8: what could not be written down is refused before any work."""
    for argument in arguments:
        if argument != argument.encode("utf-8", "replace").decode():
            raise UsageError(f"The argument {argument!a} is not text in UTF-8.")


def _fill_streams() -> None:
    """Give a program that was started without stdin, stdout or stderr one that leads nowhere.

    Else the first file it opens gets that number, and what goes to stderr ends in a journal.
    """
    while (descriptor := os.open(os.devnull, os.O_RDWR)) <= 2:
        pass
    os.close(descriptor)
    sys.stdin = sys.stdin or open(os.devnull)  # noqa: SIM115 - for the rest of the program
    sys.stdout = sys.stdout or open(os.devnull, "w")  # noqa: SIM115
    sys.stderr = sys.stderr or open(os.devnull, "w")  # noqa: SIM115


def main() -> None:
    """The program."""
    _fill_streams()
    sys.exit(call(sys.argv[1:]))
