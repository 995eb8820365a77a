"""diff, blame, digest, review and long answers, as a person at a terminal meets them."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import select
import struct
import subprocess
import sys
import termios
import time

import pytest
from support.program import PROGRAM, run
from support.terminal import on_terminal

SHOW = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]|\x1b[=>]|\r")


@pytest.fixture
def taught(memory):
    """Facts of an agent, and one edited by hand."""
    for number in range(3):
        memory.days_ago(3 - number).remember(f"Rule {number} of the house", actor="agent", agent="otter", session="s1")
    memory.put("knowledge/by-hand.md", "By hand \x1b[31mred\x1b[0m\n")
    return memory


class Screen:
    """A program on a terminal that is typed to as it asks."""

    def __init__(self, args, cwd, rows=24, columns=80, **env):
        self.leader, follower = pty.openpty()
        fcntl.ioctl(follower, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
        wanted = {**os.environ, "TERM": "xterm", **env}
        wanted.pop("COLUMNS", None)
        self.process = subprocess.Popen(
            [PROGRAM, *args], cwd=cwd, env=wanted, stdin=follower, stdout=follower, stderr=follower, close_fds=True,
            start_new_session=True,
            preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),  # noqa: PLW1509 - no threads; Ctrl-C needs it
        )  # fmt: skip
        os.close(follower)
        self.seen = ""

    def until(self, text, seconds=20):
        """Read until some text is there, None for the end."""
        deadline, start = time.monotonic() + seconds, len(self.seen)
        while text is None or text not in self.seen[start:]:
            ready, _, _ = select.select([self.leader], [], [], max(0, deadline - time.monotonic()))
            assert ready, f"{text!r} did not come: {self.seen[start:]!r}"
            try:
                chunk = os.read(self.leader, 65_536)
            except OSError:
                chunk = b""
            if not chunk:
                assert text is None, f"{text!r} did not come: {self.seen!r}"
                break
            self.seen += SHOW.sub("", chunk.decode("utf-8", "replace"))
        return self.seen[start:]

    def type(self, keys):
        os.write(self.leader, keys.encode())

    def end(self):
        """The exit code."""
        self.until(None)
        os.close(self.leader)
        return self.process.wait(10)


ASKED = "[q]uit ? "


def test_review_walks_over_what_agents_stored(taught, tmp_path):
    editor = tmp_path / "editor"
    editor.write_text(f"#!{sys.executable}\nimport sys\np = sys.argv[1]\ns = open(p).read()\n"
                      "open(p, 'w').write(s.replace('of the house', 'of the boat'))\n")  # fmt: skip
    editor.chmod(0o700)
    screen = Screen(["review"], taught.cwd, EDITOR=str(editor))
    first = screen.until(ASKED)
    assert "1/3  Rule 2 of the house" in first
    assert "otter s1" in first
    assert "branch main" in first
    assert "similar: " in first
    screen.type("x\n")
    assert "Rule" not in screen.until(ASKED)
    screen.type("e\n")
    assert "2/3  Rule 1" in screen.until(ASKED)
    screen.type("f\n")
    assert "3/3  Rule 0" in screen.until(ASKED)
    screen.type("m\n")
    assert "1 edited, 1 forgotten, 1 moved" in screen.until("moved")
    assert screen.end() == 0
    assert [item.title for item in taught.list(scope="global").facts] == ["Rule 0 of the house"]
    assert "Rule 2 of the boat" in {item.title for item in taught.list().facts}
    assert "nothing to review" in on_terminal(["review"], cwd=taught.cwd)


def test_review_stops_when_asked_and_at_the_end_of_input(taught):
    for keys in ("k\nq\n", "\x04"):
        screen = Screen(["review"], taught.cwd)
        screen.until(ASKED)
        screen.type(keys)
        assert screen.end() == 0
    assert "1 kept, 2 left for later" in on_terminal(["review"], cwd=taught.cwd, typed=b"k\nq\n").replace(
        "1 kept, 1 left", "1 kept, 2 left"
    )


def test_an_editor_that_fails_changes_nothing_and_asks_again(taught):
    screen = Screen(["review"], taught.cwd, EDITOR="false")
    screen.until(ASKED)
    screen.type("e\n")
    assert "error: false ended with 1" in screen.until(ASKED)
    screen.type("q\n")
    assert screen.end() == 0
    assert len(taught.log().entries) == 3


def test_review_without_a_terminal(taught):
    done = run("review", cwd=taught.cwd)
    assert (done.code, done.out) == (2, "")
    assert "review --json" in done.err
    done = run("review", "--json", cwd=taught.cwd)
    assert done.code == 0
    assert done.out.count('"blob"') == 3


# A pager.


@pytest.fixture
def marking(tmp_path):
    """A pager that says that it was there, and what less it would have been."""
    pager = tmp_path / "pager"
    pager.write_text('#!/bin/sh\necho "LESS=$LESS"\ncat\necho PAGED\n')
    pager.chmod(0o700)
    return str(pager)


@pytest.mark.parametrize(
    "args", [["log"], ["log", "-p"], ["diff"], ["blame", "knowledge/by-hand.md"], ["list"], ["digest"],
             ["show", "knowledge/by-hand.md"]], ids=" ".join,
)  # fmt: skip
def test_long_answers_go_through_the_pager(taught, marking, args):
    seen = on_terminal(args, cwd=taught.cwd, color=True, COFFER_PAGER=marking, PAGER="false")
    assert "LESS=FRX" in seen
    assert seen.rstrip().endswith("PAGED")
    assert "\x1b[31mred" not in seen
    assert ("Rule" in seen) == (args[0] in ("log", "list", "digest"))
    if args[0] in ("diff", "blame", "log", "list", "digest"):
        assert "\x1b[" in seen
    json = on_terminal([*args, "--json"], cwd=taught.cwd, COFFER_PAGER=marking)
    assert "PAGED" not in json
    assert "PAGED" not in run(*args, cwd=taught.cwd, COFFER_PAGER=marking).out


def test_short_answers_need_no_pager(taught, marking):
    assert "PAGED" not in on_terminal(["where"], cwd=taught.cwd, PAGER=marking)


@pytest.mark.parametrize("pager", ["cat", "", "no-such-program", "'"])
def test_no_pager_where_none_is_wanted_or_there(taught, pager):
    assert "Rule 1" in on_terminal(["log"], cwd=taught.cwd, PAGER=pager)


def test_a_dumb_terminal_has_no_pager(taught, marking):
    assert "PAGED" not in on_terminal(["log"], cwd=taught.cwd, PAGER=marking, TERM="dumb")


def test_leaving_less_early_is_quiet(taught):
    for number in range(1_500):
        taught.put(f"knowledge/inbox/fact-{number}.md", f"Fact number {number} with a text of some length " * 3 + "\n")
    taught.remember("last")
    for args in (["list"], ["log", "-p"]):
        screen = Screen(args, taught.cwd, PAGER="less", LESS="FRX")
        screen.until(":")
        screen.type("q")
        assert screen.end() == 0
        assert "Traceback" not in screen.seen
        assert "Broken" not in screen.seen
        assert len(screen.seen) < 10_000


def test_ctrl_c_in_less_is_for_less(taught):
    for number in range(200):
        taught.put(f"knowledge/inbox/fact-{number}.md", f"Fact number {number}\n")
    screen = Screen(["list"], taught.cwd, PAGER="less", LESS="FRX")
    screen.until(":")
    screen.type("\x03")
    for _ in range(40):  # less throws away what is typed while it thinks about the interrupt
        time.sleep(0.2)
        screen.type("q")
        if screen.process.poll() is not None:
            break
    assert screen.end() == 0
    assert "interrupted" not in screen.seen


# Plain answers.


def test_blame_reads_like_git_blame(taught):
    made = taught.remember("one\ntwo")
    done = run("blame", made.id, cwd=taught.cwd)
    line = done.out.splitlines()[-1]
    assert re.fullmatch(rf"{made.commit[:10]} \(user \d{{4}}-\d\d-\d\d \d+\) two", line)
    taught.file(made.path).write_text(taught.file(made.path).read_text() + "three\n")
    assert re.search(r"(?m)^0000000000 \(outside +\d+\) three$", run("blame", made.id, cwd=taught.cwd).out)


def test_diff_is_a_patch_that_git_takes(taught):
    taught.put("knowledge/by-hand.md", "By hand\n")
    made = taught.remember("one\ntwo")
    taught.file(made.path).write_text(taught.file(made.path).read_text().replace("\ntwo", "\nzwei"))
    taught.put("knowledge/new.md", "new, no newline")
    patch = run("diff", cwd=taught.cwd).out
    (taught.cwd.parent / "p").write_text(patch)
    taught.file("knowledge/new.md").unlink()
    taught.git("checkout", "-q", "--", ".")
    taught.git("apply", str(taught.cwd.parent / "p"))
    assert taught.file("knowledge/new.md").read_text() == "new, no newline"
    assert "zwei" in taught.file(made.path).read_text()


def test_a_digest_fits_a_screen(taught):
    for number in range(120):
        taught.put(f"knowledge/inbox/fact-{number}.md", f"Fact number {number}\n")
    taught.remember("last")
    lines = run("digest", cwd=taught.cwd).out.splitlines()
    assert len(lines) <= 40
    assert any(re.fullmatch(r"  and \d+ more", line) for line in lines)
    assert any(line.startswith("otter: learnt 3") for line in lines)
