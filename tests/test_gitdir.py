"""A repository's text files, of honest and of hostile repositories."""

from __future__ import annotations

import os
import shutil
import tempfile
import time
from pathlib import Path

import pytest

from cofferctl import gitdir
from cofferctl.gitdir import Head, find_root, head, origin_url

COMMIT = "0123456789abcdef0123456789abcdef01234567"


@pytest.fixture
def repo(tmp_path, git):
    """Make a repository with one commit of its own."""

    def make(name: str, remote: str | None = None) -> Path:
        path = tmp_path / name
        path.mkdir(parents=True)
        git(path, "init", "-q", "-b", "main")
        git(path, "commit", "-q", "--allow-empty", "-m", f"start of {name}")
        if remote:
            git(path, "remote", "add", "origin", remote)
        return path

    return make


def bare_bones(path: Path, head_text: str = "ref: refs/heads/main\n") -> Path:
    """A git directory as small as it can be."""
    (path / "objects").mkdir(parents=True)
    (path / "refs").mkdir()
    (path / "HEAD").write_text(head_text)
    return path


def points(path: Path, target: Path | str) -> Path:
    path.mkdir(parents=True, exist_ok=True)
    (path / ".git").write_text(f"gitdir: {target}\n")
    return path


def is_alone(path: Path) -> bool:
    """Whether a directory with a `.git` file counts as a project of its own, with nothing of anybody's repository."""
    found = find_root(path)
    return found is not None and (found.root, found.path, found.common, found.own) == (path, path / ".git", None, None)


# ---------------------------------------------------------------- the way up


def test_sub_directory_symlink_and_missing_directory_lead_to_one_root(repo, tmp_path):
    root = repo("proj")
    (root / "a/b").mkdir(parents=True)
    (tmp_path / "link").symlink_to(root / "a")
    for place in (root, root / "a/b", tmp_path / "link/b", root / "gone/by/now", root / ".git/hooks", root / "a/../a"):
        found = find_root(place)
        assert found is not None, place
        assert (found.root, found.path, found.common, found.own) == (root, *[root / ".git"] * 3)


def test_relative_directory(repo, monkeypatch):
    root = repo("proj")
    monkeypatch.chdir(root)
    assert find_root(Path()).root == root


def test_outside_of_any_repository(tmp_path):
    for place in (tmp_path, tmp_path / "missing", Path("/"), Path("a\0b")):
        assert find_root(place) is None


def test_home_and_what_is_above_it_are_no_project(repo, tmp_path):
    home = repo("users/me")
    (home / "new").mkdir()
    real = repo("users/me/real")
    assert find_root(home, home) is None
    assert find_root(home / "new", home) is None
    assert find_root(real / "src", home).root == real
    (tmp_path / "alias").symlink_to(home)
    assert find_root(home / "new", tmp_path / "alias") is None
    above = repo("users/other")
    assert find_root(above / "me", above / "me" / ".." / "me") is not None, "a home that is not there bounds nothing"
    (above / "me").mkdir()
    assert find_root(above / "me", above / "me") is None


def test_worktree_of_home_is_no_project(repo, tmp_path, git):
    home = repo("users/me")
    git(home, "worktree", "add", "-q", str(tmp_path / "wt"))
    assert find_root(tmp_path / "wt", home) is None


def test_bare_repository_on_the_way_is_nothing(repo, git):
    root = repo("proj")
    git(root, "init", "-q", "--bare", "fixtures/tracked")
    assert find_root(root / "fixtures/tracked/objects").root == root


@pytest.mark.parametrize("missing", ["HEAD", "objects", "refs"])
def test_invalid_git_dir_on_the_way_is_passed_by(repo, missing):
    root = repo("proj")
    inner = bare_bones(root / "inner" / ".git")
    (inner / missing).unlink() if missing == "HEAD" else (inner / missing).rmdir()
    assert find_root(root / "inner").root == root


def test_names_that_are_not_ascii_or_not_utf8(repo, tmp_path):
    assert find_root(repo("Ünïcode-项目") / "x").root == tmp_path / "Ünïcode-项目"
    odd = Path(os.fsdecode(os.fsencode(tmp_path) + b"/odd\xff\xfe"))
    bare_bones(odd / ".git")
    assert find_root(odd / "x").root == odd


@pytest.mark.skipif(os.name == "nt", reason="no permissions of this kind")
def test_unreadable_parent():
    with tempfile.TemporaryDirectory() as folder:  # tmp_path lies in a directory that is private to its user
        root = Path(os.path.realpath(folder)) / "outer" / "proj"
        bare_bones(root / ".git")
        Path(folder).chmod(0o711)
        root.parent.chmod(0)
        am_root = os.geteuid() == 0
        try:
            os.seteuid(65534) if am_root else None
            assert find_root(root) is None
            assert head(root / ".git") == Head()
        finally:
            os.seteuid(0) if am_root else None
            root.parent.chmod(0o700)


# ---------------------------------------------------------------- linked work trees


def test_worktrees_beside_and_inside(repo, tmp_path, git):
    root = repo("proj")
    for place in (tmp_path / "wt", root / ".worktrees" / "x"):
        git(root, "worktree", "add", "-q", str(place), "-b", f"feature/{place.name}")
        (place / "sub").mkdir()
        found = find_root(place / "sub")
        assert (found.root, found.path, found.common) == (root, root / ".git", root / ".git")
        assert head(found.own, found.common).branch == f"feature/{place.name}"
        assert head(found.own, found.common).commit == git(root, "rev-parse", "HEAD").strip()


def test_relative_worktree_pointers(repo, tmp_path, git):
    root, wt = repo("proj"), tmp_path / "deep" / "wt"
    git(root, "worktree", "add", "-q", str(wt))
    (wt / ".git").write_text("gitdir: ../../proj/.git/worktrees/wt\n")
    (root / ".git/worktrees/wt/gitdir").write_text("../../../../deep/wt/.git\n")
    git(root, "config", "extensions.relativeWorktrees", "true")
    git(root, "config", "core.repositoryformatversion", "1")
    assert find_root(wt).root == root


def test_worktrees_of_a_bare_repository(repo, tmp_path, git):
    git(repo("proj"), "clone", "-q", "--bare", ".", str(tmp_path / "svc.git"))
    for name in ("one", "two"):
        git(tmp_path / "svc.git", "worktree", "add", "-q", str(tmp_path / name), "-b", name)
    first, second = find_root(tmp_path / "one"), find_root(tmp_path / "two")
    assert first.root == second.root == first.path == tmp_path / "svc.git"
    assert head(second.own, second.common).branch == "two"


def test_bare_repository_hidden_in_the_project(repo, tmp_path, git):
    root = tmp_path / "svc"
    git(repo("proj"), "clone", "-q", "--bare", ".", str(root / ".bare"))
    (root / ".git").write_text("gitdir: ./.bare\n")
    git(root, "worktree", "add", "-q", str(root / "main-tree"), "-b", "x")
    assert find_root(root).root == find_root(root / "main-tree").root == root
    assert find_root(root).path == find_root(root / "main-tree").path == root / ".bare"


def test_moved_worktree_is_alone(repo, tmp_path, git):
    root = repo("proj")
    git(root, "worktree", "add", "-q", str(tmp_path / "wt"))
    (tmp_path / "wt").rename(tmp_path / "wt2")
    assert is_alone(tmp_path / "wt2")
    assert find_root(tmp_path / "wt2").disowned == root / ".git/worktrees/wt"


# ---------------------------------------------------------------- submodules and git directories elsewhere


def test_submodule_and_its_worktree(repo, tmp_path, git):
    main, lib = repo("main"), repo("lib")
    git(main, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(lib), "vendor/lib")
    sub = main / "vendor/lib"
    found = find_root(sub / "src")
    assert (found.root, found.path) == (sub, main / ".git/modules/vendor/lib")
    git(sub, "worktree", "add", "-q", str(tmp_path / "subwt"), "-b", "f")
    assert find_root(tmp_path / "subwt").root == sub
    assert find_root(tmp_path / "subwt").path == found.path
    git(sub, "sparse-checkout", "init")  # moves core.worktree to config.worktree
    assert "worktree = " not in (found.path / "config").read_text()
    assert find_root(sub).path == found.path


def test_separate_git_dir_is_alone(tmp_path, git):
    (tmp_path / "store").mkdir()
    git(tmp_path, "init", "-q", f"--separate-git-dir={tmp_path / 'store/x.git'}", str(tmp_path / "proj"))
    assert is_alone(tmp_path / "proj")


@pytest.mark.parametrize("text", ["", "gitdir:", "junk\n", "gitdir: a\0b\n", "gitdir:/x\n"])
def test_git_file_that_is_none_is_passed_by(repo, text):
    root = repo("proj")
    (root / "sub").mkdir()
    (root / "sub/.git").write_text(text)
    assert find_root(root / "sub").root == root


def test_dangling_git_file_is_alone(tmp_path):
    assert is_alone(points(tmp_path / "proj", "/nowhere/at/all"))
    assert is_alone(points(tmp_path / "long", "x" * 9000))


# ---------------------------------------------------------------- forgeries


def test_git_file_that_names_a_victim_is_alone(repo, tmp_path, git):
    victim = repo("victim")
    git(victim, "worktree", "add", "-q", str(tmp_path / "wt"))
    for number, target in enumerate((victim / ".git", victim / ".git/worktrees/wt", victim, "../victim/.git")):
        assert is_alone(points(tmp_path / f"evil{number}", target))


def test_hard_link_to_a_victims_git_file_is_alone(repo, tmp_path, git):
    victim = repo("victim")
    git(victim, "worktree", "add", "-q", str(tmp_path / "wt"))
    (tmp_path / "evil").mkdir()
    (tmp_path / "evil/.git").hardlink_to(tmp_path / "wt/.git")
    assert is_alone(tmp_path / "evil")


def test_forged_worktree_directory_is_alone(repo, tmp_path):
    victim = repo("victim")
    for name, common in (("evil", victim / ".git"), ("evil2", tmp_path / "evil2/fake")):
        evil = tmp_path / name
        entry = bare_bones(evil / "fake" / "worktrees" / "x")
        (entry / "commondir").write_text(f"{common}\n")
        (entry / "gitdir").write_text(f"{evil}/.git\n")
        assert is_alone(points(evil, entry))


def test_forged_worktrees_link_is_alone(repo, tmp_path, git):
    victim = repo("victim")
    git(victim, "worktree", "add", "-q", str(tmp_path / "wt"))
    evil = tmp_path / "evil"
    bare_bones(evil / "fake")
    (evil / "fake/worktrees").symlink_to(victim / ".git/worktrees")
    assert is_alone(points(evil, evil / "fake/worktrees/wt"))


def test_commondir_in_a_plain_git_dir_lends_nothing(repo, tmp_path):
    victim = repo("victim")
    git_dir = bare_bones(tmp_path / "evil" / ".git")
    (git_dir / "commondir").write_text(f"{victim}/.git\n")
    assert find_root(tmp_path / "evil") is None


def test_symlinked_git_dir_and_parts_are_nothing(repo, tmp_path):
    victim = repo("victim")
    (tmp_path / "evil").mkdir()
    (tmp_path / "evil/.git").symlink_to(victim / ".git")
    assert find_root(tmp_path / "evil") is None
    for part in ("objects", "refs", "HEAD"):
        git_dir = bare_bones(tmp_path / f"evil-{part}" / ".git")
        shutil.rmtree(git_dir / part) if part != "HEAD" else (git_dir / part).unlink()
        (git_dir / part).symlink_to(victim / ".git" / part)
        assert find_root(git_dir.parent) is None


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no FIFOs here")
def test_fifos_never_block(tmp_path):
    git_dir = bare_bones(tmp_path / "proj" / ".git", "ref: refs/heads/x\n")
    for name in ("config", "packed-refs"):
        os.mkfifo(git_dir / name)
    assert origin_url(git_dir) is None
    assert head(git_dir) == Head("x", None)
    os.mkfifo(git_dir / "refs/heads")
    assert head(git_dir) == Head("x", None)
    (git_dir / "HEAD").unlink()
    os.mkfifo(git_dir / "HEAD")
    assert find_root(git_dir.parent) is None
    assert head(git_dir) == Head()
    (tmp_path / "other").mkdir()
    os.mkfifo(tmp_path / "other/.git")
    assert find_root(tmp_path / "other") is None


def test_links_below_refs_are_not_followed(repo, tmp_path):
    victim = repo("victim")
    git_dir = bare_bones(tmp_path / "evil" / ".git")
    (git_dir / "refs/heads").symlink_to(victim / ".git/refs/heads")
    assert head(git_dir) == Head("main", None)
    (git_dir / "refs/heads").unlink()
    (git_dir / "refs/heads").mkdir()
    (git_dir / "refs/heads/main").symlink_to(victim / ".git/refs/heads/main")
    assert head(git_dir) == Head("main", None)


def test_giant_and_slow_configs(tmp_path):
    git_dir = bare_bones(tmp_path / ".git")
    with (git_dir / "config").open("wb") as file:
        file.write(b'[remote "origin"]\nurl = git@example.org:x\n')
        file.truncate(50_000_000)
    started = time.perf_counter()
    assert origin_url(git_dir) is None
    assert time.perf_counter() - started < 0.1
    for text in ("[a" + " " * 999_000, '[a "' + "\\" * 999_000, "[remote]\na" + " " * 999_000, "\\" * 999_000):
        (git_dir / "config").write_text(text)
        started = time.process_time()
        assert origin_url(git_dir) is None
        assert time.process_time() - started < 2


# ---------------------------------------------------------------- HEAD


def test_head_of_real_repositories(repo, git):
    root = repo("proj")
    commit = git(root, "rev-parse", "HEAD").strip()
    assert head(root / ".git") == Head("main", commit)
    git(root, "switch", "-q", "-c", "a/b/c")
    assert head(root / ".git") == Head("a/b/c", commit)
    git(root, "pack-refs", "--all")
    assert not (root / ".git/refs/heads/a").exists()
    assert head(root / ".git") == Head("a/b/c", commit)
    git(root, "checkout", "-q", "--detach")
    assert head(root / ".git") == Head(None, commit)
    git(root, "switch", "-q", "--orphan", "unborn")
    assert head(root / ".git") == Head("unborn", None)
    git(root, "symbolic-ref", "refs/heads/alias", "refs/heads/main")
    (root / ".git/HEAD").write_text("ref: refs/heads/alias\n")
    assert head(root / ".git") == Head("main", commit)


def test_packed_refs_match_whole_names(tmp_path):
    git_dir = bare_bones(tmp_path / ".git", "ref: refs/heads/x\n")
    other = COMMIT[::-1]
    (git_dir / "packed-refs").write_text(
        f"# pack-refs with: peeled\n{other} refs/heads/xx\n^{other}\n{COMMIT} refs/heads/x"
    )
    assert head(git_dir) == Head("x", COMMIT)


def test_sha256(repo, tmp_path, git):
    git(tmp_path, "init", "-q", "-b", "main", "--object-format=sha256", "proj")
    git(tmp_path / "proj", "commit", "-q", "--allow-empty", "-m", "x")
    found = head(find_root(tmp_path / "proj").path)
    assert found.branch == "main"
    assert found.commit is not None
    assert len(found.commit) == 64


def test_reftable(tmp_path):
    git_dir = bare_bones(tmp_path / "proj" / ".git", "ref: refs/heads/.invalid\n")
    (git_dir / "refs").rmdir()
    (git_dir / "reftable").mkdir()
    (git_dir / "reftable/tables.list").write_text("x.ref\n")
    assert find_root(tmp_path / "proj").root == tmp_path / "proj"
    assert head(git_dir) == Head()


@pytest.mark.parametrize(
    "text",
    [
        b"",
        b"\0\0\0",
        b"ref: refs/heads/../../../../etc/passwd",
        b"ref: /etc/passwd",
        b"ref: refs/heads/\x1b[31m",
        b"ref: HEAD",
        b"ref: refs",
        b"ref: refs//x",
        b"ref: refs\\heads\\x",
        b"0123",
        b"x" * 20_000,
    ],
)
def test_odd_heads_say_nothing(tmp_path, text):
    git_dir = bare_bones(tmp_path / ".git")
    (git_dir / "HEAD").write_bytes(text)
    assert head(git_dir) == Head()


def test_symbolic_refs_in_a_circle(tmp_path):
    git_dir = bare_bones(tmp_path / ".git", "ref: refs/heads/a\n")
    (git_dir / "refs/heads").mkdir()
    (git_dir / "refs/heads/a").write_text("ref: refs/heads/b\n")
    (git_dir / "refs/heads/b").write_text("ref: refs/heads/a\n")
    assert head(git_dir) == Head()


def test_branch_that_is_not_utf8(tmp_path):
    git_dir = bare_bones(tmp_path / ".git")
    (git_dir / "HEAD").write_bytes(b"ref: refs/heads/caf\xe9\n")
    (git_dir / "packed-refs").write_bytes(COMMIT.encode() + b" refs/heads/caf\xe9\n")
    assert head(git_dir) == Head("caf\udce9", COMMIT)


# ---------------------------------------------------------------- config


@pytest.mark.parametrize(
    ("text", "url"),
    [
        ('[remote "origin"]\n\turl = git@example.org:team/svc.git\n', "git@example.org:team/svc.git"),
        ('\ufeff[REMOTE "origin"]\r\nURL=https://x/y ; comment\r\nurl = second\r\n', "https://x/y"),
        ('[remote "origin"] url = "https://x/a#b" # c\n', "https://x/a#b"),
        ("[remote.origin]\nurl = old\n", "old"),
        ('[remote "origin"]\nurl = https://\\\n  x/y\n', "https://  x/y"),
        ('[remote "origin"]\nurl = "a\\"b\\\\c"\n', 'a"b\\c'),
        ('[remote "Origin"]\nurl = x\n[remote "up"]\nurl = y\n', None),
        ('[remote "origin"]\nurl\nfetch = x\n[branch "origin"]\nurl = z\n', None),
        ('[include]\npath = /etc/evil\n[url "git@x:"]\ninsteadOf = y:\n[remote "origin"]\nurl = y:z\n', "y:z"),
        ('junk\0\udcff\n[remote "origin\n[remote "origin"]\nurl = a\udcff\n', "a\udcff"),
        ("", None),
    ],
)
def test_origin_url(tmp_path, text, url):
    (tmp_path / "config").write_bytes(text.encode("utf-8", "surrogateescape"))
    assert origin_url(tmp_path) == url


@pytest.mark.parametrize("url", ["https://u:p@x.org/a b.git", 'q"uo\\te', " lead;and#trail ", "tab\there", "plain"])
def test_origin_url_as_git_writes_it(repo, git, url):
    root = repo("proj")
    git(root, "config", "remote.origin.url", url)
    assert origin_url(root / ".git") == url


# ---------------------------------------------------------------- identity


def test_identity_outlives_a_move_but_not_a_new_repository(repo, tmp_path, git):
    root = repo("proj")
    first = gitdir.identity(root / ".git")
    assert first.birth == (root / ".git/description").stat().st_mtime_ns
    root.rename(tmp_path / "moved")
    assert gitdir.identity(tmp_path / "moved/.git") == first
    shutil.rmtree(tmp_path / "moved")
    assert gitdir.identity(tmp_path / "moved/.git") is None
    assert gitdir.identity(repo("proj") / ".git") != first
    (root / ".git/description").unlink()
    assert gitdir.identity(root / ".git").birth == (root / ".git/info/exclude").stat().st_mtime_ns
    (root / ".git/info/exclude").unlink()
    assert gitdir.identity(root / ".git").birth == 0
