"""A store under everything a person and git may do to it, in any order: what was acknowledged stays reachable."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)
from support.cli import cli, leftovers, ok, on_disk, store_dir
from support.memory import git

from coffer_index import Index
from cofferctl import config, worktree
from cofferctl.coffer import Coffer

WORDS = ("deploy", "release", "gate", "redis", "backup", "Schlüssel", "数据库", "port")
PATHS = (
    "knowledge/topic.md",
    "knowledge/deep/er/topic.md",
    "knowledge/Topic.md",
    "journal/2026-06-09.md",
    "knowledge/inbox/hand.md",
    "rules/rules.md",
)
BODIES = (
    "",
    "plain {}\n",
    "---\ntitle: t {}\n---\n\nbody {}\n",
    "crlf {}\r\nline\r\n",
    "---\nbroken: [{}\n---\n",
    "no end {}",
)


class StoreMachine(RuleBasedStateMachine):
    """One project, its store, and a model: the texts that were acknowledged."""

    def __init__(self) -> None:
        super().__init__()
        memory = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
        self.place = Path(tempfile.mkdtemp(dir=memory))
        self.before = os.environ["COFFER_HOME"], Path.cwd()
        os.environ["COFFER_HOME"] = str(self.place / "coffer")
        project = self.place / "project"
        project.mkdir()
        git(project, "init", "-q")
        os.chdir(project)
        self.acknowledged: list[str] = []
        self.number = 0
        self.branches = ["main"]
        self.looked = False

    @initialize()
    def first(self) -> None:
        for word in WORDS[:3]:
            self.remember(word)
        self.store = store_dir()

    def fresh(self) -> int:
        self.number += 1
        self.looked = False
        return self.number

    def plain(self, *args: str) -> bool:
        """Plain git, which may refuse."""
        self.looked = False
        return subprocess.run(["git", *args], cwd=self.store, capture_output=True, check=False).returncode == 0

    @rule(word=st.sampled_from(WORDS))
    def remember(self, word: str) -> None:
        text = f"The {word} is number {self.fresh()}."
        answer = ok("remember", text)
        assert answer["commit"], answer["notices"]
        self.acknowledged.append(text)

    @rule(data=st.data())
    def say_it_again(self, data: st.DataObject) -> None:
        text = data.draw(st.sampled_from(self.acknowledged))
        self.looked = False
        there = ok("remember", text)
        files = [path for path, content in on_disk(self.store).items() if text.encode() in content]
        assert there["path"] in files

    @rule(data=st.data(), word=st.sampled_from(WORDS))
    def edit(self, data: st.DataObject, word: str) -> None:
        paths = sorted(on_disk(self.store))
        if paths:
            path = self.store / data.draw(st.sampled_from(paths))
            path.write_bytes(path.read_bytes() + f"\nAn edit about {word}, {self.fresh()}.\n".encode())

    @rule(path=st.sampled_from(PATHS), body=st.sampled_from(BODIES))
    def create(self, path: str, body: str) -> None:
        target = self.store / path
        target.parent.mkdir(parents=True, exist_ok=True)
        number = self.fresh()
        target.write_bytes(body.replace("{}", str(number)).encode())

    @rule(data=st.data())
    def delete(self, data: st.DataObject) -> None:
        paths = sorted(on_disk(self.store))
        if paths:
            (self.store / data.draw(st.sampled_from(paths))).unlink()
            self.looked = False

    @rule(back=st.integers(1, 3))
    def reset(self, back: int) -> None:
        self.plain("branch", f"kept-{self.fresh()}")  # what a person resets away is theirs to keep
        self.plain("reset", "-q", "--hard", f"HEAD~{back}")

    @rule()
    def new_branch(self) -> None:
        name = f"branch-{self.fresh()}"
        if self.plain("checkout", "-q", "-b", name):
            self.branches.append(name)

    @rule(data=st.data())
    def switch(self, data: st.DataObject) -> None:
        self.plain("switch", "-q", data.draw(st.sampled_from(self.branches)))

    @rule()
    def commit(self) -> None:
        self.plain("add", "-A")
        self.plain("commit", "-q", "-m", "by hand")

    @rule()
    def stash(self) -> None:
        self.plain("stash", "-q", "-u")

    @rule()
    def pop(self) -> None:
        if not self.plain("stash", "pop", "-q"):
            self.plain("checkout", "-q", "-f", "HEAD")

    @rule(word=st.sampled_from(WORDS))
    def recall(self, word: str) -> None:
        assert cli("recall", word).code == 0

    @precondition(lambda self: self.number and not self.looked)
    @invariant()
    def the_caches_say_what_is_there(self) -> None:
        if not hasattr(self, "store"):
            return
        self.looked = True
        coffer = Coffer(config.from_environment(os.environ, Path.cwd()))
        there = coffer.project_store()
        cached, anew = there.scan(), worktree.scan(self.store, self.place / "no-cache", save=False)
        assert cached.blobs() == anew.blobs()
        assert cached.fingerprint == anew.fingerprint
        assert {p: e[1:] for p, e in cached.entries.items()} == {p: e[1:] for p, e in anew.entries.items()}
        index, fresh = coffer.index(there), Index.open(None, notice=lambda _: None)
        for one in (index, fresh):
            one.reconcile(anew.blobs(), anew.fingerprint, coffer.loader(there))
        for word in (*WORDS, "number", "edit", "plain"):
            found, wanted = (
                sorted((hit.path, hit.start, hit.end, hit.title) for hit in one.search(word, limit=1_000))
                for one in (index, fresh)
            )
            assert found == wanted, word

    def teardown(self) -> None:
        try:
            if hasattr(self, "store"):
                self.finish()
        finally:
            os.chdir(self.before[1])
            os.environ["COFFER_HOME"] = self.before[0]
            shutil.rmtree(self.place)

    def finish(self) -> None:
        """Everything acknowledged is reachable from a branch, a stash or a reflog, or is in the work tree."""
        ok("remember", "The last word.")
        assert git(self.store, "fsck", "--strict", "--no-dangling").strip() == ""
        assert leftovers(self.store) == []
        history = git(self.store, "log", "--all", "--reflog", "-p", "--format=")
        files = "".join(data.decode() for data in on_disk(self.store).values())
        lost = [text for text in self.acknowledged if text not in history and text not in files]
        assert lost == []
        withheld = [
            line for line in git(self.store, "status", "--porcelain").splitlines() if not line.startswith(" D ")
        ]
        assert withheld == []  # but deletions in great number, and of lookalikes


QUICK = settings(
    max_examples=12,
    stateful_step_count=20,
    deadline=None,
    database=None,
    derandomize=True,
    suppress_health_check=list(HealthCheck),
)


def test_a_store_under_everything():
    run_state_machine_as_test(StoreMachine, settings=QUICK)


@pytest.mark.soak
def test_a_store_under_everything_for_long():
    run_state_machine_as_test(
        StoreMachine, settings=settings(QUICK, max_examples=60, stateful_step_count=50, derandomize=False)
    )
