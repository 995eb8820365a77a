"""Where things are and how they are set: home directory, config.toml, environment; read once, by entry points."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cofferctl import files
from cofferctl.errors import CofferError, ExitCode, UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

MODES = ("grep", "keyword", "vector", "hybrid")
MAX_FACT_CHARS = 8_192
MAX_FACT_CHARS_RANGE = (64, 32_768)
TOP_K = 5
TOP_K_RANGE = (1, 20)

_MARKERS = (
    ("CLAUDECODE", "claude-code"),
    ("CODEX_SANDBOX", "codex"),
    ("CODEX_SANDBOX_NETWORK_DISABLED", "codex"),
    ("CODEX_THREAD_ID", "codex"),
    ("OPENCODE", "opencode"),
    ("GEMINI_CLI", "gemini-cli"),
    ("CURSOR_AGENT", "cursor"),
)
"""Variables that agent programs set for the commands they run."""
_SESSIONS = ("CLAUDE_CODE_SESSION_ID", "CODEX_THREAD_ID")


class HomeRefused(CofferError):
    """The memory's home belongs to somebody else."""

    code = "STORE_NOT_WRITABLE"
    exit_code = ExitCode.UNAVAILABLE

    def __init__(self, home: Path) -> None:
        super().__init__(
            f"{home} belongs to another user", hint="set COFFER_HOME to a directory of your own, or mend its owner"
        )


class BadSetting(UsageError):
    """A setting has a value it cannot have."""

    def __init__(self, key: str, value: object, wanted: str) -> None:
        super().__init__(f"{key} cannot be {value!r}", hint=f"{key} is {wanted}")


class NoSuchSetting(UsageError):
    """There is no setting of that name."""

    def __init__(self, key: str) -> None:
        super().__init__(f"no such setting: {key}", hint=f"settings are {', '.join(SETTINGS)}")


@dataclass(frozen=True, slots=True)
class Setting:
    """One setting: its default, what a value may be in words, and how a text becomes one (raises ValueError)."""

    default: Any
    wanted: str
    parse: Callable[[str], Any]


def _whole(low: int, high: int) -> Callable[[str], int]:
    def parse(text: str) -> int:
        number = int(text)
        if not low <= number <= high:
            raise ValueError
        return number

    return parse


def _one_of(*words: str) -> Callable[[str], str]:
    def parse(text: str) -> str:
        if text not in words:
            raise ValueError
        return text

    return parse


def _some_of(*words: str) -> Callable[[str], list[str]]:
    def parse(text: str) -> list[str]:
        given = [word.strip() for word in text.split(",")]
        if not given or not set(given) <= set(words):
            raise ValueError
        return given

    return parse


SETTINGS: Mapping[str, Setting] = {
    "default_mode": Setting("keyword", f"one of {', '.join(MODES)}", _one_of(*MODES)),
    "max_fact_chars": Setting(
        MAX_FACT_CHARS, "a whole number from {} to {}".format(*MAX_FACT_CHARS_RANGE), _whole(*MAX_FACT_CHARS_RANGE)
    ),
    "retrieval_modes": Setting(["grep", "keyword"], f"some of {','.join(MODES)}, with commas", _some_of(*MODES)),
    "top_k": Setting(TOP_K, "a whole number from {} to {}".format(*TOP_K_RANGE), _whole(*TOP_K_RANGE)),
}
"""What can be set, for this machine in config.toml; a store's own store.toml goes before it for the first three."""


@dataclass(frozen=True, slots=True)
class Agent:
    """The agent program a command runs under, and its session."""

    name: str
    session: str | None = None


@dataclass(frozen=True, slots=True)
class Config:
    """Everything a command may know of the machine.

    Attributes:
        home: where stores and settings are.
        user_home: the user's home directory, None when there is none.
        cwd: where the user stands.
        agent: the agent whose environment this is, None for a person's shell.
        index_root: where search indexes go instead of into the stores, None for the stores.
        git_configs: the user's own git settings files, for their name.
    """

    home: Path
    user_home: Path | None
    cwd: Path
    agent: Agent | None = None
    index_root: Path | None = None
    git_configs: tuple[Path, ...] = ()


def from_environment(environ: Mapping[str, str], cwd: Path) -> Config:
    """Read the environment.

    Args:
        environ: the process's environment.
        cwd: the directory to stand in.
    """
    user_home = _user_home(environ)
    home = environ.get("COFFER_HOME")
    index_root = environ.get("COFFER_INDEX_DIR")
    return Config(
        home=Path(home).expanduser().absolute() if home else _default_home(),
        user_home=user_home,
        cwd=cwd,
        agent=agent_of(environ),
        index_root=Path(index_root).expanduser().absolute() if index_root else None,
        git_configs=_git_configs(environ, user_home),
    )


def _user_home(environ: Mapping[str, str]) -> Path | None:
    home = environ.get("HOME") or environ.get("USERPROFILE")
    return Path(home) if home else None


def _default_home() -> Path:
    from platformdirs import user_data_path  # noqa: PLC0415 - 10 ms, not needed where COFFER_HOME is set

    return user_data_path("coffer", appauthor=False)


def _git_configs(environ: Mapping[str, str], user_home: Path | None) -> tuple[Path, ...]:
    if user_home is None:
        return ()
    base = environ.get("XDG_CONFIG_HOME") or str(user_home / ".config")
    return (user_home / ".gitconfig", Path(base) / "git/config")


def agent_of(environ: Mapping[str, str]) -> Agent | None:
    """The agent program whose marker stands in the environment, None for a person's shell."""
    for variable, name in _MARKERS:
        if environ.get(variable):
            return Agent(name, next((environ[key] for key in _SESSIONS if environ.get(key)), None))
    return None


def check_home(home: Path) -> None:
    """Refuse a home that another user owns.

    Raises:
        HomeRefused: it is.
    """
    if hasattr(os, "geteuid"):
        try:
            owner = home.stat().st_uid
        except FileNotFoundError:
            return
        if owner != os.geteuid():
            raise HomeRefused(home)


def load(path: Path, *, untouched: bytes = b"") -> tuple[dict[str, Any], str | None]:
    """Read a settings file; what is in it, and what is wrong with it in words (a damaged file counts as empty).

    A file that is still as it was made, `untouched`, sets nothing; most are, and the TOML reader is not imported then.
    """
    try:
        data = files.read_regular(path)
    except OSError as error:
        return {}, f"{path} cannot be read ({error.strerror}) and is ignored"
    if not data or data == untouched:
        return {}, None
    import tomllib  # noqa: PLC0415 - most machines have no other files

    try:
        return tomllib.loads(data.decode()), None
    except ValueError as error:
        return {}, f"{path} is not valid TOML and is ignored ({error})"


def effective(key: str, *sources: Mapping[str, Any]) -> tuple[Any, int | None]:
    """A setting's value, and the number of the source it comes from (None: the default).

    A source whose value the setting cannot have is passed over.

    Raises:
        NoSuchSetting: there is none of that name.
    """
    setting = _setting(key)
    for number, source in enumerate(sources):
        if key in source:
            value = source[key]
            text = ",".join(map(str, value)) if isinstance(value, list) else str(value)
            try:
                return setting.parse(text), number
            except ValueError:
                continue
    return setting.default, None


def parsed(key: str, text: str) -> Any:
    """A setting's value from what was typed.

    Raises:
        NoSuchSetting: there is no setting of that name.
        BadSetting: it cannot have that value.
    """
    setting = _setting(key)
    try:
        return setting.parse(text.strip())
    except ValueError:
        raise BadSetting(key, text, setting.wanted) from None


def _setting(key: str) -> Setting:
    if key not in SETTINGS:
        raise NoSuchSetting(key)
    return SETTINGS[key]


def assign(text: str, key: str, value: Any) -> str:
    """The text of a settings file with one value set, everything else in it kept as it is."""
    import tomlkit  # noqa: PLC0415 - 20 ms, only for setting

    document = tomlkit.parse(text)
    document[key] = value
    return tomlkit.dumps(document)


def unassign(text: str, key: str) -> str:
    """The text of a settings file without one value, everything else in it kept as it is."""
    import tomlkit  # noqa: PLC0415 - 20 ms, only for setting

    document = tomlkit.parse(text)
    document.pop(key, None)
    return tomlkit.dumps(document)
