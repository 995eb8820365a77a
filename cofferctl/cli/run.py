"""What every command shares: the options that stand on each of them, and the way from arguments to an answer."""

from __future__ import annotations

import inspect
import os
import sys
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, get_type_hints

import typer
from typer.core import TyperCommand

from cofferctl.cli import render
from cofferctl.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Callable

    from cofferctl.coffer import Coffer

MAX_STDIN_BYTES = 64_000_000

_SHARED: dict[str, Any] = {
    "directory": (
        Annotated[str | None, typer.Option("-C", metavar="DIR", help="Stand in DIR.", show_default=False)],
        None,
    ),
    "as_json": (Annotated[bool, typer.Option("--json", help="Answer with one JSON document.")], False),
    "quiet": (Annotated[bool, typer.Option("-q", "--quiet", help="No notices, no progress.")], False),
    "debug": (Annotated[bool, typer.Option("--debug", help="Show a traceback when something fails.")], False),
    "no_color": (Annotated[bool, typer.Option("--no-color", help="No colours.")], False),
}
_SCOPED: dict[str, Any] = {
    "scope": (
        Annotated[
            str | None,
            typer.Option("--scope", metavar="SCOPE", help="project, global or both.", show_default=False),
        ],
        None,
    ),
    "store": (
        Annotated[
            str | None,
            typer.Option("--store", metavar="NAME", help="One store, as `stores list` names it.", show_default=False),
        ],
        None,
    ),
}


class NoSuchDirectory(UsageError):
    """There is nowhere to stand."""

    def __init__(self, given: str | None) -> None:
        what = f"no such directory: {given}" if given else "the current directory is gone"
        super().__init__(what, hint="name an existing directory with -C")


@dataclass(slots=False)
class Run:
    """One run of a command: the shared options, and the memory they open.

    Attributes:
        directory, as_json, quiet, debug, no_color, scope, store: as given.
    """

    directory: str | None = None
    as_json: bool = False
    quiet: bool = False
    debug: bool = False
    no_color: bool = False
    scope: str | None = None
    store: str | None = None

    @cached_property
    def coffer(self) -> Coffer:
        """The memory, seen from where the user stands."""
        from cofferctl import config  # noqa: PLC0415 - help pages need no memory
        from cofferctl.coffer import Coffer  # noqa: PLC0415

        settings = config.from_environment(os.environ, self._cwd())
        return Coffer(settings, progress=None if self.quiet or self.as_json else render.progress())

    @property
    def where(self) -> dict[str, str | None]:
        """The scope options, as commands take them."""
        return {"scope": self.scope, "store": self.store}

    def answer(self, result: Any, plain: Callable[[Any], None], *, paged: bool = False) -> None:
        """Print an answer: as JSON when asked for, else by `plain`; notices go to standard error.

        Args:
            result: a frozen dataclass.
            plain: prints it for people, using `render`.
            paged: whether it may be long: a terminal shows it through a pager.
        """
        render.finish_progress()
        if self.as_json:
            render.json_document(result)
        elif paged and render.terminal():
            from cofferctl.cli import pager  # noqa: PLC0415 - only on a terminal

            with pager.paged():
                plain(result)
        else:
            plain(result)
        for notice in getattr(result, "notices", ()):
            render.talk(f"note: {notice}")

    def _cwd(self) -> Path:
        given = self.directory or "."
        try:
            path = Path(given).expanduser().resolve(strict=True)
        except (OSError, RuntimeError):
            raise NoSuchDirectory(self.directory) from None
        if not path.is_dir():
            raise NoSuchDirectory(given)
        return path


def command(*, scoped: bool = True) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Give a command function the shared options; it gets a `Run` as its first argument.

    Args:
        scoped: whether it takes --scope and --store.
    """

    def wrap(function: Callable[..., None]) -> Callable[..., None]:
        shared = {**(_SCOPED if scoped else {}), **_SHARED}
        own = list(inspect.signature(function).parameters.values())[1:]
        hints = get_type_hints(function, include_extras=True)

        def wrapper(**given: Any) -> None:
            run = Run(**{name: given.pop(name) for name in shared})
            render.colours(wanted=not run.no_color)
            render.quiet(wanted=run.quiet)
            function(run, **given)

        added = [
            inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, annotation=kind, default=default)
            for name, (kind, default) in shared.items()
        ]
        own = [item.replace(annotation=hints[item.name], kind=inspect.Parameter.KEYWORD_ONLY) for item in own]
        wrapper.__signature__ = inspect.Signature(own + added)  # type: ignore[attr-defined]
        wrapper.__annotations__ = {item.name: item.annotation for item in own + added}
        wrapper.__doc__ = function.__doc__
        wrapper.__name__ = function.__name__
        return wrapper

    return wrap


def single(module: str, function: Callable[..., None], *, scoped: bool = True) -> typer.Typer:
    """The typer application of a command that has no subcommands.

    Args:
        module: the module's docstring, whose first line is the help page's.
        function: the command.
        scoped: whether it takes --scope and --store.
    """
    made = group(module)
    made.command(help=_page(module), epilog=None)(command(scoped=scoped)(function))
    return made


class _Command(TyperCommand):
    """A command whose usage line reads as git's: FACT, not {FACT}."""

    def collect_usage_pieces(self, ctx: Any) -> list[str]:
        """The words after the command's name."""
        return [piece[1:-1] if piece.startswith("{") else piece for piece in super().collect_usage_pieces(ctx)]


class _Commands(typer.Typer):
    """A typer application made of such commands."""

    def command(self, *args: Any, **options: Any) -> Any:
        """Register a command."""
        return super().command(*args, **{"cls": _Command, **options})


def group(module: str) -> typer.Typer:
    """A typer application for a command's module."""
    return _Commands(
        help=_page(module),
        add_completion=False,
        rich_markup_mode=None,
        pretty_exceptions_enable=False,
        no_args_is_help=False,
        context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    )


def _page(module: str) -> str:
    r"""A help text whose examples keep their lines (\b tells the parser to leave a paragraph as it is)."""
    text, found, examples = module.strip().partition("Examples:\n")
    blocks = [f"\b\n{block}" for block in f"{found}{examples}".split("\n\n")] if found else []
    return text + "\n\n".join(blocks)


def text_argument(given: str) -> str:
    """A text as given, or standard input for `-`; bytes of another encoding become UTF-8 or U+FFFD."""
    if given == "-":
        return sys.stdin.buffer.read(MAX_STDIN_BYTES).decode("utf-8", "replace")
    return given.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
