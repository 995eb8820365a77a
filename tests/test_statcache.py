"""What a scan knows is kept on disk: whole, or as changes beside what they stand on."""

from __future__ import annotations

from dataclasses import fields

import pytest

from cofferctl import statcache
from cofferctl.statcache import Entry, Worktree


@pytest.fixture
def cache(tmp_path, monkeypatch):
    """A cache file whose changes are written beside it from three entries on; nothing is kept in memory."""
    monkeypatch.setattr(statcache, "CHANGES_FROM", 3)
    monkeypatch.setattr(statcache, "_keep", lambda *_: None)
    return tmp_path / "coffer/stat"


def entry(number):
    return Entry(number, 2**62, number, 2**40, bytes([number]) * 20, bytes([number]) * 16, f"{number:026}".encode())


def lanes(count):
    work = Worktree(tree=b"t" * 20)
    for number in range(count):
        work.put(f"knowledge/inbox/fact-{number}-\udcff-漢.md", entry(number))
    return work


def state(work):
    return work.entries, work.tree, work.differs, work.fingerprint


def test_a_state_reads_back_whole(cache):
    work = lanes(5)
    work.commit("knowledge/inbox/gone.md", b"g" * 20)
    statcache.store(work, cache)
    assert state(statcache.load(cache)) == state(work)
    assert not statcache.load(cache).changed


def test_changes_stand_beside_the_state_and_read_back_with_it(cache):
    statcache.store(lanes(5), cache)
    before = cache.read_bytes()
    work = statcache.load(cache)
    first, second, *_ = work.entries
    work.put(first, None)
    work.put(second, entry(77))
    work.put("rules/new.md", entry(78))
    work.tree = b"u" * 20
    statcache.store(work, cache)
    assert cache.read_bytes() == before
    again = statcache.load(cache)
    assert state(again) == state(work)
    again.put("rules/new.md", None)
    statcache.store(again, cache)
    assert state(statcache.load(cache)) == state(again)


def test_changes_of_another_state_are_left_out(cache):
    statcache.store(lanes(5), cache)
    work = statcache.load(cache)
    work.put("rules/new.md", entry(78))
    statcache.store(work, cache)
    other = lanes(7)
    statcache.store(other, cache)
    assert (cache.parent / "stat.changes").exists()
    assert state(statcache.load(cache)) == state(other)


def test_many_changes_make_a_new_state(cache, monkeypatch):
    monkeypatch.setattr(statcache, "CHANGES_MOST", 1)
    statcache.store(lanes(5), cache)
    work = statcache.load(cache)
    work.put("rules/a.md", entry(1))
    work.put("rules/b.md", entry(2))
    statcache.store(work, cache)
    assert not (cache.parent / "stat.changes").exists()
    assert state(statcache.load(cache)) == state(work)


@pytest.mark.parametrize("name", ["stat", "stat.changes"])
@pytest.mark.parametrize("cut", [0, 1, 20, 100, -1])
def test_half_a_file_is_none(cache, name, cut):
    statcache.store(lanes(5), cache)
    work = statcache.load(cache)
    work.put("rules/new.md", entry(78))
    statcache.store(work, cache)
    path = cache.parent / name
    path.write_bytes(path.read_bytes()[:cut])
    assert len(statcache.load(cache).entries) == (0 if name == "stat" else 5)


def test_the_fingerprint_tells_lanes_apart_whatever_the_order():
    one, other = lanes(3), Worktree()
    for path, found in reversed(one.entries.items()):
        other.put(path, found)
    assert one.fingerprint == other.fingerprint
    path = next(iter(one.entries))
    asked = one.fingerprint
    one.put(path, entry(9))
    assert one.fingerprint not in (asked, Worktree().fingerprint)
    one.put(path, other.entries[path])
    assert one.fingerprint == asked
    one.put(path, None)
    assert one.fingerprint == Worktree({k: v for k, v in other.entries.items() if k != path}).fingerprint


def test_what_is_kept_in_memory_cannot_be_changed_from_outside(tmp_path):
    cache = tmp_path / "coffer/stat"
    work = lanes(2)
    statcache.store(work, cache)
    work.put("rules/later.md", entry(5))
    loaded = statcache.load(cache)
    assert len(loaded.entries) == 2
    loaded.odd["rules/x.md"] = "binary"
    loaded.put("rules/later.md", entry(5))
    assert len(statcache.load(cache).entries) == 2
    assert not statcache.load(cache).odd
    assert {item.name for item in fields(Worktree)} >= {"entries", "tree", "differs"}
