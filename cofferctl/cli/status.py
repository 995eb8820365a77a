"""Show how the stores used from here are."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cofferctl.cli import render
from cofferctl.cli.run import Run, single

if TYPE_CHECKING:
    from cofferctl.commands.status import Status

SECTION = "look"


def _status(run: Run) -> None:
    from cofferctl.commands.status import status  # noqa: PLC0415

    run.answer(status(run.coffer, **run.where), _plain)


def _plain(result: Status) -> None:
    render.line(f"home: {result.home}")
    for store in result.stores:
        pending = f", {render.counted(store.uncommitted, 'edited file')} not committed yet" if store.uncommitted else ""
        render.line(f"{store.store}: {render.counted(store.facts, 'fact')}, index {store.index}{pending}")
        for notice in store.notices:
            render.line(f"  {notice}")
    if not result.stores:
        render.line("no stores yet; `cofferctl remember TEXT` makes one")


app = single(__doc__, _status)
