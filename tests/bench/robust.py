"""Rows that are counts: many writers at once, and processes killed at random instants."""

import json
import os
import random
import signal
import subprocess
import time
from concurrent.futures import ThreadPoolExecutor

from world import PROGRAM, coffer_at, facts, git


def writers(report, project, *, processes=8, each=50):
    """Eight writers of one store; every acknowledged fact must be there, once."""

    def one(writer):
        told = []
        for number in range(each):
            done = run(project, "remember", f"writer {writer} says {number}", "--json")
            told.append(json.loads(done.stdout)["id"] if done.returncode == 0 else None)
        return told

    began = time.perf_counter()
    with ThreadPoolExecutor(processes) as pool:
        told = [identifier for answers in pool.map(one, range(processes)) for identifier in answers]
    took = time.perf_counter() - began
    verdict(report, f"{processes} x {each} writers", project, told, f"{took:.0f} s", refused=told.count(None))


def kills(report, world, *, times):
    """SIGKILL at a random instant of remember, import and reindex; the next command must simply work."""
    project = world.project("killed")
    run(project, "remember", "the first fact", "--json")
    chance = random.Random(7)
    told, broken, survived = [], 0, 0
    lines = world.root / "killed.jsonl"
    for number in range(times):
        rows = (row | {"text": f"round {number}: {row['text']}", "ref": f"{number}-{n}"} for n, row in _batch(number))
        lines.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
        jobs = (
            ("remember", f"killed fact {number}", "--json"),
            ("import", "jsonl", str(lines), "--json"),
            ("reindex", "--full", "--json"),
        )
        output, finished = _killed(project, jobs[number % 3], chance.uniform(0.05, 0.35))
        survived += finished
        told += [json.loads(output)["id"]] if number % 3 == 0 and output.endswith("\n") else []
        after = run(project, "remember", f"after the kill {number}", "--json")
        broken += after.returncode != 0
        told += [json.loads(after.stdout)["id"]] if after.returncode == 0 else []
        broken += run(project, "recall", "killed", "--json").returncode != 0
    extra = f"{times} kills ({survived} came too late), {broken} next commands failed"
    verdict(report, "kill -9 in remember, import, reindex", project, told, extra, refused=broken)


def _batch(seed):
    return enumerate(facts(120, seed))


def _killed(project, arguments, after):
    started = subprocess.Popen(
        [PROGRAM, *arguments, "-C", str(project)], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    )
    time.sleep(after)
    finished = started.poll() is not None
    if not finished:
        os.kill(started.pid, signal.SIGKILL)
    return started.communicate()[0], finished


def run(project, *arguments):
    return subprocess.run([PROGRAM, *arguments, "-C", str(project)], capture_output=True, text=True, check=False)


def verdict(report, what, project, told, extra, *, refused):
    """Count what was promised and is not so."""
    store = coffer_at(project).readable("project")[0]
    entries = store.scan().entries
    present = [entry.id.decode() for entry in entries.values()]
    bodies = [entry.body for entry in entries.values()]
    acknowledged = [identifier for identifier in told if identifier]
    committed = git(store.directory, "ls-tree", "-r", "--name-only", "-z", "HEAD").stdout.split("\0")
    lost = len(set(acknowledged) - set(present)) + len(entries.keys() - set(committed))
    twice = len(present) - len(set(present)) + len(bodies) - len(set(bodies))
    fsck = git(store.directory, "fsck", "--strict", "--no-dangling", check=False)
    clean = fsck.returncode == 0 and not git(store.directory, "status", "--porcelain").stdout
    locks = [path for path in store.git_dir.rglob("*.lock") if "coffer" not in str(path.relative_to(store.git_dir))]
    locks += [path for name in ("intent", "intent.abandoned") if (path := store.private / name).exists()]
    report.add(
        what,
        f"{len(acknowledged)} acknowledged, {extra}",
        f"lost {lost}, twice {twice}, refused {refused}, locks {len(locks)}, fsck {'clean' if clean else 'NOT CLEAN'}",
        "",
        "0 0 0 0 clean",
        not (lost or twice or refused or locks) and clean,
    )
