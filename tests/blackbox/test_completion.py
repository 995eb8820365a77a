"""The completion scripts: what is in the repository is what the program prints, and a real shell can use it."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from support.program import run

COMPLETIONS = Path(__file__).parents[2] / "completions"
BASH = shutil.which("bash")


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_the_scripts_in_the_repository_are_those_the_program_prints(shell):
    printed = run("completion", shell)
    assert printed.code == 0
    kept = (COMPLETIONS / f"cofferctl.{shell}").read_text()
    assert printed.out == kept, "the command line has changed: run `make completions`"


def test_a_shell_we_do_not_know():
    assert run("completion", "tcsh").code == 2


def bash(script: str) -> str:
    assert BASH is not None
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        [BASH, "--norc", "--noprofile", "-c", f"source {COMPLETIONS}/cofferctl.bash\n{script}"],
        env={**os.environ, "PATH": path},
        capture_output=True,
        text=True,
        check=True,
        timeout=30,
    )
    assert done.stderr == ""
    return done.stdout


def completed(*words: str) -> list[str]:
    """What bash offers for the last of some words."""
    typed = " ".join(f"'{word}'" for word in ("cofferctl", *words))
    return bash(
        f'COMP_WORDS=({typed}); COMP_CWORD={len(words)}; _cofferctl; printf "%s\\n" "${{COMPREPLY[@]}}"'
    ).split()


needs_bash = pytest.mark.skipif(BASH is None, reason="no bash on this machine")


@needs_bash
def test_bash_takes_the_script():
    assert "-F _cofferctl cofferctl" in bash("complete -p cofferctl")


@needs_bash
@pytest.mark.parametrize(
    ("words", "offered"),
    [
        (("rem",), ["remember"]),
        (("stores", "cl"), ["clear"]),
        (("import", ""), ["jsonl", "markdown"]),
        (("completion", ""), ["bash", "zsh", "fish"]),
        (("recall", "--scope", ""), ["project", "global", "both"]),
        (("recall", "--mode", "k"), ["keyword"]),
        (("stores", "clear", "--lane", "j"), ["journal"]),
        (("stores", "clear", "--y"), ["--yes"]),
        (("doctor", "--f"), ["--fix"]),
        (("remember", "--title", "x"), []),
        (("remember", "rem"), []),
        (("nonsense", "x"), []),
    ],
)
def test_bash_completes(words, offered):
    assert completed(*words) == offered


@needs_bash
def test_bash_offers_every_command_and_every_option():
    listed = completed("")
    help_page = run("--help").out
    assert listed
    assert all(f"  {name}" in help_page for name in listed if not name.startswith("-"))
    assert {"--scope", "--store", "--json", "--help", "--title"} <= set(completed("remember", "-"))


@needs_bash
def test_bash_completes_the_names_of_stores(memory):
    made = memory.remember("One")
    memory.remember("Two", scope="global")
    assert completed("stores", "show", "") == ["global", made.store]
    assert completed("recall", "--store", "proj") == [made.store]


@pytest.mark.parametrize(("shell", "check"), [("bash", "-n"), ("zsh", "-n"), ("fish", "--no-execute")])
def test_the_script_is_one_of_its_shell(shell, check):
    program = shutil.which(shell)
    if program is None:
        pytest.skip(f"no {shell} on this machine")
    subprocess.run([program, check, COMPLETIONS / f"cofferctl.{shell}"], check=True, timeout=30)
