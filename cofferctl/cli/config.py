"""See and change the settings of this machine."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from cofferctl.cli import render
from cofferctl.cli.run import Run, command, group

if TYPE_CHECKING:
    from cofferctl.commands.settings import Settings, SettingValue

SECTION = "manage"
app = group(__doc__)

_Key = Annotated[str, typer.Argument(metavar="KEY", help="The setting's name.")]


@app.command("get", help="Print one setting as it counts here.")
@command(scoped=False)
def _get(run: Run, key: _Key) -> None:
    from cofferctl.commands.settings import get_setting  # noqa: PLC0415

    run.answer(get_setting(run.coffer, key), lambda found: render.line(_value(found)))


@app.command("set", help="Change one setting; everything else in config.toml stays.")
@command(scoped=False)
def _set(run: Run, key: _Key, value: Annotated[str, typer.Argument(metavar="VALUE", help="Its new value.")]) -> None:
    from cofferctl.commands.settings import set_setting  # noqa: PLC0415

    run.answer(set_setting(run.coffer, key, value), lambda found: render.line(f"{found.key} = {_value(found)}"))


@app.command("list", help="Print every setting and where it comes from.")
@command(scoped=False)
def _list(run: Run) -> None:
    from cofferctl.commands.settings import list_settings  # noqa: PLC0415

    run.answer(list_settings(run.coffer), _plain)


def _plain(result: Settings) -> None:
    render.table(("key", "value", "source"), [(found.key, _value(found), found.source) for found in result.settings])


def _value(found: SettingValue) -> str:
    return ",".join(map(str, found.value)) if isinstance(found.value, list) else str(found.value)
