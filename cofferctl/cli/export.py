"""Give facts out, for other programs or another memory.

jsonl prints one object a line, which `cofferctl import jsonl` takes: id, text, title, description, times, who said it,
ref, path, lane and metadata. markdown copies the lane files into a new directory, those of both scopes side by side as
project/ and global/ unless one is chosen. Secrets are masked unless --reveal is given.

Examples:
  cofferctl export > facts.jsonl

  cofferctl export --scope project --lane all --output facts.jsonl

  cofferctl export --format markdown --scope project --output ./memory
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cofferctl.cli import render
from cofferctl.cli.run import Run, single

if TYPE_CHECKING:
    from cofferctl.commands.export import Exported

SECTION = "manage"


def _export(
    run: Run,
    form: Annotated[str, typer.Option("--format", metavar="jsonl|markdown", help="What to give out.")] = "jsonl",
    output: Annotated[
        str | None, typer.Option("--output", metavar="PATH", help="A new file, or for markdown a new directory.")
    ] = None,
    lane: Annotated[
        str | None, typer.Option(metavar="LANE", help="One lane, knowledge or all; else knowledge, for markdown all.")
    ] = None,
    reveal: Annotated[bool, typer.Option("--reveal", help="Do not mask secrets.")] = False,
) -> None:
    from cofferctl.commands.export import export  # noqa: PLC0415

    place = Path(output) if output else None
    run.answer(export(run.coffer, format=form, output=place, lane=lane, reveal=reveal, **run.where), _plain)


def _plain(result: Exported) -> None:
    for item in result.facts or ():
        render.json_line(item)
    if result.output:
        noun = "file" if result.format == "markdown" else "fact"
        render.line(f"exported {render.counted(result.exported, noun)} to {result.output}")


app = single(__doc__, _export)
