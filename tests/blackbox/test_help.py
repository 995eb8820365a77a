"""Every help page, whole; `pytest --update-snapshots` writes them anew."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.cli import text_of

from cofferctl.cli import app

PAGES = Path(__file__).parent / "help"


def commands() -> list[tuple[str, ...]]:
    """Every command and subcommand there is."""
    import typer

    root = typer.main.get_command(app.app)
    found: list[tuple[str, ...]] = [()]
    for name in root.list_commands(None):
        found.append((name,))
        command = root.get_command(None, name)
        found += [(name, below) for below in getattr(command, "commands", {})]
    return found


@pytest.mark.parametrize("path", commands(), ids=lambda path: "-".join(path) or "cofferctl")
def test_help_page(path, request, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    page = text_of(*path, "--help")
    file = PAGES / f"{'-'.join(('cofferctl', *path))}.txt"
    if request.config.getoption("--update-snapshots"):
        file.parent.mkdir(exist_ok=True)
        file.write_text(page)
    assert file.read_text() == page
    assert max(map(len, page.splitlines())) <= 80


@pytest.mark.parametrize("path", [path for path in commands() if path], ids=lambda path: "-".join(path))
def test_help_fits_sixty_columns(path, monkeypatch):
    monkeypatch.setenv("COLUMNS", "60")
    page = text_of(*path, "--help")
    wide = [line for line in page.splitlines() if len(line) > 60 and "cofferctl" not in line and '{"' not in line]
    assert wide == []


def test_no_page_without_a_command(request):
    names = {f"{'-'.join(('cofferctl', *path))}.txt" for path in commands()}
    assert {page.name for page in PAGES.iterdir()} == names
