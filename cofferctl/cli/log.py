"""Show who taught the memory what, and when.

Every change is a commit: facts remembered, edited from outside, imported. With FACT, only those that touched it.

Examples:
  cofferctl log -n 20

  cofferctl log --actor agent --since yesterday

  cofferctl log 01KV5Q2M
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from cofferctl.cli import render
from cofferctl.cli.run import Run, single

if TYPE_CHECKING:
    from cofferctl.commands.log import Logged

SECTION = "look"


def _log(
    run: Run,
    fact: Annotated[str | None, typer.Argument(metavar="FACT", help="Its id or path.", show_default=False)] = None,
    lane: Annotated[str | None, typer.Option(metavar="LANE", help="Only commits in this lane.")] = None,
    actor: Annotated[str | None, typer.Option(metavar="ACTOR", help="user, agent or outside.")] = None,
    event: Annotated[str | None, typer.Option(metavar="EVENT", help="memory_added, outside_edit, …")] = None,
    since: Annotated[str | None, typer.Option(metavar="DATE", help="2026-06-09, 7d, 2w, yesterday.")] = None,
    count: Annotated[int | None, typer.Option("-n", metavar="N", help="Commits at most; else 100.")] = None,
) -> None:
    from cofferctl.commands.log import log  # noqa: PLC0415

    result = log(run.coffer, fact, lane=lane, actor=actor, event=event, since=since, limit=count, **run.where)
    run.answer(result, _plain)


def _plain(result: Logged) -> None:
    rows = [
        (entry.time[:16].replace("T", " "), entry.commit[:10], entry.agent or entry.actor, entry.subject)
        for entry in result.entries
    ]
    if rows:
        render.table(("time (UTC)", "commit", "by", "what"), rows)
    else:
        render.talk("no commits yet")


app = single(__doc__, _log)
