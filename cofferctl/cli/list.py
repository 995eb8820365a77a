"""List the facts there are, newest first.

Examples:
  cofferctl list --limit 20

  cofferctl list --lane all --scope project --sort title
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from cofferctl.cli import render
from cofferctl.cli.run import Run, single

if TYPE_CHECKING:
    from cofferctl.commands.list_facts import Listed

SECTION = "look"


def _list(
    run: Run,
    lane: Annotated[
        str, typer.Option(metavar="LANE", help="inbox, topics, knowledge, rules, journal, handoff, superseded or all.")
    ] = "knowledge",
    limit: Annotated[int | None, typer.Option(metavar="N", help="Facts at most.")] = None,
    sort: Annotated[str, typer.Option(metavar="KEY", help="updated, created or title.")] = "updated",
) -> None:
    from cofferctl.commands.list_facts import list_facts  # noqa: PLC0415

    run.answer(list_facts(run.coffer, lane=lane, limit=limit, sort=sort, **run.where), _plain, paged=True)


def _plain(result: Listed) -> None:
    rows = [(item.updated_at[:10], item.id, item.store.partition("-")[0], item.title) for item in result.facts]
    if rows:
        render.table(("updated", "id", "scope", "title"), rows)
    else:
        render.talk("no facts yet; `cofferctl remember TEXT` stores one")
    if result.left_out:
        render.talk(f"{result.left_out} more")


app = single(__doc__, _list)
