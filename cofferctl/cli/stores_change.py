"""The subcommands of `stores` that change one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from cofferctl.cli import render
from cofferctl.cli.run import Run, command

if TYPE_CHECKING:
    from cofferctl.commands.stores_change import Cleared, Deleted, Labelled, StoreSetting, StoreSettings

_Name = Annotated[str, typer.Argument(metavar="STORE", help="global or project-<ULID>.")]
_Yes = Annotated[bool, typer.Option("--yes", help="Do not ask.")]


def register(app: typer.Typer) -> None:
    """Add them to the application of `stores`."""
    app.command("label", help=_LABEL)(command(scoped=False)(_label))
    app.command("config", help=_CONFIG)(command(scoped=False)(_config))
    app.command("clear", help=_CLEAR)(command(scoped=False)(_clear))
    app.command("delete", help=_DELETE)(command(scoped=False)(_delete))


_LABEL = "Give a store a name for people.\n\nAn empty TEXT takes it away."
_CONFIG = (
    "List, print or set its own settings.\n\n"
    "These are default_mode, max_fact_chars and retrieval_modes; what is not set comes from `cofferctl config`."
)
_CLEAR = "Forget everything in a lane.\n\nThe files go in one commit, which `cofferctl undo` takes back."
_DELETE = "Delete a store for good.\n\nFiles, history and search index go; nothing brings them back."


def _label(run: Run, store: _Name, text: Annotated[str, typer.Argument(metavar="TEXT", help="The name.")]) -> None:
    from cofferctl.commands.stores_change import label  # noqa: PLC0415

    run.answer(label(run.coffer, store, text), _plain_label)


def _config(
    run: Run,
    store: _Name,
    key: Annotated[str | None, typer.Argument(metavar="KEY", help="The setting's name.")] = None,
    value: Annotated[str | None, typer.Argument(metavar="VALUE", help="Its new value.")] = None,
) -> None:
    from cofferctl.commands.stores_change import set_store_setting, store_setting, store_settings  # noqa: PLC0415

    if key is None:
        run.answer(store_settings(run.coffer, store), _plain_settings)
    elif value is None:
        run.answer(store_setting(run.coffer, store, key), lambda found: render.line(_text(found.value)))
    else:
        run.answer(set_store_setting(run.coffer, store, key, value), _plain_setting)


def _clear(
    run: Run,
    store: _Name,
    lane: Annotated[
        str, typer.Option(metavar="LANE", help="inbox, topics, knowledge, rules, journal, handoff, superseded or all.")
    ] = "knowledge",
    yes: _Yes = False,
) -> None:
    from cofferctl.commands.stores_change import clear  # noqa: PLC0415

    sure = yes or render.confirm(f"forget everything in {lane} of {store}?")
    run.answer(clear(run.coffer, store, yes=sure, lane=lane), _plain_clear)


def _delete(run: Run, store: _Name, yes: _Yes = False) -> None:
    from cofferctl.commands.stores_change import delete  # noqa: PLC0415

    sure = yes or render.confirm(f"delete {store} with its whole history, for good?")
    run.answer(delete(run.coffer, store, yes=sure), _plain_delete)


def _plain_label(result: Labelled) -> None:
    render.line(f"{result.store} is called {result.label}" if result.label else f"{result.store} has no label")


def _plain_settings(result: StoreSettings) -> None:
    rows = [(found.key, _text(found.value), found.source) for found in result.settings]
    render.table(("key", "value", "source"), rows)


def _text(value: object) -> str:
    return ",".join(map(str, value)) if isinstance(value, list) else "" if value is None else str(value)


def _plain_setting(result: StoreSetting) -> None:
    render.line(f"{result.key} = {_text(result.value)}")


def _plain_clear(result: Cleared) -> None:
    render.line(f"cleared {render.counted(result.cleared, 'file')} of {result.lane} in {result.store}")
    if result.operation:
        render.talk(f"`cofferctl undo {result.operation} --store {result.store}` brings them back")


def _plain_delete(result: Deleted) -> None:
    render.line(f"deleted {result.store}")
