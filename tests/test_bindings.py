"""The file of bindings: readable, repairable, never lost."""

from __future__ import annotations

import os
import stat
import tomllib
from dataclasses import asdict

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cofferctl import bindings, files
from cofferctl.bindings import Binding, Bindings, normalize_remote, parse, render

STORE = "01JABCDEFGHJKMNPQRSTVWXYZ0"
OTHER = "01JABCDEFGHJKMNPQRSTVWXYZ1"
ROW = Binding(STORE, "/home/me/svc", 65024, 12, 1796071784088512421, "example.org/team/svc")
COMMIT = "0123456789abcdef0123456789abcdef01234567"

names = st.text(st.characters(exclude_categories=["Cs"]), min_size=1)
numbers = st.integers(0, 2**64)
rows = st.builds(
    Binding,
    store=st.sampled_from([STORE, OTHER]),
    root=names,
    device=numbers,
    inode=numbers,
    birth=st.integers(-(2**63), 2**63),
    origin=names | st.just(""),
)


def add(*new: Binding):
    return lambda old: (*old, *new)


# ---------------------------------------------------------------- the text


@given(st.lists(rows, max_size=4))
def test_rendered_rows_are_toml_and_read_back(many):
    text = render(tuple(many))
    assert tomllib.loads(text).get("project", []) == [asdict(row) for row in many]
    assert parse(text) == Bindings(rows=tuple(many))


@given(st.lists(rows, max_size=3))
def test_plain_reader_agrees_with_tomllib(many):
    text = render(tuple(many))
    assert bindings._parse_plain(text) in (None, tuple(many))
    assert parse(text + "# edited\n").rows == tuple(many)


def test_ordinary_files_need_no_tomllib():
    assert bindings._parse_plain(render((ROW, ROW))) == (ROW, ROW)
    assert bindings._parse_plain(render(())) == ()


def test_root_that_is_not_utf8():
    row = Binding(STORE, "/srv/odd\udcff\udcfe", 1, 2, 3, "")
    assert parse(render((row,))) == Bindings(rows=(row,))
    tomllib.loads(render((row,)))


def test_what_a_person_may_write():
    text = f'project = [{{ store = "{STORE}", root = "/x", note = "mine" }}]\n[other]\na = 1\n'
    assert parse(text) == Bindings(rows=(Binding(STORE, "/x", 0, 0, 0, ""),))


@pytest.mark.parametrize(
    "bad",
    [
        'store = "../../etc"\nroot = "/x"',
        f'store = "{STORE.lower()}"\nroot = "/x"',
        f'store = "{STORE}"',
        f'store = "{STORE}"\nroot = ""',
        f'store = "{STORE}"\nroot = 3',
        f'store = "{STORE}"\nroot = "/x"\ninode = "7"',
        f'store = "{STORE}"\nroot = "/x"\ninode = true',
        f'store = "{STORE}"\nroot = "/x"\norigin = []',
        f'store = "{STORE}"\nroot_bytes = "xyz"',
    ],
)
def test_wrong_rows_are_left_out_and_named(bad):
    found = parse(f"[[project]]\n{bad}\n{render((ROW,))}")
    assert found.rows == (ROW,)
    assert "1" in found.damage


@pytest.mark.parametrize(
    "text", ["project = 3", "[project]\nx = 1", "[[project]]\nstore = ", "\0", "a = " + "[" * 9999]
)
def test_junk_is_damage(text):
    found = parse(text)
    assert found.rows == ()
    assert found.damage


# ---------------------------------------------------------------- the file


def test_missing_home_reads_as_empty_and_is_not_made(tmp_path):
    assert bindings.load(tmp_path / "none") == Bindings()
    assert bindings.recorded_commits(tmp_path / "none", STORE) == ()
    assert not (tmp_path / "none").exists()


def test_change_makes_a_private_file(tmp_path):
    home = tmp_path / "a/coffer"
    assert bindings.change(home, add(ROW)) == Bindings(rows=(ROW,))
    assert bindings.load(home) == Bindings(rows=(ROW,))
    if os.name != "nt":
        assert stat.S_IMODE(home.stat().st_mode) == 0o700
        assert stat.S_IMODE((home / "bindings.toml").stat().st_mode) == 0o600
    before = (home / "bindings.toml").stat()
    bindings.change(home, lambda old: old)
    assert (home / "bindings.toml").stat().st_ino == before.st_ino, "nothing changed, nothing written"


def test_windows_line_ends_and_byte_order_mark(tmp_path):
    (tmp_path / "bindings.toml").write_bytes(b"\xef\xbb\xbf" + render((ROW,)).replace("\n", "\r\n").encode())
    assert bindings.load(tmp_path) == Bindings(rows=(ROW,))


@pytest.mark.parametrize("junk", [b"\xff\xfe\x00junk", b"half = [", b"project = 3", b"\0" * 100])
def test_damaged_file_is_kept_aside_at_the_next_change(tmp_path, junk):
    path = tmp_path / "bindings.toml"
    for number in (1, 2):
        path.write_bytes(junk)
        assert bindings.load(tmp_path).rows == ()
        assert bindings.load(tmp_path).damage
        assert path.read_bytes() == junk, "reading leaves it alone"
        done = bindings.change(tmp_path, add(ROW))
        assert done.set_aside == tmp_path / f"bindings.toml.damaged-{number}"
        assert done.set_aside.read_bytes() == junk
        assert bindings.load(tmp_path) == Bindings(rows=(ROW,))


def test_good_rows_of_a_damaged_file_stay(tmp_path):
    (tmp_path / "bindings.toml").write_text(render((ROW,)) + '[[project]]\nstore = "x"\n')
    done = bindings.change(tmp_path, add(ROW))
    assert done.rows == (ROW, ROW)
    assert done.set_aside is not None


def test_what_is_no_file_is_damage(tmp_path):
    path = tmp_path / "bindings.toml"
    path.symlink_to(tmp_path / "elsewhere")
    assert bindings.load(tmp_path).damage
    bindings.change(tmp_path, add(ROW))
    assert path.is_file()
    assert not path.is_symlink()
    assert not (tmp_path / "elsewhere").exists()
    path.unlink()
    path.mkdir()
    assert bindings.load(tmp_path).damage
    bindings.change(tmp_path, add(ROW))
    if hasattr(os, "mkfifo"):
        path.unlink()
        os.mkfifo(path)
        assert bindings.load(tmp_path).damage


def test_home_that_cannot_be_made(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(files.NotWritable):
        bindings.change(tmp_path / "file/coffer", add(ROW))
    with pytest.raises(files.NotWritable):
        bindings.record_commit(tmp_path / "file/coffer", STORE, COMMIT)


def test_crash_while_writing_leaves_the_old_file(tmp_path, monkeypatch):
    bindings.change(tmp_path, add(ROW))

    def fail(*_args, **_kwargs):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(files, "write_atomic", fail)
    with pytest.raises(files.NotWritable):
        bindings.change(tmp_path, add(ROW))
    assert bindings.load(tmp_path) == Bindings(rows=(ROW,))


# ---------------------------------------------------------------- recorded commits


def test_commits_are_kept_newest_last_and_at_most_fifty(tmp_path):
    many = [f"{number:040x}" for number in range(60)]
    for commit in many:
        bindings.record_commit(tmp_path, STORE, commit)
    assert bindings.recorded_commits(tmp_path, STORE) == tuple(many[-50:])
    before = (tmp_path / "commits" / STORE).stat()
    bindings.record_commit(tmp_path, STORE, many[30])
    assert (tmp_path / "commits" / STORE).stat().st_ino == before.st_ino, "known, so nothing is written"
    assert bindings.recorded_commits(tmp_path, OTHER) == ()


def test_odd_commit_files_and_names(tmp_path):
    tmp_path = tmp_path / "coffer"
    tmp_path.mkdir()
    (tmp_path / "commits").mkdir()
    (tmp_path / "commits" / STORE).write_bytes(
        b"\xff\x00junk\n" + COMMIT.encode() + b"\n" + b"a" * 64 + b"\n\n--exec\n"
    )
    assert bindings.recorded_commits(tmp_path, STORE) == (COMMIT, "a" * 64)
    (tmp_path / "secret").write_text(COMMIT)
    assert bindings.recorded_commits(tmp_path, "../secret") == ()
    bindings.record_commit(tmp_path, "../x", COMMIT)
    bindings.record_commit(tmp_path, OTHER, "not a commit")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["commits", "secret"]


# ---------------------------------------------------------------- remotes


@pytest.mark.parametrize(
    "url",
    [
        "git@example.org:team/svc.git",
        "example.org:team/svc",
        "git@example.org:/team/svc/",
        "ssh://git@EXAMPLE.org/team/svc.git",
        "ssh://example.org:22/team/svc",
        "git+ssh://example.org/team/svc.git/",
        "https://example.org/team/svc",
        "https://user:pa%40ss@example.org:443/team/svc.git",
        "http://token@example.org:80//team/svc/.git",
        "HTTPS://Example.Org./team/svc.git?access_token=x#y",
        "git://example.org:9418/team/svc.git",
        " [git@example.org:22]:team/svc ".replace("git@", ""),
    ],
)
def test_forms_of_one_remote(url):
    assert normalize_remote(url) == "example.org/team/svc"


@pytest.mark.parametrize(
    "url",
    [
        "",
        ".",
        "../sibling",
        "/srv/git/svc.git",
        "./a:b",
        "svc.bundle",
        "file:///srv/git/svc.git",
        "C:\\work\\svc",
        "C:/work/svc",
        "c:svc",
        "\\\\server\\share\\svc",
        "ext::sh -c evil% >&2",
        "ext::ssh",
        "ssh://-oProxyCommand=evil/x",
        "https://",
        "https://example.org",
        "https://example.org/",
        "https://example.org/.git",
        "https://example.org/a/../b",
        "https://example.org:99999999/x",
        "https://exa mple.org/x",
        "https://example.org/a\x1b[31m",
        "https://example.org/a\udcff",
        "https://user:pa/ss@example.org/x",
        "user:pa/ss@example.org:x",
        "s3://bucket/x",
        "https://example.org/" + "x" * 1001,
    ],
)
def test_what_is_no_remote(url):
    assert normalize_remote(url) is None


def test_what_stays_apart():
    assert normalize_remote("git@example.org:Team/Svc") == "example.org/Team/Svc"
    assert normalize_remote("ssh://example.org:2222/team/svc") == "example.org:2222/team/svc"
    assert normalize_remote("ssh://git@[::1]:22/x.git") == normalize_remote("git@[::1]:x") == "[::1]/x"


@given(st.text() | st.from_regex(r"(ssh|https|git)://([a-z]+(:[a-z]*)?@)?[a-zA-Z.-]+(:\d+)?/[\w./~-]*", fullmatch=True))
def test_normal_form_is_stable_and_clean(url):
    found = normalize_remote(url)
    if found is not None:
        assert found.isprintable()
        assert "@" not in found
        assert not found.endswith((".git", "/"))
        assert normalize_remote(f"ssh://{found}") in (found, found.replace(":22/", "/"))


@given(
    st.from_regex(r"[a-z][a-z0-9-]{0,9}(\.[a-z]{2,5}){1,2}", fullmatch=True),
    st.from_regex(r"[A-Za-z0-9_-]{1,9}(/[A-Za-z0-9_-]{1,9}){0,3}", fullmatch=True),
    st.from_regex(r"[a-z0-9]{1,8}(:[a-z0-9%]{0,8})?", fullmatch=True),
    st.sampled_from(["", "/", ".git", ".git/"]),
)
def test_all_forms_are_one(host, path, user, end):
    wanted = f"{host}/{path}"
    scp_user = user.split(":")[0]
    for url in (
        f"https://{user}@{host.upper()}/{path}{end}",
        f"http://{host}:80/{path}{end}",
        f"ssh://{user}@{host}:22/{path}{end}",
        f"git://{host}/{path}{end}",
        f"{scp_user}@{host}:{path}{end}",
        f"{host}:/{path}{end}",
    ):
        assert normalize_remote(url) == wanted
