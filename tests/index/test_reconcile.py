"""The index is a function of the file map, whatever happens to it on the way."""

import os
import stat
import time

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from shelf import Shelf, document

from coffer_index import Index, lock
from coffer_index.keyword import NAME, Keyword

DAMAGED = "the search index was damaged and has been rebuilt"


def everything(shelf):
    return sorted((hit.path, hit.blob, hit.id, hit.start, hit.end) for hit in shelf.search("pump", limit=1000))


def home(shelf):
    return shelf.directory / NAME


def fill(shelf, count=5):
    for number in range(count):
        shelf.put(f"inbox/{number}.md", f"pump number {number}")


def test_states(disk):
    assert disk.open().status("x") == "missing"
    assert disk.search("pump") == []
    fill(disk)
    assert disk.sync().state == "rebuilt"
    assert disk.index.status(disk.fingerprint) == "current"
    assert disk.sync().state == "current"
    disk.put("inbox/0.md", "valve")
    assert disk.index.status(disk.fingerprint) == "behind"
    done = disk.sync()
    assert (done.state, done.documents) == ("updated", 1)
    assert disk.find("valve") == ["0"]
    assert "0" not in disk.find("pump")
    del disk.files["inbox/1.md"]
    assert disk.sync().state == "updated"
    assert "1" not in disk.find("pump")
    assert disk.sync(full=True).state == "rebuilt"
    assert sorted(disk.find("pump")) == ["2", "3", "4"]
    assert disk.notices == []


def test_only_what_changed_is_read(disk):
    fill(disk, 20)
    disk.sync()
    disk.put("inbox/3.md", "pump, changed")
    read = []

    def load(path):
        read.append(path)
        return disk.load(path)

    disk.index.reconcile(disk.map, disk.fingerprint, load)
    assert read == ["inbox/3.md"]
    disk.index.reconcile(disk.map, disk.fingerprint, load)
    assert read == ["inbox/3.md"]


def test_a_large_change_is_a_rebuild_and_generations_do_not_pile_up(disk):
    fill(disk)
    disk.sync()
    for round_ in range(4):
        for number in range(5):
            disk.put(f"inbox/{number}.md", f"pump round {round_} number {number}")
        assert disk.sync().state == "rebuilt"
    assert sorted(os.listdir(home(disk))) == ["g000004", "g000005", "lock"]


def test_equal_content_at_two_paths(disk):
    disk.put("topics/a/x.md", "the pump", id="a")
    disk.put("topics/b/x.md", "the pump", id="b")
    disk.put("topics/c/x.md", "other")
    disk.put("topics/d/x.md", "things")
    disk.sync()
    assert disk.search("pump")[0].count == 2
    del disk.files["topics/a/x.md"]
    disk.sync()
    assert [(hit.id, hit.count) for hit in disk.search("pump")] == [("b", 1)]


def test_broken_and_vanished_files_do_not_stop_the_rest(disk):
    fill(disk, 3)
    whole = disk.map | {"inbox/gone.md": "1", "inbox/bad.md": "2"}

    def load(path):
        if path == "inbox/bad.md":
            raise RuntimeError("cannot parse")
        return disk.load(path)

    index = disk.open()
    done = index.reconcile(whole, "one", load)
    assert (done.state, done.documents, done.skipped) == ("rebuilt", 3, ("inbox/bad.md",))
    assert sorted(disk.find("pump")) == ["0", "1", "2"]
    disk.put("inbox/bad.md", "pump mended")
    disk.put("inbox/gone.md", "pump back")
    assert index.reconcile(whole, "two", disk.load).documents == 2
    assert sorted(disk.find("pump")) == ["0", "1", "2", "bad", "gone"]


def test_progress_is_told(shelf):
    fill(shelf, 130)
    told = []
    shelf.sync(progress=lambda done, total: told.append((done, total)))
    assert told[0] == (0, 130)
    assert told[-1] == (130, 130)


def test_an_interrupted_reconcile_changes_nothing(disk):
    fill(disk)
    disk.sync()
    before = everything(disk)
    disk.put("inbox/0.md", "pump changed")

    def load(path):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        disk.index.reconcile(disk.map, disk.fingerprint, load)
    assert everything(disk) == before
    assert disk.sync().state == "updated"


texts = st.sampled_from(["pump", "pump two", "# A\n\npump\n\n## B\n\npump " + "long " * 500, "valve", ""])
changes = st.lists(st.dictionaries(st.sampled_from("abcdefgh"), st.none() | texts, min_size=1, max_size=3), max_size=6)


@pytest.mark.parametrize("on_disk", [False, True])
def test_reconcile_equals_rebuild(tmp_path_factory, on_disk):
    @settings(max_examples=12 if on_disk else 40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
    @given(st.dictionaries(st.sampled_from("abcdefgh"), texts, min_size=4), changes)
    def check(first, rounds):
        shelf = Shelf(tmp_path_factory.mktemp("index") if on_disk else None)
        for name, body in first.items():
            shelf.put(f"topics/{name}.md", f"{name} {body}", passages=99)
        shelf.sync()
        for change in rounds:
            for name, body in change.items():
                shelf.files.pop(f"topics/{name}.md", None)
                if body is not None:
                    shelf.put(f"topics/{name}.md", f"{name} {body}", passages=99)
            shelf.sync()
        fresh = Shelf(None, shelf.files)
        fresh.sync()
        assert everything(shelf) == everything(fresh)
        assert shelf.sync().state == "current"
        assert shelf.notices == []

    check()


def test_several_documents_of_one_file(disk):
    disk.files["journal/2026-06-09.md"] = [
        document("journal/2026-06-09.md", f"pump entry {n}", id=f"e{n}", offset=100 * n) for n in range(3)
    ]
    disk.put("inbox/x.md", "other")
    disk.sync()
    assert sorted((hit.id, hit.start) for hit in disk.search("pump")) == [("e0", 0), ("e1", 100), ("e2", 200)]


def test_a_held_lock_means_stale_answers_without_ghosts(disk):
    fill(disk)
    disk.sync()
    holder = lock.acquire(str(home(disk) / "lock"), 0)
    del disk.files["inbox/0.md"]
    disk.put("inbox/1.md", "pump changed")
    began = time.monotonic()
    assert disk.sync(wait=0.1).state == "stale"
    assert 0.1 <= time.monotonic() - began < 2
    assert sorted(disk.find("pump")) == ["2", "3", "4"]
    lock.release(holder)
    assert disk.sync().state == "updated"
    assert sorted(disk.find("pump")) == ["1", "2", "3", "4"]
    assert disk.notices == []


def test_a_foreign_writer_is_waited_for_and_never_damage(disk):
    fill(disk)
    disk.sync()
    writer = Keyword.open(str(home(disk) / "g000001"))._writer()
    disk.put("inbox/0.md", "pump changed")
    assert disk.sync(wait=0.1).state == "stale"
    writer.rollback()
    writer.wait_merging_threads()
    del writer
    assert disk.sync().state == "updated"
    assert disk.notices == []
    assert sorted(os.listdir(home(disk))) == ["g000001", "lock"]


def test_left_over_lock_files_do_not_matter(disk):
    fill(disk)
    disk.sync()
    (home(disk) / "g000001" / ".tantivy-writer.lock").write_text("99999999")
    (home(disk) / "lock").write_text("99999999")
    disk.put("inbox/0.md", "pump changed")
    assert disk.sync().state == "updated"


def test_files_are_for_their_owner_only(disk):
    before = os.umask(0)
    try:
        fill(disk)
        disk.sync()
        disk.put("inbox/0.md", "pump changed")
        disk.sync()
    finally:
        os.umask(before)
    for parent, _, names in os.walk(disk.directory):
        assert stat.S_IMODE(os.stat(parent).st_mode) == 0o700
        for name in names:
            assert stat.S_IMODE(os.stat(os.path.join(parent, name)).st_mode) == 0o600, name


def test_without_a_directory_the_index_is_in_memory(tmp_path):
    for directory in (None, tmp_path / "file" / "x", "/proc/nowhere"):
        (tmp_path / "file").write_text("no directory")
        shelf = Shelf(directory)
        fill(shelf)
        assert shelf.open().in_memory
        assert shelf.sync().state == "rebuilt"
        assert shelf.sync().state == "current"
        assert len(shelf.find("pump")) == 5
        shelf.put("inbox/0.md", "pump changed")
        assert shelf.sync().state == "updated"


def test_a_read_only_directory_gives_an_index_in_memory(disk, monkeypatch):
    disk.directory.mkdir()
    disk.directory.chmod(0o500)
    if os.geteuid() == 0:  # root may write anyway: refuse in its place
        monkeypatch.setattr("coffer_index.generations.os.open", refuse)
    fill(disk)
    assert disk.open().in_memory
    assert disk.sync().state == "rebuilt"
    assert len(disk.find("pump")) == 5
    disk.directory.chmod(0o700)


def refuse(*args, **more):
    raise PermissionError


def test_a_directory_that_goes_away_is_made_in_memory(disk, monkeypatch):
    fill(disk)
    disk.sync()
    monkeypatch.setattr("coffer_index.lock.os.open", refuse)
    disk.put("inbox/0.md", "pump changed")
    assert disk.sync().state == "rebuilt"
    assert disk.index.in_memory
    assert len(disk.find("pump")) == 5


def test_a_full_disk_is_no_damage(disk, monkeypatch):
    fill(disk)
    disk.sync()
    write = Keyword.write

    def full(self, *args):
        if not disk.index.in_memory:
            raise ValueError("No space left on device (os error 28)")
        write(self, *args)

    monkeypatch.setattr(Keyword, "write", full)
    disk.put("inbox/0.md", "pump changed")
    assert disk.sync().state == "rebuilt"
    assert disk.index.in_memory
    assert len(disk.find("pump")) == 5
    assert disk.notices == []
    assert sorted(os.listdir(home(disk))) == ["g000001", "lock"]


def test_other_versions_are_left_alone_but_older_ones(disk):
    for name in ("kw0-00000000", "kw999-00000000", "elsewhere"):
        (disk.directory / name / "g000001").mkdir(parents=True)
    fill(disk)
    disk.sync()
    assert sorted(os.listdir(disk.directory)) == sorted(["elsewhere", NAME, "kw999-00000000"])
    assert disk.notices == []


def test_another_process_sees_the_commit(disk):
    fill(disk)
    disk.sync()
    other = Shelf(disk.directory, dict(disk.files))
    assert other.sync().state == "current"
    other.put("inbox/0.md", "valve")
    other.sync()
    disk.files = dict(other.files)
    assert disk.sync().state == "current"
    assert disk.find("valve") == ["0"]
    other.sync(full=True)
    assert disk.sync().state == "current"
    assert disk.find("valve") == ["0"]


def test_opening_reads_nothing(disk):
    Index.open(disk.directory, notice=disk.notices.append)
    assert os.listdir(home(disk)) == ["lock"]
