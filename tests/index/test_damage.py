"""A damaged index repairs itself with one notice; processes that die or race leave the old state or the new one."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from shelf import Shelf

from coffer_index import IndexDamaged
from coffer_index.keyword import NAME

NOTICE = ["the search index was damaged and has been rebuilt"]


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """A healthy index on disk and its files."""
    shelf = Shelf(tmp_path_factory.mktemp("whole") / "index")
    for number in range(5):
        shelf.put(f"inbox/{number}.md", f"pump number {number}", day="2026-06-09")
    shelf.sync()
    return shelf


def names(whole):
    return sorted(os.listdir(whole.directory / NAME / "g000001"))


def empty(path):
    path.unlink()
    path.write_bytes(b"")


def junk(path):
    path.unlink()
    path.write_bytes(os.urandom(300))


def half(path):
    data = path.read_bytes()
    path.unlink()
    path.write_bytes(data[: len(data) // 2])


@pytest.mark.parametrize("harm", [empty, Path.unlink, junk, half])
def test_any_file_may_be_damaged(whole, tmp_path, harm):
    noticed = set()
    for name in names(whole):
        copy = Shelf(tmp_path / name, dict(whole.files))
        shutil.copytree(whole.directory, copy.directory)
        harm(copy.directory / NAME / "g000001" / name)
        repaired(copy)
        if copy.notices:
            noticed.add(name)
    assert "meta.json" in noticed
    assert any(name.endswith(".idx") for name in noticed)


def repaired(shelf):
    shelf.sync()
    for _ in range(2):
        try:
            assert sorted(shelf.find("pump")) == list("01234")
            break
        except IndexDamaged:
            shelf.index.discard()
            shelf.sync()
    else:
        pytest.fail("damaged again after a rebuild")
    assert shelf.notices in ([], NOTICE)
    assert shelf.sync().state == "current"
    assert not [name for name in os.listdir(shelf.directory / NAME) if name.startswith("tmp-")]


def test_everything_of_a_generation_may_be_gone(whole, tmp_path):
    copy = Shelf(tmp_path / "index", dict(whole.files))
    shutil.copytree(whole.directory, copy.directory)
    for name in names(whole):
        (copy.directory / NAME / "g000001" / name).unlink()
    repaired(copy)
    assert copy.notices == NOTICE


def test_the_whole_index_may_be_gone(whole, tmp_path):
    copy = Shelf(tmp_path / "index", dict(whole.files))
    shutil.copytree(whole.directory, copy.directory)
    copy.sync()
    shutil.rmtree(copy.directory)
    copy.put("inbox/5.md", "pump number 5")
    copy.open()
    copy.sync()
    assert len(copy.find("pump")) == 6


def test_another_schema_in_our_place_is_rebuilt(whole, tmp_path):
    import tantivy

    copy = Shelf(tmp_path / "index", dict(whole.files))
    place = copy.directory / NAME / "g000001"
    place.mkdir(parents=True)
    schema = tantivy.SchemaBuilder().add_text_field("other").build()
    tantivy.Index(schema, str(place))
    repaired(copy)
    assert copy.notices == NOTICE


def test_flipped_bits_never_crash(whole, tmp_path):
    for number, name in enumerate(name for name in names(whole) if not name.startswith(".")):
        copy = Shelf(tmp_path / str(number), dict(whole.files))
        shutil.copytree(whole.directory, copy.directory)
        path = copy.directory / NAME / "g000001" / name
        data = bytearray(path.read_bytes())
        for place in range(0, len(data), 7):
            data[place] ^= 0xFF
        path.unlink()
        path.write_bytes(data)
        copy.sync()
        try:
            copy.search("pump number", limit=5)
        except IndexDamaged:
            copy.index.discard()
            copy.sync()
        copy.sync(full=True)
        assert sorted(copy.find("pump")) == list("01234")


def test_discard_gives_one_notice_and_a_new_index(whole, tmp_path):
    copy = Shelf(tmp_path / "index", dict(whole.files))
    copy.sync()
    copy.index.discard()
    assert copy.index.status(copy.fingerprint) == "missing"
    assert copy.sync().state == "rebuilt"
    assert sorted(copy.find("pump")) == list("01234")
    copy.sync(full=True)
    assert copy.notices == NOTICE


WORKER = """
import json, sys
from coffer_index import Document, Index

directory, source, rounds = sys.argv[1], sys.argv[2], int(sys.argv[3])
from pathlib import Path

def load(path):
    body = (Path(source) / path).read_text()
    return [Document(path, path, "", "", "inbox", body, 0, 0.0, "", 1, "")]

notices = []
index = Index.open(Path(directory), notice=notices.append)
states = []
for number in range(rounds):
    files = {path.name: path.read_text() for path in sorted(Path(source).iterdir())}
    files = {name: str(hash(text)) for name, text in files.items()}
    states.append(index.reconcile(files, json.dumps(files), load, wait=60).state)
    found = index.search("pump", limit=1000)
    assert len(found) == len({hit.path for hit in found}) == len(files), (len(found), len(files))
    print(number, flush=True)
print(json.dumps([states, notices]))
"""


def start(directory, source, rounds=1):
    command = [sys.executable, "-c", WORKER, str(directory), str(source), str(rounds)]
    env = dict(os.environ) | {"PYTHONHASHSEED": "0"}
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=env)


@pytest.fixture
def source(tmp_path):
    folder = tmp_path / "source"
    folder.mkdir()
    for number in range(60):
        (folder / f"{number}.md").write_text(f"pump number {number}")
    return folder


def test_many_processes_build_one_index(tmp_path, source):
    workers = [start(tmp_path / "index", source) for _ in range(6)]
    states = []
    for worker in workers:
        out, err = worker.communicate(timeout=60)
        assert worker.returncode == 0, err
        found, notices = json.loads(out.splitlines()[-1])
        states += found
        assert notices == []
    assert states.count("rebuilt") == 1
    assert sorted(os.listdir(tmp_path / "index" / NAME)) == ["g000001", "lock"]


def test_kill_9_leaves_old_or_new(tmp_path, source):
    directory = tmp_path / "index"
    worker = start(directory, source)
    assert worker.communicate(timeout=60)[1] == ""
    for attempt in range(8):
        for number in range(attempt, attempt + 10):
            (source / f"{number}.md").write_text(f"pump number {number} attempt {attempt}")
        victim = start(directory, source)
        time.sleep(0.05 + 0.02 * attempt)
        victim.send_signal(signal.SIGKILL)
        victim.communicate()
    survivor = start(directory, source)
    out, err = survivor.communicate(timeout=60)
    assert survivor.returncode == 0, err
    assert json.loads(out.splitlines()[-1])[1] == []


def test_kill_9_in_a_rebuild_leaves_nothing_behind(tmp_path, source):
    directory = tmp_path / "index"
    (directory / NAME / "tmp-1-dead").mkdir(parents=True)
    (directory / NAME / "tmp-1-dead" / "meta.json").write_text("{")
    worker = start(directory, source)
    out, err = worker.communicate(timeout=60)
    assert worker.returncode == 0, err
    assert json.loads(out.splitlines()[-1]) == [["rebuilt"], []]
    assert sorted(os.listdir(directory / NAME)) == ["g000001", "lock"]
