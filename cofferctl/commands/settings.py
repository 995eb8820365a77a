"""config: the settings of this machine."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from cofferctl import config, files
from cofferctl.errors import CofferError, ExitCode

if TYPE_CHECKING:
    from pathlib import Path

    from cofferctl.coffer import Coffer


class DamagedSettings(CofferError):
    """config.toml cannot be changed because it cannot be read."""

    code = "MEMORY_REJECTED"
    exit_code = ExitCode.REJECTED

    def __init__(self, why: str) -> None:
        super().__init__(why, hint="mend the file, or move it away")


@dataclass(frozen=True, slots=True)
class SettingValue:
    """One setting; `source` is `default` or the file it is set in."""

    key: str
    value: Any
    source: str


@dataclass(frozen=True, slots=True)
class Settings:
    """The answer of `config list`."""

    settings: tuple[SettingValue, ...]
    notices: tuple[str, ...]


def get_setting(coffer: Coffer, key: str) -> SettingValue:
    """A setting as it counts on this machine.

    Raises:
        NoSuchSetting: there is none of that name.
    """
    value, number = config.effective(key, coffer.settings)
    return SettingValue(key, value, "default" if number is None else str(_path(coffer)))


def list_settings(coffer: Coffer) -> Settings:
    """Every setting."""
    values = tuple(get_setting(coffer, key) for key in config.SETTINGS)
    return Settings(values, tuple(coffer.notices))


def set_setting(coffer: Coffer, key: str, text: str) -> SettingValue:
    """Set a setting; whatever else stands in config.toml stays as it is.

    Raises:
        NoSuchSetting, BadSetting: the setting or its value is none.
        DamagedSettings: config.toml is not valid.
    """
    value = config.parsed(key, text)
    path = _path(coffer)
    config.check_home(coffer.config.home)
    try:
        files.make_private_dirs(path.parent)
        with files.lock(path.with_suffix(".lock")):
            _, wrong = config.load(path)
            if wrong:
                raise DamagedSettings(wrong)
            before = (files.read_regular(path) or b"").decode()
            files.write_atomic(path, config.assign(before, key, value).encode())
    except OSError as error:
        raise files.NotWritable(path, error) from error
    return SettingValue(key, value, str(path))


def _path(coffer: Coffer) -> Path:
    return coffer.config.home / "config.toml"
