"""Show how the memory differs between two moments.

Without arguments: what was edited by hand and no commit has yet; the next write commits it as an edit from outside.
With one REV, a commit or a date, from then to the files as they are; with two, from one to the other. FACT, an id or
path, limits it to one fact, wherever it was by then.

Examples:
  cofferctl diff

  cofferctl diff HEAD~3

  cofferctl diff 2w yesterday

  cofferctl diff 2026-06-01 01KV5Q2M
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from cofferctl.cli import render
from cofferctl.cli.run import Run, single

if TYPE_CHECKING:
    from cofferctl.commands.diff import Differences

SECTION = "look"


def _diff(
    run: Run,
    places: Annotated[
        list[str] | None, typer.Argument(metavar="[REV] [REV2] [FACT]", help="Commits or dates, then a fact.")
    ] = None,
) -> None:
    from cofferctl.commands.diff import diff  # noqa: PLC0415

    run.answer(diff(run.coffer, tuple(places or ()), **run.where), _plain, paged=True)


def _plain(result: Differences) -> None:
    if not result.files:
        render.talk("no differences")
    for file in result.files:
        render.patch(file.diff)


app = single(__doc__, _diff)
