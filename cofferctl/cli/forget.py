"""Forget facts; `restore` and `undo` bring them back.

Several at once ask first, or need --yes. The text stays in git's history.

Examples:
  cofferctl forget 01KV5Q2M

  cofferctl forget journal/2026-06-09.md
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from cofferctl.cli import render
from cofferctl.cli.run import Run, single

if TYPE_CHECKING:
    from cofferctl.commands.forget import Forgotten

SECTION = "curate"


def _forget(
    run: Run,
    facts: Annotated[list[str], typer.Argument(metavar="FACT...", help="Ids or paths.")],
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
) -> None:
    from cofferctl.commands.forget import find, forget  # noqa: PLC0415

    if not yes and len(facts) > 1:
        titles = "\n".join(f"  {found.fact.title}" for found in find(run.coffer, facts, **run.where))
        yes = render.confirm(f"{titles}\nforget these?")
    run.answer(forget(run.coffer, facts, yes=yes, **run.where), _plain)


def _plain(result: Forgotten) -> None:
    for gone in result.facts:
        render.line(f"forgot  {gone.id}  {' '.join(gone.title.split())}")
    render.talk(f"`cofferctl undo {result.operation}` brings back what went")


app = single(__doc__, _forget)
