"""Move a fact to another store.

It keeps its id and its text. `undo` takes the move back in both stores.

Examples:
  cofferctl move 01KV5Q2M --to global
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from cofferctl.cli import render
from cofferctl.cli.run import Run, single

if TYPE_CHECKING:
    from cofferctl.commands.move import Moved

SECTION = "curate"


def _move(
    run: Run,
    fact: Annotated[str, typer.Argument(metavar="FACT", help="Its id or path.")],
    to: Annotated[str, typer.Option("--to", metavar="STORE", help="project, global or a store's name.")],
) -> None:
    from cofferctl.commands.move import move  # noqa: PLC0415

    run.answer(move(run.coffer, fact, to, **run.where), _plain)


def _plain(result: Moved) -> None:
    render.line(f"moved  {result.id}  {(result.commit or '')[:10]}")
    render.line(f"  {result.source}:{result.source_path}")
    render.line(f"  -> {result.store}:{result.path}")


app = single(__doc__, _move)
