"""Store a fact, as one commit.

TEXT becomes a Markdown file in the store of the project you stand in, or with --scope global in the one that is used
everywhere; - reads it from standard input. No model is asked. The same text again changes nothing. What looks like a
password or a token is refused: git never forgets.

Examples:
  cofferctl remember "This repo deploys via make release."

  git log -1 --format=%B | cofferctl remember - --title "Why we left Redis"

  cofferctl remember --scope global -- "--no-verify is never right."
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from cofferctl.cli import render
from cofferctl.cli.run import Run, single, text_argument

if TYPE_CHECKING:
    from cofferctl.commands.remember import Remembered

SECTION = "remember and recall"


def _remember(
    run: Run,
    text: Annotated[str, typer.Argument(metavar="TEXT|-", help="The fact, or - for standard input.")],
    title: Annotated[str | None, typer.Option(metavar="TITLE", help="Its title; else its first sentence.")] = None,
    description: Annotated[str | None, typer.Option(metavar="LINE", help="One line about it.")] = None,
    actor: Annotated[str | None, typer.Option(metavar="user|agent", help="Who says so.")] = None,
    agent: Annotated[str | None, typer.Option(metavar="NAME", help="The agent program.")] = None,
    session: Annotated[str | None, typer.Option(metavar="ID", help="The agent's session.")] = None,
    allow_secret: Annotated[bool, typer.Option("--allow-secret", help="Store what looks like a secret.")] = False,
) -> None:
    from cofferctl.commands.remember import remember  # noqa: PLC0415

    result = remember(
        run.coffer,
        text_argument(text),
        title=title,
        description=description,
        actor=actor,
        agent=agent,
        session=session,
        allow_secret=allow_secret,
        **run.where,
    )
    run.answer(result, _plain)


def _plain(result: Remembered) -> None:
    if result.duplicate_of:
        render.line(f"known already  {result.id}")
    else:
        render.line(f"remembered  {result.id}  {(result.commit or '')[:10] or 'not committed yet'}")
    render.line(f"  {result.scope}:{result.path}")
    for other in result.similar:
        render.line(f"  similar: {other.id}  {other.title}")


app = single(__doc__, _remember)
