"""Put a new fact in an old one's place.

The old one moves to superseded/, out of recall, and the two name each other; `log` of the new fact goes on with the
old one's history.

Examples:
  cofferctl supersede 01KV5Q2M "Since June the gate host listens on 2022."
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from cofferctl.cli import render
from cofferctl.cli.run import Run, single, text_argument

if TYPE_CHECKING:
    from cofferctl.commands.remember import Remembered

SECTION = "curate"


def _supersede(
    run: Run,
    fact: Annotated[str, typer.Argument(metavar="FACT", help="The old fact's id or path.")],
    text: Annotated[str, typer.Argument(metavar="TEXT|-", help="The new fact, or - for standard input.")],
    title: Annotated[str | None, typer.Option(help="Its title; else its first sentence.")] = None,
    description: Annotated[str | None, typer.Option(help="One line about it.")] = None,
    agent: Annotated[str | None, typer.Option(metavar="NAME", help="The agent program.")] = None,
    session: Annotated[str | None, typer.Option(metavar="ID", help="The agent's session.")] = None,
    allow_secret: Annotated[bool, typer.Option("--allow-secret", help="Store what looks like a secret.")] = False,
) -> None:
    from cofferctl.commands.supersede import supersede  # noqa: PLC0415

    result = supersede(
        run.coffer,
        fact,
        text_argument(text),
        title=title,
        description=description,
        agent=agent,
        session=session,
        allow_secret=allow_secret,
        **run.where,
    )
    run.answer(result, _plain)


def _plain(result: Remembered) -> None:
    render.line(f"superseded; the new fact is  {result.id}  {(result.commit or '')[:10]}")
    render.line(f"  {result.scope}:{result.path}")


app = single(__doc__, _supersede)
