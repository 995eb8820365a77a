"""The bench's world: a temporary home with stores of any size, clocks for wall and CPU time, and the final table."""

import contextlib
import json
import os
import random
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

PYTHON = sys.executable
PROGRAM = str(Path(sys.executable).with_name("cofferctl"))
DATA = Path(__file__).parents[1] / "data"
ROUNDS = 11


@dataclass
class Cost:
    """What something took, in seconds; `peak` in bytes."""

    wall: float
    cpu: float
    code: int = 0
    peak: int = 0


@dataclass
class Row:
    """One line of the table; `ok` is None where there is no bar."""

    what: str
    measured: str
    against: str
    ratio: str = ""
    bar: str = ""
    ok: bool | None = None


class Report:
    """Rows, printed as they come and once more, aligned, at the end."""

    def __init__(self):
        self.rows = []

    def add(self, what, measured, against="", ratio="", bar="", ok=None):
        row = Row(what, measured, against, ratio, bar, ok)
        self.rows.append(row)
        print(f"  .. {what}: {measured} {against} {ratio} {bar} {_verdict(row)}".rstrip(), file=sys.stderr, flush=True)

    def ratio(self, what, cost, base, limit, *, unit="CPU", against="python -c pass"):
        """A ratio of two times in seconds with an upper bar, or none."""
        found = cost / base
        bar = f"<= {limit:g}x" if limit else ""
        ok = found <= limit if limit else None
        self.add(what, f"{cost * 1e3:.1f} ms {unit}", f"{against}: {base * 1e3:.1f} ms", f"{found:.2f}x", bar, ok)

    def table(self):
        heads = ("what", "measured", "compared to", "ratio", "bar", "")
        lines = [heads, *((r.what, r.measured, r.against, r.ratio, r.bar, _verdict(r)) for r in self.rows)]
        widths = [max(len(line[column]) for line in lines) for column in range(len(heads))]
        for number, line in enumerate(lines):
            print("  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip())
            if number == 0:
                print("  ".join("-" * width for width in widths))


def _verdict(row):
    return "" if row.ok is None else "PASS" if row.ok else "MISS"


class World:
    """An empty home; `project` makes projects in it, `fill` their stores."""

    def __init__(self):
        self.root = Path(tempfile.mkdtemp(prefix="coffer-bench-"))
        home = self.root / "home"
        home.mkdir()
        self.env = {
            "PATH": os.environ["PATH"],
            "HOME": str(home),
            "COFFER_HOME": str(self.root / "coffer"),
            "XDG_CONFIG_HOME": str(home / ".config"),
            "XDG_CACHE_HOME": str(home / ".cache"),
            "LANG": "C.UTF-8",
            "NO_COLOR": "1",
            "GIT_CONFIG_NOSYSTEM": "1",
            "GIT_AUTHOR_NAME": "Dev",
            "GIT_AUTHOR_EMAIL": "dev@example.org",
            "GIT_COMMITTER_NAME": "Dev",
            "GIT_COMMITTER_EMAIL": "dev@example.org",
        }
        os.environ.clear()
        os.environ.update(self.env)
        os.chdir(home)

    def close(self):
        os.chdir("/")
        shutil.rmtree(self.root, ignore_errors=True)

    def project(self, name):
        path = self.root / "projects" / name
        path.mkdir(parents=True)
        git(path, "init", "-q", "-b", "main")
        git(path, "commit", "-q", "--allow-empty", "-m", f"start of {name}")
        return path

    def fill(self, name, count):
        """A project whose store holds `count` facts, imported by the program, and searched once: (path, cost)."""
        path = self.project(name)
        lines = self.root / f"{name}.jsonl"
        lines.write_text("".join(json.dumps(row) + "\n" for row in facts(count)), encoding="utf-8")
        cost = spawn([PROGRAM, "import", "jsonl", str(lines), "--allow-secret", "-C", str(path)])
        assert cost.code == 0, f"import of {count} facts failed"
        lines.unlink()
        return path, cost


def facts(count, seed=1):
    """Rows for `import jsonl`: sentences of the development corpus' words, over eight years."""
    chance = random.Random(seed)
    texts = (json.loads(line)["text"] for line in (DATA / "devfacts/docs.jsonl").read_text("utf-8").splitlines())
    words = [word for text in texts if text.isascii() for word in text.split()]
    start = datetime(2018, 1, 1, tzinfo=UTC)
    for number in range(count):
        when = start + timedelta(days=8 * 365 * number / count)
        text = f"Fact {number} of {name_of(number)}: {' '.join(chance.choices(words, k=18))}."
        yield {"text": text, "created_at": when.isoformat(), "ref": f"bench-{number}"}


def name_of(number):
    """A word that few facts share."""
    return f"service{number % 997}"


def coffer_at(path):
    """The memory as a command run in `path` sees it."""
    from cofferctl import config
    from cofferctl.coffer import Coffer

    return Coffer(config.from_environment(os.environ, path))


def git(path, *args, check=True):
    done = subprocess.run(["git", *args], cwd=path, capture_output=True, text=True, check=False)
    assert not check or done.returncode == 0, f"git {' '.join(args)}: {done.stderr}"
    return done


def spawn(arguments, *, into=os.devnull):
    """Run a program to its end, its output thrown away; the cost of the whole process and its children."""
    actions = [
        (os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0),
        (os.POSIX_SPAWN_OPEN, 1, str(into), os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600),
        (os.POSIX_SPAWN_OPEN, 2, os.devnull, os.O_WRONLY, 0),
    ]
    began = time.perf_counter()
    pid = os.posix_spawnp(arguments[0], arguments, os.environ, file_actions=actions)
    _, status, usage = os.wait4(pid, 0)
    wall = time.perf_counter() - began
    return Cost(wall, usage.ru_utime + usage.ru_stime, os.waitstatus_to_exitcode(status))


_PEAK = """
import os, sys
null = os.open(os.devnull, os.O_RDWR)
pid = os.posix_spawn(sys.argv[1], sys.argv[1:], os.environ, file_actions=[(os.POSIX_SPAWN_DUP2, null, 1)])
print(os.wait4(pid, 0)[2].ru_maxrss)
"""


def peak(arguments):
    """Peak memory of a program in bytes, started from a small process: a child's peak counts its parent's at exec."""
    found = subprocess.run([PYTHON, "-c", _PEAK, *arguments], capture_output=True, text=True, check=True)
    return int(found.stdout) * (1024 if sys.platform == "linux" else 1)


@contextlib.contextmanager
def timed(costs):
    """Append the wall and CPU time (this process and its children) of a block to a list."""
    wall, cpu = time.perf_counter(), cpu_now()
    yield
    costs.append(Cost(time.perf_counter() - wall, cpu_now() - cpu))


def cpu_now():
    own, children = resource.getrusage(resource.RUSAGE_SELF), resource.getrusage(resource.RUSAGE_CHILDREN)
    return own.ru_utime + own.ru_stime + children.ru_utime + children.ru_stime


def median(costs, what="wall"):
    return statistics.median(getattr(cost, what) for cost in costs)


def percentile(values, share):
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]


def bare_scan(root):
    """What no scan can be faster than: every lane directory listed, every file's stat asked for."""
    count, pending = 0, [str(root / "knowledge")]
    while pending:
        with os.scandir(pending.pop()) as listing:
            for item in listing:
                if item.is_dir(follow_symlinks=False):
                    pending.append(item.path)
                else:
                    item.stat(follow_symlinks=False)
                    count += 1
    return count
