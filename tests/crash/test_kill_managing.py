"""Deleting a store and mending one, killed at any call into the system: the old state or the new."""

from __future__ import annotations

import shutil
import signal
from typing import TYPE_CHECKING

import pytest
from support.cli import check_whole, cli, in_head, ok, store_dir
from support.killing import run

if TYPE_CHECKING:
    from pathlib import Path


def die(argv: list[str], template: Path, kills: list[list[object]]) -> list[tuple[Path, dict[str, int]]]:
    """Run the command in copies of a memory, each killed elsewhere."""
    homes = [template.with_name(f"home-{number}") for number in range(len(kills))]
    for home in homes:
        shutil.rmtree(home, ignore_errors=True)
        shutil.copytree(template, home, symlinks=True)
    return list(zip(homes, run(argv, homes, kills), strict=True))


def everywhere(argv: list[str], template: Path) -> list[Path]:
    """Copies of a memory, in each of which the command was killed at another call."""
    ((_, answer),) = die(argv, template, [["count"]])
    count = answer["counted"]
    numbers = [number for number in range(1, count + 1) if number <= 40 or number % 7 == 0 or number > count - 5]
    died = die(argv, template, [["call", number] for number in numbers])
    ends = [answer["status"] for _, answer in died]
    assert set(ends) <= {signal.SIGKILL, 0}
    assert ends.count(signal.SIGKILL) > len(ends) - 10  # files of a memory differ by a few from copy to copy
    return [home for home, _ in died]


@pytest.fixture
def template(tmp_path, project, monkeypatch):
    home = tmp_path / "template"
    monkeypatch.setenv("COFFER_HOME", str(home))
    monkeypatch.chdir(project)
    ok("remember", "The heron stays")
    ok("recall", "heron")
    return home


def test_a_delete_killed_anywhere_leaves_a_whole_store_or_none(template, monkeypatch):
    name = ok("where")["scopes"][0]["store"]
    gone = 0
    for home in everywhere(["stores", "delete", name, "--yes", "--json"], template):
        monkeypatch.setenv("COFFER_HOME", str(home))
        stores = [found["store"] for found in ok("stores", "list")["stores"]]
        if stores:
            check_whole(store_dir(home))
            assert [hit["title"] for hit in ok("recall", "heron")["hits"]] == ["The heron stays"]
            ok("stores", "delete", name, "--yes")
        else:
            gone += 1
            ok("doctor", "--fix")
        assert list((home / "memory").glob(".deleted-*")) == []
        assert list((home / "memory/projects").iterdir()) == []
        ok("remember", "A new beginning")
        check_whole(store_dir(home))
    assert gone > 5


def test_a_repair_killed_anywhere_loses_no_edit(template, monkeypatch):
    store = store_dir(template)
    (store / "knowledge/inbox/mine.md").write_text("Typed by hand: dotterel\n")
    for home in everywhere(["doctor", "--fix", "--json"], template):
        monkeypatch.setenv("COFFER_HOME", str(home))
        ok("remember", "Afterwards")
        check_whole(store_dir(home))
        assert in_head(store_dir(home))["knowledge/inbox/mine.md"] == b"Typed by hand: dotterel\n"
        answer = cli("doctor")
        assert (answer.code, [one for one in answer.data["findings"] if one["level"] != "note"]) == (0, [])
