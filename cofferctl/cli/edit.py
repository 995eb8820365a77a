"""Change a fact's text, title or description.

Without a new text, title or description the fact's file opens in your editor. Only what you change is changed: other
keys of the file's head, their order, comments and quoting stay as they are.

Examples:
  cofferctl edit 01KV5Q2M

  cofferctl edit 01KV5Q2M "The build needs Python 3.12."

  cofferctl edit knowledge/inbox/build.md --title Python --expect 4f2a91c
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from cofferctl.cli import editor, render
from cofferctl.cli.run import Run, single, text_argument

if TYPE_CHECKING:
    from cofferctl.commands.edit import Edited

SECTION = "curate"


def _edit(
    run: Run,
    fact: Annotated[str, typer.Argument(metavar="FACT", help="Its id or path.")],
    text: Annotated[str | None, typer.Argument(metavar="TEXT|-", help="The new text.", show_default=False)] = None,
    title: Annotated[str | None, typer.Option(help="The new title.")] = None,
    description: Annotated[str | None, typer.Option(help="The new description.")] = None,
    expect: Annotated[str | None, typer.Option(metavar="COMMIT", help="Only if it still is as in COMMIT.")] = None,
    allow_secret: Annotated[bool, typer.Option("--allow-secret", help="Store what looks like a secret.")] = False,
) -> None:
    from cofferctl.commands.edit import edit  # noqa: PLC0415

    if text is None and title is None and description is None:
        run.answer(in_editor(run, fact, allow_secret=allow_secret), _plain)
        return
    result = edit(
        run.coffer,
        fact,
        text=None if text is None else text_argument(text),
        title=title,
        description=description,
        expect=expect,
        allow_secret=allow_secret,
        **run.where,
    )
    run.answer(result, _plain)


def in_editor(run: Run, fact: str, *, allow_secret: bool = False) -> Edited:
    """Open a fact's file in the user's editor and store what comes back."""
    from cofferctl.commands.edit import draft, edit_file  # noqa: PLC0415

    before = draft(run.coffer, fact, **run.where)
    content, path = editor.open_editor(before.content, before.selected.fact.path.rpartition("/")[2])
    try:
        result = edit_file(run.coffer, before, content, allow_secret=allow_secret)
    except BaseException:
        render.talk(f"what you wrote is in {path}")
        raise
    editor.discard(path)
    return result


def _plain(result: Edited) -> None:
    if result.changed:
        render.line(f"edited  {result.id}  {(result.commit or '')[:10]}")
        render.line(f"  {result.scope}:{result.path}")
    else:
        render.line("nothing changed")


app = single(__doc__, _edit)
