"""Look at what agents stored lately, one fact at a time.

Each fact is shown with who stored it and what is like it; then you keep it, edit it, forget it, move it to the global
memory, or leave it for the next time. A fact that you kept comes up again only when it was edited since.

Examples:
  cofferctl review

  cofferctl review --since 2w

  cofferctl review --json
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Annotated

import typer

from cofferctl.cli import asking, render
from cofferctl.cli.edit import in_editor
from cofferctl.cli.run import Run, single
from cofferctl.errors import CofferError

if TYPE_CHECKING:
    from cofferctl.commands.review import Card, Reviewed, Walk

SECTION = "curate"
_QUESTION = "[k]eep [e]dit [f]orget [m]ove to global [n]ext [q]uit ? "


def _review(
    run: Run, since: Annotated[str, typer.Option(metavar="DATE", help="2026-06-09, 7d, 2w, yesterday.")] = "30d"
) -> None:
    from cofferctl.commands.review import Walk, to_review  # noqa: PLC0415

    if not run.as_json:
        asking.need_terminal("review --json lists what waits")
    waiting = to_review(run.coffer, since=since, **run.where)
    if run.as_json:
        run.answer(waiting, lambda _: None)
        return
    walk = Walk(run.coffer, list(waiting.facts))
    while (card := walk.card) is not None:
        _show(walk, card)
        while walk.card is card:
            choice = asking.choice(_QUESTION, "kefmnq")
            if choice == "q":
                run.answer(walk.result(), _plain)
                return
            try:
                _answer(run, walk, choice)
            except CofferError as failure:
                render.error(failure, as_json=False)
    run.answer(walk.result(), _plain)


def _answer(run: Run, walk: Walk, choice: str) -> None:
    if choice == "e" and walk.card is not None:
        there = replace(run, scope=None, store=walk.card.store)
        walk.edited(in_editor(there, walk.card.path))
        return
    {"k": walk.keep, "f": walk.forget, "m": walk.move, "n": walk.next}.get(choice, lambda: None)()


def _show(walk: Walk, card: Card) -> None:
    render.line()
    render.styled(f"{walk.at + 1}/{len(walk.cards)}  {' '.join(card.title.split())}", "bold")
    by = " ".join(filter(None, (card.agent or "agent", card.session)))
    where = f"{card.scope}, branch {card.branch}" if card.branch else card.scope
    render.styled(f"{card.id}  {card.updated_at[:16].replace('T', ' ')}  {by}  ({where})", "dim")
    for row in card.text.split("\n"):
        render.line(f"  {row}".rstrip())
    for one in walk.similar():
        render.styled(f"similar: {one.id}  {' '.join(one.title.split())}", "dim")
    render.flush()


def _plain(result: Reviewed) -> None:
    counts = {name: getattr(result, name) for name in ("kept", "edited", "forgotten", "moved")}
    counts["left for later"] = result.skipped + result.left
    render.line(", ".join(f"{number} {name}" for name, number in counts.items() if number) or "nothing to review")


app = single(__doc__, _review)
