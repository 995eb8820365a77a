"""Whatever is done in whatever order: every text ever acknowledged can be brought back by one command."""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)
from support.cli import check_whole
from support.memory import Memory, git

from cofferctl import fact
from cofferctl.commands.edit import edit
from cofferctl.commands.forget import forget
from cofferctl.commands.move import move
from cofferctl.commands.restore import NothingBefore, restore
from cofferctl.commands.supersede import supersede
from cofferctl.commands.undo import NothingToUndo, undo

WORDS = ("kettle", "port", "lamp", "漢字", "set_if_equals", "---", "deploy")


class HistoryMachine(RuleBasedStateMachine):
    """One project and the global store; facts come, change, move and go."""

    @initialize()
    def begin(self) -> None:
        self.root = Path(tempfile.mkdtemp(prefix="coffer-machine-"))
        self.home = os.environ["COFFER_HOME"]
        os.environ["COFFER_HOME"] = str(self.root / "coffer")
        project = self.root / "proj"
        project.mkdir()
        git(project, "init", "-q", "-b", "main")
        git(project, "commit", "-q", "--allow-empty", "-m", "start")
        self.memory = Memory(project)
        self.number = 0
        self.said: list[tuple[str, str, str, str]] = []  # store, path, commit, text
        self.say("seed")

    def teardown(self) -> None:
        if not hasattr(self, "root"):
            return
        try:
            self.say("the end", "global")
            self.say("the end")
            for store in self.memory.coffer.existing():
                check_whole(store.directory)
        finally:
            os.environ["COFFER_HOME"] = self.home
            shutil.rmtree(self.root)

    def text(self, word: str) -> str:
        self.number += 1
        return f"{word} number {self.number} says so."

    def say(self, word: str, scope: str | None = None) -> None:
        text = self.text(word)
        made = self.memory.remember(text, scope=scope)
        self.said.append((made.store, made.path, str(made.commit), text))

    def here(self) -> list[str]:
        return sorted(item.id for item in self.memory.list().facts)

    def pick(self, number: int) -> str:
        here = self.here()
        return here[number % len(here)]

    def there(self) -> bool:
        return bool(self.here())

    @rule(word=st.sampled_from(WORDS), scope=st.sampled_from([None, "global"]))
    def remember(self, word: str, scope: str | None) -> None:
        self.say(word, scope)

    @precondition(there)
    @rule(number=st.integers(0, 99), word=st.sampled_from(WORDS))
    def edit(self, number: int, word: str) -> None:
        text = self.text(word)
        done = edit(self.memory.coffer, self.pick(number), text=text)
        self.said.append((done.store, done.path, str(done.commit), text))

    @precondition(there)
    @rule(number=st.integers(0, 99), word=st.sampled_from(WORDS))
    def supersede(self, number: int, word: str) -> None:
        text = self.text(word)
        done = supersede(self.memory.coffer, self.pick(number), text)
        self.said.append((done.store, done.path, str(done.commit), text))

    @precondition(there)
    @rule(number=st.integers(0, 99))
    def forget(self, number: int) -> None:
        forget(self.memory.coffer, [self.pick(number)])

    @precondition(there)
    @rule(number=st.integers(0, 99))
    def move(self, number: int) -> None:
        chosen = self.pick(number)
        to = "global" if self.memory.show(chosen).scope == "project" else "project"
        move(self.memory.coffer, chosen, to)

    @precondition(there)
    @rule(number=st.integers(0, 99))
    def restore(self, number: int) -> None:
        chosen = self.pick(number)
        try:
            restore(self.memory.coffer, chosen)
        except NothingBefore:
            assert self.memory.show(chosen).id == chosen

    @rule(scope=st.sampled_from([None, "global"]))
    def undo(self, scope: str | None) -> None:
        try:
            undo(self.memory.coffer, scope=scope)
        except NothingToUndo:
            assert scope == "global"

    @precondition(there)
    @rule(number=st.integers(0, 99), word=st.sampled_from(WORDS))
    def edit_outside(self, number: int, word: str) -> None:
        path = Path(self.memory.show(self.pick(number)).path)
        path.write_bytes(path.read_bytes() + f"\n{self.text(word)}\n".encode())

    @rule(number=st.integers(0, 99))
    def bring_back(self, number: int) -> None:
        """One command, and the text is there again."""
        store, path, commit, text = self.said[number % len(self.said)]
        back = restore(self.memory.coffer, path, from_=commit, store=store)
        shown = self.memory.show(back.path, store=store)
        assert shown.body == text
        self.said.append((store, back.path, str(back.commit or commit), text))

    @invariant()
    def whole(self) -> None:
        if not hasattr(self, "memory"):
            return
        facts = self.memory.list(lane="all").facts
        ids = [(item.store, item.id) for item in facts]
        assert len(ids) == len(set(ids))
        for store in self.memory.coffer.existing():
            log = self.memory.log(store=store.name, limit=1).entries
            assert log[0].commit == store.head()
            for path in store.scan().entries:
                assert fact.parse(path, store.read(path) or b"").body is not None


def explore(examples: int, steps: int) -> None:
    run_state_machine_as_test(
        HistoryMachine,
        settings=settings(
            max_examples=examples,
            stateful_step_count=steps,
            deadline=None,
            suppress_health_check=list(HealthCheck),
            database=None,
            phases=(Phase.generate,),  # a step costs a tenth of a second: making a failure shorter costs minutes
        ),
    )


def test_any_order_of_commands() -> None:
    explore(5, 20)


@pytest.mark.soak
def test_any_order_of_commands_for_long() -> None:
    explore(40, 40)
