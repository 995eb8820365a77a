"""The README's commands run as they are printed, one after the other, in a new project of a new user."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text()
INSTALLING = re.compile(r"^(pip install|cd|make) .*")


def blocks() -> list[str]:
    """The shell blocks, without the lines that install."""
    found = re.findall(r"^```sh\n(.*?)^```", README, re.MULTILINE | re.DOTALL)
    return ["\n".join(line for line in block.splitlines() if not INSTALLING.match(line)) for block in found]


def test_every_command_runs_as_printed(project):
    env = {**os.environ, "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"}
    assert len(blocks()) > 4
    for block in blocks():
        done = subprocess.run(
            ["sh", "-e", "-c", block], cwd=project, env=env, capture_output=True, text=True, check=False, timeout=60
        )
        assert done.returncode == 0, (block, done.stdout, done.stderr)


def test_every_command_is_in_the_readme():
    from cofferctl.cli.app import _names

    missing = [name for name in _names() if not re.search(rf"cofferctl {name}\b|`{name}\b", README)]
    assert missing == []


def test_every_exit_code_is_in_the_readme():
    from cofferctl.errors import ExitCode

    assert [code for code in ExitCode if f"\n| {int(code)} |" not in README] == []
