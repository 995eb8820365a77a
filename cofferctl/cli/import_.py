"""Store many facts from a file."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cofferctl.cli import render
from cofferctl.cli.run import Run, command, group

if TYPE_CHECKING:
    from cofferctl.commands.import_jsonl import Imported

SECTION = "manage"
app = group(__doc__)


@app.callback()
def _group() -> None:
    """Keep `jsonl` a subcommand: there will be other formats."""


_JSONL = """Import JSON Lines: one object a line, `text` required.

title, description, created_at, ref, actor and session are optional. All facts are one commit; importing the same file
again changes nothing. One bad line refuses the whole file and is named.

  {"text": "The gate host listens on 2022.", "created_at": "2026-06-09T10:00:00+00:00", "ref": "ticket-12"}
"""


@app.command("jsonl", help=_JSONL)
@command()
def _jsonl(
    run: Run,
    path: Annotated[str, typer.Argument(metavar="PATH|-", help="The file, or - for standard input.")],
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only check and count.")] = False,
    allow_secret: Annotated[bool, typer.Option("--allow-secret", help="Take what looks like a secret.")] = False,
) -> None:
    from cofferctl.commands.import_jsonl import import_jsonl  # noqa: PLC0415

    content = sys.stdin.buffer.read() if path == "-" else None
    name = Path("standard input" if path == "-" else path)
    result = import_jsonl(run.coffer, name, content=content, dry_run=dry_run, allow_secret=allow_secret, **run.where)
    run.answer(result, _plain)


def _plain(result: Imported) -> None:
    verb = "would import" if result.dry_run else "imported"
    known = f", {result.duplicates} known already" if result.duplicates else ""
    commit = f"  {result.commit[:10]}" if result.commit else ""
    render.line(f"{verb} {render.counted(result.imported, 'fact')} into {result.store}{known}{commit}")
