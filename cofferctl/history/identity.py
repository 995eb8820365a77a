"""The name a person's commits carry, from their own git settings."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING

from dulwich.config import ConfigFile

from cofferctl import files

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

FALLBACK = "user <user@coffer.invalid>"
_UNSAFE = str.maketrans(dict.fromkeys("<>\n\r\0", ""))


def person(configs: Iterable[Path]) -> str:
    """`Name <address>` of the first settings file that names somebody, else a fallback; never fails, never asks."""
    for path in configs:
        try:
            data = files.read_regular(path.resolve())  # dotfiles are often links
            settings = ConfigFile.from_file(io.BytesIO(data)) if data else None
            if settings is None:
                continue
            name, address = (settings.get((b"user",), key).decode("utf-8", "replace") for key in (b"name", b"email"))
        except (OSError, ValueError, KeyError, RuntimeError):
            continue
        name, address = name.translate(_UNSAFE).strip(), address.translate(_UNSAFE).strip()
        if name and address:
            return f"{name} <{address}>"
    return FALLBACK
