"""completion: scripts that let a shell complete commands, options and the names of stores, without starting us."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from cofferctl.choices import check

if TYPE_CHECKING:
    from collections.abc import Iterator

SHELLS = ("bash", "zsh", "fish")
_STORES = "cofferctl stores list 2>/dev/null | cut -f1"
_HEADER = "# {shell} completion for cofferctl, written by `cofferctl completion {shell}`; to use it: {use}\n"
_USES = {
    "bash": "source <(cofferctl completion bash)",
    "zsh": "put it as _cofferctl into a directory of $fpath",
    "fish": "cofferctl completion fish | source",
}


@dataclass(frozen=True, slots=True)
class Option:
    """An option: its names, a line about it, and what its value is (see `Command.argument`; "" for none)."""

    names: tuple[str, ...]
    help: str
    value: str


@dataclass(frozen=True, slots=True)
class Command:
    """A command, or a group of them.

    Attributes:
        name: as it is typed.
        help: a line about it.
        options: its options.
        argument: what its argument is: store, file, directory, any, words with blanks between, or "" for none.
        commands: its subcommands.
    """

    name: str
    help: str
    options: tuple[Option, ...] = ()
    argument: str = ""
    commands: tuple[Command, ...] = ()


@dataclass(frozen=True, slots=True)
class Script:
    """The answer."""

    shell: str
    script: str


def completion(shell: str, program: Command) -> Script:
    """A shell's completion script for a tree of commands.

    Raises:
        BadChoice: we know no such shell.
    """
    check("SHELL", shell, SHELLS)
    write = {"bash": _bash, "zsh": _zsh, "fish": _fish}[shell]
    first = "#compdef cofferctl\n" if shell == "zsh" else ""
    return Script(shell, first + _HEADER.format(shell=shell, use=_USES[shell]) + write(program))


def _places(program: Command) -> Iterator[tuple[str, Command]]:
    """("stores list", command) of every command and subcommand; the program itself is at ""."""
    yield "", program
    for command in program.commands:
        yield command.name, command
        for below in command.commands:
            yield f"{command.name} {below.name}", below


def _values(program: Command) -> dict[str, list[str]]:
    """What a value is -> the places `command:--option` that take one."""
    found: dict[str, list[str]] = {}
    for place, command in _places(program):
        for option in command.options:
            if option.value:
                found.setdefault(option.value, []).extend(f"{place}:{name}" for name in option.names)
    return found


def _groups(program: Command) -> str:
    return "|".join(command.name for command in program.commands if command.commands)


_BASH = """
_cofferctl() {{
    local current=${{COMP_WORDS[COMP_CWORD]}} previous=${{COMP_WORDS[COMP_CWORD-1]}} where= kind= options= words=
    COMPREPLY=()
    (( COMP_CWORD > 1 )) && where=${{COMP_WORDS[1]}}
    case $where in
        {groups}) (( COMP_CWORD > 2 )) && where+=" ${{COMP_WORDS[2]}}" ;;
    esac
    case "$where:$previous" in
{values}
    esac
    if [[ -z $kind ]]; then
        case $where in
{places}
        esac
        [[ $current == -* ]] && words=$options kind=
    fi
    case $kind in
        store) words=$({stores}) ;;
        file|directory|any) ;;
        ?*) words=$kind ;;
    esac
    COMPREPLY=($(compgen -W "$words" -- "$current"))
}}

complete -o default -F _cofferctl cofferctl
"""


def _bash(program: Command) -> str:
    values = [f"        {_patterns(places)}) kind={_quoted(value)} ;;" for value, places in _values(program).items()]
    places = [
        f"            {_quoted(place)}) kind={_quoted(_argument(command))} options={_quoted(_names(command))} ;;"
        for place, command in _places(program)
    ]
    return _BASH.format(
        groups=_groups(program), values="\n".join(values), places="\n".join(places), stores=_STORES
    ).lstrip("\n")


_ZSH = """
_cofferctl() {{
    local where= kind= current=$words[CURRENT] previous=$words[CURRENT-1]
    local -a options commands
    (( CURRENT > 2 )) && where=$words[2]
    case $where in
        ({groups}) (( CURRENT > 3 )) && where+=" $words[3]" ;;
    esac
    case "$where:$previous" in
{values}
    esac
    if [[ -z $kind ]]; then
        case $where in
{places}
        esac
        if [[ $current == -* ]]; then
            _describe -o option options
            return
        fi
        if (( $#commands )); then
            _describe command commands
            return
        fi
    fi
    case $kind in
        (store) compadd -- ${{(f)"$({stores})"}} ;;
        (file) _files ;;
        (directory) _files -/ ;;
        (any) ;;
        (?*) compadd -- ${{=kind}} ;;
    esac
}}

if [[ $funcstack[1] == _cofferctl ]]; then
    _cofferctl "$@"
else
    compdef _cofferctl cofferctl
fi
"""


def _zsh(program: Command) -> str:
    values = [f"        ({_patterns(places)}) kind={_quoted(value)} ;;" for value, places in _values(program).items()]
    places = []
    for place, command in _places(program):
        lines = [f"            ({_quoted(place)})"]
        if command.argument:
            lines.append(f"                kind={_quoted(command.argument)}")
        if command.commands:
            told = " ".join(_quoted(f"{below.name}:{below.help}") for below in command.commands)
            lines.append(f"                commands=({told})")
        told = " ".join(_quoted(f"{name}:{option.help}") for option in command.options for name in option.names)
        lines.append(f"                options=({told}) ;;")
        places.append("\n".join(lines))
    return _ZSH.format(
        groups=_groups(program), values="\n".join(values), places="\n".join(places), stores=_STORES
    ).lstrip("\n")


_FISH = """
function __cofferctl_at
    set -l words (commandline -opc)
    set -l last (math (count $argv) + 1)
    test (count $words) -ge $last; and test "$words[2..$last]" = "$argv"
end

function __cofferctl_only
    __cofferctl_at $argv; and test (count (commandline -opc)) -eq (math (count $argv) + 1)
end

complete -c cofferctl -f
"""


def _fish(program: Command) -> str:
    lines = [_FISH.lstrip("\n").rstrip("\n")]
    for place, command in _places(program):
        only = f"__cofferctl_only {place}" if place else "test (count (commandline -opc)) -eq 1"
        at = f"__cofferctl_at {place}" if place else only
        lines += [
            f"complete -c cofferctl -n {_fished(only)} -a {below.name} -d {_fished(below.help)}"
            for below in command.commands
        ]
        if command.argument not in ("", "any"):
            lines.append(f"complete -c cofferctl -n {_fished(at)} {_fish_value(command.argument)}")
        for option in command.options:
            names = " ".join(f"-l {name[2:]}" if name.startswith("--") else f"-s {name[1:]}" for name in option.names)
            takes = f" -r {_fish_value(option.value)}".rstrip() if option.value else ""
            lines.append(f"complete -c cofferctl -n {_fished(at)} {names}{takes} -d {_fished(option.help)}")
    return "\n".join(lines) + "\n"


def _fish_value(kind: str) -> str:
    named = {"file": "-F", "directory": "-a '(__fish_complete_directories)'", "store": f"-a '({_STORES})'", "any": ""}
    return named.get(kind, f"-a {_fished(kind)}")


def _argument(command: Command) -> str:
    """In bash subcommands are words like any others."""
    return " ".join(below.name for below in command.commands) or command.argument or "any"


def _names(command: Command) -> str:
    return " ".join(name for option in command.options for name in option.names)


def _patterns(places: list[str]) -> str:
    return "|".join(_quoted(place) for place in places)


def _quoted(text: str) -> str:
    """A word of bash or zsh."""
    return "'" + text.replace("'", "'\\''") + "'"


def _fished(text: str) -> str:
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"
