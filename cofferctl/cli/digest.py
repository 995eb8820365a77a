"""Show what was learnt, changed and forgotten lately, and by whom.

Without --since, of the last seven days. `last-session` begins with the first thing that the newest agent session
stored.

Examples:
  cofferctl digest

  cofferctl digest --since last-session

  cofferctl digest --since 2w --scope global
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from cofferctl.cli import render
from cofferctl.cli.run import Run, single

if TYPE_CHECKING:
    from cofferctl.commands.digest import Digest, Item

SECTION = "look"
_LINES = 30


def _digest(
    run: Run,
    since: Annotated[str, typer.Option(metavar="DATE|REV|last-session", help="Where to begin.")] = "7d",
) -> None:
    from cofferctl.commands.digest import digest  # noqa: PLC0415

    run.answer(digest(run.coffer, since=since, **run.where), _plain, paged=True)


def _plain(result: Digest) -> None:
    parts = {"learnt": result.learnt, "changed": result.changed, "forgotten": result.forgotten}
    used = [items for items in parts.values() if items]
    render.styled(
        f"since {result.since[:16].replace('T', ' ')}", "bold", f": {render.counted(result.commits, 'commit')}"
    )
    for number, (name, items) in enumerate((name, items) for name, items in parts.items() if items):
        room = _LINES // len(used) + max(0, sum(_LINES // len(used) - len(other) for other in used[:number]))
        render.line()
        render.styled(name, "bold", f" ({len(items)})")
        for item in items[:room]:
            render.line(
                f"  {item.time[:10]}  {_title(item)}  ({item.who}{', global' if item.scope == 'global' else ''})"
            )
        if len(items) > room:
            render.line(f"  and {len(items) - room} more")
    if result.by:
        render.line()
    for share in result.by[:5]:
        render.line(f"{share.who}: learnt {share.learnt}, changed {share.changed}, forgot {share.forgotten}")


def _title(item: Item) -> str:
    title = " ".join(item.title.split())
    return f"{' '.join(item.old_title.split())} -> {title}" if item.old_title else title


app = single(__doc__, _digest)
