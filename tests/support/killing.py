"""Deaths of one command line at system calls spread evenly over its run."""

from __future__ import annotations

import json
import shutil
import signal
import subprocess
import sys
from typing import TYPE_CHECKING

from support import dying

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


def run(argv: list[str], homes: list[Path], kills: list[list[object]]) -> list[dict[str, int]]:
    """Run a command line in each home, each with its own death."""
    jobs = [{"home": str(home), "kill": kill} for home, kill in zip(homes, kills, strict=True)]
    done = subprocess.run(
        [sys.executable, dying.__file__],
        input=json.dumps({"argv": argv, "jobs": jobs}),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    answers: list[dict[str, int]] = json.loads(done.stdout)
    return answers


def deaths(place: Path, template: Path, argv: list[str], *, sample: int) -> Iterator[Path]:
    """Copies of a home in which the command died instead of one of its calls that change the file system."""
    whole = place / "whole"
    shutil.copytree(template, whole, symlinks=True)
    (counted,) = run(argv, [whole], [["count"]])
    assert counted["status"] == 0, argv
    calls = sorted({1 + round(number * (counted["counted"] - 1) / (sample - 1)) for number in range(sample)})
    homes = [place / f"home-{number}" for number in calls]
    for home in homes:
        shutil.copytree(template, home, symlinks=True)
    for home, answer in zip(homes, run(argv, homes, [["call", number] for number in calls]), strict=True):
        assert answer["status"] in (0, signal.SIGKILL), answer
        yield home
