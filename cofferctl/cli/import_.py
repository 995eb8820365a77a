"""Store many facts from a file."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cofferctl.cli import render
from cofferctl.cli.run import Run, command, group

if TYPE_CHECKING:
    from cofferctl.importing import Imported

SECTION = "manage"
app = group(__doc__)


_DryRun = Annotated[bool, typer.Option("--dry-run", help="Only check and count.")]
_AllowSecret = Annotated[bool, typer.Option("--allow-secret", help="Take what looks like a secret.")]

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
    dry_run: _DryRun = False,
    allow_secret: _AllowSecret = False,
) -> None:
    from cofferctl.commands.import_jsonl import import_jsonl  # noqa: PLC0415

    content = sys.stdin.buffer.read() if path == "-" else None
    name = Path("standard input" if path == "-" else path)
    result = import_jsonl(run.coffer, name, content=content, dry_run=dry_run, allow_secret=allow_secret, **run.where)
    run.answer(result, _plain)


_MARKDOWN = """Import Markdown: a file, or every *.md below a directory, each of them one fact.

A head is read as leniently as in a store: title or name, description, times; other keys are kept, and metadata.ref is
the file's path. All facts are one commit; importing the same files again changes nothing. One bad file refuses all of
them and is named. Links and hidden directories are left out.
"""


@app.command("markdown", help=_MARKDOWN)
@command()
def _markdown(
    run: Run,
    path: Annotated[str, typer.Argument(metavar="PATH", help="The file or directory.")],
    dry_run: _DryRun = False,
    allow_secret: _AllowSecret = False,
) -> None:
    from cofferctl.commands.import_markdown import import_markdown  # noqa: PLC0415

    result = import_markdown(run.coffer, Path(path), dry_run=dry_run, allow_secret=allow_secret, **run.where)
    run.answer(result, _plain)


def _plain(result: Imported) -> None:
    verb = "would import" if result.dry_run else "imported"
    known = f", {result.duplicates} known already" if result.duplicates else ""
    commit = f"  {result.commit[:10]}" if result.commit else ""
    render.line(f"{verb} {render.counted(result.imported, 'fact')} into {result.store}{known}{commit}")
