"""The installed program as a user meets it: what it prints where, and the exit code it ends with."""

from __future__ import annotations

import fcntl
import json
import os
import re
import signal
import subprocess
import sys
import time

import pytest
from support.memory import git
from support.program import PROGRAM, run
from support.terminal import on_terminal

from cofferctl.commands.settings import list_settings
from cofferctl.commands.stores import list_stores

SECRET = "ghp_" + "0aB1cD2eF3gH4iJ5kL6mN7oP8qR9sT0uV1wX"
_KNOWN = (
    (re.compile(r"project-[0-9A-Z]{26}"), "<store>"),
    (re.compile(r"\b0[0-9A-HJKMNP-TV-Z]{25}\b"), "<id>"),
    (re.compile(r"\b[0-9a-f]{40}\b|\b[0-9a-f]{10}\b"), "<commit>"),
    (re.compile(r"\d{4}-\d\d-\d\d(?:T\d\d:\d\d:\d\d\+00:00| \d\d:\d\d)?"), "<time>"),
    (re.compile(r"\b\d+ [kM]?B\b"), "<size>"),
    (re.compile(r'"(score|disk_bytes)": [0-9.]+'), r'"\1": <number>'),
    (re.compile(r"score [0-9.]+"), "score <number>"),
)


def shape(text, tmp_path):
    """A text with everything that changes from run to run replaced by its name."""
    text = text.replace(str(tmp_path), "<tmp>")
    for pattern, name in _KNOWN:
        text = pattern.sub(name, text)
    return text


@pytest.fixture
def told(memory):
    """One fact in the project, stored from the command line."""
    done = run("remember", "The lighthouse keeper is on duty until nine. Ask her first.", cwd=memory.cwd)
    assert done.code == 0, done.err
    return memory


# What is printed where.


def test_what_a_pipe_gets(told, tmp_path):
    def out(*args):
        done = run(*args, cwd=told.cwd)
        assert (done.code, done.err) == (0, ""), (args, done.err)
        return shape(done.out, tmp_path)

    path = "knowledge/inbox/the-lighthouse-keeper-is-on-duty-until-nine.md"
    title = "The lighthouse keeper is on duty until nine"
    assert out("remember", "The lighthouse keeper is on duty until nine. Ask her first.") == (
        f"known already  <id>\n  project:{path}\n"
    )
    assert out("remember", "second", "--scope", "global") == (
        "remembered  <id>  <commit>\n  global:knowledge/inbox/second.md\n"
    )
    assert out("recall", "lighthouse") == (f"1. {title}. Ask her first.\n   <id>  <time>  project:{path}\n\n")
    assert out("list", "--scope", "project") == f"<time>\t<id>\tproject\t{title}\n"
    assert out("log", "--scope", "project") == f"<time>\t<commit>\tuser\tremember: {title}\n"
    assert out("show", path) == (
        f"title:   {title}\n"
        "id:      <id>\n"
        f"file:    <tmp>/coffer/memory/projects/<id>/{path}\n"
        "by:      user\n"
        "created: <time>\n"
        "updated: <time>\n"
        "branch:  main\n"
        "commit:  <commit> (1 in all)\n"
        "\n"
        "The lighthouse keeper is on duty until nine. Ask her first.\n"
    )
    assert out("where") == (
        "here:    <tmp>/proj  (main)\n"
        "project: <tmp>/coffer/memory/projects/<id>  (this repository is bound to it)\n"
        "global:  <tmp>/coffer/memory/global  (it is used everywhere)\n"
    )
    assert out("status") == "home: <tmp>/coffer\n<store>: 1 fact, index current\nglobal: 1 fact, index current\n"
    assert out("stores", "list") == ("global\t1\t<size>\tglobal\t\n<store>\t1\t<size>\tproj\t<tmp>/proj\n")
    assert out("config", "list") == (
        "default_mode\tkeyword\tdefault\n"
        "max_fact_chars\t8192\tdefault\n"
        "retrieval_modes\tgrep,keyword\tdefault\n"
        "top_k\t5\tdefault\n"
    )
    assert out("config", "set", "top_k", "9") == "top_k = 9\n"
    assert out("config", "get", "top_k") == "9\n"
    assert out("reindex") == "<store>: 1 file, index current\nglobal: 1 file, index current\n"


KEYS = {
    ("remember", "another fact"): "id store scope path commit title duplicate_of similar notices",
    ("recall", "lighthouse"): "query mode fallback scopes hits notices",
    ("list",): "stores facts left_out notices",
    ("log",): "entries notices",
    ("where",): "cwd project_root branch scopes notices",
    ("status",): "home stores notices",
    ("stores", "list"): "stores notices",
    ("config", "get", "top_k"): "key value source",
    ("config", "list"): "settings notices",
    ("reindex",): "stores notices",
}
PARTS = {
    ("recall", "lighthouse"): ("hits", "id text score source time title store lane commit"),
    ("list",): ("facts", "id title description path folder_path store lane actor created_at updated_at"),
    ("log",): ("entries", "commit time event actor agent session operation id title paths subject store"),
    ("where",): ("scopes", "scope store store_dir exists why"),
    ("status",): ("stores", "store store_dir facts index uncommitted notices"),
    ("stores", "list"): ("stores", "store scope label project_root store_dir fact_count disk_bytes"),
}


@pytest.mark.parametrize("args", KEYS, ids=" ".join)
def test_json_is_one_document_with_the_promised_keys(told, args):
    done = run(*args, "--json", cwd=told.cwd)
    assert (done.code, done.err) == (0, "")
    assert done.out.count("\n") == 1
    answer = json.loads(done.out)
    assert list(answer) == KEYS[args].split()
    if args in PARTS:
        name, keys = PARTS[args]
        assert list(answer[name][0]) == keys.split()


def test_json_of_one_fact(told):
    path = "knowledge/inbox/the-lighthouse-keeper-is-on-duty-until-nine.md"
    answer = json.loads(run("show", path, "--json", cwd=told.cwd).out)
    assert answer["path"] == str(told.file(path))
    assert answer["folder_path"] == str(told.file("knowledge/inbox"))
    assert answer["history"] == 1
    assert {"body", "commit", "title", "id"} <= set(answer)


def test_json_of_an_import_from_standard_input(told):
    done = run("import", "jsonl", "-", "--json", stdin=b'{"text": "one", "ref": "r1"}\n', cwd=told.cwd)
    answer = json.loads(done.out)
    assert (answer["imported"], answer["duplicates"]) == (1, 0)
    done = run("import", "jsonl", "-", stdin=b'{"text": "one", "ref": "r1"}\n{', cwd=told.cwd)
    assert done.code == 4
    assert done.err.startswith("error: standard input, line 2: ")
    (hit,) = json.loads(run("recall", "one", "--json", cwd=told.cwd).out)["hits"]
    assert hit["ref"] == "r1"


# Every error: the exit code, the text, the envelope.

ERRORS = {
    "usage": (("recall", "x", "-k", "0"), 2, "USAGE", "-k cannot be 0"),
    "no number": (("recall", "x", "-k", "many"), 2, "USAGE", "invalid value for '-k': it is no whole number"),
    "no option": (("recall", "--frob", "x"), 2, "USAGE", "no such option: --frob"),
    "no command": (("recal", "x"), 2, "USAGE", "unknown command: recal"),
    "no argument": (("recall",), 2, "USAGE", "missing argument 'QUERY|-'"),
    "scope and store": (("list", "--scope", "global", "--store", "global"), 2, "USAGE", "--scope and --store"),
    "both": (("remember", "x", "--scope", "both"), 2, "USAGE", "scope 'both' cannot be used here"),
    "date": (("recall", "x", "--since", "soon"), 2, "USAGE", "not a date: 'soon'"),
    "pattern": (("recall", "(", "--mode", "grep", "--regex"), 2, "USAGE", "the pattern cannot be used"),
    "setting": (("config", "get", "nope"), 2, "USAGE", "no such setting: nope"),
    "value": (("config", "set", "top_k", "99"), 2, "USAGE", "top_k cannot be '99'"),
    "directory": (("list", "-C", "/no/such/place"), 2, "USAGE", "no such directory: /no/such/place"),
    "not confirmed": (("stores", "link", "{store}"), 2, "USAGE", "link "),
    "no fact": (("show", "01ABCDEF"), 3, "MEMORY_NOT_FOUND", "no such fact: 01ABCDEF"),
    "no store": (("list", "--store", "shop"), 3, "MEMORY_STORE_NOT_FOUND", "no such store: shop"),
    "no revision": (("show", "{id}", "--at", "feedbeef"), 3, "MEMORY_NOT_FOUND", "no such revision: feedbeef"),
    "no file": (("import", "jsonl", "gone.jsonl"), 3, "MEMORY_NOT_FOUND", "cannot read"),
    "empty": (("remember", " "), 4, "MEMORY_REJECTED", "there is nothing to remember"),
    "long": (("remember", "x" * 9_000), 4, "MEMORY_REJECTED", "the text has 9,000 characters, 8,192 are allowed"),
    "secret": (("remember", f"is {SECRET}"), 4, "MEMORY_REJECTED", "the text seems to hold a secret"),
    "path": (("show", "../x.md"), 4, "MEMORY_REJECTED", "not a path of a lane"),
    "scope": (("remember", "x", "-C", "/"), 4, "SCOPE_UNRESOLVED", "/ is in no git repository"),
    "scope for reading": (("recall", "x", "-C", "/", "--scope", "project"), 4, "SCOPE_UNRESOLVED", "/ is in no git"),
}


@pytest.mark.parametrize("name", ERRORS)
def test_errors_in_words_and_as_json(told, name):
    args, code, kind, message = ERRORS[name]
    args = [item.format(store=told.store.name, id=told.list().facts[0].id) for item in args]
    plain = run(*args, cwd=told.cwd)
    assert (plain.code, plain.out) == (code, ""), plain.err
    error, hint = plain.err.splitlines()
    assert error.startswith(f"error: {message}")
    assert hint.startswith("hint: ")
    assert SECRET not in plain.err
    done = run(*args[:-1], args[-1], "--json", cwd=told.cwd)
    assert (done.code, done.out) == (code, "")
    envelope = json.loads(done.err)
    assert list(envelope) == ["error"]
    assert list(envelope["error"]) == ["code", "message", "hint", "details"]
    assert envelope["error"]["code"] == kind
    assert f"error: {envelope['error']['message']}" == error
    assert SECRET not in done.err


def test_options_before_the_command_are_explained(told):
    for args in (("--json", "list"), ("-q", "list"), ("stores", "--json", "list")):
        done = run(*args, cwd=told.cwd)
        assert done.code == 2
        assert "options stand after the command's name" in done.err


def test_a_misspelt_command_gets_a_proposal(told):
    assert run("remeber", "x").err == "error: unknown command: remeber\nhint: did you mean `cofferctl remember`?\n"


@pytest.mark.parametrize("args", [(), ("-h",), ("--help",)])
def test_help_is_an_answer(args):
    done = run(*args)
    assert (done.code, done.err) == (0, "")
    for name in (
        "recall",
        "remember",
        "list",
        "log",
        "show",
        "status",
        "where",
        "config",
        "import",
        "reindex",
        "stores",
    ):
        assert f"\n  {name} " in done.out


@pytest.mark.parametrize("name", ["recall", "remember", "list", "log", "show", "status", "where", "reindex"])
def test_every_command_has_a_page_with_its_shared_options(name):
    done = run(name, "--help")
    assert (done.code, done.err) == (0, "")
    for option in ("-C DIR", "--json", "-q, --quiet", "--debug", "--no-color"):
        assert option in done.out
    assert "Examples:   cofferctl" not in done.out
    assert "<str>" not in done.out.partition("Options:")[2]
    assert max(map(len, done.out.splitlines())) <= 100


def test_the_version_is_told():
    done = run("--version")
    assert (done.code, done.err) == (0, "")
    assert re.fullmatch(r"cofferctl \d+\.\d+\.\d+\S*\n", done.out)


def test_a_lock_that_stays_is_named_with_its_holder(told):
    """git's own index.lock: an import is refused, a single fact is kept for the next write."""
    lock = told.file(".git/index.lock")
    lock.touch()
    done = run("import", "jsonl", "-", stdin=b'{"text": "one"}\n', cwd=told.cwd)
    assert done.code == 5
    assert str(lock) in done.err
    assert done.err.count("\n") == 2
    done = run("remember", "Said while git is at work", cwd=told.cwd)
    assert done.code == 0
    assert "not committed yet" in done.out
    assert done.err.startswith("note: written, not committed yet (")
    assert lock.exists()
    lock.unlink()
    assert run("remember", "next", cwd=told.cwd).code == 0
    told.sound()


def test_our_own_lock_is_waited_for_and_named(told, monkeypatch):
    """The wait is shortened from inside; the message is the program's own."""
    lock = told.file(".git/coffer/lock")
    with lock.open("r+") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        code = (
            "import sys; from cofferctl import transaction; transaction.LOCK_WAIT_SECONDS = 0.2;"
            "from cofferctl.cli.app import main; main(sys.argv[1:])"
        )
        done = subprocess.run(
            [sys.executable, "-c", code, "remember", "x", "--json"], cwd=told.cwd, capture_output=True, check=False
        )
    error = json.loads(done.stderr)["error"]
    assert (done.returncode, error["code"]) == (5, "STORE_BUSY")
    assert str(lock) in error["message"]


def test_a_store_in_the_middle_of_a_merge_is_a_conflict(told):
    told.file(".git/MERGE_HEAD").write_text(told.head() + "\n")
    done = run("import", "jsonl", "-", "--json", stdin=b'{"text": "one"}\n', cwd=told.cwd)
    assert (done.code, json.loads(done.err)["error"]["code"]) == (6, "STORE_CONFLICT")
    done = run("recall", "lighthouse", cwd=told.cwd)
    assert done.code == 0


def test_a_bug_is_told_shortly_and_in_full_on_request(told):
    code = (
        "import sys; from cofferctl.commands import where; where.store = None;"
        "from cofferctl.cli.app import main; main(sys.argv[1:])"
    )

    def broken(*args):
        return subprocess.run(
            [sys.executable, "-c", code, "where", *args], cwd=told.cwd, capture_output=True, text=True, check=False
        )

    done = broken()
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith("error: this is a bug in cofferctl: AttributeError: ")
    assert done.stderr.count("\n") == 2
    assert "Traceback" in broken("--debug").stderr
    assert json.loads(broken("--json").stderr)["error"]["code"] == "INTERNAL"


# Notices, quietness, places.


def test_notices_go_to_standard_error_and_can_be_silenced(told, tmp_path):
    (tmp_path / "coffer/config.toml").write_text("= junk\n")
    done = run("recall", "lighthouse", "--mode", "hybrid", cwd=told.cwd)
    assert done.code == 0
    assert "note" not in done.out
    notes = done.err.splitlines()
    assert len(notes) == 2
    assert all(line.startswith("note: ") for line in notes)
    quiet = run("recall", "lighthouse", "--mode", "hybrid", "-q", cwd=told.cwd)
    assert (quiet.err, quiet.out) == ("", done.out)
    assert len(json.loads(run("recall", "lighthouse", "--json", "-q", cwd=told.cwd).out)["notices"]) == 1


def test_nothing_found_is_no_error(told):
    done = run("recall", "zeppelin", cwd=told.cwd)
    assert (done.code, done.out, done.err) == (0, "", "nothing found\n")
    assert run("recall", "zeppelin", "-q", cwd=told.cwd).err == ""


def test_c_stands_somewhere_else(told, tmp_path):
    (told.cwd / "sub").mkdir()
    (told.cwd / "facts.jsonl").write_text('{"text": "imported from a relative path"}\n')
    for place in (str(told.cwd), "proj", "proj/sub", f"{told.cwd}/sub/.."):
        assert "lighthouse" in run("recall", "keeper", "-C", place, cwd=tmp_path).out
    assert run("import", "jsonl", "facts.jsonl", "-C", "proj", cwd=tmp_path).code == 0


def test_text_from_standard_input_and_after_the_dashes(told):
    assert run("remember", "-", stdin="Piped é 字\n".encode(), cwd=told.cwd).code == 0
    assert "Piped é 字" in run("recall", "-", stdin=b"piped", cwd=told.cwd).out
    for text in ("--on-accent is a variable", "- an item", "-Wall", "--json", "--", "-k 3", "--help"):
        done = run("remember", "--", text, cwd=told.cwd)
        assert done.code == 0, (text, done.err)
        assert done.out.startswith("remembered"), text
        assert run("recall", "--", text, cwd=told.cwd).code == 0
        assert run("recall", "-", stdin=text.encode(), cwd=told.cwd).code == 0
        assert run("recall", "--mode", "grep", "--", text, cwd=told.cwd).out.startswith("1. "), text
    for args in (("remember", "--on-accent is one"), ("recall", "-Wall"), ("remember", "- item")):
        done = run(*args, cwd=told.cwd)
        assert done.code == 2
        assert "put -- before a text that begins with a dash" in done.err
    for args in (("remember", "- item one"), ("remember", "- a")):
        assert run("remember", "-", stdin=args[1].encode(), cwd=told.cwd).code == 0


# Interruptions and closed doors.


def test_ctrl_c_ends_with_130(told):
    process = subprocess.Popen(
        [PROGRAM, "remember", "-"], cwd=told.cwd, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    for _ in range(100):  # until it reads: its modules are loaded
        time.sleep(0.05)
        if b"pipe" in _wchan(process.pid) or not os.path.exists(f"/proc/{process.pid}/wchan"):
            break
    time.sleep(0.3)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=20)
    assert (process.returncode, out, err) == (130, b"", b"interrupted\n")
    assert len(told.list().facts) == 1


def _wchan(pid):
    try:
        with open(f"/proc/{pid}/wchan", "rb") as file:
            return file.read()
    except OSError:
        return b"pipe"


@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_a_reader_that_leaves_is_no_error(told, unbuffered):
    for number in range(30):
        told.remember(f"Fact number {number} " + "long " * 1_000)
    for args in (("list",), ("list", "--json"), ("log",), ("recall", "fact", "-k", "20")):
        process = subprocess.Popen(
            [PROGRAM, *args],
            cwd=told.cwd,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env={**os.environ, "PYTHONUNBUFFERED": unbuffered},
        )
        process.stdout.read(10)
        process.stdout.close()
        assert process.stderr.read() == b"", args
        process.stderr.close()
        assert process.wait(20) == 0, args


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs /dev/full")
@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_an_answer_that_cannot_be_written_is_an_error(told, unbuffered):
    with open("/dev/full", "wb") as full:
        done = subprocess.run(
            [PROGRAM, "list"],
            cwd=told.cwd,
            stdout=full,
            stderr=subprocess.PIPE,
            env={**os.environ, "PYTHONUNBUFFERED": unbuffered},
            check=False,
        )
    assert done.returncode == 5
    assert done.stderr.startswith(b"error: cannot write the answer: ")


@pytest.mark.parametrize("closed", ["<&-", ">&-", "2>&-", "<&- >&- 2>&-"])
def test_closed_streams_stop_nothing(told, closed):
    done = subprocess.run(
        ["sh", "-c", f'"$0" "$@" {closed}', PROGRAM, "remember", f"Said with {closed}"],
        cwd=told.cwd,
        capture_output=True,
        check=False,
    )
    assert done.returncode == 0
    assert b"Traceback" not in done.stderr
    assert len(told.list().facts) == 2
    told.sound()


def test_no_standard_input_is_an_empty_text(told):
    done = subprocess.run(
        ["sh", "-c", '"$0" remember - <&-', PROGRAM], cwd=told.cwd, capture_output=True, text=True, check=False
    )
    assert done.returncode == 4
    assert done.stderr.startswith("error: there is nothing to remember\n")


def test_a_directory_that_is_gone(told, tmp_path):
    code = f"cd {tmp_path}/gone && rmdir {tmp_path}/gone && exec {PROGRAM} "

    def there(command):
        (tmp_path / "gone").mkdir(exist_ok=True)
        return subprocess.run(["sh", "-c", code + command], capture_output=True, text=True, check=False)

    done = there("recall x")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "error: the current directory is gone\nhint: name an existing directory with -C\n"
    assert there("--help").returncode == 0
    assert "lighthouse" in there(f"recall keeper -C {told.cwd}").stdout


@pytest.mark.parametrize("home", [None, "", "/nonexistent/home"])
def test_without_a_home(told, home):
    for args in (("recall", "lighthouse"), ("remember", "homeless"), ("where",), ("list",)):
        done = run(*args, cwd=told.cwd, HOME=home, XDG_CONFIG_HOME=None, XDG_DATA_HOME=None)
        assert (done.code, done.err) == (0, ""), args


@pytest.mark.skipif(sys.platform == "win32" or os.geteuid() != 0, reason="only root can give a directory away")
def test_a_home_of_somebody_else_is_refused(told, tmp_path):
    os.chown(tmp_path / "coffer", 65534, 65534)
    for args in (
        ("recall", "x"),
        ("remember", "x"),
        ("list",),
        ("where",),
        ("config", "set", "top_k", "3"),
        ("stores", "list"),
    ):
        done = run(*args, "--json", cwd=told.cwd)
        assert (done.code, done.out) == (5, ""), args
        assert "belongs to another user" in json.loads(done.err)["error"]["message"]


# Languages, bytes, terminals.

LOCALES = {
    "utf-8": {"LC_ALL": "C.UTF-8"},
    "ascii": {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"},
    "posix": {"LC_ALL": "POSIX", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"},
    "cp1252": {"LC_ALL": "C.UTF-8", "PYTHONIOENCODING": "cp1252"},
    "cp1252 strict": {
        "LC_ALL": "C",
        "PYTHONUTF8": "0",
        "PYTHONCOERCECLOCALE": "0",
        "PYTHONIOENCODING": "cp1252:strict",
    },
    "utf-16": {"LC_ALL": "C.UTF-8", "PYTHONIOENCODING": "utf-8:strict"},
}
TEXT = "Çelik 字 🦆 é naïve ﷽ e\u0301"


@pytest.mark.parametrize(
    ("name", "way"), [*((name, "argument") for name in LOCALES), ("ascii", "stdin"), ("cp1252 strict", "stdin")]
)
def test_text_is_utf8_on_disk_in_every_locale(memory, name, way):
    locale = LOCALES[name]
    if way == "argument":
        done = run("remember", TEXT, "--title", f"T {TEXT}", "--description", TEXT, cwd=memory.cwd, **locale)
    else:
        done = run("remember", "-", "--title", f"T {TEXT}", stdin=TEXT.encode(), cwd=memory.cwd, **locale)
    assert (done.code, done.err) == (0, "")
    (item,) = memory.list().facts
    shown = memory.show(item.id)
    assert (shown.body, shown.title) == (TEXT, f"T {TEXT}")
    if way == "argument":
        assert shown.description == TEXT
    for args in (("recall", "字"), ("log",), ("show", item.id)):
        done = run(*args, cwd=memory.cwd, **locale)
        assert (done.code, done.err) == (0, ""), args
        assert "elik" in done.out
    for args in (("recall", "字", "--mode", "grep"), ("list",)):
        answer = run(*args, "--json", cwd=memory.cwd, **locale)
        assert TEXT in json.dumps(json.loads(answer.out), ensure_ascii=False), args
    assert run("show", "字字字", cwd=memory.cwd, **locale).code == 3


def test_bytes_that_are_no_utf8_become_replacement_characters(memory):
    assert run("remember", b"caf\xe9 one", "--title", b"t\xff", cwd=memory.cwd).code == 0
    assert run("remember", "-", stdin=b"caf\xe9 two", cwd=memory.cwd).code == 0
    assert sorted(memory.show(item.id).body for item in memory.list().facts) == ["caf\ufffd one", "caf\ufffd two"]
    for args in (
        ("recall", b"\xff\xfe"),
        ("list", "--lane", b"\xff"),
        ("show", b"\xff"),
        ("log", b"\xe9/x.md"),
        (b"\xff",),
    ):
        done = run(*args, cwd=memory.cwd)
        assert done.code in (0, 2, 3, 4), args
        assert "bug" not in done.err
        assert run(*args, "--json", cwd=memory.cwd).code == done.code
    assert run("list", "-C", b"/tmp/\xff", cwd=memory.cwd).code == 2
    assert run("import", "jsonl", b"/tmp/\xff", cwd=memory.cwd).code == 3


def test_a_project_whose_name_is_no_utf8(memory, tmp_path):
    path = os.fsencode(tmp_path) + b"/caf\xe9"
    os.mkdir(path)
    subprocess.run(["git", "init", "-q"], cwd=path, check=True)
    for args in (("remember", "The name is odd"), ("recall", "odd"), ("where",), ("stores", "list")):
        for more in ((), ("--json",)):
            done = run(*args, *more, cwd=path)
            assert (done.code, done.err) == (0, ""), args
    assert "The name is odd" in run("recall", "odd", cwd=path).out


def test_nul_and_a_megabyte_on_standard_input(told):
    for stdin, reason in (
        (b"a\0b", "binary"),
        (b"x" * 1_000_000, "too_long"),
        (b"", "empty"),
        (b"\n" * 1_000_000, "empty"),
    ):
        done = run("remember", "-", "--json", stdin=stdin, cwd=told.cwd)
        assert (done.code, json.loads(done.err)["error"]["details"]["reason"]) == (4, reason)
    assert run("recall", "-", stdin=b"a\0b", cwd=told.cwd).code == 0
    assert run("recall", "-", stdin=b"x" * 1_000_000, cwd=told.cwd).code == 2


EVIL = (
    "start \x1b[31mred\x1b[0m \x1b]0;owned\x07 \x9b2J \x08\x08 \r over "
    "\u202ertl\u202c \u2066iso\u2069 \u200eL \x7f del \x1bP1$r\x1b\\ end"
)
IN_YAML = EVIL.translate({7: None, 8: None, 27: None, 0x9B: None, 127: None, 13: None})
BAD = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1a\x1c-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069]")
OURS = re.compile(r"\x1b\[[0-9;]*m")


@pytest.fixture
def evil(memory):
    memory.remember(f"gannet {EVIL}", title=f"Title {EVIL}", description=EVIL, agent=f"agent{EVIL}", session=EVIL)
    memory.put(
        "knowledge/inbox/na\x1b[31mme\u202e.md",
        f'---\ntitle: "x \\e[31m {IN_YAML}"\n---\ngannet two {EVIL}\n',
    )
    memory.put("journal/2026-01-02.md", f"## 10:00 heading {EVIL}\n\ngannet three {EVIL}\n")
    memory.git("add", "-A")
    memory.git("commit", "-qm", f"subject {EVIL}", f"--author=A{EVIL.replace(chr(13), '')} <x@example.org>")
    return memory


COMMANDS = [
    ("recall", "gannet", "--explain"),
    ("recall", "gannet", "--mode", "grep"),
    ("recall", EVIL.replace("\r", "")),
    ("list", "--lane", "all"),
    ("log",),
    ("log", "--json"),
    ("show", "journal/2026-01-02.md"),
    ("show", "journal/2026-01-02.md", "--raw"),
    ("show", f"{EVIL}/x.md"),
    ("recall", "gannet", "--json"),
    ("status",),
    ("remember", f"--{EVIL}"),
    (f"{EVIL}",),
    ("list", "--lane", EVIL),
    ("list", "-C", f"/{EVIL}"),
]


@pytest.mark.parametrize("args", COMMANDS, ids=[" ".join(args)[:12].strip() for args in COMMANDS])
def test_stored_text_never_drives_a_terminal(evil, args):
    seen = on_terminal(args, cwd=evil.cwd, columns=60, color=True)
    left = OURS.sub("", seen.replace("\r\n", "\n"))
    assert not BAD.search(left)
    assert "\x1b" not in left
    assert "\x1b[31m" not in seen  # we use no red


@pytest.mark.parametrize("args", COMMANDS[:6], ids=[" ".join(args)[:12].strip() for args in COMMANDS[:6]])
def test_stored_text_in_a_pipe_is_harmless_too(evil, args):
    done = run(*args, cwd=evil.cwd)
    assert not BAD.search(done.out + done.err)
    assert "\x1b" not in done.out + done.err


def test_colours_only_where_they_are_wanted(told):
    plain = ("recall", "lighthouse")
    assert "\x1b[" in on_terminal(plain, cwd=told.cwd, color=True)
    assert "\x1b" not in on_terminal((*plain, "--no-color"), cwd=told.cwd, color=True).replace("\x1b[1m", "").replace(
        "\x1b[0m", ""
    ).replace("\x1b[2m", "")
    for env in ({"NO_COLOR": "1"}, {"TERM": "dumb"}):
        seen = on_terminal(plain, cwd=told.cwd, color=True, **env)
        assert not re.search(r"\x1b\[[0-9;]*3[0-9]", seen)
    assert "\x1b" not in run(*plain, cwd=told.cwd, FORCE_COLOR="1", TERM="xterm-256color").out


@pytest.mark.parametrize("columns", [20, 40, 60, 100])
def test_narrow_terminals_keep_what_matters(told, columns):
    made = told.remember("A fact with quite a long title that goes on and on until the line is over", scope="global")
    for args in (
        ("recall", "fact"),
        ("list",),
        ("log",),
        ("stores", "list"),
        ("config", "list"),
        ("status",),
        ("where",),
    ):
        seen = on_terminal(args, cwd=told.cwd, columns=columns)
        assert "Traceback" not in seen
    if columns >= 60:
        lines = OURS.sub("", on_terminal(("list",), cwd=told.cwd, columns=columns)).splitlines()
        assert max(map(len, lines)) <= columns
        assert any(made.id in line for line in lines)


# Damage.


@pytest.mark.parametrize(
    "junk", [b"", b"\x00" * 64, b"\xff\xfe\xfd", b"[[[", b'rows = "x"', b"half = ", b"{}", b"a" * 100_000]
)
@pytest.mark.parametrize("name", ["config.toml", "bindings.toml", "store.toml", "stat", "intent"])
def test_half_written_files_of_ours_lose_nothing(told, tmp_path, name, junk):
    """Facts stay readable, and the store can be written, whatever stands in a file of ours."""
    store = told.store
    target = {
        "config.toml": tmp_path / "coffer/config.toml",
        "bindings.toml": tmp_path / "coffer/bindings.toml",
        "store.toml": store.directory / "store.toml",
        "stat": store.private / "stat",
        "intent": store.private / "intent",
    }[name]
    assert name in ("config.toml", "intent") or target.exists()
    target.write_bytes(junk)
    assert "lighthouse" in told.texts("lighthouse", store=store.name)[0]
    told.list(), told.log(), told.status(), told.where(), list_stores(told.coffer), list_settings(told.coffer)
    assert told.remember("Written after the damage", store=store.name).commit
    assert told.texts("damage", store=store.name) == ["Written after the damage"]
    assert git(store.directory, "fsck", "--strict", "--no-dangling").strip() == ""
    assert len(told.list(store=store.name).facts) == 2


def test_what_is_said_of_damaged_files(told, tmp_path):
    (tmp_path / "coffer/config.toml").write_text("= 1\n")
    (tmp_path / "coffer/bindings.toml").write_text("= 1\n")
    done = run("recall", "lighthouse", cwd=told.cwd)
    assert (done.code, done.out) == (0, "")
    assert "config.toml is not valid TOML" in done.err
    assert "bindings.toml is damaged" in done.err
    assert "`cofferctl stores link STORE`" in done.err
    assert all(line.startswith("note: ") or line == "nothing found" for line in done.err.splitlines())
    assert (tmp_path / "coffer/bindings.toml").read_text() == "= 1\n"


@pytest.mark.parametrize("columns", [60, 100])
def test_names_to_copy_are_never_cut(told, columns):
    other = told.at(told.cwd).remember("Elsewhere", store="project-01HZXK5Q8V7N3M2P4R6S8T0W1Y")
    seen = OURS.sub("", on_terminal(("stores", "list"), cwd=told.cwd, columns=columns))
    for name in (other.store, told.store.name):
        assert name in seen
