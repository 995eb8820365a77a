"""Everything that reaches the screen: JSON, plain lines, rich tables; control characters are made visible."""

from __future__ import annotations

import contextlib
import dataclasses
import json
import os
import re
import sys
from typing import TYPE_CHECKING, Any

from cofferctl.errors import CofferError, ExitCode

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from rich.console import Console
    from rich.progress import Progress


# Controls but tab and newline, and the marks that reorder text; a stored text must not drive a terminal.
_CONTROLS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff]")
_UNSAFE_JSON = re.compile("[\x7f-\x9f\u2028\u2029\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff\ud800-\udfff]")

NARROW = 34
"""A column that is not the wide one keeps this many characters before it is cut."""

_state: dict[str, Any] = {"colour": True, "quiet": False, "progress": None, "paged": None}


class Unread(Exception):
    """Nobody reads standard output any more, as under `| head -1`."""


class OutputLost(CofferError):
    """Standard output cannot be written."""

    code = "STORE_NOT_WRITABLE"
    exit_code = ExitCode.UNAVAILABLE

    def __init__(self, error: OSError) -> None:
        super().__init__(f"cannot write the answer: {error.strerror or error}", hint="what the command did is done")


def prepare_streams() -> None:
    """Let no character that the locale cannot show end the program, nor a stream that the caller has closed."""
    for name in ("stdin", "stdout", "stderr"):  # in this order, as the system gives out the lowest free number
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, "r" if name == "stdin" else "w", encoding="utf-8"))  # noqa: SIM115
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")


def colours(*, wanted: bool) -> None:
    """Allow or forbid colours; NO_COLOR and a dumb terminal forbid them too."""
    _state["colour"] = wanted and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def quiet(*, wanted: bool) -> None:
    """Leave out everything on standard error but errors."""
    _state["quiet"] = wanted


def terminal() -> bool:
    """Whether a person looks at standard output: it is a terminal, or a pager on one."""
    return _state["paged"] is not None or sys.stdout.isatty()


@contextlib.contextmanager
def through_pager(width: int) -> Iterator[None]:
    """Print for a terminal of some width although standard output is a pager's input."""
    _state["paged"] = width
    try:
        yield
    finally:
        _state["paged"] = None


def clean(text: str) -> str:
    """Text with its control characters made visible; tabs and newlines stay."""
    return _CONTROLS.sub(lambda match: f"\\x{ord(match[0]):02x}", text)


def line(text: str = "") -> None:
    """One line (or a few) of data on standard output."""
    _put(clean(text) + "\n")


def styled(head: str, style: str, text: str = "") -> None:
    """A line whose beginning stands out on a terminal."""
    _put(f"{_painted(clean(head), style)}{clean(text)}\n")


def patch(text: str) -> None:
    """A difference as git prints it."""
    in_hunk = False
    for row in text.removesuffix("\n").split("\n"):
        in_hunk = row.startswith("@@") or (in_hunk and not row.startswith("diff --git "))
        key = row[:1] if in_hunk else ""
        styled(row, {"@": "cyan", "+": "green", "-": "red"}.get(key, "" if in_hunk else "bold"))


def _painted(text: str, style: str) -> str:
    code = _SGR.get(style)
    return f"\x1b[{code}m{text}\x1b[0m" if code and text and _state["colour"] and terminal() else text


_SGR = {"bold": 1, "dim": 2, "red": 31, "green": 32, "yellow": 33, "cyan": 36}


def raw(text: str) -> None:
    """Data exactly as it is, for a file or pipe; made visible where a terminal shows it."""
    _put(clean(text) if terminal() else text)


def _put(text: str) -> None:
    with _output():
        sys.stdout.write(text)


def flush() -> None:
    """Hand over what was printed.

    Raises:
        Unread: nobody reads it any more.
        OutputLost: it has no place to go.
    """
    with _output():
        sys.stdout.flush()


@contextlib.contextmanager
def _output() -> Iterator[None]:
    try:
        yield
    except OSError as error:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # the interpreter flushes once more at its end
        if isinstance(error, BrokenPipeError):
            raise Unread from error
        raise OutputLost(error) from error


def talk(text: str) -> None:
    """One line for the person, on standard error; nothing when asked to be quiet."""
    finish_progress()
    if not _state["quiet"]:
        _tell(text)


def _tell(text: str) -> None:
    with contextlib.suppress(OSError):
        sys.stderr.write(clean(text) + "\n")


def error(failure: CofferError, *, as_json: bool) -> None:
    """An error with its hint, on standard error."""
    finish_progress()
    if as_json:
        document = {
            "error": {
                "code": failure.code,
                "message": failure.message,
                "hint": failure.hint,
                "details": failure.details,
            }
        }
        _tell(_dumps(document))
        return
    _tell(f"error: {failure.message}")
    if failure.hint:
        _tell(f"hint: {failure.hint}")


def data(value: Any) -> Any:
    """A result as JSON-ready values; an attribute that is None by default is left out when it is None."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {
            item.name.removesuffix("_"): data(found)
            for item in dataclasses.fields(value)
            if (found := getattr(value, item.name)) is not None or item.default is not None
        }
    if isinstance(value, dict):
        return {key: data(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [data(item) for item in value]
    return value


def json_document(result: Any) -> None:
    """A result as the one JSON document on standard output."""
    _put(_dumps(data(result)) + "\n")


def json_line(value: Any) -> None:
    """One object of JSON Lines on standard output."""
    _put(_dumps(value, spread=False) + "\n")


def _dumps(value: Any, *, spread: bool = True) -> str:
    narrow = (sys.stdout.encoding or "ascii").lower().replace("-", "") != "utf8"
    text = json.dumps(value, ensure_ascii=narrow, indent=2 if spread and terminal() else None)
    return text if narrow else _UNSAFE_JSON.sub(lambda match: f"\\u{ord(match[0]):04x}", text)


def console() -> Console:
    """A rich console on standard output."""
    from rich.console import Console  # noqa: PLC0415 - 40 ms, only on a terminal

    class Quiet(Console):
        def on_broken_pipe(self) -> None:
            with _output():
                raise BrokenPipeError

    paged = _state["paged"]
    return Quiet(
        no_color=not _state["colour"],
        highlight=False,
        emoji=False,
        markup=False,
        soft_wrap=False,
        force_terminal=True if paged else None,
        width=paged,
    )


def size(count: int) -> str:
    """Bytes for people: 12 kB."""
    amount = float(count)
    for unit in ("B", "kB", "MB"):
        if amount < _STEP:
            return f"{amount:.0f} {unit}"
        amount /= _STEP
    return f"{amount:.1f} GB"


_STEP = 1000


def counted(number: int, noun: str) -> str:
    """A number and what it counts: 1 fact, 2 facts."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def table(heads: Sequence[str], rows: Sequence[Sequence[str]], *, wide: int = -1) -> None:
    """Rows of texts: a table on a terminal, tab-separated lines without heads in a pipe.

    Args:
        heads: column names.
        rows: the cells.
        wide: the column that takes the space there is.
    """
    if not terminal():
        for row in rows:
            line("\t".join(" ".join(cell.split()) for cell in row))
        return
    from rich.table import Table  # noqa: PLC0415

    texts = [[clean(" ".join(cell.split())) for cell in row] for row in rows]
    last = len(heads) - 1 if wide < 0 else wide
    out = console()
    widths = [min(max(len(text) for text in column), NARROW) for column in zip(heads, *texts, strict=True)]
    widths[last] = max(10, out.width - sum(widths) + widths[last] - 2 * len(heads))
    others = [number for number in range(len(heads) - 1, 0, -1) if number != last]
    for number, least in [*((number, 6) for number in others), (last, 1), *((number, 1) for number in others)]:
        excess = max(0, sum(widths) + 2 * len(heads) - out.width)  # taken from the right: names to copy stand left
        widths[number] -= min(excess, max(0, widths[number] - least))
    made = Table(box=None, pad_edge=False, header_style="bold", show_edge=False)
    for head, width in zip(heads, widths, strict=True):
        made.add_column(head, overflow="ellipsis", no_wrap=True, width=width)
    for row in texts:
        made.add_row(*row)
    out.print(made)


def progress() -> Callable[[str, int, int], None] | None:
    """What long work reports to: a bar on standard error, None when that is no terminal."""
    if not sys.stderr.isatty():
        return None

    def report(what: str, done: int, of: int) -> None:
        if of < _BAR_FROM:
            return
        bar = _bar()
        tasks = {task.description: task.id for task in bar.tasks}
        task = tasks.get(what)
        if task is None:
            task = bar.add_task(what, total=of)
        bar.update(task, completed=done, total=of)

    return report


_BAR_FROM = 200


def _bar() -> Progress:
    if _state["progress"] is None:
        from rich.console import Console  # noqa: PLC0415
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn  # noqa: PLC0415

        bar = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TimeRemainingColumn(),
            console=Console(stderr=True, no_color=not _state["colour"]),
            transient=True,
        )
        bar.start()
        _state["progress"] = bar
    return _state["progress"]  # type: ignore[no-any-return]


def finish_progress() -> None:
    """Take the progress bar off the screen."""
    if _state["progress"] is not None:
        _state["progress"].stop()
        _state["progress"] = None


def can_ask() -> bool:
    """Whether there is a person on a terminal to ask."""
    return sys.stdin.isatty() and sys.stderr.isatty()


def confirm(question: str) -> bool:
    """Ask a person; False at once where there is no terminal to ask on."""
    if not can_ask():
        return False
    sys.stderr.write(f"{clean(question)} [y/N] ")
    sys.stderr.flush()
    return sys.stdin.readline().strip().lower() in ("y", "yes")
