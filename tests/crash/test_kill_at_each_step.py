"""A writer killed at any step of its write leaves the old state or the new one, and nothing to repair by hand."""

from __future__ import annotations

import json
import os
import shutil
import signal
import tempfile
from collections import Counter
from pathlib import Path

import pytest
from support.cli import bodies, check_whole, cli, in_head, ok, on_disk, store_dir
from support.killing import run

from cofferctl import fact

INTERRUPTED = "The interrupted fact: deploy with make release."
STEPS = [
    ("cofferctl.files:_try_lock", 1),
    ("cofferctl.transaction:recover", 1),
    ("cofferctl.intent:Log.write", 1),
    ("cofferctl.history.gitindex:take_lock", 1),
    ("cofferctl.snapshot:take", 1),
    ("cofferctl.history.repository:Repository.write", 1),
    ("cofferctl.history.repository:Repository._add", 2),
    ("cofferctl.history.repository:Repository.write", 2),
    ("cofferctl.intent:Log.write", 2),
    ("cofferctl.files:move_new", 2),
    ("cofferctl.files:move_new", 150),
    ("cofferctl.placing:Placing.place", 1),
    ("cofferctl.history.gitindex:publish", 1),
    ("cofferctl.history.repository:Repository.advance", 1),
    ("cofferctl.worktree:store", 1),
    ("cofferctl.history.gitindex:release_lock", 1),
    ("cofferctl.intent:Log.drop", 1),
    ("cofferctl.transaction:maintain", 1),
]


class Scene:
    """One way to begin; copies of its memory are written to by processes that die."""

    def __init__(self, name: str, tmp_path: Path, project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.name = name
        self.number = 0
        self.tmp_path = tmp_path
        self.monkeypatch = monkeypatch
        self.template = tmp_path / "template"
        self.acknowledged: dict[str, str] = {}
        self.edits: dict[str, str] = {}
        self.wanted = [INTERRUPTED]
        self.argv = ["remember", INTERRUPTED, "--json"]
        monkeypatch.setenv("COFFER_HOME", str(self.template))
        monkeypatch.chdir(project)
        if name != "first write":
            for number in range(3):
                text = f"Fact {number} was acknowledged before."
                self.acknowledged[ok("remember", text)["path"]] = text
        if name == "outside edits":
            self.edit(store_dir(self.template))
        if name == "import":
            self.wanted = [f"Imported fact number {number}." for number in range(300)]
            lines = tmp_path / "facts.jsonl"
            lines.write_text("".join(json.dumps({"text": text}) + "\n" for text in self.wanted))
            self.argv = ["import", "jsonl", str(lines), "--json"]

    def edit(self, store: Path) -> None:
        first, second, _ = self.acknowledged
        with (store / first).open("a") as file:
            file.write("\nA line typed by hand.\n")
        self.acknowledged[first] += "\n\nA line typed by hand."
        (store / second).unlink()
        del self.acknowledged[second]
        (store / "knowledge/by-hand.md").write_bytes(b"# By hand\r\n\r\nWindows line ends.\r\n")
        self.edits["knowledge/by-hand.md"] = "# By hand\n\nWindows line ends."

    def home(self) -> Path:
        """A memory of its own to die in."""
        self.number += 1
        home = self.tmp_path / f"home-{self.number}"
        if self.template.exists():
            shutil.copytree(self.template, home, symlinks=True)
        return home

    def die(self, kills: list[list[object]]) -> list[tuple[list[object], Path, dict[str, int]]]:
        return self.die_in([self.home() for _ in kills], kills)

    def die_in(self, homes: list[Path], kills: list[list[object]]) -> list[tuple[list[object], Path, dict[str, int]]]:
        return list(zip(kills, homes, run(self.argv, homes, kills), strict=True))

    def check(self, home: Path) -> None:
        """What must hold after the death: read first, then written to again."""
        self.monkeypatch.setenv("COFFER_HOME", str(home))
        assert cli("recall", "deploy").code == 0
        there = ok("remember", "The next fact.")
        assert there["commit"], there["notices"]
        store = store_dir(home)
        check_whole(store)
        found = bodies(in_head(store))
        for text in [*self.acknowledged.values(), *self.edits.values(), "The next fact."]:
            assert found[text] == 1, text
        counts = {found[text] for text in self.wanted}
        assert counts in ({0}, {1}), counts  # all or nothing, and never twice
        ok(*self.argv)
        check_whole(store)
        found = bodies(in_head(store))
        assert {found[text] for text in self.wanted} == {1}
        assert len(found) == len(self.acknowledged) + len(self.edits) + len(self.wanted) + 1
        shutil.rmtree(home)


@pytest.fixture
def scene(request, tmp_path, project, monkeypatch):
    memory = Path("/dev/shm")  # what kill -9 leaves does not depend on the disk, and waiting for it takes minutes
    place = Path(tempfile.mkdtemp(dir=memory)) if os.access(memory, os.W_OK) else tmp_path
    yield Scene(request.param, place, project, monkeypatch)
    shutil.rmtree(place)


def run_all(scene: Scene, kills: list[list[object]], homes: list[Path] | None = None) -> int:
    """Die at every one of these; how many died (an `after` of the last call of a step that never comes does not)."""
    died = 0
    for kill, home, answer in scene.die_in(homes or [scene.home() for _ in kills], kills):
        assert answer["status"] in (0, signal.SIGKILL), (kill, answer)
        died += answer["status"] == signal.SIGKILL
        try:
            scene.check(home)
        except BaseException as error:
            error.add_note(f"killed at {kill}")
            raise
    return died


@pytest.mark.parametrize("scene", ["first write", "remember", "outside edits", "import"], indirect=True)
def test_killed_before_and_after_each_step(scene):
    often = ("cofferctl.files:move_new", 150)
    steps = [step for step in STEPS if scene.name == "import" or step != often]
    whens = ("after",) if scene.name == "import" else ("before", "after")  # 300 files take their time
    kills = [["step", *step, when] for step in steps for when in whens]
    assert run_all(scene, kills) >= 13 * len(whens)


@pytest.mark.parametrize("scene", ["outside edits"], indirect=True)
def test_killed_at_calls_into_the_system(scene):
    ((_, _, answer),) = scene.die([["count"]])
    assert answer["counted"] > 30
    kills = [["call", number] for number in range(2, answer["counted"] + 1, 4)]
    assert run_all(scene, kills) == len(kills)


@pytest.mark.soak
@pytest.mark.parametrize("scene", ["first write", "remember", "outside edits", "import"], indirect=True)
def test_killed_at_every_call_into_the_system(scene):
    ((_, _, answer),) = scene.die([["count"]])
    count = answer["counted"]
    numbers = (
        range(1, count + 1)
        if count < 300
        else [*range(1, 60), *range(60, count - 60, 37), *range(count - 60, count + 1)]
    )
    kills = [["call", number] for number in numbers]
    assert run_all(scene, kills) == len(kills)


@pytest.mark.parametrize("scene", ["outside edits"], indirect=True)
def test_killed_while_recovering(scene):
    """The second death, in the middle of repairing the first."""
    steps = [
        ("cofferctl.intent:remove_dead_locks", 1),
        ("cofferctl.history.gitindex:take_lock", 1),
        ("cofferctl.placing:Placing.place", 1),
        ("cofferctl.history.gitindex:publish", 1),
        ("cofferctl.history.repository:Repository.advance", 1),
        ("cofferctl.history.gitindex:release_lock", 1),
        ("cofferctl.intent:Log.drop", 1),
        ("cofferctl.intent:Log.clean", 1),
    ]
    kills = [["step", *step, when] for step in steps for when in ("before", "after")]
    first = [["step", "cofferctl.placing:Placing.place", 1, "before"]] * len(kills)
    assert run_all(scene, kills, [home for _, home, _ in scene.die(first)]) >= 14


@pytest.mark.parametrize("scene", ["remember"], indirect=True)
def test_what_a_person_did_after_the_death_stands(scene):
    """A file saved between a death and the recovery is neither overwritten nor lost."""
    ((_, home, _),) = scene.die([["step", "cofferctl.history.gitindex:publish", 1, "before"]])
    store = store_dir(home)
    (path,) = [path for path, data in on_disk(store).items() if fact.parse(path, data).body == INTERRUPTED]
    data = (store / path).read_bytes()
    (store / path).write_bytes(data.replace(b"make release", b"make ship"))
    scene.monkeypatch.setenv("COFFER_HOME", str(home))
    ok("remember", "The next fact.")
    check_whole(store)
    assert bodies(on_disk(store))["The interrupted fact: deploy with make ship."] == 1


@pytest.mark.parametrize("scene", ["remember"], indirect=True)
@pytest.mark.parametrize("command", ["edit", "supersede", "forget", "move"])
def test_killed_while_changing_and_deleting(scene, command):
    first = next(iter(scene.acknowledged))
    more = {
        "edit": ["The text is another one now."],
        "supersede": ["The text is another one now."],
        "move": ["--to", "global"],
    }
    scene.argv = [command, first, *more.get(command, []), "--json"]
    before = bodies(in_head(store_dir()))
    home = scene.home()
    scene.monkeypatch.setenv("COFFER_HOME", str(home))
    ok(*scene.argv[:-1])
    after = bodies(in_head(store_dir()))
    assert after != before
    steps = [
        ("cofferctl.intent:Log.write", 2),
        ("cofferctl.placing:Placing._replace", 1),
        ("cofferctl.placing:Placing._delete", 1),
        ("cofferctl.placing:Placing._keep_old", 1),
        ("cofferctl.placing:Placing.place", 1),
        ("cofferctl.history.gitindex:publish", 1),
        ("cofferctl.history.repository:Repository.advance", 1),
    ]
    kills = [["step", *step, when] for step in steps for when in ("before", "after")]
    kills += [["call", number] for number in range(12, 60, 8)]
    for kill, home, answer in scene.die(kills):
        assert answer["status"] in (0, signal.SIGKILL), kill
        scene.monkeypatch.setenv("COFFER_HOME", str(home))
        assert ok("remember", "The next fact.")["commit"]
        store = store_dir(home)
        check_whole(store)
        found = bodies(in_head(store)) - Counter(["The next fact."])
        assert found in (before, after), kill
        if command == "move" and found == after:
            everywhere = bodies(in_head(store_dir(home).parent.parent / "global"))
            assert everywhere[scene.acknowledged[first]] == 1, kill
        ids = [fact.parse(path, data).id for path, data in on_disk(store).items()]
        assert len(ids) == len(set(ids)), kill
        shutil.rmtree(home)
