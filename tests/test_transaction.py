"""The write path against the world: other processes, plain git, odd repositories, links, full disks, odd settings."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import stat
import subprocess
import sys
import textwrap
import threading
import time
from collections import Counter
from pathlib import Path

import pytest
from support.cli import bodies, check_whole, cli, in_head, leftovers, ok, on_disk, store_dir
from support.memory import git
from support.program import PROGRAM

from cofferctl import fact, worktree

POSIX_ROOT = hasattr(os, "geteuid") and os.geteuid() == 0


@pytest.fixture
def here(project, monkeypatch):
    """The tests stand in a project."""
    monkeypatch.chdir(project)
    return project


@pytest.fixture
def store(here):
    """A store with five facts."""
    for number in range(5):
        ok("remember", f"Old fact number {number}.")
    return store_dir()


def path_of(store: Path, text: str) -> Path:
    (found,) = [path for path, data in on_disk(store).items() if fact.parse(path, data).body == text]
    return store / found


def child(code: str, *args: str, **env: str) -> subprocess.CompletedProcess[str]:
    """Run Python in a process of its own, with `cli` at hand."""
    tests = str(Path(__file__).parent)
    head = f"import os, sys; sys.path.insert(0, {tests!r}); from support.cli import cli, ok\n"
    return subprocess.run(
        [sys.executable, "-c", head + textwrap.dedent(code), *args],
        env={**os.environ, **env},
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )


REMEMBER = """
import json
for number in range(int(sys.argv[2])):
    text = f"Fact {number} of process {sys.argv[1]}."
    answer = cli("remember", text)
    print(json.dumps([text, answer.code, answer.data["commit"] if answer.code == 0 else answer.err]), flush=True)
"""


def writers(count: int, each: int) -> list[subprocess.Popen[str]]:
    tests = str(Path(__file__).parent)
    head = f"import sys; sys.path.insert(0, {tests!r}); from support.cli import cli\n"
    return [
        subprocess.Popen(
            [sys.executable, "-c", head + REMEMBER, str(name), str(each)], stdout=subprocess.PIPE, text=True
        )
        for name in range(count)
    ]


def answers(processes: list[subprocess.Popen[str]]) -> list[list[object]]:
    found = []
    for process in processes:
        out, _ = process.communicate(timeout=90)
        assert process.returncode == 0
        found += [json.loads(line) for line in out.splitlines()]
    return found


# Other processes.


def test_eight_processes_at_once_lose_nothing(store):
    said = answers(writers(8, 12))
    assert [answer for answer in said if answer[1] != 0 or answer[2] is None] == []
    check_whole(store)
    assert bodies(in_head(store)) == Counter([text for text, *_ in said] + [f"Old fact number {n}." for n in range(5)])
    assert git(store, "rev-list", "--count", "HEAD").strip() == str(5 + 8 * 12)


def test_a_first_write_of_eight_processes_makes_one_store(here):
    said = answers(writers(8, 1))
    assert [answer for answer in said if answer[1] != 0] == []
    store = store_dir()
    check_whole(store)
    assert len(in_head(store)) == 8
    assert [path.name for path in store.parent.parent.iterdir() if path.name.startswith(".new")] == []


def test_the_same_text_from_eight_processes_is_one_fact(store):
    code = 'print(ok("remember", "Everybody says this.")["id"])'
    tests = str(Path(__file__).parent)
    head = f"import sys; sys.path.insert(0, {tests!r}); from support.cli import ok\n"
    processes = [
        subprocess.Popen([sys.executable, "-c", head + code], stdout=subprocess.PIPE, text=True) for _ in range(8)
    ]
    ids = {process.communicate()[0] for process in processes}
    assert len(ids) == 1
    assert bodies(in_head(store))["Everybody says this."] == 1


def test_a_person_who_commits_all_the_time(store):
    """Plain git may drop a fact from HEAD for a moment; the file stays, and the next write commits it again."""
    stop = threading.Event()

    def commit() -> None:
        number = 0
        while not stop.is_set():
            (store / f"knowledge/person-{number}.md").write_text(f"Typed {number}.\n")
            for args in (["add", "-A"], ["commit", "-q", "-m", "by hand"]):
                subprocess.run(["git", *args], cwd=store, capture_output=True, check=False)
            number += 1
            time.sleep(0.02)

    person = threading.Thread(target=commit)
    person.start()
    try:
        said = answers(writers(2, 15))
    finally:
        stop.set()
        person.join()
    assert [answer for answer in said if answer[1] != 0] == []
    ok("remember", "The last word.")
    check_whole(store)
    found = bodies(in_head(store))
    assert {found[text] for text, *_ in said} == {1}
    assert {found[f"Old fact number {n}."] for n in range(5)} == {1}
    typed = len(list((store / "knowledge").glob("person-*.md")))
    assert sum(1 for text in found if text.startswith("Typed ")) == typed


def test_a_checkout_of_a_big_branch_meanwhile(store):
    """While git removes files one by one, nothing is taken for a deletion, on neither branch."""
    git(store, "checkout", "-q", "-b", "big")
    (store / "knowledge/many").mkdir()
    for number in range(2_000):
        (store / f"knowledge/many/note-{number}.md").write_text(f"Note {number}.\n")
    git(store, "add", "-A")
    git(store, "commit", "-q", "-m", "many")
    done = threading.Event()

    def switch() -> None:
        for branch in ("main", "big", "main", "big"):
            for _ in range(100):
                if (
                    subprocess.run(
                        ["git", "checkout", "-q", branch], cwd=store, capture_output=True, check=False
                    ).returncode
                    == 0
                ):
                    break
                time.sleep(0.01)
        done.set()

    person = threading.Thread(target=switch)
    person.start()
    texts = []
    while not done.is_set():
        texts.append(f"Said during the checkout, {len(texts)}.")
        assert cli("remember", texts[-1]).code == 0
    person.join()
    ok("remember", "The last word.")
    check_whole(store)
    names = git(store, "ls-tree", "-r", "--name-only", "big").splitlines()
    assert sum(name.startswith("knowledge/many/") for name in names) == 2_000
    for branch in ("main", "big"):
        deleted = git(store, "log", "--diff-filter=D", "--format=%H %s", branch).splitlines()
        assert [line for line in deleted if "outside edit" in line] == []
    everything = git(store, "log", "--all", "-p", "--format=")
    assert [text for text in texts if text not in everything] == []


def test_head_moves_to_another_branch_under_a_write(store, monkeypatch):
    """git lets go of its index before it moves HEAD: what the work tree holds then is not the old branch's."""
    from cofferctl import snapshot

    git(store, "branch", "other")
    before, real, calls = git(store, "rev-parse", "main"), snapshot.take, []

    def take(*args):
        found = real(*args)
        if not calls:
            git(store, "symbolic-ref", "HEAD", "refs/heads/other")
        calls.append(found)
        return found

    monkeypatch.setattr(snapshot, "take", take)
    ok("remember", "Belongs to the other branch.")
    assert len(calls) == 2
    assert git(store, "rev-parse", "main") == before
    check_whole(store)
    assert bodies(in_head(store))["Belongs to the other branch."] == 1


def test_git_gc_all_the_time(store):
    """Packs come and go, refs move between files: no write is stopped or lost."""
    stop = threading.Event()

    def collect() -> None:
        while not stop.is_set():
            subprocess.run(["git", "gc", "--quiet"], cwd=store, capture_output=True, check=False)

    collector = threading.Thread(target=collect)
    collector.start()
    try:
        said = answers(writers(2, 15))
    finally:
        stop.set()
        collector.join()
    assert [answer for answer in said if answer[1] != 0 or answer[2] is None] == []
    check_whole(store)
    assert {bodies(in_head(store))[text] for text, *_ in said} == {1}


# git's own locks and unfinished work.


def test_a_foreign_index_lock_is_waited_for_and_left_alone(store):
    lock = store / ".git/index.lock"
    lock.touch()
    started = time.monotonic()
    answer = cli("remember", "Said while git is at work.")
    assert 2 < time.monotonic() - started < 6
    assert answer.code == 0
    assert answer.data["commit"] is None
    (notice,) = answer.data["notices"]
    assert str(lock) in notice
    assert "ago" in notice
    assert lock.exists()
    assert path_of(store, "Said while git is at work.").exists()
    os.utime(lock, (time.time() - 9_000,) * 2)
    assert ok("remember", "And again.")["commit"] is None
    assert lock.exists(), "a lock without an intent log belongs to a living git, however old"
    lock.unlink()
    assert ok("remember", "Now it works.")["commit"]
    check_whole(store)
    found = bodies(in_head(store))
    assert found["Said while git is at work."] == found["And again."] == found["Now it works."] == 1


def test_an_import_does_not_start_beside_a_foreign_index_lock(store, tmp_path):
    lock = store / ".git/index.lock"
    lock.touch()
    lines = tmp_path / "facts.jsonl"
    lines.write_text('{"text": "One."}\n{"text": "Two."}\n')
    answer = cli("import", "jsonl", str(lines))
    assert answer.code == 5
    assert answer.error["code"] == "STORE_BUSY"
    assert str(lock) in answer.error["message"]
    assert len(on_disk(store)) == 5
    lock.unlink()
    assert ok("import", "jsonl", str(lines))["imported"] == 2
    check_whole(store)


def test_a_foreign_index_lock_that_goes_is_no_obstacle(store):
    lock = store / ".git/index.lock"
    lock.touch()
    with subprocess.Popen(["sh", "-c", f"sleep 1.5; rm '{lock}'"]):
        assert ok("remember", "Patience.")["commit"]
    check_whole(store)


def test_a_foreign_branch_lock_is_named_and_left_alone(store, monkeypatch):
    from cofferctl.history import repository

    monkeypatch.setattr(repository, "REF_WAIT_SECONDS", 1.0)
    lock = store / ".git/refs/heads/main.lock"
    lock.touch()
    answer = cli("remember", "Blocked.")
    assert answer.code == 5
    assert str(lock) in answer.error["message"]
    assert lock.exists()
    assert "Blocked." not in bodies(on_disk(store))
    lock.unlink()
    assert leftovers(store) == []
    assert git(store, "status", "--porcelain") == ""
    assert ok("remember", "Blocked.")["commit"]
    check_whole(store)


@pytest.mark.parametrize(
    "what", ["detached", "merge", "cherry-pick", "revert", "bisect", "rebase-merge", "rebase-apply"]
)
def test_nothing_is_committed_while_git_is_in_the_middle_of_something(store, tmp_path, what):
    git_dir = store / ".git"
    head = git(store, "rev-parse", "HEAD").strip()
    files = {"merge": "MERGE_HEAD", "cherry-pick": "CHERRY_PICK_HEAD", "revert": "REVERT_HEAD", "bisect": "BISECT_LOG"}
    if what == "detached":
        git(store, "checkout", "-q", "--detach")
    elif what in files:
        (git_dir / files[what]).write_text(head + "\n")
    else:
        (git_dir / what).mkdir()
    answer = ok("remember", "Said in the middle.")
    assert answer["commit"] is None
    assert "not committed yet" in answer["notices"][0]
    again = ok("remember", "Said in the middle.")
    assert again["duplicate_of"] == answer["id"]
    lines = tmp_path / "facts.jsonl"
    lines.write_text('{"text": "One."}\n')
    refused = cli("import", "jsonl", str(lines))
    assert refused.code == 6
    assert refused.error["code"] == "STORE_CONFLICT"
    assert git(store, "rev-parse", "HEAD").strip() == head
    assert len(on_disk(store)) == 6
    assert ok("recall", "Said in the middle")["hits"][0]["id"] == answer["id"]
    if what == "detached":
        git(store, "checkout", "-q", "main")
    elif what in files:
        (git_dir / files[what]).unlink()
    else:
        (git_dir / what).rmdir()
    ok("remember", "It has ended.")
    check_whole(store)
    assert bodies(in_head(store))["Said in the middle."] == 1


# What a person does to the files.


def test_many_files_gone_are_not_taken_for_a_wish(store):
    for number in range(5, 20):
        (store / f"knowledge/topic-{number}.md").write_text(f"Topic {number}.\n")
    ok("remember", "All committed.")
    for path in (store / "knowledge").glob("topic-*.md"):
        path.unlink()
    answer = ok("remember", "After the disaster.")
    assert answer["commit"]
    (notice,) = answer["notices"]
    assert "15 of 21 files are gone" in notice
    assert len(in_head(store)) == 22
    assert any("are gone" in text for text in ok("status")["stores"][0]["notices"])
    git(store, "commit", "-q", "-a", "-m", "meant")
    assert ok("remember", "It was meant.")["notices"] == []
    check_whole(store)
    assert len(in_head(store)) == 8


def test_one_file_gone_is_a_deletion(store):
    path_of(store, "Old fact number 2.").unlink()
    ok("remember", "Next.")
    check_whole(store)
    assert "Old fact number 2." not in bodies(in_head(store))


def test_names_that_a_case_blind_disk_cannot_tell_apart(store):
    (store / "knowledge/Deploy.md").write_text("Upper.\n")
    (store / "knowledge/deploy.md").write_text("Lower.\n")
    ok("remember", "Both are tracked.")
    (store / "knowledge/deploy.md").unlink()  # what such a disk shows
    ok("remember", "One is shown.")
    assert {"Upper.", "Lower."} <= set(bodies(in_head(store)))
    assert git(store, "status", "--porcelain") == " D knowledge/deploy.md\n"


def test_a_file_renamed_in_letter_case_only_is_renamed(store):
    (store / "knowledge/Deploy.md").write_text("Ship it.\n")
    ok("remember", "Tracked.")
    (store / "knowledge/Deploy.md").rename(store / "knowledge/deploy.md")
    ok("remember", "Renamed.")
    check_whole(store)
    assert bodies(in_head(store))["Ship it."] == 1


def test_a_file_truncated_by_an_editor_this_moment_is_looked_at_again(store):
    path = path_of(store, "Old fact number 1.")
    data = path.read_bytes()
    path.write_bytes(b"")

    def finish() -> None:
        time.sleep(0.06)
        path.write_bytes(data.replace(b"Old", b"New"))

    editor = threading.Thread(target=finish)
    editor.start()
    ok("remember", "Meanwhile.")
    editor.join()
    ok("remember", "Later.")
    check_whole(store)
    shown = [
        git(store, "show", f"{commit}:{path.relative_to(store)}")
        for commit in git(store, "rev-list", "HEAD").split()[:3]
    ]
    assert "" not in shown
    assert bodies(in_head(store))["New fact number 1."] == 1


def test_a_file_replaced_by_an_editor_this_moment_is_looked_at_again(store):
    path = path_of(store, "Old fact number 1.")
    data = path.read_bytes()
    path.unlink()

    def finish() -> None:
        time.sleep(0.06)
        path.write_bytes(data)

    editor = threading.Thread(target=finish)
    editor.start()
    ok("remember", "Meanwhile.")
    editor.join()
    check_whole(store)
    assert git(store, "log", "--diff-filter=D", "--format=%s") == ""


def test_windows_line_ends_are_committed_as_git_would(store):
    path = path_of(store, "Old fact number 1.")
    path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n"))
    ok("remember", "Nothing to commit but this.")
    assert git(store, "log", "--format=%s", "-1", "--", str(path.relative_to(store))).startswith("remember:")
    path.write_bytes(path.read_bytes() + b"One more.\r\n")
    ok("remember", "Now there is.")
    check_whole(store)
    assert b"\r" not in b"".join(in_head(store).values())
    assert b"\r" in path.read_bytes(), "a person's file is not rewritten"


def test_a_skipped_file_is_not_a_deletion(store):
    path = path_of(store, "Old fact number 1.")
    git(store, "update-index", "--skip-worktree", str(path.relative_to(store)))
    path.unlink()
    ok("remember", "Next.")
    check_whole(store, clean=False)
    assert "Old fact number 1." in bodies(in_head(store))
    assert git(store, "status", "--porcelain") == ""
    assert git(store, "ls-files", "-t").count("S ") == 1


def test_what_a_person_has_staged_stays_staged(store):
    (store / "elsewhere.txt").write_text("not ours\n")
    git(store, "add", "elsewhere.txt")
    ok("remember", "Next.")
    assert git(store, "status", "--porcelain") == "A  elsewhere.txt\n"


def test_a_tracked_link_that_becomes_a_file_is_committed_as_a_file(store):
    (store / "knowledge/link.md").symlink_to("elsewhere.md")
    git(store, "add", "-A")
    git(store, "commit", "-q", "-m", "a link")
    (store / "knowledge/link.md").unlink()
    (store / "knowledge/link.md").write_text("Now a text.\n")
    ok("remember", "Next.")
    check_whole(store)
    assert git(store, "ls-tree", "HEAD", "knowledge/link.md").startswith("100644 blob")


def test_an_executable_fact_stays_executable(store):
    path = path_of(store, "Old fact number 1.")
    path.chmod(0o700)
    git(store, "commit", "-q", "-a", "-m", "executable")
    path.write_bytes(path.read_bytes() + b"More.\n")
    ok("remember", "Next.")
    check_whole(store)
    assert git(store, "ls-tree", "HEAD", str(path.relative_to(store))).startswith("100755")


# Indexes, objects, logs.


@pytest.mark.parametrize("damage", ["deleted", "junk", "cut", "empty", "split", "v4", "sparse", "untracked cache"])
def test_any_git_index_is_coped_with(store, damage):
    index = store / ".git/index"
    if damage == "deleted":
        index.unlink()
    elif damage == "junk":
        index.write_bytes(b"no index at all")
    elif damage == "cut":
        index.write_bytes(index.read_bytes()[:100])
    elif damage == "empty":
        index.write_bytes(b"")
    elif damage == "split":
        git(store, "update-index", "--split-index")
    elif damage == "v4":
        git(store, "update-index", "--index-version", "4")
    elif damage == "sparse":
        (store / "knowledge/deep").mkdir()
        (store / "knowledge/deep/note.md").write_text("Deep.\n")
        ok("remember", "Before.")
        git(store, "sparse-checkout", "init", "--cone", "--sparse-index")
        git(store, "sparse-checkout", "set", "knowledge/inbox")
    else:
        git(store, "update-index", "--untracked-cache")
    before = in_head(store)
    answer = ok("remember", "Next.")
    assert answer["commit"]
    assert git(store, "fsck", "--strict", "--no-dangling") == ""
    assert before.items() <= in_head(store).items()
    if damage in ("junk", "cut", "empty", "deleted"):
        git(store, "status")  # readable again
        ok("remember", "And once more.")
    assert git(store, "status", "--porcelain") == ""
    assert leftovers(store) == []


def test_a_zero_length_object_is_healed_by_writing_it_again(store):
    path = path_of(store, "Old fact number 1.")
    data = path.read_bytes() + b"More.\n"
    blob = worktree.blob_id(data).hex()
    loose = store / ".git/objects" / blob[:2] / blob[2:]
    loose.parent.mkdir(exist_ok=True)
    loose.touch(0o444)
    path.write_bytes(data)
    ok("remember", "Next.")
    check_whole(store)


@pytest.mark.parametrize("which", ["HEAD", "HEAD^{tree}", "HEAD:knowledge/inbox"])
def test_a_broken_history_is_named_and_what_is_there_can_still_be_read(store, which):
    name = git(store, "rev-parse", which).strip()
    loose = store / ".git/objects" / name[:2] / name[2:]
    loose.chmod(0o600)
    loose.write_bytes(b"")
    before = on_disk(store)
    assert len(ok("recall", "old fact")["hits"]) > 0
    answer = cli("remember", "Into a broken store.")
    assert answer.code == 5, answer.err
    assert answer.error["code"] == "STORE_NOT_WRITABLE"
    assert str(store) in answer.error["message"] + answer.error["hint"]
    assert on_disk(store) == before
    assert leftovers(store) == []


def test_dead_locks_are_removed_when_an_intent_log_says_that_a_writer_died(store):
    data = b"---\nid: 01M8Q537F32V5PR50591J4YXH0\n---\n\nBy hand.\n"
    blob = worktree.blob_id(data).hex()
    lock = store / ".git/objects" / blob[:2] / f"{blob[2:]}.lock"
    lock.parent.mkdir(exist_ok=True)
    old = time.time() - 60
    for path in (lock, store / ".git/refs/heads/main.lock", store / ".git/HEAD.lock"):
        path.touch()
        os.utime(path, (old, old))
    (store / ".git/coffer/intent").write_text("{}")
    (store / "knowledge/hand.md").write_bytes(data)
    ok("remember", "Next.")
    check_whole(store)


@pytest.mark.parametrize(
    "junk",
    [
        b"",
        b"\0\xff",
        b"[]",
        b"{",
        b'{"pid": 1, "lock": 3, "parent": "", "base": "", "commit": ""}',
        b'{"pid": 1, "lock": [1, 2], "parent": "zz", "base": "", "commit": "../../HEAD"}',
        b'{"pid": 1, "lock": [1, 2], "parent": "", "base": "", "commit": "' + b"0" * 40 + b'"}',
        b'{"pid": 1, "lock": [1, 2], "parent": "' + b"1" * 40 + b'", "base": "", "commit": "HEAD"}',
        "missing parent",
        "not a commit",
    ],
)
@pytest.mark.parametrize("name", ["intent", "intent.abandoned"])
def test_junk_in_the_intent_log_stops_nobody(store, junk, name):
    head = git(store, "rev-parse", "HEAD" if junk == "missing parent" else "HEAD^{tree}").strip().encode()
    if isinstance(junk, str):
        parent = b"1" * 40 if junk == "missing parent" else b""
        junk = b'{"pid": 1, "lock": [1, 2], "parent": "%b", "base": "%b", "commit": "%b"}' % (parent, parent, head)
    (store / ".git/coffer" / name).write_bytes(junk)
    assert ok("remember", "Next.")["commit"]
    check_whole(store)
    assert len(in_head(store)) == 6


@pytest.mark.parametrize("keep", [0, 1, 14, 16, 18, 60, -1])
def test_a_damaged_stat_cache_stops_nobody(store, keep):
    for command in (["recall", "old fact"], ["remember", "Next."]):
        for name in ("stat", "stat.changes"):
            if (path := store / ".git/coffer" / name).exists():
                path.write_bytes(path.read_bytes()[:keep] + b"?" * (keep < 0))
        done = subprocess.run([PROGRAM, *command], capture_output=True, text=True, check=False)
        assert (done.returncode, done.stderr) == (0, "")
    check_whole(store)
    assert len(in_head(store)) == 6


def test_our_own_directory_can_be_deleted(store):
    shutil.rmtree(store / ".git/coffer")
    assert len(ok("recall", "old fact")["hits"]) > 0
    shutil.rmtree(store / ".git/coffer", ignore_errors=True)
    assert ok("remember", "Next.")["commit"]
    check_whole(store)


def test_what_a_killed_creation_left_is_removed(here):
    left = Path(os.environ["COFFER_HOME"]) / "memory/.new-00000000000000000000000000"
    (left / ".git").mkdir(parents=True)
    ok("remember", "First.")
    assert not left.exists()
    check_whole(store_dir())


# Links and odd files.


def test_an_inbox_that_leads_outside_is_refused(store, tmp_path):
    outside = tmp_path / "outside"
    outside.mkdir()
    (store / "knowledge/inbox").rename(tmp_path / "kept")
    (store / "knowledge/inbox").symlink_to(outside)
    answer = cli("remember", "Must not get out.")
    assert answer.code == 4
    assert answer.error["details"]["reason"] == "path"
    assert list(outside.iterdir()) == []
    assert leftovers(store) == []
    assert len(in_head(store)) == 5
    (store / "knowledge/inbox").unlink()
    (tmp_path / "kept").rename(store / "knowledge/inbox")
    ok("remember", "Must not get out.")
    check_whole(store)


@pytest.mark.parametrize("instead", ["link", "file", "fifo"])
def test_a_directory_replaced_by_something_else_is_no_deletion(store, tmp_path, instead):
    topics = store / "knowledge/topic-a"
    topics.mkdir()
    (topics / "x.md").write_text("X.\n")
    ok("remember", "Tracked.")
    shutil.rmtree(topics)
    if instead == "link":
        (tmp_path / "outside").mkdir()
        topics.symlink_to(tmp_path / "outside")
    elif instead == "file":
        topics.write_text("no directory\n")
    else:
        os.mkfifo(topics)
    ok("remember", "Next.")
    assert bodies(in_head(store))["X."] == 1


def test_odd_files_are_never_followed_never_committed_never_deletions(store, tmp_path):
    fifo, directory, dangling = (store / f"knowledge/{name}.md" for name in ("fifo", "directory", "dangling"))
    tracked = path_of(store, "Old fact number 1.")
    tracked.unlink()
    tracked.symlink_to(tmp_path / "victim.md")
    second = path_of(store, "Old fact number 2.")
    second.unlink()
    second.mkdir()
    os.mkfifo(fifo)
    directory.mkdir()
    (directory / "inner.md").write_text("Inside a directory named like a file.\n")
    dangling.symlink_to(tmp_path / "nowhere.md")
    assert ok("remember", "Old fact number 1.")["duplicate_of"] is None
    assert ok("remember", "Next.")["commit"]
    assert not (tmp_path / "victim.md").exists()
    assert not (tmp_path / "nowhere.md").exists()
    found = in_head(store)
    assert {"Old fact number 1.", "Old fact number 2.", "Next."} <= set(bodies(found))
    assert not {"knowledge/fifo.md", "knowledge/dangling.md", "knowledge/directory.md/inner.md"} & set(found)
    assert git(store, "fsck", "--strict", "--no-dangling") == ""
    assert cli("recall", "fact").code == 0


def test_a_store_reached_through_a_link_works(store, tmp_path):
    real = tmp_path / "elsewhere"
    store.rename(real)
    store.symlink_to(real)
    assert len(ok("recall", "old fact")["hits"]) > 0
    assert ok("remember", "Through a link.")["commit"]
    check_whole(real)


def test_a_whole_memory_reached_through_a_link_works(here, tmp_path, monkeypatch):
    (tmp_path / "real").mkdir(mode=0o700)
    (tmp_path / "linked").symlink_to(tmp_path / "real")
    monkeypatch.setenv("COFFER_HOME", str(tmp_path / "linked"))
    assert ok("remember", "Through a link.")["commit"]
    check_whole(store_dir())


# Disks that refuse.


def test_a_read_only_store(store):
    if not POSIX_ROOT:
        pytest.skip("needs root to become another user")
    home = Path(os.environ["COFFER_HOME"])
    before = {path: path.read_bytes() for path in home.rglob("*") if path.is_file()}
    for path in [home, *home.rglob("*")]:
        os.lchown(path, 65534, 65534)
        path.chmod(0o500 if path.is_dir() else 0o400)
    for place in (home, *home.parents):
        if place != home:
            place.chmod(place.stat().st_mode | 0o055)
    done = child(
        """
        import json
        home = os.environ["COFFER_HOME"]
        os.environ["COFFER_HOME"] = home + "-warm"  # the other user cannot read Python's own files
        ok("remember", "Old fact."), ok("recall", "fact"), ok("log"), ok("status"), "".encode("utf-8-sig")
        cli("remember", "")
        os.environ["COFFER_HOME"] = home
        os.setgid(65534); os.setuid(65534)
        print(json.dumps([[answer.code, answer.out, answer.err] for answer in (
            cli("recall", "old fact"), cli("log"), cli("status"), cli("remember", "Cannot be."))]))
        """,
        GIT_CONFIG_COUNT="1",
        GIT_CONFIG_KEY_0="safe.directory",
        GIT_CONFIG_VALUE_0="*",
    )
    assert done.returncode == 0, done.stderr
    recalled, logged, status, remembered = json.loads(done.stdout)
    assert recalled[0] == logged[0] == status[0] == 0, (recalled, logged, status)
    assert len(json.loads(recalled[1])["hits"]) > 0
    assert len(json.loads(logged[1])["entries"]) == 5
    assert remembered[0] == 5
    assert json.loads(remembered[2].splitlines()[-1])["error"]["code"] == "STORE_NOT_WRITABLE"
    after = {path: path.read_bytes() for path in home.rglob("*") if path.is_file() and "coffer-index" not in path.parts}
    assert after == {path: data for path, data in before.items() if "coffer-index" not in path.parts}


@pytest.mark.parametrize("limit", [0, 100, 200, 400])
def test_a_file_size_limit_is_told_and_loses_nothing(store, limit):
    before = on_disk(store)
    path_of(store, "Old fact number 1.").write_bytes(b"Edited by hand, " + b"long " * 100 + b".\n")
    done = child(
        """
        import json, resource
        ok("recall", "warm")
        limit = int(sys.argv[1])
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
        answer = cli("remember", "Does not fit, " + "whatever comes " * 50)
        os.write(1, json.dumps([answer.code, answer.err]).encode())
        """,
        str(limit),
    )
    code, err = json.loads(done.stdout)
    assert code == 5, err
    assert json.loads(err.splitlines()[-1])["error"]["code"] == "STORE_NOT_WRITABLE"
    assert len(on_disk(store)) == len(before)
    assert ok("remember", "There is room again.")["commit"]
    check_whole(store)
    assert len(in_head(store)) == 6


def test_a_full_disk_is_told_and_loses_nothing(here, tmp_path, monkeypatch):
    disk = tmp_path / "disk"
    disk.mkdir()
    mounted = POSIX_ROOT and shutil.which("mount")
    if (
        not mounted
        or subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1m,mode=0700", "t", disk], check=False).returncode
    ):
        pytest.skip("needs root and tmpfs to fill a disk")
    try:
        monkeypatch.setenv("COFFER_HOME", str(disk / "coffer"))
        acknowledged = ["The first one."]
        ok("remember", "The first one.")
        store = store_dir()
        filler = disk / "filler"
        for free in (0, 4_096, 8_192, 16_384, 24_576, 32_768, 40_960, 49_152, 65_536):
            with filler.open("wb", buffering=0) as file:
                _fill(file)
            if free:
                os.truncate(filler, max(0, filler.stat().st_size - free))
            text = f"With {free} bytes free. " + "word " * 400
            answer = cli("remember", text)
            assert answer.code in (0, 5), answer.err
            if answer.code == 0:
                acknowledged.append(text.strip())
            else:
                assert answer.error["code"] == "STORE_NOT_WRITABLE"
                assert "space" in answer.error["hint"]
            filler.unlink()
            assert ok("remember", f"Room again after {free}.")["commit"]
            acknowledged.append(f"Room again after {free}.")
            check_whole(store)
        found = bodies(in_head(store))
        assert {found[text] + found[text + " "] for text in acknowledged} == {1}
    finally:
        subprocess.run(["umount", "-l", disk], check=True)


def _fill(file) -> None:
    for size in (65_536, 4_096, 1):
        with contextlib.suppress(OSError):
            while file.write(b"x" * size):
                pass


# Settings and environments.


def test_nobody_has_a_name(here, monkeypatch):
    for name in ("GIT_AUTHOR_NAME", "GIT_AUTHOR_EMAIL", "GIT_COMMITTER_NAME", "GIT_COMMITTER_EMAIL"):
        monkeypatch.delenv(name)
    assert ok("remember", "Nobody said it.")["commit"]
    assert git(store_dir(), "log", "-1", "--format=%an <%ae>").strip() == "user <user@coffer.invalid>"


def test_a_hostile_global_git_configuration_is_without_effect(here, tmp_path, monkeypatch):
    home = Path(os.environ["HOME"])
    hooks = tmp_path / "hooks"
    (tmp_path / "template/hooks").mkdir(parents=True)
    hooks.mkdir()
    for name in (
        "pre-commit",
        "commit-msg",
        "reference-transaction",
        "post-index-change",
        "post-commit",
        "pre-auto-gc",
    ):
        for place in (hooks, tmp_path / "template/hooks"):
            (place / name).write_text(f"#!/bin/sh\ntouch {tmp_path}/hook-ran\nexit 1\n")
            (place / name).chmod(0o755)
    gpg = tmp_path / "gpg"
    gpg.write_text(f"#!/bin/sh\ntouch {tmp_path}/gpg-ran\nsleep 60\n")
    gpg.chmod(0o755)
    (tmp_path / "ignore").write_text("*.md\n*\n")
    (home / ".gitconfig").write_text(
        f"[user]\nname = Dev\nemail = dev@example.org\nsigningkey = x\n[core]\nhooksPath = {hooks}\nautocrlf = true\n"
        f"excludesFile = {tmp_path}/ignore\nfsmonitor = {gpg}\nsplitIndex = true\nbare = true\n"
        f"[commit]\ngpgsign = true\ntemplate = {tmp_path}/none\n[tag]\ngpgsign = true\n[gpg]\nprogram = {gpg}\n"
        f"[init]\ntemplateDir = {tmp_path}/template\ndefaultBranch = odd/name\n[extensions]\nfoo = bar\n"
        '[url "file:///nowhere"]\ninsteadOf = https://\n[index]\nsparse = true\nversion = 4\n'
    )
    started = time.monotonic()
    for number in range(3):
        assert ok("remember", f"Fact {number}.")["commit"]
    assert time.monotonic() - started < 3
    (home / ".gitconfig").unlink()
    store = store_dir()
    check_whole(store)
    assert git(store, "branch", "--show-current").strip() == "main"
    assert not (tmp_path / "hook-ran").exists()
    assert not (tmp_path / "gpg-ran").exists()
    assert "gpgsig" not in git(store, "cat-file", "commit", "HEAD")
    assert b"\r" not in b"".join(on_disk(store).values())


def test_the_environment_names_other_repositories(store, here, tmp_path, monkeypatch):
    victim = tmp_path / "victim"
    victim.mkdir()
    git(victim, "init", "-q")
    for name, value in {
        "GIT_DIR": str(victim / ".git"),
        "GIT_WORK_TREE": str(victim),
        "GIT_INDEX_FILE": str(tmp_path / "foreign-index"),
        "GIT_OBJECT_DIRECTORY": str(tmp_path / "foreign-objects"),
        "GIT_CONFIG_GLOBAL": "/nonexistent",
        "GIT_NAMESPACE": "odd",
    }.items():
        monkeypatch.setenv(name, value)
    ok("remember", "Not into the victim.")
    for name in ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_OBJECT_DIRECTORY", "GIT_NAMESPACE"):
        monkeypatch.delenv(name)
    check_whole(store)
    assert len(in_head(store)) == 6
    assert not (tmp_path / "foreign-index").exists()
    assert not (tmp_path / "foreign-objects").exists()
    assert [path.name for path in victim.iterdir()] == [".git"]


def test_everything_made_is_private_whatever_the_umask(here, tmp_path):
    lines = tmp_path / "facts.jsonl"
    lines.write_text("".join(json.dumps({"text": f"Imported {n}."}) + "\n" for n in range(250)))
    before = os.umask(0o022)
    try:
        for args in (["remember", "Private."], ["import", "jsonl", str(lines)], ["recall", "private"], ["reindex"]):
            assert subprocess.run([PROGRAM, *args], capture_output=True, check=False).returncode == 0
    finally:
        os.umask(before)
    home = Path(os.environ["COFFER_HOME"])
    loose = {
        str(path.relative_to(home)): oct(path.stat().st_mode)
        for path in [home, *home.rglob("*")]
        if path.stat().st_mode & 0o077 or (path.is_dir() and stat.S_IMODE(path.stat().st_mode) != 0o700)
    }
    assert loose == {}


def test_a_machine_without_git(here, tmp_path, monkeypatch):
    path = os.environ["PATH"]
    (tmp_path / "bin").mkdir()
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    ok("remember", "Without git.")
    lines = tmp_path / "facts.jsonl"
    lines.write_text("".join(json.dumps({"text": f"Imported {n}, a long text."}) + "\n" for n in range(2_500)))
    ok("import", "jsonl", str(lines))
    store = store_dir()
    (store / "knowledge/by-hand.md").write_text("By hand.\n")
    ok("remember", "After the import.")
    assert len(ok("recall", "without git")["hits"]) > 0
    assert len(ok("log")["entries"]) > 2
    monkeypatch.setenv("PATH", path)
    check_whole(store)
    assert len(in_head(store)) == 2_503


def test_a_big_index_is_published_by_the_git_program(here, tmp_path):
    lines = tmp_path / "facts.jsonl"
    lines.write_text("".join(json.dumps({"text": f"Imported {n}, a long text."}) + "\n" for n in range(2_500)))
    ok("import", "jsonl", str(lines))
    store = store_dir()
    (gone, kept, *_) = sorted(on_disk(store))
    (store / gone).unlink()
    with (store / kept).open("a") as file:
        file.write("More.\n")
    ok("remember", "After the import.")
    check_whole(store)
    assert len(in_head(store)) == 2_500


def test_a_clone_in_the_stores_place_is_the_store(store, tmp_path):
    for number in range(5, 10):
        ok("remember", f"Old fact number {number}.")
    head, before = git(store, "rev-parse", "HEAD"), on_disk(store)
    store.rename(tmp_path / "original")
    git(tmp_path, "clone", "-q", str(tmp_path / "original"), str(store))
    assert len(ok("list")["facts"]) == 10
    assert len(ok("recall", "old fact", "-k", "20")["hits"]) == 10
    for _ in range(2):
        assert ok("remember", "Old fact number 3.")["duplicate_of"]
        ok("reindex")
        assert git(store, "rev-parse", "HEAD") == head
        assert on_disk(store) == before
        check_whole(store)
    assert ok("remember", "New in the clone.")["commit"]
    check_whole(store)


def test_ctrl_c_waits_for_the_write(store):
    """However often it is pressed, a fact is there whole or not at all."""
    tests = str(Path(__file__).parent)
    code = (
        f"import sys; sys.path.insert(0, {tests!r}); from support.cli import cli; cli('recall', 'warm')\n"
        "import cofferctl.transaction; print('ready', flush=True)\n"
        "print(cli('remember', sys.argv[1]).code, flush=True)"
    )
    for number in range(8):
        text = f"Pressed {number}."
        with subprocess.Popen(
            [sys.executable, "-c", code, text], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
        ) as process:
            process.stdout.readline()
            time.sleep(0.006 * number)
            process.send_signal(signal.SIGINT)
            said = process.stdout.read().strip()
        ok("remember", f"After {number}.")
        check_whole(store)
        found = bodies(in_head(store))[text]
        assert found == 1 if said == "0" else found in (0, 1)
