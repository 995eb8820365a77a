"""kill -9 at any instant of remember, import and reindex loops: what was answered is there, nothing needs a hand."""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest
from support.cli import bodies, check_whole, in_head, ok, on_disk, store_dir

LOOP = """
import json, os, sys
sys.path.insert(0, sys.argv[1])
from support.cli import ok
kind, run, folder = sys.argv[2:]
ok("recall", "warm the imports")
number = 0
print("ready", flush=True)
while True:
    number += 1
    texts = [f"{kind} {run}, number {number}."]
    if kind == "import":
        texts = [f"{kind} {run}, {part} of number {number}." for part in range(12 if number % 3 else 220)]
        path = os.path.join(folder, "facts.jsonl")
        with open(path, "w") as file:
            file.writelines(json.dumps({"text": text}) + "\\n" for text in texts)
        done = ok("import", "jsonl", path)["commit"]
    elif kind == "edit":
        with open(os.path.join(folder, "hand.md"), "a") as file:
            file.write(f"Line {number}.\\n")
        done = ok("remember", texts[0])["commit"]
    else:
        done = ok("remember", texts[0])["commit"]
        if kind == "reindex":
            ok("reindex", *(["--full"] if number % 2 else []))
            assert ok("recall", texts[0])["hits"]
    assert done
    print(json.dumps(texts), flush=True)
"""
KINDS = ("remember", "edit", "import", "reindex")


def kill_often(project: Path, times: int, seed: int) -> None:
    dice = random.Random(seed)
    acknowledged: list[str] = []
    ok("remember", "The first fact.")
    store = store_dir()
    for run in range(times):
        kind = KINDS[run % len(KINDS)]
        folder = store / "knowledge" if kind == "edit" else project.parent
        with subprocess.Popen(
            [sys.executable, "-c", LOOP, str(Path(__file__).parent.parent), kind, str(run), str(folder)],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        ) as process:
            assert process.stdout.readline() == "ready\n", process.stderr.read()
            time.sleep(dice.uniform(0, 0.25))
            process.send_signal(signal.SIGKILL)
            out, err = process.communicate()
        assert err == ""
        said = [text for line in out.splitlines(keepends=True) if line.endswith("\n") for text in json.loads(line)]
        acknowledged += said
        for text in said[-1:]:
            assert ok("recall", text)["hits"][0]["text"].strip() == text
        assert ok("remember", f"After the kill {run}.")["commit"]
        acknowledged.append(f"After the kill {run}.")
        check_whole(store)
        found = bodies(in_head(store))
        assert [text for text in acknowledged if found[text] != 1] == []
        assert [text for text, count in found.items() if count > 1] == []
    facts = sum(1 for path in on_disk(store) if path.startswith("knowledge/"))
    status = ok("reindex")["stores"][0]
    assert (status["files"], status["index"]) == (facts, "current")


@pytest.fixture
def fast(project, monkeypatch):
    """A memory that need not wait for a disk: what kill -9 leaves does not depend on it."""
    place = Path(tempfile.mkdtemp(dir="/dev/shm")) if os.access("/dev/shm", os.W_OK) else project.parent
    monkeypatch.setenv("COFFER_HOME", str(place / "coffer"))
    monkeypatch.chdir(project)
    yield project
    shutil.rmtree(place / "coffer", ignore_errors=True)
    if place != project.parent:
        place.rmdir()


def test_killed_twenty_times(fast):
    kill_often(fast, 20, seed=1)


@pytest.mark.soak
@pytest.mark.parametrize("seed", [2, 3, 4])
def test_killed_fifty_times(fast, seed):
    kill_often(fast, 50, seed)


@pytest.mark.soak
def test_killed_fifty_times_on_the_disk(project, monkeypatch):
    monkeypatch.chdir(project)
    kill_often(project, 50, seed=5)
