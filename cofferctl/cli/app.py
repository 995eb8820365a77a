"""The program: finds the command, and is the only place that turns errors into messages and exit codes."""

from __future__ import annotations

import gc
import importlib
import os
import pkgutil
import re
import sys
from functools import cache
from typing import TYPE_CHECKING, Any

import typer
from typer.core import TyperGroup

from cofferctl import __version__, cli
from cofferctl.cli import render
from cofferctl.errors import CofferError, ExitCode, UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from types import ModuleType

_ParserError: type[Any] = typer.BadParameter.__mro__[1]
"""What the parser raises for wrong arguments; typer has no public name for it."""

_TOOLS = frozenset({"editor", "app", "run", "render", "stores_change", "words", "pager", "asking", "tables"})


SECTIONS = ("remember and recall", "look", "curate", "manage")
_EPILOG = "`cofferctl COMMAND --help` tells more. Options stand after the command's name; -- ends them."


class CommandGroup(TyperGroup):
    """The commands, one module each, imported only when needed: a start costs what one command costs."""

    def list_commands(self, ctx: Any) -> list[str]:  # noqa: ARG002
        """Every command's name, in the order of the help page."""
        return [name for section in SECTIONS for name in sorted(_names()) if section == _module(name).SECTION]

    def get_command(self, ctx: Any, cmd_name: str) -> Any:  # noqa: ARG002
        """A command by its name, None when there is none."""
        return typer.main.get_command(_module(cmd_name).app) if cmd_name in _names() else None

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """The list of commands by section, each with its module's first line."""
        for section in SECTIONS:
            rows = [(name, _summary(name)) for name in self.list_commands(ctx) if section == _module(name).SECTION]
            if rows:
                with formatter.section(section):
                    formatter.write_dl(rows)

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """The command that the arguments begin with.

        Raises:
            UnknownCommand: there is none of that name.
        """
        if args and args[0] not in _names():
            raise UnknownCommand(args[0])
        return super().resolve_command(ctx, args)


class UnknownCommand(UsageError):
    """The first argument is no command."""

    def __init__(self, given: str) -> None:
        import difflib  # noqa: PLC0415

        close = difflib.get_close_matches(given, _names(), 1)
        option = given.startswith("-")
        hint = f"did you mean `cofferctl {close[0]}`?" if close else "`cofferctl --help` lists the commands"
        super().__init__(
            f"unknown {'option' if option else 'command'}: {given}",
            hint="options stand after the command's name" if option else hint,
        )


@cache
def _names() -> dict[str, str]:
    """Command name -> module name; a module of the package is a command."""
    found = (module.name for module in pkgutil.iter_modules(cli.__path__))
    return {name.removesuffix("_").replace("_", "-"): name for name in found if name not in _TOOLS}


def _module(name: str) -> ModuleType:
    return importlib.import_module(f"cofferctl.cli.{_names()[name]}")


def _summary(name: str) -> str:
    return (_module(name).__doc__ or "").partition("\n")[0].rstrip(".")


app = typer.Typer(
    cls=CommandGroup,
    name="cofferctl",
    help="One memory for all your coding agents: Markdown facts in git, found in any language.",
    epilog=_EPILOG,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    no_args_is_help=False,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)


@app.callback(invoke_without_command=True)
def _root(
    ctx: typer.Context,
    version: bool = typer.Option(False, "--version", help="Print the version and exit."),
) -> None:
    if version:
        sys.stdout.write(f"cofferctl {__version__}\n")
        raise typer.Exit
    if ctx.invoked_subcommand is None:
        sys.stdout.write(ctx.get_help() + "\n")


def main(argv: Sequence[str] | None = None) -> None:
    """Run the program and end the process with its exit code."""
    os.umask(0o077)
    render.prepare_streams()
    code = run(list(sys.argv[1:] if argv is None else argv))
    gc.freeze()  # so that the interpreter's last look for garbage, a tenth of a run, has nothing to look at
    sys.exit(code)


def run(arguments: list[str]) -> int:
    """Run one command line; its exit code."""
    options = arguments[: arguments.index("--")] if "--" in arguments else arguments
    as_json, debug = "--json" in options, "--debug" in options
    try:
        code = int(typer.main.get_command(app).main(arguments, prog_name="cofferctl", standalone_mode=False) or 0)
        render.flush()
        if code == ExitCode.INTERRUPTED:  # typer has caught Ctrl-C itself
            render.talk("interrupted")
    except CofferError as error:
        if debug:
            _traceback()
        render.error(error, as_json=as_json)
        return int(error.exit_code)
    except _ParserError as error:
        render.error(_usage(error), as_json=as_json)
        return int(ExitCode.USAGE)
    except (KeyboardInterrupt, typer.Abort):
        render.talk("interrupted")
        return int(ExitCode.INTERRUPTED)
    except render.Unread:
        return int(ExitCode.OK)
    except Exception as error:  # noqa: BLE001 - the last door: a bug is told shortly, or whole with --debug
        if debug:
            _traceback()
        render.error(Bug(error), as_json=as_json)
        return int(ExitCode.BUG)
    return code


class Bug(CofferError):
    """An error nobody foresaw."""

    def __init__(self, error: Exception) -> None:
        super().__init__(
            f"this is a bug in cofferctl: {type(error).__name__}: {error}",
            hint="run it again with --debug and report what it prints; what was acknowledged before is safe",
        )


_NOT_WHOLE = re.compile(r"Input should be a valid integer.*|(?<=: )'.*' is not a valid int(?:eger)?", re.DOTALL)
_DASH = "put -- before a text that begins with a dash"


def _usage(error: Any) -> UsageError:
    context = getattr(error, "ctx", None)
    path = context.command_path if context else "cofferctl"
    message = _NOT_WHOLE.sub("it is no whole number", error.format_message())
    hint = f"see `{path} --help`"
    if message.startswith("No such option"):
        group = context is not None and hasattr(context.command, "list_commands")
        message = message.partition(" (")[0]
        hint = "options stand after the command's name" if group else f"{hint}; {_DASH}"
    return UsageError(message[:1].lower() + message[1:].rstrip("."), hint=hint)


def _traceback() -> None:
    import traceback  # noqa: PLC0415

    traceback.print_exc()
