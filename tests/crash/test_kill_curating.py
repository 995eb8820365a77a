"""Killed at any system call of edit, supersede, forget, move, restore or undo: the old state or the new one."""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path

import pytest
from support.cli import check_whole, ok, on_disk
from support.killing import deaths

from cofferctl import fact

TEXTS = ("Fact zero was here before.", "Fact one was here before.", "Fact two was here before.")
NEW = "The new text of fact zero."


def stores(home: Path) -> list[Path]:
    found = [home / "memory/global", *(home / "memory/projects").iterdir()]
    return [store for store in found if (store / ".git").is_dir()]


def texts(home: Path) -> set[str]:
    return {
        fact.parse(path, data).body
        for store in stores(home)
        for path, data in on_disk(store).items()
        if not path.startswith("superseded/")
    }


COMMANDS = {
    "edit": (["edit", "FACT", NEW], {TEXTS[0]}, {NEW}),
    "supersede": (["supersede", "FACT", NEW], {TEXTS[0]}, {NEW}),
    "forget": (["forget", "FACT"], {TEXTS[0]}, set()),
    "move": (["move", "FACT", "--to", "global"], {TEXTS[0]}, {TEXTS[0]}),
    "restore": (["restore", "GONE"], set(), {TEXTS[1]}),
    "undo": (["undo"], set(), {TEXTS[1]}),
}


@pytest.mark.parametrize("name", COMMANDS)
def test_old_or_new(name, project, monkeypatch):
    memory = Path("/dev/shm")  # what kill -9 leaves does not depend on the disk
    place = Path(tempfile.mkdtemp(prefix="coffer-kill-", dir=memory if os.access(memory, os.W_OK) else None))
    try:
        template = place / "template"
        monkeypatch.setenv("COFFER_HOME", str(template))
        monkeypatch.chdir(project)
        made = [ok("remember", text) for text in TEXTS]
        ok("remember", "Something global.", "--scope", "global")
        ok("forget", made[1]["id"])
        words, before, after = COMMANDS[name]
        argv = [{"FACT": made[0]["id"], "GONE": made[1]["id"]}.get(word, word) for word in words]
        kept = {TEXTS[2], "Something global."} | ({TEXTS[0]} if name in ("restore", "undo") else set())
        for home in deaths(place, template, argv, sample=14):
            monkeypatch.setenv("COFFER_HOME", str(home))
            ok("remember", "The next fact.")
            ok("remember", "The next global fact.", "--scope", "global")
            found = texts(home) - {"The next fact.", "The next global fact."}
            assert found in (kept | before, kept | after, kept | before | after), (name, found)
            for store in stores(home):
                check_whole(store)
            shutil.rmtree(home)
    finally:
        shutil.rmtree(place)
