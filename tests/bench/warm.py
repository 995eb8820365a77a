"""Rows inside one process: writes against git's own, recalls against a bare look at the files, indexing, memory."""

import statistics
import time

from world import PROGRAM, ROUNDS, bare_scan, coffer_at, git, median, name_of, peak, percentile, timed

GIT_SYNCED = ("-c", "core.fsync=all")
MEMORY = 300_000_000


def writes(report, world, project, count):
    """`remember` in process against `git add && git commit` of the same file in a plain clone of the same store."""
    from cofferctl.commands.remember import remember

    store = coffer_at(project).readable("project")[0]
    clones = {}
    for name in ("git", "synced"):
        clones[name] = world.root / f"clone-{count}-{name}"
        git(world.root, "clone", "-q", "--no-hardlinks", str(store.directory), str(clones[name]))
        git(clones[name], "status")
    costs = {"coffer": [], "git": [], "synced": []}
    rounds = ROUNDS if count < 20_000 else 7
    for number in range(rounds + 1):
        with timed(costs["coffer"]):
            made = remember(coffer_at(project), f"warm fact {number} of {count}", title=f"warm {number}")
        data = (store.directory / made.path).read_bytes()
        for name, settings in (("git", ()), ("synced", GIT_SYNCED)):
            with timed(costs[name]):
                target = clones[name] / made.path
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_bytes(data)
                git(clones[name], *settings, "add", made.path)
                git(clones[name], *settings, "commit", "-q", "-m", f"remember: warm {number}")
    costs = {name: found[1:] for name, found in costs.items()}
    limit = 3 if count < 20_000 else 1.5
    for what in ("wall", "cpu"):
        ours, theirs = median(costs["coffer"], what), median(costs["git"], what)
        synced = median(costs["synced"], what)
        against = f"git {theirs * 1e3:.0f} ms (core.fsync=all {synced * 1e3:.0f} ms: {ours / synced:.2f}x)"
        report.add(
            f"remember in process, {count:,} facts, {what}",
            f"{ours * 1e3:.1f} ms",
            against,
            f"{ours / theirs:.2f}x",
            f"<= {limit:g}x",
            ours <= limit * theirs,
        )


def recalls(report, project, count, *, times=200):
    """Warm recall, the cost of looking at the files taken off."""
    from cofferctl.commands.recall import recall

    coffer = coffer_at(project)
    store = coffer.readable("project")[0]
    recall(coffer, name_of(1))
    walls, bare, scans = [], [], []
    for number in range(times):
        began = time.perf_counter()
        recall(coffer, f"{name_of(number)} staging deploys")
        asked = time.perf_counter()
        bare_scan(store.directory)
        looked = time.perf_counter()
        walls.append(asked - began)
        bare.append(looked - asked)
        began = time.perf_counter()
        store.scan()
        scans.append(time.perf_counter() - began)
    floor, scan = statistics.median(bare), statistics.median(scans)
    told = f"scandir+stat {floor * 1e3:.1f} ms, scan {scan * 1e3:.1f} ms"
    bars = ((0.5, floor, 0.005), (0.95, floor, 0.02)) if count <= 5_000 else ((0.5, scan, 0.02),)
    for share, off, limit in bars:
        wall = percentile(walls, share)
        report.add(
            f"warm recall, {count:,} facts, p{share * 100:.0f}",
            f"{wall * 1e3:.1f} ms",
            told,
            f"+{(wall - off) * 1e3:.1f} ms",
            f"<= +{limit * 1e3:.0f} ms",
            wall - off <= limit,
        )


def indexing(report, project, count):
    """A full reindex."""
    from cofferctl.commands.reindex import reindex

    costs = []
    with timed(costs):
        reindex(coffer_at(project), full=True, scope="project")
    rate = count / costs[0].cpu
    report.add(
        f"full reindex, {count:,} facts",
        f"{rate:,.0f} facts / CPU s",
        f"{costs[0].wall:.1f} s wall",
        f"{rate / 2000:.2f}x",
        ">= 2,000",
        rate >= 2000,
    )


def memory(report, project, count):
    """Peak memory of a cold recall."""
    found = peak([PROGRAM, "recall", name_of(1), "--json", "-C", str(project)])
    report.add(
        f"cold recall, {count:,} facts, peak memory",
        f"{found / 1e6:.0f} MB",
        "",
        f"{found / MEMORY:.2f}x",
        "< 300 MB",
        found < MEMORY,
    )
