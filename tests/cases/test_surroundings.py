"""The world around a store: other writers, git settings, odd bytes, other eyes (C, T, X and Y cases)."""

from __future__ import annotations

import os
import stat
import subprocess
import time

import pytest
from support.memory import git, snapshot
from support.program import run

TOKEN = "sk-ant-api03-" + "hQ7xV2mZ9pL4tR8wK1nB6yD3cF5gJ0aS"


def test_c08_texts_said_at_once_all_stay(memory):
    memory.remember("makes the store")
    code = (
        "import subprocess, sys\n"
        "for n in range(4): subprocess.run(['cofferctl', 'remember', f'{sys.argv[1]} says {n}'], check=True)"
    )
    import sys

    path = os.path.dirname(sys.executable) + os.pathsep + os.environ["PATH"]
    both = [
        subprocess.Popen(
            [sys.executable, "-c", code, name],
            cwd=memory.cwd,
            env={**os.environ, "PATH": path},
            stdout=subprocess.DEVNULL,
        )
        for name in ("Alice", "Bob")
    ]
    assert [process.wait(60) for process in both] == [0, 0]
    assert len(memory.list().facts) == 9
    assert len(memory.hits("alice says", top_k=20)) >= 4
    memory.sound()


def test_c08_an_edit_of_a_fact_and_a_write_at_once(memory):
    made = memory.remember("Shared fact")
    target = memory.file(made.path)
    target.write_text(target.read_text() + "\nAdded by a person: dotterel\n")
    memory.remember("Said by an agent meanwhile: whinchat")
    assert memory.hits("dotterel")[0].id == made.id
    assert memory.hits("whinchat")
    assert "dotterel" in memory.git("show", f"HEAD:{made.path}")
    memory.sound()


ODD_FILES = {
    "latin1": b"---\ntitle: Latin-1 leftovers\n---\nThe caf\xe9 menu \xa3\xa3 changes on sundays.\n",
    "half a character": "The end of sundays is 日".encode()[:-1],
    "utf16": "\ufeffOn sundays\n".encode("utf-16"),
    "binary": b"\x00\x01\x02sundays" * 100_000,
    "huge": b"sundays " * 700_000,
    "one line": b"sundays" + b"x" * 900_000,
}


@pytest.mark.parametrize("name", ODD_FILES)
def test_t10_bytes_that_are_no_text_stop_nothing(memory, name):
    for number in range(3):
        memory.remember(f"The redstart fact {number}")
    path = memory.put("knowledge/inbox/x.md", ODD_FILES[name])
    for _ in range(2):
        assert len(memory.hits("redstart")) == 3
        answer = memory.recall("sundays")
        found = [hit.source for hit in answer.hits] == ["project:knowledge/inbox/x.md"]
        named = any("x.md" in notice for notice in answer.notices)
        assert found or named, name
        assert memory.recall("redstart", mode="grep").hits
        assert len(memory.list().facts) >= 3
        memory.log()
        memory.status()
        memory.remember(f"another {time.time_ns()}")
    assert path.read_bytes() == ODD_FILES[name]
    memory.git("fsck", "--strict")


CONFLICT = """\
---
title: Night job
<<<<<<< HEAD
tags: [ops]
=======
tags: [weekly]
>>>>>>> 0123abc
---
The night job starts at two.
<<<<<<< HEAD
It keeps nine copies, says the linnet.
=======
It keeps forty copies, says the siskin.
>>>>>>> 0123abc
"""


def test_y09_a_file_with_merge_markers_is_found_both_ways_and_marked(memory):
    memory.remember("makes the store")
    path = memory.put("knowledge/inbox/night.md", CONFLICT)
    for _ in range(2):
        for word in ("linnet", "siskin"):
            for mode in ("keyword", "grep"):
                (hit,) = memory.hits(word, mode=mode)
                assert hit.conflict is True
        memory.remember(f"commits it {time.time_ns()}")
    assert path.read_text() == CONFLICT


def test_y09_a_real_unmerged_path(memory):
    made = memory.remember("The ringing group meets on monday")
    branch = memory.git("branch", "--show-current").strip()
    target = memory.file(made.path)
    memory.git("checkout", "-qb", "side")
    target.write_text(target.read_text().replace("monday", "linnet tuesday"))
    memory.git("commit", "-qam", "side")
    memory.git("checkout", "-q", branch)
    target.write_text(target.read_text().replace("monday", "siskin wednesday"))
    memory.git("commit", "-qam", "main")
    with pytest.raises(AssertionError):
        memory.git("merge", "side")
    before = target.read_bytes()
    for word in ("linnet", "siskin"):
        assert memory.hits(word)[0].conflict is True
    made = memory.remember("Something new in the middle of it")
    assert made.commit is None
    assert target.read_bytes() == before
    assert "UU" in memory.git("status", "--porcelain")
    assert memory.texts("something new") == ["Something new in the middle of it"]


@pytest.mark.parametrize("program", ["sleep 60", "exit 1", "cat >/dev/null; sleep 60"])
def test_y06_signing_is_never_asked_for(memory, tmp_path, program):
    script = tmp_path / "gpg"
    script.write_text(f"#!/bin/sh\n{program}\n")
    script.chmod(0o755)
    for key, value in {
        "commit.gpgsign": "true",
        "tag.gpgsign": "true",
        "gpg.program": str(script),
        "gpg.format": "ssh",
        "gpg.ssh.program": str(script),
        "user.signingkey": "x",
    }.items():
        git(tmp_path, "config", "--global", key, value)
    started = time.monotonic()
    made = memory.remember("Unsigned")
    assert time.monotonic() - started < 3
    assert "gpgsig" not in memory.git("cat-file", "commit", made.commit)


@pytest.mark.parametrize("attributes", [None, "* text=auto eol=crlf\n", "*.md -text\n"])
def test_y10_line_end_settings_make_no_noise(memory, tmp_path, attributes):
    git(tmp_path, "config", "--global", "core.autocrlf", "true")
    if attributes:
        (tmp_path / "home/.config/git").mkdir(parents=True)
        (tmp_path / "home/.config/git/attributes").write_text(attributes)
    first = memory.remember("one\ntwo\nthree")
    git(tmp_path, "clone", "-q", str(memory.store.directory), "copy")
    there = memory.store.directory
    there.rename(tmp_path / "first")
    (tmp_path / "copy").rename(there)
    assert memory.git("status", "--porcelain") == ""
    assert memory.remember("one\ntwo\nthree").duplicate_of == first.id
    made = memory.remember("a new one\nof two lines")
    assert memory.git("show", "--format=", "--name-only", made.commit).split() == [made.path]
    assert b"\r" not in memory.store.read(made.path)
    memory.sound()


def test_y10_a_file_saved_with_crlf_is_the_same_text(memory):
    made = memory.remember("one\ntwo")
    target = memory.file(made.path)
    target.write_bytes(target.read_bytes().replace(b"\n", b"\r\n"))
    assert memory.remember("one\ntwo").duplicate_of == made.id
    memory.remember("another")
    assert len(memory.log().entries) == 2
    assert memory.show(made.id).body == "one\ntwo"


def test_y12_a_users_hooks_templates_and_ignore_rules_stay_outside(memory, tmp_path):
    hooks = tmp_path / "hooks"
    template = tmp_path / "template/hooks"
    for directory in (hooks, template):
        directory.mkdir(parents=True)
        for name in (
            "pre-commit",
            "commit-msg",
            "prepare-commit-msg",
            "post-commit",
            "reference-transaction",
            "pre-auto-gc",
        ):
            (directory / name).write_text(f"#!/bin/sh\ntouch {tmp_path}/ran-$(basename $0)\nexit 1\n")
            (directory / name).chmod(0o755)
    (tmp_path / "ignored").write_text("*.md\n*\n")
    (tmp_path / "message").write_text("TICKET-\n")
    for key, value in {
        "core.hooksPath": str(hooks),
        "init.templateDir": str(tmp_path / "template"),
        "core.excludesFile": str(tmp_path / "ignored"),
        "commit.template": str(tmp_path / "message"),
        "init.defaultBranch": "trunk/odd",
        "core.fsmonitor": str(hooks / "pre-commit"),
        "commit.cleanup": "verbatim",
        "core.abbrev": "4",
    }.items():
        git(tmp_path, "config", "--global", key, value)
    made = memory.remember("The bunting")
    memory.remember("Another", scope="global")
    assert made.commit == memory.store.head()
    assert memory.texts("bunting") == ["The bunting"]
    assert not list(tmp_path.glob("ran-*"))
    assert not memory.file(".git/hooks").exists() or not any(memory.file(".git/hooks").iterdir())


@pytest.mark.parametrize(
    "config", ["", "[user]\n", "[user]\nname = \n", "[[[junk", "[user]\nname = A <b> \\n c\nemail = <x>\n", "\x00\xff"]
)
def test_y12_whoever_the_user_is(memory, tmp_path, config):
    (tmp_path / "home/.gitconfig").write_bytes(config.encode("latin-1"))
    made = memory.remember("Somebody said so")
    (tmp_path / "home/.gitconfig").unlink()
    author = memory.git("cat-file", "commit", made.commit).splitlines()
    assert any(line.startswith("author ") and line.count("<") == line.count(">") == 1 for line in author)


def test_y12_git_variables_of_a_hook_do_not_lead_astray(memory, tmp_path):
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    git(elsewhere, "init", "-q")
    done = run(
        "remember",
        "Said from inside a git hook",
        cwd=memory.cwd,
        GIT_DIR=str(elsewhere / ".git"),
        GIT_INDEX_FILE=str(elsewhere / "idx"),
        GIT_WORK_TREE=str(elsewhere),
        GIT_OBJECT_DIRECTORY=str(elsewhere / "objects"),
    )
    assert done.code == 0, done.err
    assert memory.texts("hook") == ["Said from inside a git hook"]
    assert sorted(os.listdir(elsewhere)) == [".git"]
    memory.sound()


def test_y13_reading_and_indexing_make_no_change(memory, tmp_path):
    for number in range(5):
        memory.remember(f"The wheatear {number}")
    memory.put("rules/by-hand.md", "A rule\n")
    memory.remember("commits that")
    git(tmp_path, "clone", "-q", str(memory.store.directory), "copy")
    head, before = memory.head(), snapshot(memory.store.directory / "knowledge")
    memory.reindex(full=True)
    for mode in ("keyword", "grep"):
        memory.recall("wheatear", mode=mode)
    memory.list()
    memory.log()
    memory.status()
    memory.remember("The wheatear 1")
    assert memory.head() == head
    assert snapshot(memory.store.directory / "knowledge") == before
    memory.sound()


def test_x01_nobody_else_may_look(memory, tmp_path):
    before = os.umask(0o022)
    try:
        run("remember", "The private fact", cwd=memory.cwd)
        run("remember", "The private fact", "--scope", "global", cwd=memory.cwd)
        run("recall", "private", cwd=memory.cwd)
        run("recall", "private", cwd=memory.cwd, COFFER_INDEX_DIR=str(tmp_path / "indexes"))
        run("config", "set", "top_k", "4", cwd=memory.cwd)
    finally:
        os.umask(before)
    seen = 0
    for root in (tmp_path / "coffer", tmp_path / "indexes"):
        for path in [root, *root.rglob("*")]:
            seen += 1
            assert stat.S_IMODE(path.lstat().st_mode) & 0o077 == 0, path
    assert seen > 50


def test_x01_a_loose_home_is_tightened(memory, tmp_path):
    home = tmp_path / "coffer"
    (home / "memory").mkdir(parents=True)
    home.chmod(0o755)
    (home / "memory").chmod(0o777)
    memory.remember("x")
    assert stat.S_IMODE(home.stat().st_mode) == 0o700
    assert stat.S_IMODE((home / "memory").stat().st_mode) == 0o700


def test_x04_a_secret_in_a_file_shows_to_nobody_but_on_request(memory):
    memory.remember("makes the store")
    memory.put(
        "knowledge/inbox/key.md",
        f"---\ntitle: service key {TOKEN}\ndescription: is {TOKEN}\n---\nThe service key is {TOKEN}.\n",
    )
    memory.put("journal/2026-01-02.md", f"## 10:00 rotated {TOKEN}\n\nservice key {TOKEN}\n")
    memory.git("add", "-A")
    memory.git("commit", "-qm", f"add {TOKEN}")
    for args in (
        ("recall", "service key"),
        ("recall", "service key", "--mode", "grep"),
        ("recall", "service key", "--json", "--explain"),
        ("recall", TOKEN[:20]),
        ("list", "--lane", "all"),
        ("list", "--json"),
        ("log",),
        ("log", "--json"),
        ("show", "knowledge/inbox/key.md"),
        ("show", "knowledge/inbox/key.md", "--json"),
        ("show", "knowledge/inbox/key.md", "--raw"),
        ("status",),
        ("remember", "The service key is old", "--json"),
    ):
        done = run(*args, cwd=memory.cwd)
        assert done.code == 0, (args, done.err)
        assert TOKEN not in done.out + done.err, args
    assert TOKEN in run("show", "knowledge/inbox/key.md", "--reveal", cwd=memory.cwd).out


def test_a_secret_in_a_file_name_is_masked_wherever_the_name_is_shown(memory):
    token = "ghp_" + "Zz9" * 12
    memory.remember("seed")
    memory.file(f"knowledge/inbox/{token}.md").write_text("The beacon is green.\n")
    assert token not in repr(memory.hits("beacon"))
    memory.remember("The next write takes it in.")
    assert token not in repr(memory.list()) + repr(memory.log())
    found = next(item for item in memory.list().facts if "beacon" in memory.show(item.id).body)
    assert token not in repr(memory.show(found.id))
    assert token in memory.show(found.id, reveal=True).path
