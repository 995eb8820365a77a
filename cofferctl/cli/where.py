"""Show which stores are used from here, and why."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cofferctl.cli import render
from cofferctl.cli.run import Run, single

if TYPE_CHECKING:
    from cofferctl.commands.where import Place

SECTION = "look"


def _where(run: Run) -> None:
    from cofferctl.commands.where import where  # noqa: PLC0415

    run.answer(where(run.coffer), _plain)


def _plain(result: Place) -> None:
    render.line(
        f"here:    {result.project_root or 'no git repository'}" + (f"  ({result.branch})" if result.branch else "")
    )
    for used in result.scopes:
        there = "" if used.exists or used.store_dir is None else ", nothing in it yet"
        render.line(f"{used.scope + ':':<9}{used.store_dir or 'no store yet'}  ({used.why}{there})")


app = single(__doc__, _where, scoped=False)
