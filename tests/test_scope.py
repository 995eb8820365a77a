"""Which directory belongs to which store, through moves, clones, copies and forgeries."""

from __future__ import annotations

import itertools
import multiprocessing
import os
import shutil
import stat
import subprocess
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path

import pytest

from cofferctl import bindings, files, gitdir, scope
from cofferctl.scope import NotAStoreId, Resolver, ScopeUnresolved

SSH, HTTPS = "git@example.org:team/svc.git", "https://me:secret@Example.org/team/svc"


def prove(git_dir: Path, commits) -> bool:
    """Stands in for the real proof: whether a loose object is there."""
    return any((git_dir / "objects" / commit[:2] / commit[2:]).is_file() for commit in commits)


def never(_git_dir: Path, _commits) -> bool:
    raise AssertionError("a known root must not be proved")


class World:
    """A home directory, repositories beside it, and what a command would do with them."""

    def __init__(self, root: Path, git) -> None:
        self.root, self.git, self.home = root, git, root / "coffer"
        self.resolver = Resolver(self.home, root / "home", prove)
        self.ids = (f"01JABCDEFGHJKMNPQRSTVW{number:04d}" for number in itertools.count())

    def repo(self, name: str, remote: str | None = None) -> Path:
        path = self.root / name
        path.mkdir(parents=True)
        self.git(path, "init", "-q", "-b", "main")
        self.git(path, "commit", "-q", "--allow-empty", "-m", f"{name} {time.monotonic_ns()}")
        if remote:
            self.git(path, "remote", "add", "origin", remote)
        return path

    def clone(self, source: Path, name: str, remote: str | None = None) -> Path:
        self.git(self.root, "clone", "-q", "--no-hardlinks", str(source), name)
        if remote:
            self.git(self.root / name, "remote", "set-url", "origin", remote)
        return self.root / name

    def write(self, cwd: Path) -> str:
        """What `remember` does; the store."""
        bound = self.resolver.bind(self.resolver.resolve(cwd), lambda: next(self.ids))
        self.resolver.record_commit(bound)
        assert bound.store
        return bound.store

    def bind(self, cwd: Path) -> str:
        """A first write to a store that records no commit."""
        store = self.resolver.bind(self.resolver.resolve(cwd), lambda: next(self.ids)).store
        assert store
        return store

    def read(self, cwd: Path) -> str | None:
        return self.resolver.resolve(cwd).store

    def notices(self, cwd: Path) -> str:
        return "\n".join(self.resolver.resolve(cwd).notices)

    def rows(self):
        return bindings.load(self.home).rows

    def remake(self, path: Path) -> Path:
        """`rm -rf` and a new repository at the same place, with the same inode, as ext4 likes to do it."""
        inode = (path / ".git").stat().st_ino
        for _ in range(20):
            shutil.rmtree(path)
            self.repo(str(path.relative_to(self.root)))
            if (path / ".git").stat().st_ino == inode:
                return path
        row = next(row for row in self.rows() if row.root == str(path))  # a file system that gives new numbers: say so
        self.rewrite(row, inode=(path / ".git").stat().st_ino)
        return path

    def rewrite(self, row: bindings.Binding, **values) -> None:
        changed = replace(row, **values)
        bindings.change(self.home, lambda rows: tuple(changed if old == row else old for old in rows))


@pytest.fixture
def w(tmp_path, git):
    return World(tmp_path, git)


# ---------------------------------------------------------------- one project, however it is reached


def test_reads_mint_nothing_and_make_nothing(w):
    root = w.repo("proj")
    found = w.resolver.resolve(root / "src")
    assert (found.project_root, found.git_dir, found.branch) == (root, root / ".git", "main")
    assert (found.store, found.why, found.notices) == (None, "new", ())
    assert found.commit == w.git(root, "rev-parse", "HEAD").strip()
    assert not w.home.exists()


def test_first_write_mints_later_ones_do_not(w):
    root = w.repo("proj")
    store = w.write(root)
    assert w.write(root / "sub") == w.read(root) == store
    assert w.resolver.resolve(root).why == "known"
    assert w.resolver.roots(store) == [root]
    before = (w.home / "bindings.toml").stat().st_ino
    w.write(root)
    assert (w.home / "bindings.toml").stat().st_ino == before, "nothing new, nothing written"


def test_sub_directories_links_and_worktrees_are_one_scope(w):
    root = w.repo("proj")
    (root / "a/b").mkdir(parents=True)
    (w.root / "link").symlink_to(root)
    w.git(root, "worktree", "add", "-q", str(w.root / "wt"), "-b", "f")
    w.git(root, "worktree", "add", "-q", str(root / ".worktrees/x"), "-b", "x")
    store = w.write(w.root / "wt")
    for place in (root, root / "a/b", w.root / "link/a", w.root / "wt/deep", root / ".worktrees/x", root / "gone"):
        found = w.resolver.resolve(place)
        assert (found.store, found.project_root) == (store, root), place
    assert w.resolver.resolve(w.root / "wt").branch == "f"
    assert len(w.rows()) == 1


def test_other_spelling_of_one_directory(w, monkeypatch):
    root = w.repo("proj")
    store = w.write(root)
    row = w.rows()[0]
    # What a case-blind disk looks like from here: the recorded spelling leads to the very same directory.
    monkeypatch.setattr(scope, "_still_there", lambda old: old.root == "/PROJ")
    w.rewrite(row, root="/PROJ")
    assert w.read(root) == store
    assert w.write(root) == store
    assert [row.root for row in w.rows()] == ["/PROJ"]


def test_still_there(w):
    w.write(w.repo("proj"))
    row = w.rows()[0]
    assert scope._still_there(row)
    assert not scope._still_there(replace(row, inode=row.inode + 1))
    (w.root / "proj").rename(w.root / "moved")
    assert not scope._still_there(row)


def test_file_system_without_inodes_goes_by_path(w, monkeypatch):
    real = gitdir.identity
    monkeypatch.setattr(
        gitdir, "identity", lambda path: (found := real(path)) and replace(found, inode=0, device=0, birth=7)
    )
    one, two = w.write(w.repo("one")), w.write(w.repo("two"))
    assert one != two
    assert (w.read(w.root / "one"), w.read(w.root / "two")) == (one, two)


def test_submodule_is_a_project_of_its_own(w):
    main, lib = w.repo("main"), w.repo("lib")
    w.git(main, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(lib), "vendor/lib")
    w.git(main / "vendor/lib", "worktree", "add", "-q", str(w.root / "subwt"))
    store = w.write(main)
    inner = w.write(main / "vendor/lib/src")
    assert inner != store
    assert w.read(w.root / "subwt") == inner
    assert w.read(main) == store


def test_odd_names(w):
    for name in ("Ünïcode 项目", 'quo"te\\n', "new\nline", os.fsdecode(b"bytes\xff")):
        store = w.write(w.repo(name))
        assert w.read(w.root / name / "sub") == store
    assert [path.name for path in w.resolver.roots(store)] == [name]


def test_newer_formats_resolve(w):
    w.git(w.root, "init", "-q", "-b", "main", "--object-format=sha256", "sha")
    w.git(w.root / "sha", "commit", "-q", "--allow-empty", "-m", "x")
    store = w.write(w.root / "sha")
    assert len(bindings.recorded_commits(w.home, store)[0]) == 64
    shutil.move(w.root / "sha", w.root / "sha2")
    w.resolver = Resolver(w.home, w.root / "home", lambda *_: False)  # objects that cannot be read prove nothing
    assert w.read(w.root / "sha2") == store, "HEAD is known, and all else is the same"

    root = w.repo("table")
    shutil.rmtree(root / ".git/refs")
    (root / ".git/reftable").mkdir()
    (root / ".git/HEAD").write_text("ref: refs/heads/.invalid\n")
    store = w.write(root)
    root.rename(w.root / "table2")
    assert w.read(w.root / "table2") == store
    assert w.resolver.resolve(w.root / "table2").commit is None


# ---------------------------------------------------------------- no project


def test_no_project(w):
    for place in (w.root / "home", w.root / "work", Path("/"), w.root / "missing/x"):
        found = w.resolver.resolve(place)
        assert (found.project_root, found.store, found.why, found.notices) == (None, None, "none", ())
        with pytest.raises(ScopeUnresolved) as error:
            w.resolver.bind(found, lambda: next(w.ids))
        assert (error.value.code, error.value.exit_code) == ("SCOPE_UNRESOLVED", 4)
        with pytest.raises(ScopeUnresolved):
            w.resolver.link(found, next(w.ids))
        w.resolver.record_commit(found)
    assert list((w.root / "home").iterdir()) == []


def test_home_is_a_repository(w):
    home = w.root / "home"
    w.git(home, "init", "-q")
    (home / "new").mkdir()
    real = w.repo("home/real")
    assert w.resolver.resolve(home).project_root is None
    assert w.resolver.resolve(home / "new").project_root is None
    assert w.resolver.resolve(real / "x").project_root == real
    (w.root / "alias").symlink_to(home)
    assert Resolver(w.home, w.root / "alias", prove).resolve(home / "new").project_root is None


def test_a_store_is_no_project(w):
    assert w.resolver.resolve(w.repo("coffer/memory/global") / "knowledge").project_root is None


@pytest.mark.skipif(sys.platform != "linux", reason="only here can one stand in a directory that is gone")
def test_standing_in_a_deleted_directory(w, monkeypatch):
    root = w.repo("proj")
    (root / "sub").mkdir()
    monkeypatch.chdir(root / "sub")
    (root / "sub").rmdir()
    assert w.resolver.resolve(Path()).project_root is None
    assert w.resolver.resolve(root / "sub").project_root == root
    monkeypatch.chdir(root)


# ---------------------------------------------------------------- moved, copied, made again


def test_two_of_one_name_share_nothing(w):
    for remotes in ((None, None), ("git@example.org:org1/api", "git@example.org:org2/api")):
        one, two = (w.repo(f"{place}{remotes[0]}/api", remotes[number]) for number, place in enumerate(("one", "two")))
        store = w.write(one)
        assert w.read(two) is None
        assert w.write(two) != store


@pytest.mark.parametrize("write", ["write", "bind"])
def test_moved_root_is_rebound_by_a_read(w, write):
    root = w.repo("before")
    store = getattr(w, write)(root)
    root.rename(w.root / "after")
    assert w.resolver.resolve(w.root / "after").why == "moved"
    assert w.resolver.resolve(w.root / "after").why == "known"
    assert w.resolver.roots(store) == [w.root / "after"]
    assert w.write(w.root / "after") == store
    assert w.read(w.repo("before")) is None
    assert w.write(root) != store


def test_moved_after_further_commits(w):
    root = w.repo("before")
    store = w.write(root)
    w.git(root, "commit", "-q", "--allow-empty", "-m", "more")
    root.rename(w.root / "after")
    assert w.read(w.root / "after") == store


def test_made_again_at_the_old_place_before_the_moved_one_is_seen(w):
    root = w.repo("proj")
    store = w.write(root)
    root.rename(w.root / "proj.old")
    other = w.write(w.repo("proj"))
    assert other != store
    assert w.read(w.root / "proj.old") == store
    assert w.read(root) == other


@pytest.mark.parametrize("write", ["write", "bind"])
def test_remade_at_the_same_place_with_the_same_inode(w, write):
    root = w.repo("proj")
    store = getattr(w, write)(root)
    w.remake(root)
    assert w.read(root) is None
    assert f"stores link {store}" in w.notices(root)
    assert w.write(root) != store
    assert w.notices(root) == ""
    assert w.read(root) != store


@pytest.mark.parametrize("write", ["write", "bind"])
def test_inode_used_again_elsewhere_is_no_move(w, write):
    store = getattr(w, write)(w.repo("one"))
    w.remake(w.root / "one").rename(w.root / "two")
    row = w.rows()[0]
    assert (w.root / "two/.git").stat().st_ino == row.inode
    assert w.read(w.root / "two") is None
    assert w.write(w.root / "two") != store


def test_two_from_one_template_are_not_one_moved(w):
    template = w.repo("template")
    shutil.copytree(template, w.root / "one")
    w.git(w.root / "one", "commit", "-q", "--allow-empty", "-m", "of one alone")
    store = w.write(w.root / "one")
    shutil.copytree(template, w.root / "two")
    shutil.rmtree(w.root / "one")
    w.rewrite(w.rows()[0], inode=(w.root / "two/.git").stat().st_ino)
    assert w.rows()[0].birth == gitdir.identity(w.root / "two/.git").birth
    assert w.read(w.root / "two") is None
    assert f"stores link {store}" in w.notices(w.root / "two")


def test_move_needs_the_same_device(w):
    root = w.repo("before")
    w.bind(root)
    w.rewrite(w.rows()[0], device=w.rows()[0].device + 1)
    root.rename(w.root / "after")
    assert w.read(w.root / "after") is None


def test_new_device_number_after_a_restart(w):
    root = w.repo("proj")
    store = w.write(root)
    row = w.rows()[0]
    w.rewrite(row, device=row.device + 1)
    w.resolver = Resolver(w.home, w.root / "home", never)
    assert w.resolver.resolve(root).why == "known"
    assert w.rows()[0].device == row.device + 1, "not by a read"
    assert w.write(root) == store
    assert w.rows() == (row,)


def test_restored_from_a_backup(w):
    root = w.repo("proj")
    store = w.write(root)
    shutil.copytree(root, w.root / "backup")
    shutil.rmtree(root)
    shutil.copytree(w.root / "backup", root)
    if (root / ".git").stat().st_ino == w.rows()[0].inode:
        w.rewrite(w.rows()[0], inode=1)
    assert w.resolver.resolve(root).why == "restored"
    assert w.resolver.resolve(root).why == "known"
    assert w.read(root) == store
    assert w.resolver.roots(store) == [root]


def test_many_clones_at_one_place_leave_few_rows(w):
    root = w.repo("proj")
    store = w.write(root)
    for inode in range(1, 10):
        w.rewrite(w.rows()[-1], inode=inode)
        assert w.read(root) == store
    assert len(w.rows()) == scope.MAX_ROOTS_AT_ONE_PLACE


def test_description_edited_by_its_owner(w):
    root = w.repo("proj")
    store = w.write(root)
    (root / ".git/description").write_text("mine\n")
    os.utime(root / ".git/description", ns=(1, 1))
    assert w.read(root) == store
    w.resolver = Resolver(w.home, w.root / "home", never)
    assert w.read(root) == store, "proved once, written down"


def test_copy_beside_the_original_is_another_project(w):
    root = w.repo("proj")
    store = w.write(root)
    subprocess.run(["cp", "-a", root, w.root / "copy"], check=True)
    assert w.read(w.root / "copy") is None
    assert w.write(w.root / "copy") != store
    assert w.read(root) == store


# ---------------------------------------------------------------- clones and claims


def test_two_clones_of_one_remote(w):
    first = w.repo("first", SSH)
    second = w.clone(first, "second", HTTPS)
    store = w.write(first)
    found = w.resolver.resolve(second)
    assert (found.store, found.why, found.notices) == (store, "clone", ())
    assert w.resolver.roots(store) == [first, second]
    assert w.resolver.resolve(second).why == "known"
    assert "secret" not in (w.home / "bindings.toml").read_text()
    assert {row.origin for row in w.rows()} == {"example.org/team/svc"}
    second.rename(w.root / "third")
    assert w.read(w.root / "third") == store


def test_a_claim_without_a_commit_reads_nothing(w):
    store = w.write(w.repo("real", SSH))
    liar = w.repo("liar", HTTPS)
    assert w.read(liar) is None
    assert f"cofferctl stores link {store}" in w.notices(liar)
    bound = w.resolver.bind(w.resolver.resolve(liar), lambda: next(w.ids))
    assert bound.store != store
    assert "stores link" in "".join(bound.notices)
    assert w.notices(liar) == ""


def test_local_origin_joins_nothing(w):
    first = w.repo("first")
    w.write(first)
    assert w.read(w.clone(first, "second")) is None


def test_origin_added_later_is_recorded_at_the_next_write(w):
    first = w.repo("first")
    store = w.write(first)
    w.git(first, "remote", "add", "origin", SSH)
    second = w.clone(first, "second", HTTPS)
    assert w.read(second) is None
    w.write(first)
    assert w.read(second) == store


def test_config_cannot_choose_a_store(w):
    store = w.write(w.repo("real", SSH))
    evil = w.repo("evil")
    w.git(evil, "config", "coffer.store", store)
    w.git(evil, "config", "include.path", str(w.root / "real/.git/config"))
    w.git(evil, "config", "url.git@example.org:.insteadOf", "x:")
    w.git(evil, "config", "remote.origin.url", "x:team/svc.git")
    assert w.read(evil) is None


def test_forged_git_files_and_links_read_nothing(w):
    victim = w.repo("victim", SSH)
    w.git(victim, "worktree", "add", "-q", str(w.root / "wt"))
    store = w.write(victim)
    for number, target in enumerate((victim / ".git", victim / ".git/worktrees/wt")):
        evil = w.root / f"evil{number}"
        evil.mkdir()
        (evil / ".git").write_text(f"gitdir: {target}\n")
        found = w.resolver.resolve(evil)
        assert (found.project_root, found.store, found.branch, found.commit) == (evil, None, None, None)
        assert w.write(evil) not in (store, None)
        assert w.read(evil) != store
    (w.root / "evil9").mkdir()
    (w.root / "evil9/.git").symlink_to(victim / ".git")
    assert w.read(w.root / "evil9") is None
    assert w.read(victim) == store


def test_moved_worktree_is_told_how_to_mend_it(w):
    root = w.repo("proj")
    w.git(root, "worktree", "add", "-q", str(w.root / "wt"))
    w.write(root)
    (w.root / "wt").rename(w.root / "wt2")
    assert "git worktree repair" in w.notices(w.root / "wt2")
    w.git(w.root / "wt2", "worktree", "repair")
    assert w.read(w.root / "wt2") == w.read(root)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no FIFOs here")
def test_fifo_as_config(w):
    root = w.repo("proj", SSH)
    (root / ".git/config").unlink()
    os.mkfifo(root / ".git/config")
    assert w.read(root) is None
    assert w.write(root) == w.read(root)
    assert w.rows()[0].origin == ""


# ---------------------------------------------------------------- link


def test_link(w):
    store, root = w.write(w.repo("old")), w.repo("new")
    w.write(root)
    linked = w.resolver.link(w.resolver.resolve(root), store)
    assert (linked.store, linked.why) == (store, "linked")
    assert w.read(root) == store
    assert w.resolver.roots(store) == [w.root / "old", root]
    root.rename(w.root / "newer")
    assert w.read(w.root / "newer") == store, "its HEAD was recorded when it was linked"


def test_link_before_any_write_and_to_nonsense(w):
    root, store = w.repo("proj"), next(w.ids)
    with pytest.raises(NotAStoreId):
        w.resolver.link(w.resolver.resolve(root), "../../x")
    assert w.resolver.link(w.resolver.resolve(root), store).store == w.read(root) == store


# ---------------------------------------------------------------- trouble with the home


def test_lost_bindings_lose_no_memory(w):
    root = w.repo("proj")
    store = w.write(root)
    (w.home / "bindings.toml").unlink()
    assert w.read(root) is None
    w.resolver.link(w.resolver.resolve(root), store)
    assert w.read(root) == store


def test_damaged_bindings(w):
    root = w.repo("proj")
    store = w.write(root)
    (w.home / "bindings.toml").write_text("[[project]\nhalf")
    found = w.resolver.resolve(root)
    assert found.store is None
    assert "damaged" in found.notices[0]
    assert "stores link" in found.notices[0]
    bound = w.resolver.bind(found, lambda: next(w.ids))
    assert bound.store != store
    assert "bindings.toml.damaged-1" in bound.notices[-1]
    assert (w.home / "bindings.toml.damaged-1").read_text() == "[[project]\nhalf"
    assert w.resolver.resolve(root).notices == ()


def test_home_held_by_another_process_does_not_stop_a_read(w, monkeypatch):
    monkeypatch.setattr(scope, "READ_PATIENCE", 0.01)
    root = w.repo("before")
    store = w.write(root)
    root.rename(w.root / "after")
    with files.lock(w.home / "bindings.lock"):
        assert w.read(w.root / "after") == store
    assert w.resolver.roots(store) == [root]


@pytest.mark.skipif(os.name == "nt", reason="no permissions of this kind")
def test_read_only_home_answers_and_refuses_writes(git, monkeypatch):
    am_root = os.geteuid() == 0
    with tempfile.TemporaryDirectory() as folder:  # tmp_path lies in a directory that is private to its user
        Path(folder).chmod(0o755)
        w = World(Path(os.path.realpath(folder)), git)
        store = w.write(w.repo("before"))
        fresh = w.repo("fresh")
        (w.root / "before").rename(w.root / "after")
        modes = {w.home: 0o555, w.home / "bindings.lock": 0o444, w.home / "bindings.toml": 0o444}
        modes |= {w.home / "commits": 0o555, w.home / "commits" / store: 0o444}
        for path, mode in modes.items():
            path.chmod(mode)
        try:
            os.seteuid(65534) if am_root else None
            assert w.read(w.root / "after") == store
            with pytest.raises(files.NotWritable):
                w.write(fresh)
            w.resolver.record_commit(replace(w.resolver.resolve(fresh), store=store))
        finally:
            os.seteuid(0) if am_root else None
            for path in modes:
                path.chmod(stat.S_IRWXU)


def _bind_all(home: Path, roots: list[Path], number: int) -> list[str | None]:
    ids = (f"01JABCDEFGHJKMNPQRSTV{number}{count:04d}" for count in itertools.count())
    resolver = Resolver(home, home.parent / "home", prove)
    found = []
    for root in roots:
        found.append(resolver.bind(resolver.resolve(root), lambda: next(ids)))
        resolver.record_commit(found[-1])
    return [each.store for each in found]


def test_eight_processes_bind_at_once(w):
    roots = [w.repo(f"proj{number}") for number in range(4)]
    with multiprocessing.get_context("spawn").Pool(8) as pool:
        answers = pool.starmap(_bind_all, [(w.home, roots, number) for number in range(8)])
    assert all(answer == answers[0] for answer in answers), answers
    assert len(set(answers[0])) == 4
    assert len(w.rows()) == 4
    assert [w.read(root) for root in roots] == answers[0]


# ---------------------------------------------------------------- cost


def test_known_project_is_resolved_in_two_milliseconds(w):
    root = w.repo("proj")
    (root / "a/b/c/d").mkdir(parents=True)
    w.write(root)
    row = w.rows()[0]
    many = tuple(replace(row, root=f"/srv/project-{number}", inode=number + 10**9) for number in range(50))
    bindings.change(w.home, lambda rows: (*many, *rows))
    w.resolver = Resolver(w.home, w.root / "home", never)
    times = []
    for _ in range(20):
        started = time.process_time()
        assert w.read(root / "a/b/c/d")
        times.append(time.process_time() - started)
    assert min(times) < 0.002


def test_nothing_dear_is_imported(w):
    root = w.repo("proj")
    w.write(root)
    code = (
        "import sys, pathlib as p; from cofferctl.scope import Resolver;"
        "r = Resolver(p.Path(sys.argv[1]), p.Path(sys.argv[2]), None).resolve(p.Path(sys.argv[3])); assert r.store;"
        "print([m for m in ('dulwich', 'yaml', 'tomllib', 'tomlkit', 'subprocess', 'hashlib', 'json')"
        " if m in sys.modules])"
    )
    python = [sys.executable, "-c", code, w.home, w.root / "home", root]
    assert subprocess.run(python, capture_output=True, text=True, check=True).stdout == "[]\n"
