"""`orchestrator split`: a file in pieces, and their index."""

import click

from orchestrator import pieces
from orchestrator.cli import place, say
from orchestrator.cli.options import as_json, common
from orchestrator.cli.tell import Asked, teller
from orchestrator.errors import UsageError
from orchestrator.parser import Parser
from orchestrator.pieces import Cut, Written
from splitters import TARGET
from splitters.index import as_object


@click.command("split")
@click.argument("file", required=False, metavar="[FILE]")
@click.option("--output", metavar="DIR", help="Where to; by default under ORCHESTRATOR_HOME.")
@click.option("--target-bytes", type=int, metavar="N", help=f"No larger piece; {TARGET} if unsaid.")
@click.option("--natural", is_flag=True, help="Each outermost declaration, section... by itself.")
@click.option("--language", "--split", metavar="NAME", help="A language, or one of its suffixes.")
@click.option("--refresh", metavar="INDEX", help="Cut anew what this index is of, as it was cut.")
@click.option("--summarize", is_flag=True, help="Keep what a model says of each piece.")
@click.option("--model", metavar="PROVIDER:NAME", help="Such as anthropic:NAME or scripted:FILE.")
@click.option("--max-cost", "cost", type=float, metavar="DOLLARS", help="Stop above this cost.")
@click.option("--max-input-tokens", "input_tokens", type=int, metavar="N", help="Stop after N.")
@as_json
@common
def command(
    file: str | None,
    output: str | None,
    target_bytes: int | None,
    natural: bool,
    language: str | None,
    refresh: str | None,
    summarize: bool,
    model: str | None,
    cost: float | None,
    input_tokens: int | None,
    as_json: bool,
) -> None:
    """Cut a file into pieces that can be edited, and print where their index is.

    Joined, the pieces are the file, byte for byte; `orchestrator patch` puts them back. FILE with
    --refresh is for an index that is not ours, or whose file was renamed.
    """
    asked = Asked(summarize, model, cost, input_tokens)
    if refresh is not None:
        if output is not None or target_bytes is not None or natural or language is not None:
            raise UsageError("--refresh cuts as the index says: leave the other options out.")
        with Parser() as parser, teller(asked, file or refresh) as tell:
            _end(pieces.refresh(refresh, place.home(), parser, file, tell), as_json)
    elif file is None:
        raise UsageError("Which file? Name one, or an index with --refresh.")
    else:
        how = Cut(language, TARGET if target_bytes is None else target_bytes, natural)
        with Parser() as parser, teller(asked, file) as tell:
            _end(pieces.split(file, how, place.home(), parser, output, tell), as_json)


def _end(written: Written, as_json: bool) -> None:
    """Say what was written, also when a model then said no more."""
    if written.trouble:
        say.note(f"note: {written.trouble}")
    if as_json:
        say.json(as_object(written.index) | {"index_path": str(written.path)})
    else:
        say.out([str(written.path)])
    if written.stopped is not None:
        raise written.stopped
