"""Bring back a forgotten or changed fact.

Without --from it becomes what it was before its last change. The history is not rewritten: restoring is a commit too.

Examples:
  cofferctl restore 01KV5Q2M

  cofferctl restore knowledge/inbox/build.md --from 2w
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from cofferctl.cli import render
from cofferctl.cli.run import Run, single

if TYPE_CHECKING:
    from cofferctl.commands.restore import Restored

SECTION = "curate"


def _restore(
    run: Run,
    fact: Annotated[str, typer.Argument(metavar="FACT", help="Its id or path, of now or of then.")],
    from_: Annotated[str | None, typer.Option("--from", metavar="REV|DATE", help="As it was then.")] = None,
) -> None:
    from cofferctl.commands.restore import restore  # noqa: PLC0415

    run.answer(restore(run.coffer, fact, from_=from_, **run.where), _plain)


def _plain(result: Restored) -> None:
    if result.commit is None:
        render.line("nothing changed: it is so already")
        return
    render.line(f"restored  {result.id}  {result.commit[:10]}  as in {(result.source or '')[:10]}")
    render.line(f"  {result.scope}:{result.path}")


app = single(__doc__, _restore)
