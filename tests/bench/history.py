"""Rows of reading a long history: 5,000 facts, 20,000 commits, each against the same question asked of git.

    python tests/bench/history.py [--facts N] [--commits N]

The store is made by `git fast-import`: month directories, adds and edits, commits as the program writes them. Answers
are measured in this process, as a bridge gives them; the rows named `process` are whole command lines, whose start
alone costs what `start` says.
"""

import argparse
import random
import subprocess
from datetime import UTC, datetime, timedelta

from world import PROGRAM, PYTHON, Report, World, coffer_at, git, median, spawn, timed

ROUNDS = 5
LIMIT = 2
BARRED = ("log -n 20", "show", "blame", "restore")
"""What the bar is for; other rows are measured only."""
_WORDS = ("gate", "port", "shell", "index", "quota", "token", "build", "retry", "cache", "proxy", "branch", "socket")


def measure(report, world, facts=5_000, commits=20_000):
    """All rows.

    Args:
        report: takes them.
        world: the home in which the store is made.
        facts: how many facts there are.
        commits: how many commits; those beyond one a fact are edits.
    """
    project = world.project("history")
    spawn([PROGRAM, "remember", "first", "-C", str(project)])
    store = coffer_at(project).project_store().directory
    paths = fill(store, facts, commits)
    spawn([PROGRAM, "list", "-C", str(project)])
    old, middling = paths[3], paths[len(paths) // 2]
    _rows(report, project, store, old, middling)
    _processes(report, project, store, middling)


def _rows(report, project, store, old, middling):
    from cofferctl.commands.blame import blame
    from cofferctl.commands.log import log
    from cofferctl.commands.restore import restore
    from cofferctl.commands.show import show

    def asked(command):
        return lambda: command(coffer_at(project))

    def program(*arguments):
        return lambda: spawn(["git", "-C", str(store), *arguments])

    for name, ours, theirs in (
        ("log -n 20", asked(lambda c: log(c, limit=20)), program("log", "-n20", "--raw")),
        ("log -n 20 -p", asked(lambda c: log(c, limit=20, patch=True)), program("log", "-n20", "-p")),
        ("log --event (none)", asked(lambda c: log(c, event="purged")), program("log", "--grep=Event: purged")),
        ("log FACT", asked(lambda c: log(c, middling)), program("log", "--raw", "--", middling)),
        ("show FACT", asked(lambda c: show(c, middling)), program("log", "--", middling)),
        ("show oldest FACT", asked(lambda c: show(c, old)), program("log", "--", old)),
        ("blame FACT", asked(lambda c: blame(c, middling)), program("blame", middling)),
        ("blame oldest FACT", asked(lambda c: blame(c, old)), program("blame", old)),
    ):
        _compare(report, name, ours, theirs)

    def by_hand():
        last = git(store, "log", "-n1", "--format=%H", "--", middling).stdout.strip()
        git(store, "checkout", "-q", f"{last}^", "--", middling)
        git(store, "commit", "-qm", "back")

    _compare(report, "restore FACT", asked(lambda c: restore(c, middling)), by_hand)


def _compare(report, name, ours, theirs):
    costs = {"ours": [], "theirs": []}
    for number in range(ROUNDS + 1):
        for key, run in (("ours", ours), ("theirs", theirs)):
            with timed(costs[key] if number else []):
                run()
    limit = LIMIT if name.startswith(BARRED) and not name.endswith("-p") else None
    report.ratio(name, median(costs["ours"]), median(costs["theirs"]), limit, unit="wall", against="git")


def _processes(report, project, store, path):
    runs = {
        "start": [PROGRAM, "config", "list"],
        "log": [PROGRAM, "log", "-n", "20", "-C", str(project)],
        "show": [PROGRAM, "show", path, "-C", str(project)],
        "blame": [PROGRAM, "blame", path, "-C", str(project)],
        "pass": [PYTHON, "-c", "pass"],
    }
    costs = {name: median([spawn(run) for _ in range(ROUNDS)]) for name, run in runs.items()}
    base = {
        "log": ["log", "-n20", "--raw"],
        "show": ["log", "--", path],
        "blame": ["blame", path],
    }
    report.add("start", f"{costs['start'] * 1e3:.0f} ms wall", f"python -c pass: {costs['pass'] * 1e3:.0f} ms")
    for name, arguments in base.items():
        plain = median([spawn(["git", "-C", str(store), *arguments]) for _ in range(ROUNDS)])
        report.add(
            f"process {name}",
            f"{costs[name] * 1e3:.0f} ms wall",
            f"git: {plain * 1e3:.0f} ms",
            f"{costs[name] / plain:.2f}x",
        )


def fill(store, facts, commits, seed=5):
    """Give a store a long history; the facts' paths, oldest first."""
    chance = random.Random(seed)
    feed = subprocess.Popen(
        ["git", "fast-import", "--quiet", "--force"], cwd=store, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL
    )
    start = datetime(2024, 1, 1, tzinfo=UTC)
    step = timedelta(days=900) / commits
    paths, texts = [], []
    known = dict(_store_files(store))
    for number in range(commits):
        now = start + step * number
        wanted = facts - len(paths)
        add = not paths or commits - number <= wanted or (wanted > 0 and chance.random() < facts / commits)
        at = len(paths) if add else _recent(chance, len(paths))
        if add:
            paths.append(f"knowledge/inbox/{now:%Y-%m}/fact-{at}-{chance.choice(_WORDS)}.md")
            texts.append([" ".join(chance.choices(_WORDS, k=9)) for _ in range(6)])
        else:
            texts[at][chance.randrange(6)] = " ".join(chance.choices(_WORDS, k=9))
        identifier = f"01KV{at:022d}"
        data = _file(identifier, f"fact {at}", texts[at], now, chance.random() < 0.7)
        event = "memory_added" if add else "memory_updated"
        text = (
            f"{'remember' if add else 'edit'}: fact {at}\n\n"
            f"Coffer-Event: {event}\nCoffer-Id: {identifier}\nCoffer-Actor: agent\nCoffer-Agent: otter\n"
            f"Coffer-Session: s-{number // 40}\nCoffer-Operation: 01KW{number:022d}\n"
        )
        changes = [(paths[at], data), *known.items()]
        known.clear()
        _commit(feed.stdin, text.encode(), int(now.timestamp()), changes)
    feed.stdin.close()
    assert feed.wait() == 0
    git(store, "repack", "-adq")
    git(store, "reset", "-q", "--hard")
    return paths


def _recent(chance, count):
    """Edits mostly concern what was learnt lately."""
    return max(0, count - 1 - int(chance.expovariate(1 / 200))) if chance.random() < 0.8 else chance.randrange(count)


def _store_files(store):
    for name in ("store.toml", ".gitattributes", ".gitignore"):
        yield name, (store / name).read_bytes()


def _file(identifier, title, lines, now, by_agent):
    actor = "agent" if by_agent else "user"
    head = f"---\nid: {identifier}\nkind: knowledge\ntitle: {title}\nmetadata:\n  actor: {actor}\n"
    times = f"created_at: {now.isoformat()}\nupdated_at: {now.isoformat()}\n---\n\n"
    return (head + times + "\n".join(lines) + "\n").encode()


def _commit(out, text, seconds, changes):
    out.write(b"commit refs/heads/main\ncommitter otter <otter@coffer.invalid> %d +0000\n" % seconds)
    out.write(b"data %d\n%s\n" % (len(text), text))
    for path, data in changes:
        out.write(b"M 100644 inline %s\ndata %d\n%s\n" % (path.encode(), len(data), data))
    out.write(b"\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--facts", type=int, default=5_000)
    parser.add_argument("--commits", type=int, default=20_000)
    options = parser.parse_args()
    world, report = World(), Report()
    try:
        measure(report, world, options.facts, options.commits)
    finally:
        world.close()
    report.table()


if __name__ == "__main__":
    main()
