"""Show who taught each line of a fact, and when.

The whole file as it is now. Lines not committed yet are from outside. A fact is followed through supersede, move and
restore: a line keeps the commit it first came with.

Examples:
  cofferctl blame 01KV5Q2M

  cofferctl blame knowledge/deploys.md --json
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from cofferctl.cli import render
from cofferctl.cli.run import Run, single

if TYPE_CHECKING:
    from cofferctl.commands.blame import Blamed

SECTION = "look"
UNCOMMITTED = "0" * 10


def _blame(run: Run, fact: Annotated[str, typer.Argument(metavar="FACT", help="Its id or path.")]) -> None:
    from cofferctl.commands.blame import blame  # noqa: PLC0415

    run.answer(blame(run.coffer, fact, **run.where), _plain, paged=True)


def _plain(result: Blamed) -> None:
    by = max((len(line.agent or line.actor) for line in result.lines), default=0)
    digits = len(str(len(result.lines)))
    for number, line in enumerate(result.lines, start=1):
        who = (line.agent or line.actor).ljust(by)
        when = (line.time or "")[:10].ljust(10)
        head = f"{(line.commit or UNCOMMITTED)[:10]} ({who} {when} {number:>{digits}}) "
        render.styled(head, "dim" if line.commit else "yellow", line.text)


app = single(__doc__, _blame)
