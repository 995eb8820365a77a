"""A text in the user's editor: $VISUAL, else $EDITOR, else what the system has."""

from __future__ import annotations

import contextlib
import os
import shlex
import shutil
import subprocess
import tempfile
from pathlib import Path

from cofferctl.errors import CofferError, ExitCode, UsageError

_FALLBACKS = ("nano", "vim", "vi", "notepad")


class NoEditor(UsageError):
    """There is no editor to open."""

    def __init__(self) -> None:
        super().__init__("no editor to open", hint="set EDITOR, or give the new text on the command line")


class EditorFailed(CofferError):
    """The editor said that it failed."""

    code = "SERVICE_FAILED"
    exit_code = ExitCode.SERVICE

    def __init__(self, command: str, code: int, kept: Path) -> None:
        super().__init__(f"{command} ended with {code}; nothing was changed", hint=f"what you wrote is in {kept}")


def open_editor(content: bytes, name: str) -> tuple[bytes, Path]:
    """Let the user edit some bytes.

    Args:
        content: what they start from.
        name: the file's name, whose ending tells the editor what it is.

    Returns:
        The new content, and the temporary file that holds it: the caller discards it once the content is safe.

    Raises:
        NoEditor, EditorFailed.
    """
    command = _command()
    directory = Path(tempfile.mkdtemp(prefix="coffer-edit-"))
    path = directory / name
    path.write_bytes(content)
    try:
        code = subprocess.run([*command, str(path)], check=False).returncode  # noqa: S603 - the user's own choice
    except OSError as error:
        raise EditorFailed(command[0], error.errno or 1, path) from error
    if code:
        raise EditorFailed(command[0], code, path)
    return path.read_bytes(), path


def discard(path: Path) -> None:
    """Remove an editor's temporary file."""
    with contextlib.suppress(OSError):
        shutil.rmtree(path.parent)


def _command() -> list[str]:
    chosen = os.environ.get("VISUAL") or os.environ.get("EDITOR")
    if chosen:
        return shlex.split(chosen, posix=os.name != "nt")
    found = next((name for name in _FALLBACKS if shutil.which(name)), None)
    if found is None:
        raise NoEditor
    return [found]
