"""Look for what is wrong with the memory, and say what mends it.

Looks at every store of this machine: edits not committed, files that are left alone, heads nobody can read, secrets,
locks and leftovers of programs that died, permissions, whether the history is sound and the search index right. Nothing
is changed without --fix, which does only what loses nothing: it commits outside edits, repairs, tightens permissions,
removes leftovers and builds the index. Notes are no faults; the exit code is 0 unless there is an error, then 5.

Examples:
  cofferctl doctor

  cofferctl doctor --fix --store global
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from cofferctl.cli import render
from cofferctl.cli.run import Run, single
from cofferctl.errors import ExitCode

if TYPE_CHECKING:
    from cofferctl.commands.doctor import Diagnosis

SECTION = "manage"


def _doctor(
    run: Run,
    fix: Annotated[bool, typer.Option("--fix", help="Mend what can be mended safely.")] = False,
    yes: Annotated[bool, typer.Option("--yes", help="With --fix, commit many deletions at once, too.")] = False,
) -> None:
    from cofferctl.commands.doctor import doctor  # noqa: PLC0415

    result = doctor(run.coffer, fix=fix, yes=yes, **run.where)
    withheld = [found.message for found in result.findings if found.kind == "withheld_deletions" and not found.fixed]
    if fix and not yes and withheld and render.confirm("\n".join([*withheld, "commit these deletions?"])):
        result = doctor(run.coffer, fix=True, yes=True, **run.where)
    run.answer(result, _plain)
    if not result.ok:
        raise typer.Exit(int(ExitCode.UNAVAILABLE))


def _plain(result: Diagnosis) -> None:
    for found in result.findings:
        where = f"{found.store}: " if found.store else ""
        render.line(f"{'fixed' if found.fixed else found.level:<8}{where}{found.message}")
        if found.fix and not found.fixed:
            render.line(f"        -> {found.fix}")
    left = [found for found in result.findings if not found.fixed and found.level != "note"]
    if not left:
        render.talk("nothing is wrong")


app = single(__doc__, _doctor)
