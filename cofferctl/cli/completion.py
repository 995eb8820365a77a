"""Print a script that lets your shell complete commands, options and store names.

Examples:
  source <(cofferctl completion bash)

  cofferctl completion zsh > ~/.zfunc/_cofferctl

  cofferctl completion fish > ~/.config/fish/completions/cofferctl.fish
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from cofferctl.cli import render
from cofferctl.cli.run import Run, single

if TYPE_CHECKING:
    from cofferctl.commands.completion import Command, Option

SECTION = "manage"
_VALUES = {
    "STORE": "store",
    "DIR": "directory",
    "PATH": "file",
    "PATH|-": "file",
    "FILE": "file",
    "SCOPE": "project global both",
    "LANE": "inbox topics knowledge rules journal handoff superseded all",
    "MODE": "keyword grep vector hybrid",
}
_SEARCHED = "inbox topics journal knowledge"
"""What --lane takes where it can be given several times: in recall."""


def _completion(run: Run, shell: Annotated[str, typer.Argument(metavar="bash|zsh|fish", help="Your shell.")]) -> None:
    from cofferctl.cli.app import app as program  # noqa: PLC0415 - it imports this module
    from cofferctl.commands.completion import completion  # noqa: PLC0415

    root = _command("cofferctl", typer.main.get_command(program))
    run.answer(completion(shell, root), lambda made: render.raw(made.script))


def _command(name: str, found: Any) -> Command:
    from cofferctl.commands.completion import Command, Option  # noqa: PLC0415

    names = found.list_commands(None) if hasattr(found, "list_commands") else ()
    arguments = [_value(param) for param in found.params if param.param_type_name == "argument"]
    options = [_option(param) for param in found.params if param.param_type_name == "option"]
    return Command(
        name=name,
        help=(found.help or "").strip().partition("\n")[0].rstrip("."),
        options=(*options, Option(("--help",), "Show this help", "")),
        argument=next(iter(arguments), ""),
        commands=tuple(_command(below, found.get_command(None, below)) for below in names),
    )


def _option(param: Any) -> Option:
    from cofferctl.commands.completion import Option  # noqa: PLC0415

    value = "" if param.is_flag else _value(param)
    return Option((*param.opts, *param.secondary_opts), (param.help or "").rstrip("."), value)


def _value(param: Any) -> str:
    metavar = "STORE" if "--store" in param.opts else param.metavar or ""
    words = metavar.replace("|", " ")
    if metavar == "LANE" and param.multiple:
        return _SEARCHED
    return _VALUES.get(metavar, words if "|" in metavar and metavar.islower() else "any")


app = single(__doc__, _completion, scoped=False)
