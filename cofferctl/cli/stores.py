"""See, name, set up, clear and delete stores, and say which project uses which.

A store is `global` or the memory of one project, as `stores list` names them.

Examples:
  cofferctl stores list

  cofferctl stores label project-01KV5Q2M5T8Z3R9W6X1Y4B7C0D "The shop"

  cofferctl stores config global max_fact_chars 2000

  cofferctl stores clear global --lane journal --yes
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from cofferctl.cli import render, stores_change
from cofferctl.cli.run import Run, command, group

if TYPE_CHECKING:
    from cofferctl.commands.stores import Linked, StoreDetails, StoreList

SECTION = "manage"
app = group(__doc__)

_Name = Annotated[str, typer.Argument(metavar="STORE", help="global or project-<ULID>.")]


@app.command("list", help="List every store on this machine.")
@command(scoped=False)
def _list(run: Run) -> None:
    from cofferctl.commands.stores import list_stores  # noqa: PLC0415

    run.answer(list_stores(run.coffer), _plain_list)


@app.command("show", help="Show one store: its lanes, its projects, its settings.")
@command(scoped=False)
def _show(run: Run, store: _Name) -> None:
    from cofferctl.commands.stores import show_store  # noqa: PLC0415

    run.answer(show_store(run.coffer, store), _plain_show)


@app.command("link", help="Let the project here use an existing store; the one it leaves stays.")
@command(scoped=False)
def _link(
    run: Run,
    store: _Name,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
) -> None:
    from cofferctl.commands.stores import link  # noqa: PLC0415

    root = run.coffer.place.project_root
    sure = yes or render.confirm(f"let {root} use {store}?")
    run.answer(link(run.coffer, store, yes=sure), _plain_link)


stores_change.register(app)


def _plain_list(result: StoreList) -> None:
    rows = [
        (item.store, str(item.fact_count), render.size(item.disk_bytes), item.label, item.project_root or "")
        for item in result.stores
    ]
    if rows:
        render.table(("store", "facts", "size", "label", "project"), rows)
    else:
        render.talk("no stores yet; `cofferctl remember TEXT` makes one")


def _plain_show(result: StoreDetails) -> None:
    render.line(f"{result.store}  {result.label}")
    render.line(f"directory: {result.store_dir}")
    for root in result.project_roots:
        render.line(f"project:   {root}")
    render.line(f"facts:     {result.fact_count:,}, {render.size(result.disk_bytes)} on disk with its history")
    render.line(f"lanes:     {', '.join(f'{lane} {count}' for lane, count in result.lanes.items() if count)}")
    for key, value in result.settings.items():
        render.line(f"{key} = {','.join(map(str, value)) if isinstance(value, list) else value}")
    if result.ignored_settings:
        render.line(f"ignored:   {', '.join(result.ignored_settings)} (embedding settings are global)")


def _plain_link(result: Linked) -> None:
    render.line(f"{result.project_root} now uses {result.store}")
    if result.previous:
        render.line(f"{result.previous} stays as it is")
