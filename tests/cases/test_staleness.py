"""The search index against the files (I cases, C04): what is there is found, what is gone is not."""

from __future__ import annotations

import ctypes
import os
import shutil
import signal
import subprocess
import sys

import pytest
from support.memory import Memory, git
from support.program import PROGRAM, run


@pytest.fixture
def pond(memory):
    """Six facts on ducks, indexed; the first would rank first for `mallard`."""
    memory.remember("Mallard mallard mallard", title="Mallard")
    for number in range(5):
        memory.remember(f"Among ducks number {number} there is one mallard", title=f"Duck {number}")
    memory.recall("mallard")
    return memory


def first(memory, **options):
    return [hit.title for hit in memory.hits("mallard", top_k=1, **options)]


@pytest.mark.parametrize("how", ["rm", "git rm", "commit"])
def test_i01_a_deleted_fact_never_comes_back(pond, how):
    assert first(pond) == ["Mallard"]
    if how == "rm":
        pond.file("knowledge/inbox/mallard.md").unlink()
    else:
        pond.git("rm", "-q", "knowledge/inbox/mallard.md")
    if how == "commit":
        pond.git("commit", "-qm", "gone")
    for mode in ("keyword", "grep"):
        assert first(pond, mode=mode)[0].startswith("Duck"), mode
        assert len(pond.hits("mallard", mode=mode, top_k=20)) == 5
    assert len(pond.list().facts) == 5


def test_i02_indexing_one_store_leaves_the_other_alone(pond):
    pond.remember("A mallard everywhere", scope="global")
    pond.recall("mallard")
    pond.reindex(scope="global", full=True)
    assert len(pond.hits("mallard", top_k=20)) == 7
    assert pond.status(scope="project").stores[0].index == "current"
    pond.reindex(scope="project", full=True)
    assert [hit.store for hit in pond.hits("everywhere")] == ["global"]


def test_i04_an_edit_counts_before_it_is_committed(pond):
    target = pond.file("knowledge/inbox/mallard.md")
    for word, before in (("teal", "Mallard mallard mallard"), ("wigeon", "teal"), ("pintail", "wigeon")):
        target.write_text(target.read_text().replace(before, word))
        assert [hit.title for hit in pond.hits(word)] == ["Mallard"]
        assert pond.hits(before) == () or before.startswith("Mallard")
    assert pond.git("log", "--format=%s", "--", "knowledge/inbox/mallard.md").count("\n") == 1


def test_i04_an_edit_of_the_same_length_in_the_same_moment_counts(pond):
    target = pond.file("knowledge/inbox/duck-0.md")
    for word in ("aaaa", "bbbb", "cccc", "dddd"):
        text = target.read_text()
        start = text.index("one ") if "one " in text else text.index("odd ")
        target.write_text(
            text[:start] + f"odd {word}" + text[start + 8 :]
            if "odd " in text
            else text.replace("one mallard", f"odd {word}")
        )
        assert [hit.title for hit in pond.hits(word)] == ["Duck 0"]


def fresh(memory, tmp_path, query):
    """What an index made from nothing says."""
    elsewhere = Memory(memory.cwd, env={"COFFER_INDEX_DIR": str(tmp_path / f"fresh-{os.urandom(4).hex()}")})
    return sorted((hit.source, hit.text) for hit in elsewhere.hits(query, top_k=20))


def test_i06_git_may_move_the_branch_at_will(pond, tmp_path):
    def agrees():
        found = sorted((hit.source, hit.text) for hit in pond.hits("mallard", top_k=20))
        assert found == fresh(pond, tmp_path, "mallard")
        return len(found)

    branch = pond.git("branch", "--show-current").strip()
    assert agrees() == 6
    pond.git("checkout", "-qb", "side", "HEAD~3")
    assert pond.status().stores[0].index == "behind"
    assert agrees() == 3
    pond.put("knowledge/inbox/side.md", "A mallard on the side\n")
    assert agrees() == 4
    pond.git("add", "-A")
    pond.git("stash", "-q")
    assert agrees() == 3
    pond.git("stash", "pop", "-q")
    assert agrees() == 4
    pond.git("commit", "-qm", "side")
    pond.git("checkout", "-q", branch)
    assert agrees() == 6
    pond.git("rebase", "-q", "side")
    assert agrees() == 7
    pond.git("reset", "-q", "--hard", "HEAD~2")
    assert agrees() == 5
    pond.git("checkout", "-q", "--detach", "HEAD~1")
    assert agrees() == 4
    assert pond.status().stores[0].index == "current"
    assert "detached" in pond.status().stores[0].notices[-1]


def index_files(memory):
    root = memory.file(".git/coffer-index")
    return sorted(path for path in root.rglob("*") if path.is_file() and path.name != "lock")


def test_i08_a_lock_left_by_a_killed_process_holds_nobody_up(pond):
    for path in [*pond.file(".git/coffer-index").rglob("*")]:
        if path.is_dir():
            (path / ".tantivy-writer.lock").touch()
            (path / ".tantivy-meta.lock").touch()
    lock = pond.file(".git/coffer/lock")
    lock.write_text("999999\n")
    pond.remember("After the crash a mallard")
    assert "After the crash a mallard" in pond.texts("crash")
    assert len(pond.hits("mallard", top_k=20)) == 7


def test_i08_killed_in_the_middle_of_indexing(memory):
    memory.import_lines(*(f'{{"text": "Fact number {number} of the great crested grebe"}}' for number in range(1_000)))
    for _ in range(4):
        process = subprocess.Popen([PROGRAM, "reindex", "--full"], cwd=memory.cwd, stdout=subprocess.DEVNULL)
        try:
            process.wait(0.45)
        except subprocess.TimeoutExpired:
            process.send_signal(signal.SIGKILL)
            process.wait()
    memory.remember("A grebe after all that")
    assert "A grebe after all that" in memory.texts("after all that")
    assert len(memory.hits("grebe", top_k=20)) == 20


@pytest.mark.parametrize("damage", ["empty", "delete", "garbage", "half"])
def test_i09_a_damaged_index_mends_itself(pond, damage):
    for number in range(len(index_files(pond))):
        paths = index_files(pond)
        if number >= len(paths):
            break
        path = paths[number]
        if damage == "delete":
            path.unlink()
        else:
            data = path.read_bytes()
            changed = {"empty": b"", "garbage": b"\xa5" * len(data), "half": data[: len(data) // 2]}[damage]
            os.unlink(path)  # never in place: another reader may have it mapped
            path.write_bytes(changed)
        answer = pond.recall("mallard", top_k=20)
        assert len(answer.hits) == 6, path
        assert len(answer.notices) <= 1
        assert pond.recall("mallard").notices == ()
    pond.sound()


def test_i09_a_missing_index_is_built_without_ado(pond):
    shutil.rmtree(pond.file(".git/coffer-index"))
    answer = pond.recall("mallard", top_k=20)
    assert (len(answer.hits), answer.notices) == (6, ())


def test_i12_equal_texts_at_two_paths(memory):
    memory.remember("makes the store")
    for topic in ("one", "two"):
        memory.put(f"knowledge/{topic}/same.md", "# Same\n\nThe lapwing text.\n")
    memory.remember("The lapwing text.", scope="global")
    assert sum(hit.count or 1 for hit in memory.hits("lapwing", top_k=20)) >= 2
    memory.reindex(full=True)
    memory.file("knowledge/one/same.md").unlink()
    assert "project:knowledge/two/same.md" in [hit.source for hit in memory.hits("lapwing", scope="project")]
    assert memory.hits("lapwing", scope="global")


@pytest.fixture
def without_override():
    """What makes a child of root obey file modes, as any user must."""
    if os.geteuid() != 0:
        return lambda: None
    try:
        prctl = ctypes.CDLL(None).prctl
    except AttributeError:
        pytest.skip("root obeys no file modes here")

    def drop():
        for capability in (1, 2):  # CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH
            if prctl(24, capability, 0, 0, 0):  # PR_CAPBSET_DROP
                os._exit(99)

    return drop


def test_i14_a_read_only_store_answers(pond, tmp_path, without_override):
    coffer = tmp_path / "coffer"
    for path in [*coffer.rglob("*"), coffer]:
        path.chmod(0o500 if path.is_dir() else 0o400)

    def locked(*args):
        return subprocess.run(
            [PROGRAM, *args], cwd=pond.cwd, capture_output=True, text=True, check=False, preexec_fn=without_override
        )

    if locked("--version").returncode == 99:
        pytest.skip("the capabilities of root cannot be dropped here")
    for args in (
        ("recall", "mallard"),
        ("recall", "mallard", "--mode", "grep"),
        ("list",),
        ("log",),
        ("status",),
        ("show", "knowledge/inbox/mallard.md"),
        ("stores", "list"),
    ):
        done = locked(*args)
        assert (done.returncode, done.stderr) == (0, ""), args
        assert "allard" in done.stdout or args[0] in ("status", "stores"), args
    for args in (("remember", "A new one"), ("config", "set", "top_k", "3")):
        done = locked(*args)
        assert done.returncode == 5
        assert done.stderr.startswith("error: cannot write ")
        assert done.stderr.count("\n") == 2
    for path in [coffer, *coffer.rglob("*")]:
        path.chmod(0o700 if path.is_dir() else 0o600)
    assert pond.remember("Writable again").commit
    pond.sound()


def test_i15_a_clone_of_a_store_is_the_store(pond, tmp_path):
    pond.put("knowledge/topic.md", "# Topic\n\nA mallard in a topic.\n")
    pond.remember("commits it")
    there = pond.store.directory
    git(tmp_path, "clone", "-q", str(there), "copy")
    shutil.rmtree(there)
    (tmp_path / "copy").rename(there)
    assert len(pond.hits("mallard", top_k=20)) == 7
    head = pond.head()
    assert pond.remember("Mallard mallard mallard").duplicate_of
    assert pond.head() == head
    assert pond.remember("One more mallard").commit == pond.head()
    assert len(pond.hits("mallard", top_k=20)) == 8
    pond.sound()


def test_c04_writes_and_reads_go_on_while_an_index_is_built(memory):
    memory.import_lines(
        *(f'{{"text": "Fact number {number} of the great crested grebe {number * 7}"}}' for number in range(2_000))
    )
    work = subprocess.Popen(
        [
            sys.executable,
            "-c",
            f"import subprocess\nfor _ in range(6): subprocess.run([{PROGRAM!r}, 'reindex', '--full'])",
        ],
        cwd=memory.cwd,
        stdout=subprocess.DEVNULL,
    )
    for number in range(6):
        done = run("remember", f"Written meanwhile {number}", cwd=memory.cwd)
        assert (done.code, done.err) == (0, "")
        done = run("recall", "grebe", cwd=memory.cwd)
        assert done.code == 0
        assert "lock" not in done.err.lower()
        assert done.out.startswith("1. ") or done.out.strip()
    assert work.wait(60) == 0
    assert len(memory.hits("written meanwhile", top_k=20)) == 6
    memory.sound()
