"""Show one fact, whole.

FACT is its id, at least the first 6 characters of that, its path in the store, or the source that recall prints. What
looks like a secret is masked unless --reveal is given.

Examples:
  cofferctl show 01KV5Q2M

  cofferctl show knowledge/inbox/deploys.md --at 2w
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from cofferctl.cli import render
from cofferctl.cli.run import Run, single

if TYPE_CHECKING:
    from cofferctl.commands.show import Shown

SECTION = "look"


def _show(
    run: Run,
    fact: Annotated[str, typer.Argument(metavar="FACT", help="Its id or path.")],
    at: Annotated[str | None, typer.Option(metavar="REV|DATE", help="As it was then.")] = None,
    raw: Annotated[bool, typer.Option("--raw", help="The file itself.")] = False,
    reveal: Annotated[bool, typer.Option("--reveal", help="Do not mask secrets.")] = False,
) -> None:
    from cofferctl.commands.show import show  # noqa: PLC0415

    run.answer(show(run.coffer, fact, at=at, raw=raw, reveal=reveal, **run.where), _plain, paged=True)


def _plain(result: Shown) -> None:
    if result.raw is not None:
        render.raw(result.raw)
        return
    by = " ".join(filter(None, (result.actor, result.agent, result.session)))
    rows = {
        "title": result.title,
        "id": result.id,
        "file": result.path,
        "by": by,
        "created": result.created_at,
        "updated": result.updated_at,
        "branch": result.metadata.get("branch", ""),
        "ref": result.ref or "",
        "commit": f"{result.commit[:10]} ({result.history} in all)" if result.commit else "not committed yet",
    }
    for name, value in rows.items():
        if value:
            render.line(f"{name + ':':<9}{' '.join(value.split())}")
    if result.conflict:
        render.line("note:    the file holds merge markers")
    render.line()
    render.line(result.body)


app = single(__doc__, _show)
