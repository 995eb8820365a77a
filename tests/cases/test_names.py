"""Names and paths (N cases): every fact a file of its own, nothing outside of the store is ever touched."""

from __future__ import annotations

import os

import pytest
from support.memory import git

from cofferctl.errors import CofferError
from cofferctl.lanes import PathRefused, fold
from cofferctl.placing import LinkInStore


def paths_of(memory):
    return memory.git("ls-files", "-z").rstrip("\0").split("\0")


def test_n01_titles_of_any_script_get_files_of_their_own(memory):
    titles = [
        "会议记录",
        "会议笔记",
        "محضر اجتماع",
        "Протокол встречи",
        "Заметки",
        "회의록",
        "議事録",
        "🦆🦆",
        "🦢",
        "…",
        "٣",
    ]
    made = [memory.remember(f"text number {number} zebra{number}", title=title) for number, title in enumerate(titles)]
    assert len({item.path for item in made}) == len(titles)
    for number, item in enumerate(made):
        name = item.path.rpartition("/")[2]
        assert name.isascii()
        assert name[0].isalnum()
        assert len(name) > len(".md")
        assert memory.hits(f"zebra{number}")[0].title == titles[number]
        assert memory.hits(titles[number]) or not any(char.isalnum() for char in titles[number])
    memory.sound()


def test_n03_no_two_names_are_one_on_a_case_blind_disk(memory):
    titles = [
        "API keys",
        "api KEYS",
        "Api Keys!",
        "api-keys",
        "ÅPI keys",
        "A\u030aPI keys",
        "straße",
        "STRASSE",
        "İ",
        "i",
    ]
    for number, title in enumerate(titles):
        memory.remember(f"body {number}", title=title)
    paths = paths_of(memory)
    assert len({fold(path) for path in paths}) == len(paths)
    assert len(memory.list().facts) == len(titles)


@pytest.mark.parametrize(
    "title", ["CON", "nul", "COM1", "aux.txt", "index", "git", ".git", "INDEX", "..", "a/b", "~", "*?", "x" * 500]
)
def test_n03_names_that_some_system_cannot_have(memory, title):
    made = memory.remember("some text", title=title)
    stem = made.path.rpartition("/")[2].removesuffix(".md")
    assert stem not in {"con", "nul", "com1", "aux", "index", "git", "."}
    assert made.path.count("/") == 2
    assert len(stem) <= 90
    assert memory.show(made.id).title == title


def test_n06_a_committed_link_is_not_written_through(memory, tmp_path):
    memory.remember("makes the store")
    victim = tmp_path / "victim.md"
    victim.write_text("untouched cormorant\n")
    memory.file("knowledge/inbox/shag.md").symlink_to(victim)
    memory.file("store.toml").rename(tmp_path / "real.toml")
    memory.file("store.toml").symlink_to(tmp_path / "real.toml")
    memory.git("add", "-A")
    memory.git("commit", "-qm", "links")
    made = memory.remember("The shag nests here", title="shag")
    assert made.path != "knowledge/inbox/shag.md"
    assert victim.read_text() == "untouched cormorant\n"
    assert memory.texts("shag") == ["The shag nests here"]
    assert memory.hits("cormorant") == ()
    assert memory.hits("cormorant", mode="grep") == ()
    with pytest.raises(CofferError):
        memory.show("knowledge/inbox/shag.md")


def test_n07_a_linked_lane_leads_nowhere(memory, tmp_path):
    memory.remember("makes the store")
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "secret.md").write_text("The outside heron\n")
    inbox = memory.file("knowledge/inbox")
    inbox.rename(memory.file("kept"))
    inbox.symlink_to(outside)
    with pytest.raises(LinkInStore) as caught:
        memory.remember("A new fact")
    assert caught.value.details["reason"] == "path"
    assert sorted(path.name for path in outside.iterdir()) == ["secret.md"]
    assert memory.hits("heron") == ()
    assert memory.hits("heron", mode="grep") == ()
    with pytest.raises(CofferError):
        memory.show("knowledge/inbox/secret.md")


def test_n07_a_dangling_link_makes_no_file_outside(memory, tmp_path):
    memory.remember("makes the store")
    target = tmp_path / "not-there.md"
    memory.file("knowledge/inbox/gull.md").symlink_to(target)
    made = memory.remember("A gull", title="gull")
    assert not os.path.lexists(target)
    assert memory.texts("gull") == ["A gull"]
    assert made.path != "knowledge/inbox/gull.md"


def test_n07_a_linked_directory_inside_a_lane_is_skipped(memory, tmp_path):
    memory.remember("makes the store")
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "x.md").write_text("The outside heron\n")
    memory.file("knowledge/deep").symlink_to(outside)
    assert memory.hits("heron") == ()
    assert memory.remember("still works").commit
    assert "outside" not in memory.git("ls-files")
    with pytest.raises(CofferError):
        memory.show("knowledge/deep/x.md")


def test_n07_a_home_reached_through_a_link_works(memory, tmp_path):
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real")
    memory.env = {"COFFER_HOME": str(tmp_path / "link/coffer")}
    memory.remember("The linked tern")
    assert memory.texts("tern") == ["The linked tern"]
    assert (tmp_path / "real/coffer/memory").is_dir()
    memory.sound()


@pytest.mark.parametrize(
    "given",
    [
        "../../out.md",
        "/etc/x.md",
        "knowledge/a/../../../b.md",
        "../../.git/config",
        ".git/hooks/pre-commit.md",
        "knowledge/.GIT/x.md",
        "knowledge/.git/x.md",
        "knowledge//x.md",
        "knowledge/./x.md",
        "..\\..\\x.md",
        "knowledge/x\0.md",
        "~/x.md",
        "C:\\x.md",
        "knowledge/INDEX.md",
        "config/x",
    ],
)
def test_n08_a_path_out_of_the_lanes_is_refused(memory, given):
    memory.remember("makes the store")
    for call in (memory.show, memory.log):
        with pytest.raises(PathRefused) as caught:
            call(given)
        assert caught.value.details == {"reason": "path"}
        assert "\n" not in caught.value.message


@pytest.mark.parametrize(
    "title", ["../../out", "/etc", "a/../../b", ".git", ".git/hooks", ".GIT", "..\\..\\x", "knowledge/../x"]
)
def test_n08_a_title_is_never_a_path(memory, tmp_path, title):
    before = sorted(tmp_path.iterdir())
    made = memory.remember("some text", title=title)
    assert made.path.startswith("knowledge/inbox/")
    assert ".." not in made.path
    assert sorted(path for path in tmp_path.iterdir() if path.name != "coffer") == [
        path for path in before if path.name != "coffer"
    ]
    assert git(memory.store.directory, "ls-files").split() == [".gitattributes", ".gitignore", made.path, "store.toml"]
