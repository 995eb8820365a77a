"""Show who taught the memory what, and when.

Every change is a commit: facts remembered, edited from outside, imported. With FACT, only those that touched it, also
where it was before it was superseded, moved to another store, or forgotten and restored; a forgotten fact is found too.

Examples:
  cofferctl log -n 20

  cofferctl log --actor agent --since yesterday

  cofferctl log 01KV5Q2M

  cofferctl log 01KV5Q2M -p
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
    patch: Annotated[bool, typer.Option("-p", "--patch", help="Show what each of them changed.")] = False,
) -> None:
    from cofferctl.commands.log import log  # noqa: PLC0415

    chosen = {"lane": lane, "actor": actor, "event": event, "since": since, **run.where}
    result = log(run.coffer, fact, limit=count, patch=patch, **chosen)
    run.answer(result, _patches if patch else _plain, paged=True)


def _plain(result: Logged) -> None:
    rows = [
        (entry.time[:16].replace("T", " "), entry.commit[:10], entry.agent or entry.actor, entry.subject)
        for entry in result.entries
    ]
    if rows:
        render.table(("time (UTC)", "commit", "by", "what"), rows)
    else:
        render.talk("no commits yet")


def _patches(result: Logged) -> None:
    for entry in result.entries:
        render.styled(f"commit {entry.commit}", "yellow", f"  {entry.store}")
        for name, value in (("by", entry.agent or entry.actor), ("time", entry.time), ("what", entry.subject)):
            render.line(f"{name + ':':<6}{value}")
        render.line()
        render.patch(entry.diff or "")
        render.line()
    if not result.entries:
        render.talk("no commits yet")


app = single(__doc__, _log)
