"""Take back one operation, whole.

Without an argument that is your own last one here; on a terminal it is shown and asked first. Undoing is a commit too,
so it can be undone. What somebody edited since stays, and the older text is put beside it.

Examples:
  cofferctl undo --dry-run

  cofferctl undo

  cofferctl undo 01KV5Q2M5T8Z3R9W6X1Y4B7C0D
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from cofferctl.cli import render
from cofferctl.cli.run import Run, single

if TYPE_CHECKING:
    from cofferctl.commands.undo import Undone

SECTION = "curate"
_SHOWN = 10


def _undo(
    run: Run,
    operation: Annotated[
        str | None, typer.Argument(metavar="OPERATION|COMMIT", help="What to undo.", show_default=False)
    ] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only show it.")] = False,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
) -> None:
    from cofferctl.commands.undo import undo  # noqa: PLC0415

    if dry_run or (operation is None and not yes and not run.as_json and render.can_ask()):
        planned = undo(run.coffer, operation, dry_run=True, scope=run.scope, store=run.store)
        if dry_run:
            run.answer(planned, _plain)
            return
        _plain(planned)
        if not render.confirm("undo this?"):
            render.line("nothing was changed")
            return
        operation = planned.undone
    run.answer(undo(run.coffer, operation, scope=run.scope, store=run.store), _plain)


def _plain(result: Undone) -> None:
    for store in result.stores:
        for subject in store.subjects:
            render.line(f"{'would undo' if result.dry_run else 'undone'}  {subject}  ({store.store})")
        for path in store.reverted[:_SHOWN]:
            render.line(f"  {path}")
        if len(store.reverted) > _SHOWN:
            render.line(f"  and {len(store.reverted) - _SHOWN} more files")
        for copy in store.copies:
            render.line(f"  the older text is in {copy}")


app = single(__doc__, _undo)
