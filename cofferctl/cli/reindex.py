"""Bring the search index up to date.

Every recall does that by itself; --full builds the index anew, which is never needed but never wrong.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from cofferctl.cli import render
from cofferctl.cli.run import Run, single

if TYPE_CHECKING:
    from cofferctl.commands.reindex import Reindexed

SECTION = "manage"


def _reindex(run: Run, full: Annotated[bool, typer.Option("--full", help="Build it from nothing.")] = False) -> None:
    from cofferctl.commands.reindex import reindex  # noqa: PLC0415

    run.answer(reindex(run.coffer, full=full, **run.where), _plain)


def _plain(result: Reindexed) -> None:
    for store in result.stores:
        render.line(f"{store.store}: {render.counted(store.files, 'file')}, index {store.index}")


app = single(__doc__, _reindex)
