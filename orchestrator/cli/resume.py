"""`orchestrator resume`: a new run that goes on where an earlier one ended."""

import os
import sys
from dataclasses import replace
from typing import Any

import click

from orchestrator.cli import access, again, place, request, say
from orchestrator.cli.options import as_json, common
from orchestrator.cli.run import carry_out, plan, tell
from orchestrator.cli.work import work_options
from orchestrator.models.access import DIRECT
from orchestrator.models.traffic import Recording
from orchestrator.origin import Origin
from orchestrator.planning import Flags
from orchestrator.prompts import resumed


@click.command("resume")
@click.argument("run")
@click.argument("words", nargs=-1, metavar="[WORDS] [-]")
@click.option("--fork", is_flag=True, help="Give the session a new id, so that others may resume.")
@work_options
@as_json
@common
def command(
    run: str,
    words: tuple[str, ...],
    fork: bool,
    recording: bool,
    quiet: bool,
    as_json: bool,
    **given: Any,  # noqa: ANN401 - by their names, the fields of Flags
) -> int:
    """Go on with a run in a new container, with its files and all that its worker said and did.

    The new run has the same base, and a branch of its own with the changes of both. Image, set-up,
    checks and limits are those of the first run where no flag says otherwise; limits count anew.
    WORDS are what its worker is told; `-` adds what stdin says.

    \b
      orchestrator resume k7m2x
      orchestrator resume k7m2x "mend the test, too" --max-cost 5
      orchestrator resume k7m2x "the other way" --fork
    """
    said = resumed(request.prompt(words, sys.stdin.buffer.read))
    record = place.records().find(run)
    origin = Origin.of(record, place.records().folder(record.id), fork=fork)
    given["private_hosts"] += access.private_hosts(os.environ)
    flags = again.over(again.flags(record), Flags(**given))
    repository = replace(place.repository_of(record), name=record.task.repository)
    planned = plan(repository, said, flags)
    for warning in planned.warnings:
        say.note(f"note: {warning}")
    traffic = Recording() if recording else DIRECT
    done = carry_out(planned, repository, quiet, traffic, origin=origin)
    tell(done, as_json)
    return 1 if done.exit_code is None else done.exit_code
